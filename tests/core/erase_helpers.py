"""Looks for bytes in a home without the code under test, and plants what is to be erased."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges, Filters
from tests.core.homes import ledger_lines

TITLE = "鲸落甲乙丙丁 zqxtitle"
FIRST = "The first wording said zqxfirst quagga " + "and went on for a long while " * 12
SECOND = "第二版写着 霁月清风 zqxsecond，" + "也写了很久很久 " * 30
OVERVIEW = "zqxoverview in a line"
TAG, ENTITY, REASON = "zqxtag", "Zqxentity", "because zqxreason binds them"
MARKS = (
    "鲸落甲乙丙丁", "zqxtitle", "zqxfirst", "霁月清风", "zqxsecond", "zqxoverview", "zqxtag", "zqxentity", "zqxreason",
)  # fmt: skip


def holding(home: Path, *marks: str) -> dict[str, list[str]]:
    """Per mark: the files of a home that hold it, in their bytes, unpacked, or escaped as JSON."""
    found: dict[str, list[str]] = {}
    for path in sorted(home.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        whole = data + b"\n" + _unpacked(data)
        folded = whole.lower()
        for mark in marks:
            forms = {mark.encode(), json.dumps(mark)[1:-1].encode(), mark.encode("utf-16-le"), mark.lower().encode()}
            if any(form in whole or form in folded for form in forms):
                found.setdefault(mark, []).append(path.relative_to(home).as_posix())
    return found


def _unpacked(data: bytes) -> bytes:
    if data[:4] != b"\x28\xb5\x2f\xfd":
        return b""
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)) as reader:
        return reader.read()


def planted(memory: Memory, other: str) -> str:
    """A card with a past: edited, linked, recalled; returns its id."""
    made = memory.capture(FIRST, title=TITLE, tags=(TAG,), entities=(ENTITY,)).card.card_id
    memory.edit(made, CardChanges(content=SECOND, overview=OVERVIEW))
    memory.link(made, other, relation="DEPENDS_ON", reason=REASON)
    memory.archive(made)
    memory.restore(made)
    for _ in range(2):
        assert memory.recall(f"{TITLE} 第二版写着 霁月清风 zqxsecond").results
    return made


@dataclass(frozen=True)
class Seen:
    """All that can be seen of some cards, and where the ledger stands."""

    cards: str
    sessions: str

    @classmethod
    def of(cls, memory: Memory, *, but: Iterable[str] = (), sessions_but: Iterable[str] = ()) -> Seen:
        rows = memory.list_cards(Filters(archived=True), limit=1000, sort="title").cards
        kept = [row.card_id for row in rows if row.card_id not in but]
        seen: list[Any] = []
        for card in kept:
            shown = memory.show(card, neighbours=100).model_dump(mode="json")
            shown["related"] = [near for near in shown["related"] if near["card_id"] not in but]
            del shown["related_total"]
            seen += [shown, memory.trace(card).model_dump(mode="json")]
        with memory._work.graph.reading() as reader:
            infos = [str(info) for info in reader.sessions() if info.id not in sessions_but]
        return cls(json.dumps(seen, sort_keys=True, ensure_ascii=False), "\n".join(infos))


def assert_whole(memory: Memory) -> None:
    """The ledger counts on without a gap, nothing is under way, and `verify` finds nothing."""
    assert [line["seq"] for line in ledger_lines(memory.home)] == list(range(1, memory._work.ledger.last_seq() + 1))
    assert not (memory.home / "raw/erasing.json").exists()
    answer = memory.verify()
    assert answer.ok, answer.findings
    for folder in ("kuzu", "lancedb"):
        assert len([path for path in (memory.home / folder).glob("gen-*") if path.name.count(".") < 2]) <= 1


def digest_of(home: Path) -> dict[str, str]:
    """sha256 of every file of a home."""
    return {
        path.relative_to(home).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file()
    }
