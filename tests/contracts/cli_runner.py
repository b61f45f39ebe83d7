"""Runs the command line as a process of its own, the way scripts do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "alaya_tui", "--headless"]
TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Done:
    """What a process left behind."""

    status: int
    raw: bytes
    told: str

    @property
    def text(self) -> str:
        """stdout."""
        return self.raw.decode("utf-8")

    @property
    def data(self) -> Any:
        """stdout, which must be exactly one JSON document."""
        return json.loads(self.text)

    @property
    def error(self) -> dict[str, Any]:
        """The error envelope on stdout."""
        assert set(self.data) == {"error"}, self.data
        error: dict[str, Any] = self.data["error"]
        assert set(error) == {"code", "message", "hint", "retryable"}
        return error


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a process, without settings of whoever runs the tests."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ALAYA_", "PYTHONIO"))}
    return {**kept, **(extra or {})}


def start(*words: str | Path, home: Path | None = None, env: Mapping[str, str] | None = None, **how: Any) -> Any:
    """Starts a command and does not wait."""
    place = ["--home", str(home)] if home else []
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [*COMMAND, *place, *map(str, words)]
    return subprocess.Popen(command, env=environment(env), **{**streams, **how})


def finish(process: Any, stdin: bytes | None = None) -> Done:
    """Waits for a command; it must end by itself, and never with a traceback."""
    out, err = process.communicate(stdin, timeout=TIMEOUT_S)
    told = err.decode("utf-8", "backslashreplace") if err else ""
    assert "Traceback" not in told, told
    return Done(process.returncode, out or b"", told)


def alaya(
    *words: str | Path, home: Path | None = None, stdin: bytes | None = None, env: Mapping[str, str] | None = None
) -> Done:
    """Runs a command to its end, without a terminal anywhere."""
    how = {"stdin": subprocess.PIPE} if stdin is not None else {}
    return finish(start(*words, home=home, env=env, **how), stdin)


def together(commands: Sequence[Sequence[str]], home: Path) -> list[Done]:
    """Runs several commands at once: many processes on one home are normal, and the tests are done sooner."""
    return [finish(process) for process in [start(*words, home=home) for words in commands]]
