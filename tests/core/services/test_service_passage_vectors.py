"""Vectors of passages: made when there is time, newest first, by one model, each once, and gone with their text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from alaya_core.clock import DAY_MS
from alaya_core.memory import Memory
from alaya_core.models.answers import PassageHit
from alaya_core.models.requests import RecallOptions
from alaya_core.progress import CancelledError, CancelToken, Progress
from alaya_core.services.passages import text_to_embed
from alaya_core.stores.passage_columns import PassageColumns
from tests.conftest import OpenMemory
from tests.core.homes import START, session, write
from tests.core.services.embedding_service import Words, vector_of

OLD = START - 200 * DAY_MS
TALK = ("Which port does the gateway use?", "It is 8443.", "The cat is called Miso.", "A lovely name.")
MORE = ("It moved to 9443 today.", "Noted, 9443.")


@pytest.fixture
def words(httpserver: HTTPServer) -> Words:
    return Words(httpserver)


Opened = Callable[..., Memory]


@pytest.fixture
def opened(home: Path, words: Words, open_memory: OpenMemory) -> Opened:
    """Opens the home with the service and settings of passages; as often as wanted."""

    def open_it(model: str = "letters", **passages: Any) -> Memory:
        open_memory().close()
        embedding = {"provider": "ollama", "base_url": words.server.url_for("/v1"), "model": model, "batch_size": 64}
        recall = {"floor": 0.0, "off": ["doubt"], "cache_ttl_s": 0}
        value = {"embedding": embedding, "passages": passages, "recall": recall, "home": {"busy_timeout_s": 2}}
        (home / "config.json").write_text(json.dumps(value))
        return open_memory()

    return open_it


def told(path: Path, identifier: str, texts: Sequence[str], start: int = START) -> Path:
    """A session whose turns say when they were said."""
    turns = [
        {"role": "user", "name": "Ana", "content": text, "timestamp": start + number * 1000}
        for number, text in enumerate(texts)
    ]
    return write(path / f"{identifier}.json", session(identifier, timestamp=start, turns=turns))


def counts(memory: Memory) -> tuple[int, int, int]:
    """Passages, those that have a vector, those that are to get one; as `status` says, and as it is."""
    vectors = memory.status().vectors
    columns = columns_of(memory)
    assert vectors.passages == columns.alive
    assert vectors.passage_vectors == int((columns.records["scale"] > 0).sum())
    return vectors.passages, vectors.passage_vectors, vectors.passages_owing


def columns_of(memory: Memory) -> PassageColumns:
    return memory._work.vectors.read(lambda living: living.spoken.columns())


def vectors_are_of(memory: Memory, model: str, length: int = 32) -> None:
    """Every vector that is stored was made by this model, of what its passage says now."""
    columns = columns_of(memory)
    rows = [int(row) for row in np.flatnonzero(columns.records["scale"] > 0)]
    texts = memory._work.vectors.read(lambda living: living.spoken.rows(rows))
    assert set(texts) == set(rows)
    for row, told in texts.items():
        exact = np.array(vector_of(model, text_to_embed(told["name"], told["text"]), length), np.float32)
        assert columns.cosines(np.array([row]), exact)[0] == pytest.approx(1, abs=0.01)


def passages(memory: Memory, query: str) -> list[PassageHit]:
    answer = memory.recall(query, RecallOptions(typed=True, within="passages"))
    return answer.passages


def by_meaning(memory: Memory, query: str) -> list[PassageHit]:
    return [hit for hit in passages(memory, query) if "vector" in hit.why]


def sent(words: Words, texts: Sequence[str] = (*TALK, *MORE)) -> Counter[str]:
    """How often each of these was embedded as a passage."""
    asked = Counter(text for _, text in words.asked)
    return Counter({text: asked[f"Ana: {text}"] for text in texts if asked[f"Ana: {text}"]})


def down(_: int) -> Response:
    return Response("no", 401)


# which, and when


def test_an_ingest_makes_the_vectors(tmp_path: Path, opened: Opened, words: Words) -> None:
    memory = opened()
    memory.ingest([told(tmp_path, "talk", TALK)])
    assert counts(memory) == (4, 4, 0)
    vectors_are_of(memory, "letters")
    assert sent(words) == Counter(TALK)
    assert by_meaning(memory, "gateway port")[0].turn == 0
    memory.ingest([told(tmp_path, "talk", TALK)])
    memory.upkeep()
    assert sent(words) == Counter(TALK), "each once"


@pytest.mark.parametrize(
    ("which", "made", "owing"), [("none", 0, 0), ("recent", 4, 0), ("all", 8, 0)], ids=["none", "recent", "all"]
)
def test_the_config_says_which_get_one(
    tmp_path: Path, opened: Opened, words: Words, which: str, made: int, owing: int
) -> None:
    memory = opened(embed=which)
    memory.ingest([told(tmp_path, "old", TALK, OLD), told(tmp_path, "new", TALK)])
    assert counts(memory) == (8, made, owing)
    memory.upkeep()
    assert counts(memory) == (8, made, owing)
    assert {hit.session_id for hit in by_meaning(memory, "gateway port")} <= (
        {"new"} if which == "recent" else {"old", "new"}
    )
    assert {hit.session_id for hit in passages(memory, "gateway port")} == {"old", "new"}, "words find all"
    if which != "all":
        again = opened(embed="recent", recent_days=1_000)
        again.upkeep()
        assert counts(again) == (8, 8, 0)


def test_an_ingest_without_time_leaves_them_to_upkeep(tmp_path: Path, opened: Opened, words: Words) -> None:
    memory = opened(embed_seconds=0)
    memory.ingest([told(tmp_path, "talk", TALK)])
    assert counts(memory) == (4, 0, 4)
    assert not sent(words)
    assert passages(memory, "gateway port")[0].turn == 0
    assert "made the vectors of 4 passages" in memory.upkeep().did
    assert counts(memory) == (4, 4, 0)
    vectors_are_of(memory, "letters")
    answer = memory.upkeep()
    assert not [said for said in (*answer.did, *answer.stays) if "passage" in said and "vector" in said]


def test_the_newest_session_comes_first(tmp_path: Path, opened: Opened, words: Words) -> None:
    memory = opened(embed_seconds=0)
    for name, days in (("middle", 5), ("new", 0), ("old", 300)):
        memory.ingest([told(tmp_path, name, [f"Said in {name}.", f"Also in {name}."], START - days * DAY_MS)])
    words.asked.clear()
    memory.embed_passages()
    order = [text for _, text in words.asked if text.startswith("Ana: ")]
    assert order == [f"Ana: {said} in {name}." for name in ("new", "middle", "old") for said in ("Said", "Also")]


def test_cut_off_it_goes_on_where_it_was(tmp_path: Path, opened: Opened, words: Words) -> None:
    memory = opened(embed_seconds=0)
    texts = [f"Turn {number} speaks of a thing." for number in range(300)]
    memory.ingest([told(tmp_path, "talk", texts)])
    token = CancelToken()

    def stop(progress: Progress) -> None:
        if progress.stage == "embed passages" and progress.done:
            token.cancel()

    with pytest.raises(CancelledError):
        memory.embed_passages(progress=stop, cancel=token)
    passages, made, owing = counts(memory)
    assert (passages, made + owing) == (300, 300)
    assert 0 < made < 300
    vectors_are_of(memory, "letters")
    answer = opened().embed_passages()
    assert (answer.made, answer.left, answer.note) == (owing, 0, "")
    assert sent(words, texts) == Counter(texts), "each once"


# who makes them


def test_without_the_service_the_words_answer(tmp_path: Path, opened: Opened, words: Words) -> None:
    memory = opened()
    memory.ingest([told(tmp_path, "first", MORE)])
    words.before = down
    memory.ingest([told(tmp_path, "talk", TALK)])
    assert counts(memory) == (6, 2, 4)
    assert passages(memory, "gateway port")[0].session_id == "talk"
    [stays] = [said for said in memory.upkeep().stays if "passages" in said]
    assert stays.startswith("4 passages without a vector (")
    words.before = lambda _: None
    memory.upkeep()
    assert counts(memory) == (6, 6, 0)
    vectors_are_of(memory, "letters")


def test_a_service_that_is_down_from_the_first(tmp_path: Path, opened: Opened, words: Words) -> None:
    """Nobody knows how long a vector is; there are no cards that would wait for it either."""
    words.before = down
    memory = opened()
    memory.ingest([told(tmp_path, "talk", TALK)])
    assert counts(memory) == (4, 0, 4)
    assert passages(memory, "gateway port")[0].turn == 0
    [stays] = [said for said in memory.upkeep().stays if "passages" in said]
    assert stays.startswith("4 passages without a vector (")
    words.before = lambda _: None
    assert "made the vectors of 4 passages" in memory.upkeep().did
    assert counts(memory) == (4, 4, 0)
    vectors_are_of(memory, "letters")


def test_a_service_that_answers_with_other_lengths_is_not_believed(
    tmp_path: Path, opened: Opened, words: Words
) -> None:
    memory = opened(embed_seconds=0)
    memory.ingest([told(tmp_path, "talk", TALK)])
    words.lengths["letters"] = 16
    answer = memory.embed_passages()
    assert (answer.made, answer.left) == (0, 4)
    assert answer.note
    assert counts(memory) == (4, 0, 4)


def test_a_rebuild_carries_them(tmp_path: Path, opened: Opened, words: Words) -> None:
    memory = opened()
    memory.ingest([told(tmp_path, "talk", TALK), told(tmp_path, "other", MORE)])
    before = {hit.text: hit.why["vector"] for hit in by_meaning(memory, "gateway port")}
    words.asked.clear()
    memory.rebuild("l1")
    assert counts(memory) == (6, 6, 0)
    vectors_are_of(memory, "letters")
    memory.upkeep()
    assert not sent(words)
    assert {hit.text: hit.why["vector"] for hit in by_meaning(memory, "gateway port")} == pytest.approx(
        before, abs=0.01
    )


def test_another_model_never_mixes(tmp_path: Path, opened: Opened, words: Words) -> None:
    opened().ingest([told(tmp_path, "talk", TALK)])
    memory = opened("sounds")
    assert by_meaning(memory, "gateway port"), "the old ones answer until then"
    assert memory.reembed().done
    assert counts(memory) == (4, 0, 4)
    assert passages(memory, "gateway port")[0].turn == 0
    assert not by_meaning(memory, "gateway port")
    assert "made the vectors of 4 passages" in memory.upkeep().did
    assert counts(memory) == (4, 4, 0)
    vectors_are_of(memory, "sounds")
    assert by_meaning(memory, "gateway port")[0].turn == 0


def test_until_the_change_new_passages_get_vectors_of_the_old_model(
    tmp_path: Path, opened: Opened, words: Words
) -> None:
    opened().ingest([told(tmp_path, "talk", TALK)])
    memory = opened("sounds")
    memory.ingest([told(tmp_path, "other", MORE)])
    vectors_are_of(memory, "letters")
    assert {model for model, text in words.asked if text.startswith("Ana: ")} == {"letters"}


# what comes and goes


def test_a_grown_session_gets_those_of_its_new_turns(tmp_path: Path, opened: Opened, words: Words) -> None:
    memory = opened()
    memory.ingest([told(tmp_path, "talk", TALK), told(tmp_path, "between", ["Something else."])])
    memory.ingest([told(tmp_path, "talk", (*TALK, *MORE))])
    assert sent(words) == Counter((*TALK, *MORE)), "each once"
    assert counts(memory) == (7, 7, 0)
    vectors_are_of(memory, "letters")


def test_what_is_erased_leaves_no_vector(tmp_path: Path, opened: Opened, words: Words) -> None:
    memory = opened()
    memory.ingest([told(tmp_path, "talk", TALK), told(tmp_path, "other", MORE)])
    columns = columns_of(memory)
    traces = {columns.key(row): columns.vectors[row].tobytes() for row in range(len(columns))}
    words.asked.clear()
    memory.erase("talk", turn=2, yes=True)
    vectors_are_of(memory, "letters")
    assert int((columns_of(memory).records["scale"] > 0).sum()) == 5
    assert not found_in(memory.home, traces["talk", 2, 0])
    assert found_in(memory.home, traces["talk", 1, 0])
    memory.erase("talk", yes=True)
    vectors_are_of(memory, "letters")
    columns = columns_of(memory)
    assert {columns.key(int(row))[0] for row in np.flatnonzero(columns.records["scale"] > 0)} == {"other"}
    assert not [key for key, trace in traces.items() if key[0] == "talk" and found_in(memory.home, trace)]
    memory.upkeep()
    assert counts(memory) == (2, 2, 0)
    assert not sent(words)


def found_in(home: Path, trace: bytes) -> bool:
    return any(trace in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_an_undone_ingest_leaves_none(tmp_path: Path, opened: Opened, words: Words) -> None:
    memory = opened()
    memory.ingest([told(tmp_path, "other", MORE)])
    memory.ingest([told(tmp_path, "talk", TALK)])
    columns = columns_of(memory)
    traces = [columns.vectors[row].tobytes() for row in range(len(columns)) if columns.key(row)[0] == "talk"]
    memory.undo()
    assert not [hit for hit in passages(memory, "gateway port") if hit.session_id == "talk"]
    assert counts(memory) == (2, 2, 0)
    assert len(traces) == 4
    assert not any(found_in(memory.home / "lancedb", trace) for trace in traces)
    memory.redo()
    memory.upkeep()
    assert counts(memory) == (6, 6, 0)


def test_another_reader_sees_them_at_once(tmp_path: Path, opened: Opened, open_memory: OpenMemory) -> None:
    memory = opened(embed_seconds=0)
    memory.ingest([told(tmp_path, "talk", TALK)])
    reader = open_memory()
    assert passages(reader, "gateway port")
    assert not by_meaning(reader, "gateway port")
    memory.embed_passages()
    assert by_meaning(reader, "gateway port")[0].turn == 0
    memory.ingest([told(tmp_path, "other", MORE)])
    memory.embed_passages()
    assert {hit.session_id for hit in by_meaning(reader, "9443 moved")} >= {"other"}


# how many at most


def test_beyond_the_limit_a_session_is_counted_not_indexed(tmp_path: Path, opened: Opened) -> None:
    memory = opened(limit=5)
    for name in ("a", "b", "c", "d"):
        memory.ingest([told(tmp_path, name, [f"{text} ({name})" for text in TALK])])
    assert counts(memory) == (8, 8, 0), "the one that goes over it is whole"
    assert {hit.session_id for hit in passages(memory, "gateway port")} == {"a", "b"}
    assert memory.status().raw.sessions == 4
    said = "2 sessions are not searched, or not to the end: there are 5 passages (`passages.limit`)"
    assert memory.rebuild("l1").warnings == [said]
    assert counts(memory)[0] == 8
    assert memory.verify().ok
    memory.ingest([told(tmp_path, "d", [*(f"{text} (d)" for text in TALK), *MORE])])
    assert counts(memory)[0] == 8
    roomier = opened(limit=9)
    roomier.ingest([told(tmp_path, "c", [*(f"{text} (c)" for text in TALK), *MORE])])
    assert counts(roomier)[0] == 14, "all of it, not its new turns alone"
    roomier.rebuild("l1")
    everything = opened()
    assert everything.rebuild("l1").warnings == []
    assert counts(everything)[0] == 4 + 4 + 6 + 6


def test_a_limit_of_nothing(tmp_path: Path, opened: Opened) -> None:
    memory = opened(limit=0)
    memory.ingest([told(tmp_path, "talk", TALK)])
    assert counts(memory) == (0, 0, 0)
    assert passages(memory, "gateway port") == []
    assert memory.status().raw.turns == 4
