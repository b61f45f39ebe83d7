"""Lists, history and status: pages that add up, in every order, and what happened, newest first."""

from __future__ import annotations

from pathlib import Path

import pytest

from alaya_core.clock import DAY_MS
from alaya_core.errors import UsageError
from alaya_core.memory import Memory
from alaya_core.models.requests import SORTS, CardChanges, Filters
from tests.conftest import NOON, Clock, OpenMemory
from tests.core.homes import session, write
from tests.core.services.conftest import Learned
from tests.core.services.test_service_ingest import take


@pytest.fixture
def shelf(memory: Memory, clock: Clock) -> dict[str, str]:
    """Five cards, each a day younger than the one before."""
    cards = {}
    for name, kind, importance, tags, scope in (
        ("delta", "fact", 0.2, ["x"], None),
        ("Alpha", "decision", 0.9, ["y"], None),
        ("charlie", "fact", 0.5, ["x", "y"], "project:p"),
        ("bravo", "event", 0.7, [], "agent:a"),
        ("echo", "gotcha", 0.1, [], None),
    ):
        cards[name] = memory.capture(
            f"content of {name}", title=name, type=kind, importance=importance, tags=tags, scope=scope, entities=[kind]
        ).card.card_id
        clock.advance(days=1)
    memory.link(cards["Alpha"], cards["delta"], relation="DEPENDS_ON")
    memory.link(cards["Alpha"], cards["charlie"])
    memory.opened(cards["bravo"], query="bravo")
    return cards


def titles(memory: Memory, sort: str = "title", **filters: object) -> list[str]:
    return [row.title for row in memory.list_cards(Filters(**filters), sort=sort).cards]  # type: ignore[arg-type]


def test_every_order(memory: Memory, shelf: dict[str, str]) -> None:
    assert titles(memory, "recent") == ["echo", "bravo", "charlie", "Alpha", "delta"]
    assert titles(memory, "title") == ["Alpha", "bravo", "charlie", "delta", "echo"]
    assert titles(memory, "importance") == ["Alpha", "bravo", "charlie", "delta", "echo"]
    assert titles(memory, "linked")[0] == "Alpha"
    assert titles(memory, "used")[0] == "bravo"
    assert titles(memory, "hottest") == titles(memory, "coldest")[::-1]
    for sort in SORTS:
        assert sorted(titles(memory, sort)) == sorted(shelf)
    with pytest.raises(UsageError):
        memory.list_cards(sort="soup")


@pytest.mark.parametrize("sort", SORTS)
def test_pages_add_up(memory: Memory, shelf: dict[str, str], sort: str) -> None:
    whole = [row.card_id for row in memory.list_cards(sort=sort).cards]
    paged = [row.card_id for at in range(0, 6, 2) for row in memory.list_cards(sort=sort, limit=2, offset=at).cards]
    assert paged == whole
    assert memory.list_cards(sort=sort, limit=0).total == 5
    assert memory.list_cards(sort=sort, offset=99).cards == []
    for wrong in ({"limit": -1}, {"offset": -1}):
        with pytest.raises(UsageError):
            memory.list_cards(sort=sort, **wrong)  # type: ignore[arg-type]


def test_every_filter(memory: Memory, shelf: dict[str, str], clock: Clock) -> None:
    assert titles(memory, type=("fact",)) == ["charlie", "delta"]
    assert titles(memory, type=("fact", "event")) == ["bravo", "charlie", "delta"]
    assert titles(memory, tag=("x",)) == ["charlie", "delta"]
    assert titles(memory, entity=("decision",)) == ["Alpha"]
    assert titles(memory, scope=("project:p", "agent:a")) == ["bravo", "charlie"]
    assert titles(memory, origin=("rules",)) == []
    assert titles(memory, standing=("working",)) == titles(memory)
    assert titles(memory, tier=("HOT",)) == titles(memory)
    assert titles(memory, tier=("COLD",)) == []
    assert titles(memory, since=NOON + DAY_MS, until=NOON + 2 * DAY_MS) == ["Alpha", "charlie"]
    assert titles(memory, session="nowhere") == []
    assert titles(memory, type=("fact",), tag=("y",)) == ["charlie"]
    assert memory.list_cards(Filters(tag=("x",)), limit=1).total == 2
    clock.advance(days=6.5)
    assert titles(memory, tier=("HOT",)) == ["bravo"], "what was used lately stays"


def test_the_owner_sees_all_and_an_agent_its_own(
    memory: Memory, shelf: dict[str, str], open_memory: OpenMemory
) -> None:
    assert titles(open_memory(agent="a")) == ["Alpha", "bravo", "delta", "echo"]
    assert titles(open_memory(agent="b")) == ["Alpha", "delta", "echo"]
    assert titles(open_memory(agent="b"), scope=("agent:a",)) == []


