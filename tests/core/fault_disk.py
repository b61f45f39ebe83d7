"""Fills a small disk of its own and works on a home there: `python fault_disk.py FOLDER HOME TEXT SESSION`.

Run where it may mount (`unshare -rm`). Prints one JSON document: per free room what each command said on the full
disk, and what `list` and `verify` said once there was room again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from tests.core.fault_cli import alaya

DISK = 24 << 20
ROOMS = (0, 4 << 10, 40 << 10, 400 << 10, 3 << 20)


def fill(path: Path, room: int) -> None:
    """Takes all of the disk but so many bytes."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * (64 << 10))
        except OSError:
            pass
        file.truncate(max(0, file.tell() - room))


def main(folder: str, home: str, text: str, session: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder], check=True)
    os.umask(0o077)
    told = []
    for room in ROOMS:
        here, filler = Path(folder) / "home", Path(folder) / "filler"
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(home, here)
        fill(filler, room)
        full = [
            alaya(here, "recall", "docker"),
            alaya(here, "list"),
            alaya(here, "capture", Path(text).read_text()),
            alaya(here, "ingest", "--distill", session),
            alaya(here, "rebuild"),
        ]
        filler.unlink()
        told.append({"room": room, "full": full, "after": [alaya(here, "list"), alaya(here, "verify")]})
    print(json.dumps(told, default=asdict))  # noqa: T201 - its answer


if __name__ == "__main__":
    main(*sys.argv[1:])
