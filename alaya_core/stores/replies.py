"""Answers of chat models that were paid for once, a file each. Losing them costs money, never truth."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from alaya_core.errors import AlayaError
from alaya_core.safe_json import load_json
from alaya_core.stores.files import write_file

REPLIES = "replies"
"""Their folder below `cache/`."""
_MOST = 2_000


def reply_key(*parts: str) -> str:
    """By what an answer is found again: sha256 over all that it was an answer to, hex."""
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


class ReplyCache:
    """Answers by key.

    Args:
        folder: `cache/replies/` of a home; made at the first write.
        most: Files to keep; the oldest go.
    """

    def __init__(self, folder: Path, most: int = _MOST) -> None:
        self._folder = folder
        self._most = most

    def get(self, key: str) -> str | None:
        """An answer; None where there is none that can be read."""
        try:
            raw = load_json((self._folder / f"{key}.json").read_bytes())
        except (OSError, ValueError):
            return None
        text = raw.get("text") if isinstance(raw, dict) else None
        return text if isinstance(text, str) else None

    def put(self, key: str, reply: str) -> None:
        """Keeps an answer; a disk that takes none is no reason to fail."""
        with contextlib.suppress(AlayaError, OSError):
            write_file(self._folder / f"{key}.json", json.dumps({"text": reply}).encode("ascii"), durable=False)
            self._shrink()

    def clear(self) -> None:
        """Removes them all: what one of them quotes cannot be told from its name.

        Raises:
            OSError: One cannot be removed.
        """
        for path in self._files():
            path.unlink(missing_ok=True)

    def _shrink(self) -> None:
        paths = self._files()
        if len(paths) > self._most:
            for path in sorted(paths, key=lambda path: (path.stat().st_mtime_ns, path.name))[: -self._most]:
                path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return list(self._folder.glob("*.json"))
