"""Repeated recalls: answered from memory for a moment, and never after anything changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges, Filters, RecallOptions
from alaya_core.services.recall.cache import MOST
from alaya_core.stores.locking import HomeLocks
from alaya_core.stores.vector_generation import VectorGeneration
from tests.conftest import Clock, OpenMemory
from tests.core.homes import found_ids, write
from tests.core.services.conftest import Learned
from tests.core.services.test_service_recall import access_lines

QUERY = "docker container memory limit"


def searched(memory: Memory, query: str = QUERY, options: RecallOptions | None = None) -> bool:
    """Whether a recall looked into the tables: one that was kept does not, it answers without them."""
    seen: list[object] = []
    read = type(memory._work.vectors).read

    class Watched(type(memory._work.vectors)):  # type: ignore[misc]
        def read(self, look: Callable[[VectorGeneration], Any]) -> Any:
            seen.append(look)
            return read(self, look)

    store = memory._work.vectors
    plain, store.__class__ = store.__class__, Watched
    try:
        memory.recall(query, options)
    finally:
        store.__class__ = plain
    return bool(seen)


def test_the_same_question_again_gets_the_same_answer_without_a_search(learned: Learned) -> None:
    memory = learned.memory
    first = memory.recall(QUERY)
    assert first.results
    assert not searched(memory)
    again = memory.recall(QUERY)
    assert again.model_dump(exclude={"took_ms"}) == first.model_dump(exclude={"took_ms"})


def test_another_question_or_other_options_are_searched(learned: Learned) -> None:
    memory = learned.memory
    memory.recall(QUERY)
    assert searched(memory, QUERY + " host")
    assert searched(memory, options=RecallOptions(limit=1))
    assert searched(memory, options=RecallOptions(filters=Filters(tag=("go",))))
    assert searched(memory, options=RecallOptions(context=True))


def test_whoever_changes_an_answer_changes_only_their_own(learned: Learned) -> None:
    for _ in range(3):
        answer = learned.memory.recall(QUERY)
        assert answer.results[0].card_id == learned.docker
        assert answer.degraded == []
        answer.results[0].tags.append("spoilt")
        answer.results.clear()
        answer.degraded.append("spoilt")
    assert "spoilt" not in learned.memory.recall(QUERY).results[0].tags


def test_a_kept_answer_is_a_use_like_any_other(learned: Learned, clock: Clock) -> None:
    memory = learned.memory
    memory.recall(QUERY)
    lines = access_lines(memory)
    memory.recall(QUERY)
    assert access_lines(memory) == lines + 1
    memory.recall(QUERY, RecallOptions(typed=True))
    memory.recall(QUERY, RecallOptions(typed=True))
    assert access_lines(memory) == lines + 1


def test_after_its_time_it_is_searched_again(learned: Learned, clock: Clock) -> None:
    memory = learned.memory
    memory.recall(QUERY)
    clock.advance(ms=19_999)
    assert not searched(memory)
    clock.advance(ms=1)
    assert searched(memory)
    clock.advance(ms=-5)
    assert searched(memory), "of a time that has not come"


def test_a_change_by_somebody_else_drops_it(learned: Learned, open_memory: OpenMemory) -> None:
    memory, other = learned.memory, open_memory()
    assert learned.docker in found_ids(memory, QUERY)
    other.edit(learned.docker, CardChanges(content="A parrot lives in the harbour.", title="Parrot"))
    answer = memory.recall(QUERY, RecallOptions(vectors=False))
    assert learned.docker not in [hit.card_id for hit in answer.results]
    assert "Parrot" in {hit.title for hit in memory.recall("parrot harbour").results}
    other.forget(learned.docker)
    assert learned.docker not in found_ids(memory, "parrot harbour")


def test_an_own_change_drops_every_answer(learned: Learned) -> None:
    memory = learned.memory
    for query in (QUERY, "gofmt tabs"):
        memory.recall(query)
    assert len(memory._work.recalled) == 2
    card = memory.capture("Docker container memory limit is 3g on db-9").card.card_id
    assert card in found_ids(memory, QUERY)
    assert len(memory._work.recalled) == 1, "what was erased must not live on here"


def test_new_tables_drop_it(learned: Learned) -> None:
    memory = learned.memory
    memory.recall(QUERY)
    memory.rebuild("l1")
    assert searched(memory)
    shutil.rmtree(memory.home / "lancedb")
    assert searched(memory)


def test_an_answer_that_lacks_something_is_not_kept(learned: Learned) -> None:
    memory = learned.memory
    with HomeLocks(memory.home / "locks", 0.1).graph_writing():
        assert memory.recall("plugins.allow 通知").degraded == ["graph busy"]
    answer = memory.recall("plugins.allow 通知")
    assert answer.degraded == []
    assert any(hit.related for hit in answer.results)


def test_agents_do_not_see_each_others(learned: Learned, open_memory: OpenMemory) -> None:
    query = "vault painted turquoise"
    assert learned.secret in found_ids(learned.memory, query)
    main = open_memory(agent="main")
    for _ in range(2):
        assert learned.secret not in found_ids(main, query)


@pytest.mark.parametrize("settings", [{"cache_ttl_s": 0}, {"cache_ttl_s": 0.001}])
def test_it_can_be_switched_off(learned: Learned, open_memory: OpenMemory, clock: Clock, settings: object) -> None:
    write(learned.memory.home / "config.json", {"recall": settings})
    memory = open_memory()
    memory.recall(QUERY)
    clock.advance(ms=1)
    assert searched(memory)


def test_only_so_many_are_kept_the_latest(learned: Learned) -> None:
    memory, words_only = learned.memory, RecallOptions(vectors=False, within="cards")
    for number in range(MOST + 3):
        memory.recall(f"docker {number}", words_only)
    assert len(memory._work.recalled) == MOST
    assert searched(memory, "docker 0", words_only)
    assert not searched(memory, f"docker {MOST + 2}", words_only)
