"""One card linked to hundreds of others: it floods no answer, and nothing is reached through what is hidden."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from alaya_core.models.answers import RecallHit
from alaya_core.models.commit import card_created, link_created
from alaya_core.models.requests import RecallOptions
from tests.conftest import Clock, OpenMemory, counting_ids
from tests.core.homes import write
from tests.core.stores.test_store_graph import card, link

LEAVES = 500
HUB, FIRST = 0, 1
WORDS_ONLY = RecallOptions(vectors=False, within="cards")


@pytest.fixture(scope="module")
def hub_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hub, 500 leaves linked to it, and for each of the first ten leaves a card of its own."""
    home = tmp_path_factory.mktemp("hubs") / "home"
    with Memory.open(home, clock=Clock(), ids=counting_ids(), environ={}, create=True) as memory:
        hub = card(HUB, title="Lighthouse overview", content="All about the lighthouse of the northern harbour.")
        leaves = [
            card(n, title=f"{what} {n}", content=f"The {what} number {n} was seen at pier {n}.")
            for n in range(FIRST, LEAVES + 1)
            for what in (["Penguin"] if n <= 10 else ["Walrus"])
        ]
        own = [card(1000 + n, title=f"Ostrich {n}", content=f"Ostrich {n} sleeps in box {n}.") for n in range(1, 11)]
        links = [link(HUB, n, weight=0.5 + n / 2000) for n in range(FIRST, LEAVES + 1)]
        links += [link(n, 1000 + n, weight=0.3) for n in range(1, 11)]
        events = [*map(card_created, [hub, *leaves, *own]), *map(link_created, links)]
        memory._work.commit("test", lambda _: events)
        memory.rebuild("l1")
    return home


@pytest.fixture(scope="module", params=[1, 2], ids=["one hop", "two hops"])
def hubs(hub_home: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    write(hub_home / "config.json", {"recall": {"graph_expand_depth": request.param, "related": 3}})
    with Memory.open(hub_home, clock=Clock(), environ={}) as memory:
        yield memory


def near(hit: RecallHit) -> list[str]:
    return [found.card_id for found in hit.related]


def test_hits_around_a_hub_do_not_all_show_it(hubs: Memory) -> None:
    """Ten leaves are found; each shows its own neighbour first, and the hub stands once in the whole answer."""
    for _ in range(5):  # read from the graph, then from memory
        hits = hubs.recall("penguin", WORDS_ONLY).results
        leaves = [hit for hit in hits if int(hit.card_id[5:], 16) in range(1, 11)]
        assert len(leaves) >= 5
        for hit in leaves:
            assert near(hit)[0] == card(1000 + int(hit.card_id[5:], 16)).id
        assert sum(near(hit).count(card(HUB).id) for hit in hits) == 1
        assert all(len(hit.related) <= 3 for hit in hits)


def test_a_hit_that_is_the_hub_shows_its_strongest_few(hubs: Memory) -> None:
    for _ in range(5):
        [hit] = hubs.recall("lighthouse overview northern harbour", WORDS_ONLY).results
        assert near(hit) == [card(n).id for n in (LEAVES, LEAVES - 1, LEAVES - 2)]
    shown = hubs.show(card(HUB).id, neighbours=4)
    assert (len(shown.related), shown.related_total) == (4, LEAVES)


def test_a_hub_costs_little_time(hubs: Memory) -> None:
    """Far below what anybody would wait for, whatever else this machine does."""
    hubs.recall("lighthouse overview", WORDS_ONLY)
    started = time.perf_counter()
    for _ in range(3):
        hubs.recall("lighthouse overview of the harbour", WORDS_ONLY)
    assert time.perf_counter() - started < 3


def test_two_hops_show_the_neighbours_of_neighbours(open_memory: OpenMemory, home: Path) -> None:
    open_memory()
    write(home / "config.json", {"recall": {"graph_expand_depth": 2, "related": 5}})
    memory = open_memory()
    found = memory.capture("The xylophone is stored in room 42.", title="Xylophone").card.card_id
    middle = memory.capture("Keys hang at the porter's desk.", title="Keys").card.card_id
    far = memory.capture("Fridays are for cake.", title="Cake").card.card_id
    memory.link(found, middle, relation="DEPENDS_ON", weight=0.8, reason="to get in")
    memory.link(far, middle, relation="CAUSED_BY", weight=0.5, reason="he likes it")
    for _ in range(5):
        [hit] = memory.recall("xylophone room", WORDS_ONLY).results
        assert near(hit) == [middle, far]
        first, second = hit.related
        assert (first.relation, first.direction, first.score) == ("DEPENDS_ON", "out", 0.8)
        assert (second.title, second.relation, second.direction) == ("Cake", "DEPENDS_ON > CAUSED_BY", "both")
        assert second.score < first.score / 2
    memory.link(found, far, weight=0.1)
    [hit] = memory.recall("where is the xylophone", WORDS_ONLY).results
    assert [(each.card_id, each.relation) for each in hit.related] == [(middle, "DEPENDS_ON"), (far, "RELATES_TO")]
    memory.forget(middle)
    memory.unlink(found, far)
    [hit] = memory.recall("xylophone room 42", WORDS_ONLY).results
    assert hit.related == [], "a forgotten card connects nothing"


def test_a_hidden_card_connects_nothing(open_memory: OpenMemory, home: Path) -> None:
    open_memory()
    write(home / "config.json", {"recall": {"graph_expand_depth": 2}})
    memory = open_memory()
    found = memory.capture("The xylophone is stored in room 42.").card.card_id
    middle = memory.capture("Nobody else may know.", scope="agent:other").card.card_id
    far = memory.capture("Fridays are for cake.").card.card_id
    memory.link(found, middle, weight=1.0)
    memory.link(middle, far, weight=1.0)
    for agent, expected in ((None, [middle, far]), ("other", [middle, far]), ("main", [])):
        with Memory.open(home, agent=agent, clock=Clock(), environ={}) as asking:
            for _ in range(5):
                [hit] = asking.recall("xylophone room", WORDS_ONLY).results
                assert near(hit) == expected, agent


def test_neighbours_can_be_switched_off(open_memory: OpenMemory, home: Path) -> None:
    memory = open_memory()
    one, other = (memory.capture(text).card.card_id for text in ("The xylophone is in room 42.", "Cake on Fridays."))
    memory.link(one, other)
    for own in ({"graph_expand_depth": 0}, {"off": ["neighbours"]}):
        write(home / "config.json", {"recall": own})
        [hit] = open_memory().recall("xylophone", WORDS_ONLY).results
        assert hit.related == []
