"""What a person asks of what was said: by its words, by those around it, by who said it and when, by what it means."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from alaya_core.memory import Memory
from alaya_core.models.answers import PassageHit
from alaya_core.models.requests import Filters, RecallOptions
from tests.conftest import Clock, OpenMemory, counting_ids
from tests.core.homes import session, write


def on(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, 9, tzinfo=UTC).timestamp() * 1000)


MAY, JUNE, AUGUST = on(2026, 5, 8), on(2026, 6, 20), on(2026, 8, 3)
SMALL_TALK = (
    "The heating in the office is broken again, bring a warm jumper.",
    "I had noodles with mushrooms for lunch.",
    "The printer on the second floor needs a new cartridge.",
    "Our football team lost by three goals.",
    "I am reading a novel about a lighthouse keeper.",
    "The train was late, so I walked.",
)
LONG = "Nothing to see. " * 70

SESSIONS: dict[str, tuple[int, str, Sequence[tuple[str, str]]]] = {
    "ports": (
        MAY,
        "main",
        (
            ("Ana", "Good morning, the deployment is waiting for us."),
            ("Ana", "Which port does the gateway use?"),
            ("Ben", "It is 8443."),
            ("Ana", "Thanks, I will open the firewall for that."),
            ("tool", "gateway port gateway port which port does the gateway use: 1 2 3"),
        ),
    ),
    "travel": (
        JUNE,
        "main",
        (
            ("Ana", "I want to adopt a dog from the shelter."),
            ("Ben", "I want to adopt a dog from the shelter too, we should go together."),
            ("Ana", "My physician told me to avoid sugar because of my diabetes."),
            ("Ben", f"That is hard. {LONG}"),
            ("Ana", "We visited the shelter and it was lovely there, with all the dogs and the volunteers."),
            ("Ben", "We visited the shelter last Saturday in the morning, with all the dogs and the volunteers."),
        ),
    ),
    "chat": (AUGUST, "main", [(("Ana", "Ben")[number % 2], text) for number, text in enumerate(SMALL_TALK)]),
    "hidden": (
        AUGUST,
        "other",
        (
            ("Cem", "Which port does the turquoise gateway use?"),
            ("Dora", "It is 9999."),
            ("Cem", "My physician told me to avoid salt because of my blood pressure."),
        ),
    ),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("passages")
    paths = []
    for name, (start, agent, said) in SESSIONS.items():
        turns: list[dict[str, Any]] = [
            {
                "role": "tool" if who == "tool" else "user",
                "name": "" if who == "tool" else who,
                "content": text,
                "timestamp": start + number * 60_000,
            }
            for number, (who, text) in enumerate(said)
        ]
        paths.append(write(root / f"{name}.json", session(name, timestamp=start, agent=agent, turns=turns)))
    with Memory.open(root / "home", clock=Clock(), ids=counting_ids(), environ={}, create=True) as memory:
        memory.ingest(paths)
        vectors = memory.status().vectors
        assert vectors.passage_vectors == vectors.passages - 1 > 15
    return root / "home"


@pytest.fixture(scope="module")
def memory(template: Path) -> Iterator[Memory]:
    """As its owner sees it; to read only."""
    with Memory.open(template, clock=Clock(), environ={}) as opened:
        yield opened


@pytest.fixture(scope="module")
def main(template: Path) -> Iterator[Memory]:
    """As the agent `main` sees it."""
    with Memory.open(template, agent="main", clock=Clock(), environ={}) as opened:
        yield opened


def ask(memory: Memory, query: str, **options: Any) -> list[PassageHit]:
    filters = Filters(**{name: options.pop(name) for name in ("session", "scope", "since", "until") if name in options})
    chosen: dict[str, Any] = {"within": "passages", "typed": True, "limit": 10, "filters": filters}
    answer = memory.recall(query, RecallOptions(**(chosen | options)))
    assert answer.degraded == []
    return answer.passages


def places(hits: Sequence[PassageHit]) -> list[tuple[str, int]]:
    return [(hit.session_id, hit.turn) for hit in hits]


# what brings a turn


def test_an_answer_is_found_by_the_words_of_its_question(memory: Memory) -> None:
    """No word of the query stands in it."""
    for vectors in (True, False):
        found = places(ask(memory, "which port does the gateway use", session="ports", vectors=vectors))
        assert ("ports", 2) in found[:3]
    answer = next(
        hit for hit in ask(memory, "which port does the gateway use") if (hit.session_id, hit.turn) == ("ports", 2)
    )
    assert answer.text == "It is 8443."
    assert "words" not in answer.why
    assert answer.why["words_around"] > 0.9


def test_who_is_named_comes_first(memory: Memory) -> None:
    for name, turn in (("Ana", 0), ("Ben", 1)):
        found = places(ask(memory, f"Does {name} want to adopt a dog from the shelter?"))
        assert found[0] == ("travel", turn), name


def test_who_asks_when_gets_a_time(memory: Memory) -> None:
    when = places(ask(memory, "When did they visit the shelter with the volunteers?"))
    assert when[0] == ("travel", 5)
    scores = {hit.turn: hit.score for hit in ask(memory, "When did they visit the shelter with the volunteers?")}
    plain = {hit.turn: hit.score for hit in ask(memory, "Did they visit the shelter with the volunteers?")}
    assert scores[5] - scores[4] > plain[5] - plain[4]


def test_other_words_are_found_by_their_meaning(memory: Memory) -> None:
    query = "medical advice about an illness"
    assert ask(memory, query, vectors=False) == []
    found = ask(memory, query)
    assert ("travel", 2) in places(found)[:2]
    hit = next(hit for hit in found if (hit.session_id, hit.turn) == ("travel", 2))
    assert hit.why["vector"] > 0.3
    assert "words" not in hit.why


@pytest.mark.parametrize("query", ["What did Ben say on 8 May 2026?", "on 8 May", "8 May 2026"])
def test_a_turn_is_found_by_its_day(memory: Memory, query: str) -> None:
    for vectors in (True, False):
        assert places(ask(memory, query, vectors=vectors))[0][0] == "ports"


def test_what_a_tool_printed_does_not_stand_above_what_was_said(memory: Memory) -> None:
    """It holds every word of the query several times, but nobody said it."""
    found = places(ask(memory, "which port does the gateway use", session="ports"))
    assert ("ports", 4) in found
    assert found.index(("ports", 4)) > found.index(("ports", 1))


def test_each_turn_comes_once(memory: Memory) -> None:
    for query in ("nothing to see", "that is hard, nothing to see", "dog shelter", "gateway port"):
        found = places(ask(memory, query, limit=50))
        assert found
        assert len(found) == len(set(found))
    assert ("travel", 3) in places(ask(memory, "nothing to see"))


def test_the_best_come_first_and_no_more_than_wanted(memory: Memory) -> None:
    for query in ("dog shelter", "which port does the gateway use"):
        hits = ask(memory, query)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert places(ask(memory, query, limit=2)) == places(hits)[:2]
        assert ask(memory, query, limit=0) == []


def test_what_nobody_spoke_of_is_not_found(memory: Memory) -> None:
    assert ask(memory, "quarterly revenue of the shipyard in Gdansk") == []


# what may be found

EVERY_WAY = (
    "which port does the turquoise gateway use",  # its words; the answer stands beside
    "avoid salt because of my blood pressure",
    "hypertension: the doctor forbids sodium",  # its meaning
    "It is 9999",
)


@pytest.mark.parametrize("query", EVERY_WAY)
@pytest.mark.parametrize("vectors", [True, False])
def test_what_an_agent_may_not_see_is_found_in_no_way(memory: Memory, main: Memory, query: str, vectors: bool) -> None:
    seen = ask(main, query, vectors=vectors, limit=50)
    assert "hidden" not in {hit.session_id for hit in seen}
    if vectors:
        assert "hidden" in {hit.session_id for hit in ask(memory, query, limit=50)}, "its owner finds it"
    assert places(ask(main, query, vectors=vectors, scope=("agent:other",))) == []
    only = ask(memory, query, vectors=vectors, scope=("agent:main",), limit=50)
    assert "hidden" not in {hit.session_id for hit in only}


@pytest.mark.parametrize(
    "query", ["which port does the gateway use", "medical advice about an illness", "dog shelter", "8 May 2026"]
)
def test_filters_hold_for_whatever_brings_a_passage(memory: Memory, query: str) -> None:
    everything = ask(memory, query, limit=50)
    assert everything
    for name in SESSIONS:
        assert {hit.session_id for hit in ask(memory, query, session=name, limit=50)} <= {name}
    assert ask(memory, query, session="unknown") == []
    since = MAY + 2 * 60_000
    for hit in ask(memory, query, since=since, limit=50):
        assert hit.timestamp is not None
        assert hit.timestamp >= since
    for hit in ask(memory, query, until=since, limit=50):
        assert hit.timestamp is not None
        assert hit.timestamp <= since
    assert ask(memory, query, since=AUGUST + 10**9) == []


def test_an_answer_passes_a_filter_that_its_question_does_not(memory: Memory) -> None:
    """What stands beside it still says what it is about."""
    at = MAY + 2 * 60_000
    found = places(ask(memory, "dog shelter adopt together", since=JUNE + 60_000, until=JUNE + 60_000))
    assert found == [("travel", 1)]
    assert ("ports", 2) not in places(ask(memory, "which port does the gateway use", since=at + 1))


def test_a_session_that_was_erased_is_found_in_no_way(template: Path, home: Path, open_memory: OpenMemory) -> None:
    shutil.copytree(template, home)
    memory = open_memory()
    memory.erase("hidden", yes=True)
    for query in EVERY_WAY:
        assert "hidden" not in {hit.session_id for hit in ask(memory, query, limit=50)}
    assert ask(memory, "which port does the gateway use")[0].session_id == "ports"
