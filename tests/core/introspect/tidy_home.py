"""A memory with something to do in every phase."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from alaya_core.memory import Memory
from tests.conftest import Clock
from tests.core.homes import session, write

SAME = ("The staging database runs on host db-7.", "The staging  database runs on host db-7.")
OLD = (
    "The old printer on the third floor had a jammed tray.",
    "A lunch place near the station closed early that Friday.",
    "Somebody lost a blue umbrella after the quarterly meeting.",
)
NEW_TALK = (
    "Please remember: the gateway listens on port 8443 since the move.",
    "Noted, port 8443.",
    "I prefer short commit messages in the imperative mood.",
    "Understood.",
)


def untidy(memory: Memory, clock: Clock, folder: Path, old: int = len(OLD)) -> None:
    """Fills a memory: trifles that nobody used for a year, duplicates, and a session that is not distilled yet."""
    for number in range(old):
        text = OLD[number] if number < len(OLD) else f"Some passing remark number {number} about nothing in particular."
        memory.capture(text, type="event", importance=0.1, confidence=0.2)
    clock.advance(days=400)
    for text in SAME:
        memory.capture(text, title=text.strip(), entities=["db-7"])
    memory.capture("Deployments happen through the blue pipeline.", type="decision", importance=0.9)
    memory.ingest([write(folder / "talk.json", session("talk-1", NEW_TALK))])
    memory.upkeep()


def look(memory: Memory) -> list[str]:
    """Cards and links, whatever ids and revisions they got."""
    with memory._work.graph.reading() as reader:
        cards = reader.all_cards()
        links = reader.all_links()
    names = {card.id: f"{card.title}|{card.state}|{card.added_at}" for card in cards}
    told = [
        repr(
            replace(
                card,
                id="",
                rev=0,
                updated_at=0,
                successor=names.get(card.successor, ""),
                merged_from=tuple(sorted(names.get(key, key) for key in card.merged_from)),
            )
        )
        for card in cards
    ]
    told += [f"{names[link.from_id]} {link.relation} {names[link.to_id]} {link.weight:.4f}" for link in links]
    return sorted(told)
