"""The turns a card came from, kept with their text, so that a card can be traced whatever becomes of its session."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alaya_core.models.session import Turn
from alaya_core.safe_json import load_json
from alaya_core.stores.files import write_file
from alaya_core.stores.home import safe_file_name


@dataclass(frozen=True, slots=True)
class ContextTurn:
    """One turn of a context file.

    Attributes:
        hash: sha256 of the content, hex: by it the turn is found again when its log was repaired.
    """

    session_id: str
    turn: int
    role: str
    content: str
    timestamp: int | None
    hash: str


class ContextStore:
    """Keeps `raw/contexts/<card id>-context.json`.

    Args:
        folder: `raw/contexts` of a home.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, card_id: str) -> Path:
        """Where a card's context lies."""
        return self._folder / f"{safe_file_name(card_id)}-context.json"

    def write(self, card_id: str, turns: Sequence[ContextTurn]) -> None:
        """Keeps the turns a card came from."""
        raw = {
            "card_id": card_id,
            "turns": [
                {
                    "session_id": turn.session_id,
                    "turn": turn.turn,
                    "role": turn.role,
                    "content": turn.content,
                    "timestamp": turn.timestamp,
                    "hash": turn.hash,
                }
                for turn in turns
            ],
        }
        write_file(self.path(card_id), json.dumps(raw, ensure_ascii=False).encode("utf-8", "replace"))

    def read(self, card_id: str) -> list[ContextTurn]:
        """The turns a card came from; empty when nothing was kept or it cannot be read."""
        return self.read_file(self.path(card_id).name)

    def read_file(self, name: str) -> list[ContextTurn]:
        """The same by the name of the file."""
        try:
            raw: Any = load_json((self._folder / name).read_text(encoding="utf-8"))
            return [ContextTurn(**turn) for turn in raw["turns"]]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def is_whole(self, card_id: str) -> bool:
        """Whether a context can be read, even where it holds no turn (any more)."""
        try:
            return isinstance(load_json(self.path(card_id).read_bytes())["turns"], list)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def remove_file(self, name: str) -> None:
        """Removes a context that no card needs."""
        (self._folder / name).unlink(missing_ok=True)

    def cut(self, session_id: str, turn: int | None) -> None:
        """Takes the turns of a session (or one of them) out of every context; one that cannot be read goes whole."""
        mark = json.dumps(session_id, ensure_ascii=False).encode("utf-8", "replace")
        for path in sorted(self._folder.glob("*-context.json")):
            data = path.read_bytes()
            if mark not in data:
                continue
            try:
                raw = load_json(data)
                kept = [
                    item
                    for item in raw["turns"]
                    if item["session_id"] != session_id or (turn is not None and item["turn"] != turn)
                ]
            except (ValueError, KeyError, TypeError):
                path.unlink()
                continue
            if len(kept) < len(raw["turns"]):
                write_file(path, json.dumps({**raw, "turns": kept}, ensure_ascii=False).encode("utf-8", "replace"))

    def known(self) -> set[str]:
        """File names of every context that is kept."""
        return {path.name for path in self._folder.glob("*-context.json")}


def context_turn(session_id: str, number: int, turn: Turn, content: str) -> ContextTurn:
    """A turn as a context keeps it.

    Args:
        content: Its content with secrets masked; the hash is over the content as the session has it.
    """
    return ContextTurn(session_id, number, turn.role, content, turn.timestamp, content_digest(turn.content))


def content_digest(content: str) -> str:
    """sha256 of a turn's content, hex."""
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
