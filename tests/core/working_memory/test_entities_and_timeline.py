"""Pages of things, and what was true when: complete, in order, and silent about what is hidden."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alaya_core.clock import DAY_MS, local
from alaya_core.errors import NotFoundError, UsageError
from alaya_core.models.card import CardState
from alaya_core.models.commit import card_changed
from alaya_core.models.requests import CardChanges
from tests.conftest import NOON
from tests.core.working_memory.memory_cards import a_card, put

GATEWAY = (
    ("The gateway listens on port 8443.", ("Gateway", "Nginx"), 0.4),
    ("网关（Gateway）重启之前要先确认没有任务", ("网关",), 0.9),
    ("gateway needs a restart after each change", ("gateway", "Nginx"), 0.6),
    ("Nginx is written in C.", ("Nginx",), 0.5),
)


@pytest.fixture
def known(memory):
    """Cards about the gateway and what stands around it, a day apart, the oldest first."""
    cards = [
        a_card(number + 1, content=text, title=text, entities=names, importance=importance)
        for number, (text, names, importance) in enumerate(GATEWAY)
    ]
    return put(memory, *(replace(card, created_at=NOON + n * DAY_MS) for n, card in enumerate(cards)))


def test_things_by_the_number_of_their_cards(memory, known):
    answer = memory.entities()
    assert answer.total == 2
    assert [(row.name, row.cards, row.aliases) for row in answer.entities] == [
        ("Nginx", 3, []),
        ("Gateway", 3, ["gateway", "网关"]),
    ]
    assert answer.entities[0].last == NOON + 3 * DAY_MS
    assert [row.name for row in memory.entities(limit=1).entities] == ["Nginx"]


def test_a_page_by_any_of_its_names(memory, known):
    pages = [memory.entities(name).page for name in ("Gateway", "GATEWAY", " gate-way ", "网关")]
    page = pages[0]
    assert pages == [page] * 4
    assert (page.name, page.total, page.with_others) == ("Gateway", 3, {"Nginx": 2})
    assert [entry.card_id for entry in page.cards] == [known[1], known[2], known[0]]
    assert [day.day for day in page.days] == [local(NOON + n * DAY_MS, "%Y-%m-%d") for n in (2, 1, 0)]


def test_a_page_marks_what_was_replaced(memory, known):
    with memory._work.graph.reading() as reader:
        before = reader.cards([known[1]])[known[1]]
    after = replace(before, state=CardState.SUPERSEDED, successor=known[2])
    memory._work.commit("test", lambda _: [card_changed(before, after, "edit")])
    page = memory.entities("Gateway").page
    assert [(entry.card_id, entry.state) for entry in page.cards] == [
        (known[2], "active"),
        (known[0], "active"),
        (known[1], "superseded"),
    ]


def test_what_is_archived_or_forgotten_is_not_told_of(memory, known):
    memory.archive(known[3])
    memory.forget(known[2])
    assert [(row.name, row.cards) for row in memory.entities().entities] == [("Gateway", 2), ("Nginx", 1)]
    assert memory.timeline().total == 2


def test_an_unknown_name_is_told_what_is_near(memory, known):
    with pytest.raises(NotFoundError) as error:
        memory.entities("gatewey")
    assert "Gateway" in str(error.value.hint) or "gateway" in str(error.value.hint)
    with pytest.raises(NotFoundError):
        memory.entities("")


def test_an_agent_hears_nothing_of_hidden_cards(memory, known, open_memory):
    names = ("Zebrafish", "ZF", "Gateway")
    put(memory, a_card(9, content="Zebrafish (ZF) and Gateway", entities=names, scope="agent:other"))
    agent = open_memory(agent="main")
    assert [row.name for row in agent.entities().entities] == ["Nginx", "Gateway"]
    page = agent.entities("Gateway").page
    assert (page.total, page.with_others) == (3, {"Nginx": 2})
    assert agent.timeline().total == 4
    for name in ("Zebrafish", "Zebrafisch", "ZF"):
        with pytest.raises(NotFoundError) as error:
            agent.entities(name)
        assert "zebrafish" not in error.value.hint.casefold()
    assert memory.entities("ZF").page.total == 1
    assert memory.timeline().total == 5


def test_the_timeline_is_newest_first_and_bounded(memory, known):
    answer = memory.timeline(limit=3)
    entries = [entry for day in answer.days for entry in day.entries]
    assert [entry.card_id for entry in entries] == known[:0:-1]
    assert answer.total == 4
    assert [day.day for day in answer.days] == [local(NOON + n * DAY_MS, "%Y-%m-%d") for n in (3, 2, 1)]


def test_the_timeline_within_a_time(memory, known):
    answer = memory.timeline(since=NOON + DAY_MS, until=NOON + 2 * DAY_MS)
    assert [entry.card_id for day in answer.days for entry in day.entries] == [known[2], known[1]]
    assert answer.total == 2
    assert memory.timeline(since=NOON + 9 * DAY_MS).days == []


def test_cards_of_one_day_stand_together(memory):
    put(memory, *(replace(a_card(n, title=f"fact {n}"), created_at=NOON + n) for n in range(3)))
    (day,) = memory.timeline().days
    assert [entry.title for entry in day.entries] == ["fact 2", "fact 1", "fact 0"]


def test_a_limit_below_nothing_is_refused(memory):
    for ask in (memory.entities, memory.timeline):
        with pytest.raises(UsageError):
            ask(limit=-1)


def test_an_edited_card_moves_to_its_new_thing(memory, known):
    memory.edit(known[3], CardChanges(entities=("Apache",)))
    assert {row.name: row.cards for row in memory.entities().entities} == {"Gateway": 3, "Nginx": 2, "Apache": 1}
