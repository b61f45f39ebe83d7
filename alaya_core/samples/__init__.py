"""Sample sessions, all invented: what `alaya demo` loads, from three agents over two weeks of November 2026."""

from importlib.resources import files
from pathlib import Path


def sample_root() -> Path:
    """The folder of the samples, a real one: wheels are installed unzipped."""
    return Path(str(files(__name__)))
