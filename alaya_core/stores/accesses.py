"""What was recalled, by whom and when: one appended line a recall, folded into vitals now and then."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alaya_core.clock import month_of
from alaya_core.errors import AlayaError
from alaya_core.models.card import Vitals
from alaya_core.safe_json import load_json
from alaya_core.stores.files import append_bytes, replacing, translated

_LINE_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class AccessLine:
    """One recall (or opening) of some cards.

    Attributes:
        at: ms, UTC.
        agent: Who asked; empty = the owner.
        kind: How: `recall`, `open` or `auto`.
        cards: Card id and its similarity in that recall.
    """

    at: int
    agent: str
    kind: str
    cards: tuple[tuple[str, float], ...]


class AccessLog:
    """Appends accesses and reads what is not folded yet.

    Args:
        folder: `raw/accesses` of a home.
        folds: `raw/vitals.jsonl`.
    """

    def __init__(self, folder: Path, folds: Path) -> None:
        self._folder = folder
        self._folds = folds

    def append(self, access: AccessLine) -> None:
        """Logs one access with one append; on a home that cannot be written it does nothing."""
        if not self._folder.parent.is_dir():  # the home is gone
            return
        cards = [[card_id, round(similarity, 3)] for card_id, similarity in access.cards]
        while cards:
            raw = {"at": access.at, "agent": access.agent[:200], "kind": access.kind, "cards": cards}
            line = json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
            if len(line) <= _LINE_BYTES:
                break
            cards = cards[: len(cards) * 2 // 3]
        else:
            return
        try:
            append_bytes(self._folder / f"{month_of(access.at)}.jsonl", line, durable=False)
        except (OSError, AlayaError):
            return

    def folded(self) -> tuple[dict[str, Vitals], dict[str, int]]:
        """Vitals as last folded, and how many bytes of each log they hold.

        A file that is not what `write_fold` wrote counts for nothing: all is in the logs, and is folded again.
        """
        vitals: dict[str, Vitals] = {}
        marks: dict[str, int] = {}
        try:
            for raw in _lines(self._folds, 0):
                if "marks" in raw:
                    marks = dict(raw["marks"])
                else:
                    vitals[raw["id"]] = Vitals(raw["n"], raw["last"], raw["first"], tuple(raw.get("sim", ())))
        except (KeyError, TypeError, ValueError):
            return {}, {}
        return vitals, marks

    def unfolded(self, marks: Mapping[str, int]) -> Iterator[tuple[str, int, AccessLine]]:
        """Yields accesses behind the marks, oldest first: log name, offset behind the line, access.

        A line that cannot be read (a torn one) is passed over: an access is a hint, not a memory.
        """
        for path in sorted(self._folder.glob("*.jsonl")):
            offset = marks.get(path.name, 0)
            for raw, end in _lines_with_ends(path, offset):
                try:
                    cards = tuple((str(card), float(similarity)) for card, similarity in raw["cards"])
                    yield path.name, end, AccessLine(int(raw["at"]), str(raw["agent"]), str(raw["kind"]), cards)
                except (KeyError, TypeError, ValueError):
                    continue

    def write_fold(self, vitals: Mapping[str, Vitals], marks: Mapping[str, int]) -> None:
        """Replaces the folded vitals; the caller holds the writer lock."""
        with replacing(self._folds) as file:
            file.write(_dump({"marks": dict(marks)}))
            for card_id, vital in vitals.items():
                raw: dict[str, Any] = {
                    "id": card_id,
                    "n": vital.access_count,
                    "last": vital.last_access,
                    "first": vital.first_access,
                }
                if vital.similarities:
                    raw["sim"] = list(vital.similarities)
                file.write(_dump(raw))

    def forget(self, ids: Collection[str]) -> None:
        """Takes cards out of the logs and the fold, so that no byte of their ids stays; the caller holds the writer
        lock.

        A log keeps its length, blanks in place of what goes: the marks of the fold still fit, and what others append
        meanwhile is safe.
        """
        marks = [json.dumps(card_id, ensure_ascii=False).encode("utf-8", "replace") for card_id in ids]
        for path in sorted(self._folder.glob("*.jsonl")):
            with translated(path), path.open("r+b") as file:
                offset = 0
                for line in iter(file.readline, b""):
                    if any(mark in line for mark in marks):
                        file.seek(offset)
                        file.write(_without(line, ids))
                    offset += len(line)
                    file.seek(offset)
                file.flush()
                os.fsync(file.fileno())
        folds = self._folds.read_bytes().splitlines(keepends=True) if self._folds.exists() else []
        kept = [line for line in folds if not any(mark in line for mark in marks)]
        if len(kept) < len(folds):
            with replacing(self._folds) as file:
                file.writelines(kept)

    def unfolded_bytes(self) -> int:
        """How much of the logs is in no fold yet; reads one line of the fold."""
        marks: dict[str, Any] = next((dict(raw.get("marks", {})) for raw in _lines(self._folds, 0)), {})
        sizes = {path.name: path.stat().st_size for path in self._folder.glob("*.jsonl")}
        return sum(max(0, size - int(marks.get(name, 0))) for name, size in sizes.items())

    def bytes(self) -> int:
        """Size of the logs."""
        return sum(path.stat().st_size for path in self._folder.glob("*.jsonl"))

    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """Changes whenever an access was logged or folded."""
        paths = [*sorted(self._folder.glob("*.jsonl")), self._folds]
        stats = [(path.name, path.stat()) for path in paths if path.exists()]
        return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)

    def fold_stamp(self) -> int:
        """Changes whenever accesses were folded; 0 before the first time."""
        return self._folds.stat().st_mtime_ns if self._folds.exists() else 0


def _dump(raw: Any) -> bytes:
    return json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _without(line: bytes, ids: Collection[str]) -> bytes:
    """A line of the same length without some cards; blank where no other card is on it."""
    end = b"\n" if line.endswith(b"\n") else b""
    room = len(line) - len(end)
    try:
        raw = load_json(line)
        raw["cards"] = [pair for pair in raw["cards"] if pair[0] not in ids]
        rest = _dump(raw)[:-1] if raw["cards"] else b""
    except (ValueError, KeyError, TypeError, IndexError):
        rest = b""
    return (rest if len(rest) <= room else b"").ljust(room) + end


def _lines(path: Path, offset: int) -> Iterator[dict[str, Any]]:
    for raw, _ in _lines_with_ends(path, offset):
        yield raw


def _lines_with_ends(path: Path, offset: int) -> Iterator[tuple[dict[str, Any], int]]:
    try:
        file = path.open("rb")
    except OSError:
        return
    with file:
        file.seek(offset)
        for line in file:
            offset += len(line)
            if not line.endswith(b"\n"):
                return
            try:
                raw = load_json(line)
            except ValueError:
                continue
            if isinstance(raw, dict):
                yield raw, offset
