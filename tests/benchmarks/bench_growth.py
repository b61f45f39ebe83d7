"""How a home grows with use: days of sessions, captures, recalls, edits, links and pins, upkeep once a day, under a
clock that moves by itself. By week: where the bytes are, and how many times a home made anew from `raw/` it is."""

from __future__ import annotations

import argparse
import json
import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alaya_core.clock import DAY_MS
from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges, RecallOptions
from alaya_core.progress import silent
from alaya_core.services.upkeep import backlog, sizes
from alaya_core.stores.embedding_cache import EmbeddingCache, content_hash
from alaya_core.stores.files import folder_bytes
from tests.benchmarks.homes import TOPICS, Writer, workspace_of
from tests.benchmarks.support import keep, parser, say, table, workplace

BEGIN = 1_790_000_000_000  # 2026-09-21


@dataclass(frozen=True, slots=True)
class Day:
    """What a day brings."""

    sessions: int = 3
    turns: int = 24
    captures: int = 20
    recalls: int = 100
    edits: int = 5
    links: int = 10
    pins: int = 2


class Use:
    """Somebody who uses a home day after day.

    Args:
        folder: Where the home and the session logs lie.
    """

    def __init__(self, folder: Path, day: Day | None = None, seed: int = 41) -> None:
        self.folder = folder
        self.now = BEGIN
        self.memory = Memory.open(folder / "home", clock=lambda: self.now, environ={}, create=True)
        workspace_of(self.memory).vectors.keep_s = 0.0  # a day passes here in seconds
        self.content = 0
        self._day = day or Day()
        self._draw, self._writer = random.Random(seed), Writer(seed)
        self._captured: list[str] = []
        self._logs: dict[str, list[dict[str, Any]]] = {}

    def live(self, number: int) -> None:
        """One day."""
        day, draw = self._day, self._draw
        names = [f"log-{number:03d}-{index}" for index in range(day.sessions)]
        for _ in range(2):  # in the morning, and grown in the evening
            for name in names:
                self._grow(name, day.turns // 2)
            logs = [self.folder / f"{name}.json" for name in names]
            self.memory.ingest(logs, distill=True)
            self._pass(hours=3)
        for _ in range(day.captures):
            text = self._writer.text(draw.randrange(TOPICS), draw.randint(1, 4))
            self.content += len(text.encode())
            self._captured.append(self.memory.capture(text, tags=[f"tag{draw.randrange(30)}"]).card.card_id)
            self._pass(minutes=5)
        for _ in range(day.recalls):
            query = self._writer.query(draw.randrange(TOPICS))
            self.memory.recall(query, RecallOptions(vectors=False))
            self._pass(minutes=2)
        for card in draw.sample(self._captured, min(day.edits, len(self._captured))):
            text = self._writer.text(draw.randrange(TOPICS), 2)
            self.content += len(text.encode())
            self.memory.edit(card, CardChanges(content=text))
        for _ in range(day.links):
            a, b = draw.sample(self._captured, 2)
            self.memory.link(a, b, reason=self._writer.sentence(0, 5))
        for card in draw.sample(self._captured, day.pins):
            self.memory.pin(card)
        self.memory.cool_down()
        self.memory.upkeep()
        self.now = BEGIN + (number + 1) * DAY_MS

    def _grow(self, name: str, turns: int) -> None:
        log = self._logs.setdefault(name, [])
        for _ in range(turns):
            said = self._writer.text(self._draw.randrange(TOPICS), self._draw.randint(1, 3))
            text = f"Remember: {said}" if len(log) % 6 == 0 else said
            self.content += len(text.encode())
            role = "assistant" if len(log) % 2 else "user"
            log.append({"role": role, "content": text, "timestamp": self.now + len(log) * 1000})
        first = log[0]["timestamp"]
        value = {"id": name, "timestamp": first, "channel": "cli", "agent": "main", "turns": log}
        (self.folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")

    def _pass(self, *, hours: int = 0, minutes: int = 0) -> None:
        self.now += hours * 3_600_000 + minutes * 60_000

    def look(self) -> dict[str, Any]:
        """The home in numbers, beside one made anew from its `raw/`."""
        work = workspace_of(self.memory)
        fresh = self._made_anew()
        parts, anew = sizes(work), sizes(workspace_of(fresh))
        fresh.close()
        shutil.rmtree(self.folder / "anew")
        whole, other = sum(parts.values()), sum(anew.values())
        cards = self.memory.status().graph
        return {
            **{f"{name} KB": round(size / 1024) for name, size in parts.items()},
            **{f"anew {name} KB": round(size / 1024) for name, size in anew.items() if name != "raw"},
            "times anew": whole / other,
            "times content": whole / self.content,
            "versions": backlog(work)["table_versions"],
            "unfolded KB": round(backlog(work)["access_bytes_unfolded"] / 1024),
            "cards": sum(cards.by_state.values()),
            "ledger bytes a card": ledger_bytes_a_card(self.memory.home),
        }

    def _made_anew(self) -> Memory:
        """A home of the same `raw/`; the vectors of its cards come from this one's cache."""
        home = self.folder / "anew"
        shutil.copytree(self.memory.home / "raw", home / "raw")
        fresh = Memory.open(home, clock=lambda: self.now, environ={}, create=True)
        work = workspace_of(self.memory)
        with work.graph.reading() as reader:
            hashes = [content_hash(card.text_to_embed()) for card in reader.all_cards()]
        key = work.embedder.provider.cache_key
        old, new = (EmbeddingCache(where / "cache" / "embeddings.sqlite") for where in (self.memory.home, home))
        new.put_many(key, old.get_many(key, hashes))
        old.close()
        new.close()
        fresh.rebuild(progress=silent)
        return fresh


def ledger_bytes_a_card(home: Path) -> float:
    """What the making of a card costs in the ledger beyond its text, the bookkeeping of sessions shared out."""
    cards = spent = 0
    for segment in sorted((home / "raw/ledger").glob("*.jsonl")):
        for line in segment.read_bytes().splitlines():
            events = json.loads(line)["events"]
            made = [event["card"] for event in events if event["kind"] == "card.created"]
            if not made and not any(event["kind"].startswith("session.") for event in events):
                continue
            others = [event for event in events if event["kind"].startswith("link.")]
            texts = [card[name] for card in made for name in ("title", "overview", "content")]
            spent += len(line) - sum(len(_json(value)) for value in [*texts, *others])
            cards += len(made)
    return spent / max(1, cards)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def main() -> None:
    """Runs it."""
    args = _arguments()
    rows: list[dict[str, Any]] = []
    with workplace(args.work) as folder:
        use = Use(folder)
        for number in range(args.days):
            use.live(number)
            if (number + 1) % args.every == 0 or number + 1 == args.days:
                rows.append({"day": number + 1, **use.look()})
                say(f"day {number + 1}: {rows[-1]}")
        say(f"home {folder_bytes(use.memory.home):,} bytes")
        use.memory.close()
    heads = list(rows[0])
    table("growth", heads, [[row[head] for head in heads] for row in rows])
    keep(args.out, {"growth": rows})


def _arguments() -> argparse.Namespace:
    made = parser("bench_growth", __doc__ or "")
    made.add_argument("--days", type=int, default=30, help="days of use (default: 30)")
    made.add_argument("--every", type=int, default=7, help="days between two looks (default: 7)")
    return made.parse_args()


if __name__ == "__main__":
    main()
