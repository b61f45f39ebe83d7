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
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ALAYA_", "PYTHONIO", "OPENAI_", "MEMORY_LLM_"))
    }
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


BATCH = """
import io, json, sys
from alaya_tui.cli import headless_main
done = []
for words in json.load(sys.stdin):
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    status = headless_main(words)
    done.append([status, *(stream.buffer.getvalue().decode() for stream in (sys.stdout, sys.stderr))])
json.dump(done, sys.__stdout__)
"""


def batch(commands: Sequence[Sequence[str]], home: Path) -> list[Done]:
    """Runs several commands in one process, which then pays only once for its engine and its model."""
    work = json.dumps([["--home", str(home), *words] for words in commands]).encode()
    command = [sys.executable, "-c", BATCH]
    ran = subprocess.run(command, input=work, capture_output=True, env=environment(), timeout=TIMEOUT_S, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    return [Done(status, out.encode(), told) for status, out, told in json.loads(ran.stdout)]