def test_rows_count_links_and_uses(memory: Memory, shelf: dict[str, str]) -> None:
    rows = {row.title: row for row in memory.list_cards().cards}
    links = {name: row.links for name, row in rows.items()}
    assert links == {"Alpha": 2, "delta": 1, "charlie": 1, "bravo": 0, "echo": 0}
    assert rows["bravo"].access_count == 1
    assert memory.show(shelf["bravo"]).card.access_count == 1
    assert memory.show(shelf["bravo"]).card.last_access is not None


def test_neighbours_are_shown_strongest_first_and_counted(memory: Memory) -> None:
    hub = memory.capture("hub").card.card_id
    for n in range(6):
        memory.link(hub, memory.capture(f"leaf {n}").card.card_id, weight=n / 10, relation="CAUSED_BY")
    answer = memory.show(hub, neighbours=3)
    assert [found.title for found in answer.related] == ["leaf 5", "leaf 4", "leaf 3"]
    assert [found.direction for found in answer.related] == ["out"] * 3
    assert answer.related_total == 6
    assert memory.show(answer.related[0].card_id).related[0].direction == "in"


def test_history_tells_what_happened_newest_first(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    a = memory.capture("text a", title="A").card.card_id
    b = memory.capture("text b", title="B").card.card_id
    clock.advance(hours=1)
    memory.edit(a, CardChanges(title="A2"))
    memory.link(a, b, relation="CAUSED_BY")
    memory.unlink(a, b)
    memory.forget(b)
    take(memory, write(tmp_path / "s.json", session("s1")))
    answer = memory.history()
    assert answer.total == 7
    assert [commit.seq for commit in answer.commits] == [7, 6, 5, 4, 3, 2, 1]
    assert [commit.what[0] for commit in answer.commits] == [
        "new session s1 (8 turns)",
        'forget "B" (state)',
        'unlink "A2" CAUSED_BY "B"',
        'link "A2" CAUSED_BY "B"',
        'edit "A2" (title)',
        'new card "B"',
        'new card "A"',
    ]
    assert answer.commits[-1].at == NOON
    assert answer.commits[2].at == clock.now
    assert {commit.actor for commit in answer.commits} == {"human"}
    own = memory.history(b)
    assert [commit.seq for commit in own.commits] == [6, 5, 4, 2]
    assert [commit.seq for commit in memory.history(a, limit=2).commits] == [5, 4]
    assert memory.history(a, limit=2).total == 4
    assert [commit.seq for commit in memory.history(limit=3).commits] == [7, 6, 5]
    assert memory.history(limit=0).commits == []
    assert memory.history(limit=-3).commits == []


def test_status_counts_what_is_there(learned: Learned) -> None:
    memory = learned.memory
    answer = memory.status()
    cards = 4 + len(learned.distilled)
    assert (answer.raw.sessions, answer.raw.turns, answer.raw.undistilled, answer.raw.channels) == (1, 8, 0, {"cli": 1})
    assert sum(answer.graph.by_type.values()) == answer.graph.cards == cards
    assert answer.graph.by_state == {"active": cards}
    assert answer.graph.by_relation["DEPENDS_ON"] == 1
    assert (answer.vectors.total, answer.vectors.pending, answer.vectors.passages) == (cards, 0, 8)
    assert (answer.vectors.hot, answer.vectors.warm, answer.vectors.cold) == (cards, 0, 0)
    assert answer.tiers == {"HOT": cards, "WARM": 0, "COLD": 0}
    assert sum(answer.temperature.values()) == sum(answer.standings.values()) == cards
    assert answer.ledger["commits"] == memory.last_change()
    assert answer.ledger["unindexed"] == 0
    assert answer.sends_text_to == []
    assert answer.health == []
    assert min(answer.raw.bytes, answer.graph.bytes, answer.vectors.bytes, answer.ledger["bytes"]) > 0
    memory.forget(learned.tabs)
    memory.archive(learned.docker)
    after = memory.status()
    assert after.graph.by_state == {"active": cards - 2, "forgotten": 1, "archived": 1}
    assert after.graph.cards == cards - 2
    assert after.ledger["unindexed"] == 2


def test_status_of_nothing(memory: Memory) -> None:
    answer = memory.status()
    assert (answer.raw.sessions, answer.graph.cards, answer.vectors.total) == (0, 0, 0)
    assert (answer.raw.oldest, answer.raw.newest) == (None, None)


def test_status_warns_of_another_model(learned: Learned, open_memory: OpenMemory) -> None:
    config = {"embedding": {"model": "another-model"}, "soup": {"x": 1}, "recall": {"limit": 3}}
    write(learned.memory.home / "config.json", config)
    said = " ".join(open_memory().status().health)
    assert "another-model" in said
    assert "soup" in said
    assert "recall.max_results" in said


def test_changes_made_elsewhere_are_noticed(memory: Memory, open_memory: OpenMemory) -> None:
    mark = memory.last_change()
    card = open_memory().capture("from elsewhere").card.card_id
    assert memory.last_change() > mark
    assert memory.show(card).card.content == "from elsewhere"
