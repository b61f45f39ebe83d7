"""Takes events out of the ledger for good: the one exception to lines never being rewritten."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from alaya_core.safe_json import load_json
from alaya_core.stores.files import replacing
from alaya_core.stores.ledger import Ledger
from alaya_core.stores.ledger_lines import encode_line

RawEvent = dict[str, Any]
Redact = Callable[[RawEvent], RawEvent | None]
"""An event as its line holds it (of any version) to what stays of it: the same, a changed one, or nothing (None)."""


def redact(ledger: Ledger, touches: Sequence[str], change: Redact) -> int:
    """Rewrites the lines whose events change; the caller holds the writer lock, and every line is sound.

    A line keeps its seq, id, time, actor and run, even where none of its events stay. A segment is replaced whole or
    not at all; done again, it changes nothing more.

    Args:
        touches: Only lines that hold one of these texts are looked into.
        change: What becomes of an event.

    Returns:
        How many lines changed.
    """
    marks = [_as_written(text) for text in touches]
    changed = 0
    for segment in ledger.segments():
        if any(after is not None for _, after in _redacted(segment, marks, change)):
            with replacing(segment) as file:
                for line, after in _redacted(segment, marks, change):
                    file.write(line if after is None else after)
                    changed += after is not None
    return changed


def count_redacted(ledger: Ledger, touches: Sequence[str], change: Redact) -> int:
    """How many lines `redact` would change."""
    marks = [_as_written(text) for text in touches]
    return sum(after is not None for segment in ledger.segments() for _, after in _redacted(segment, marks, change))


def _redacted(segment: Path, marks: Sequence[bytes], change: Redact) -> Iterator[tuple[bytes, bytes | None]]:
    """Every line of a segment, and what it becomes; None where it stays as it is."""
    with segment.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n") or not any(mark in line for mark in marks):
                yield line, None
                continue
            body = load_json(line)
            del body["crc"]
            before = body["events"]
            body["events"] = [after for event in before if (after := change(event)) is not None]
            yield line, encode_line(body) if body["events"] != before else None


def _as_written(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "replace")
