"""One home for all tests of the command line: filling it costs seconds, and most tests only read it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from alaya_core.samples import sample_root

HOSTILE = "\x1b]52;c;QUFB\x07 \x1b[31m \x9b2J [/red] \u202eevil mark-ZEBRA"


@dataclass(frozen=True, slots=True)
class Filled:
    """A home with sample sessions, cards that were distilled from them, and three written by hand.

    Attributes:
        plain: An ordinary card.
        other: Another one.
        hostile: A card whose title, text, tags and entities are made of terminal escapes.
        distilled: A card that came from a session.
    """

    path: Path
    plain: str
    other: str
    hostile: str
    distilled: str


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """The home that tests may read; whoever changes it undoes the change."""
    path = tmp_path_factory.mktemp("cli") / "home"
    Memory.init(path)
    with Memory.open(path) as memory:
        report = memory.ingest([sample_root()], distill=True)
        assert report.distilled is not None
        made = [card.card_id for outcome in report.distilled.sessions for card in outcome.cards]
        plain = memory.capture("Set plugins.allow before restarting the Gateway", title="plugins.allow first")
        other = memory.capture("Docker needs --memory, or the kernel kills it", title="Docker memory limit")
        hostile = memory.capture(HOSTILE, title=HOSTILE, tags=(HOSTILE,), entities=(HOSTILE,))
        ids = [answer.card.card_id for answer in (plain, other, hostile)]
        memory.link(ids[0], ids[2], relation="DEPENDS_ON", reason=HOSTILE)
    return Filled(path, ids[0], ids[1], ids[2], made[0])
