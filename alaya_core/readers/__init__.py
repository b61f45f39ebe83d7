"""Readers of sessions: from files in other programs' formats to turns, a piece at a time, whatever their size."""

from alaya_core.readers.alaya import FORMATS
from alaya_core.readers.detect import detect
from alaya_core.readers.read import read_sessions
from alaya_core.readers.sources import FoundFile, NameVerdict, SourceHints, classify_name, expand, hints_for

__all__ = [
    "FORMATS",
    "FoundFile",
    "NameVerdict",
    "SourceHints",
    "classify_name",
    "detect",
    "expand",
    "hints_for",
    "read_sessions",
]
