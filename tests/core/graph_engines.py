"""Which graph engine the tests of the graph run on, and how they run on the other one.

A process can load one engine only: what is to pass on both runs again in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys

from alaya_core.stores.graph_engine import ENGINES
from tests.core.fault_helpers import ROOT

VARIABLE = "ALAYA_TEST_GRAPH_ENGINE"
ENGINE = os.environ.get(VARIABLE, ENGINES[0])
OTHER = next(engine for engine in ENGINES if engine != ENGINE)


def pytest_on(engine: str, *files: str) -> str:
    """Runs test files on an engine, and gives what pytest said; they must pass."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *files]
    environment = {**os.environ, VARIABLE: engine}
    done = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


def python_on(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a process that has loaded no engine yet."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=120)
