"""Another embedding model: the old vectors answer until the new ones are all there, and never both at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from alaya_core.errors import ConfigError, ProviderError
from alaya_core.memory import Memory
from alaya_core.models.answers import RecallAnswer, ReembedAnswer
from alaya_core.models.requests import RecallOptions
from alaya_core.progress import CancelledError, CancelToken, Progress
from alaya_core.services.embedding_choice import recorded
from alaya_core.services.index import rebuild_vectors
from tests.conftest import OpenMemory
from tests.core.services.conftest import Learned
from tests.core.services.embedding_service import Words, vector_of

BUNDLED = "use-multilingual-v3"


@pytest.fixture
def words(httpserver: HTTPServer) -> Words:
    return Words(httpserver)


def ask(memory: Memory, query: str = "docker container memory") -> RecallAnswer:
    return memory.recall(query, RecallOptions(typed=True, within="cards"))


def cosines(answer: RecallAnswer) -> list[float]:
    """Of the hits that the vectors found too."""
    return [hit.why["vector"] for hit in answer.results if "vector" in hit.why]


def holds_vectors_of(memory: Memory, model: str, length: int) -> None:
    """Every vector that is stored was made by this model, of the card's text as it is now."""
    store = memory._work.vectors
    assert (store.mark().model, store.mark().dimensions, store.mark().pending) == (model, length, 0)
    vectors = store.vectors()
    with memory._work.graph.reading() as reader:
        cards = reader.cards(vectors)
    assert vectors
    for card_id, vector in vectors.items():
        np.testing.assert_allclose(vector, vector_of(model, cards[card_id].text_to_embed(), length), atol=1e-5)
    for card_id, vector in store.matrix().vectors_of(list(vectors)).items():
        np.testing.assert_allclose(vector, vectors[card_id], atol=1e-6)


def down(_: int) -> Response:
    return Response("no", 401)


def test_the_old_vectors_answer_until_the_switch(learned: Learned, open_memory: OpenMemory, words: Words) -> None:
    usual = cosines(ask(learned.memory))
    assert usual
    words.configure(learned.memory.home, "letters")
    memory = open_memory()
    answer = ask(memory)
    said = f"vectors are of {BUNDLED} (512 numbers), but letters is configured: run `alaya reembed`"
    assert cosines(answer) == usual
    assert answer.degraded == [said]
    assert said in memory.status().health
    added = memory.capture("A container that needs more memory than docker gives is killed.").card.card_id
    assert added in [hit.card_id for hit in ask(memory).results]
    assert memory._work.vectors.vectors()[added].shape == (512,)
    assert words.requests == 0, "nobody was sent anything"
    answer_of = memory.reembed()
    assert (answer_of.done, answer_of.from_model, answer_of.to_model) == (True, BUNDLED, "letters")
    assert (answer_of.from_dimensions, answer_of.to_dimensions) == (512, 32)
    holds_vectors_of(memory, "letters", 32)
    after = ask(open_memory())
    assert after.degraded == []
    assert after.results[0].card_id in (learned.docker, added)
    assert cosines(after) != usual
    assert memory.verify().ok
    assert memory.reembed().note == "the vectors are of letters already"


def test_it_says_beforehand_what_it_takes(learned: Learned, open_memory: OpenMemory, words: Words) -> None:
    words.configure(learned.memory.home, "letters", price_per_million_tokens=20_000)
    memory = open_memory()
    before = memory._work.vectors.path
    answer = memory.reembed(dry_run=True)
    texts = len(memory.list_cards().cards)
    assert (answer.done, answer.texts, answer.cached) == (False, texts, 0)
    assert answer.requests == -(-texts // 2)
    assert answer.host is None, "it is on this machine"
    assert answer.tokens > texts
    assert answer.price == pytest.approx(answer.tokens * 0.02)
    assert answer.seconds is None, "nobody was asked how long it takes"
    assert words.requests == 0, "not a word was sent to anybody"
    assert memory._work.vectors.path == before
    told: list[ReembedAnswer] = []

    def beforehand(takes: ReembedAnswer) -> None:
        told.append(takes.model_copy())
        assert {text for _, text in words.asked} == {"alaya"}

    memory.reembed(beforehand=beforehand)
    [takes] = told
    assert (takes.done, takes.requests, takes.tokens, takes.to_dimensions) == (
        False,
        answer.requests,
        answer.tokens,
        32,
    )
    asked = words.requests
    answer = open_memory().reembed(dry_run=True)
    assert (answer.cached, answer.requests, answer.tokens, answer.seconds) == (texts, 0, 0, 0.0)
    assert answer.to_dimensions == 32
    assert words.requests == asked


def test_what_stays_on_this_machine_is_measured_beforehand(
    learned: Learned, open_memory: OpenMemory, words: Words
) -> None:
    words.configure(learned.memory.home, "letters")
    open_memory().reembed()
    (learned.memory.home / "config.json").write_text("{}")
    shutil.rmtree(learned.memory.home / "cache")
    answer = open_memory().reembed(dry_run=True)
    assert (answer.host, answer.done) == (None, False)
    assert answer.seconds is not None


def test_a_service_that_gives_another_length_now_is_a_reembed_like_any_other(
    learned: Learned, open_memory: OpenMemory, words: Words
) -> None:
    home = learned.memory.home
    words.lengths["letters"] = 63
    words.configure(home, "letters")
    open_memory().reembed()
    words.lengths["letters"] = 64
    answer = ask(open_memory())
    assert any("64 numbers, the stored vectors have 63 (alaya reembed)" in said for said in answer.degraded)
    told: list[ReembedAnswer] = []
    memory = open_memory()
    done = memory.reembed(beforehand=lambda takes: told.append(takes.model_copy()))
    assert (done.done, done.from_dimensions, done.to_dimensions, done.note) == (True, 63, 64, "")
    assert (told[0].cached, told[0].to_dimensions) == (0, 64)
    holds_vectors_of(memory, "letters", 64)
    assert cosines(ask(open_memory()))
    words.lengths["letters"] = 48
    again = open_memory()
    again.rebuild("l1")
    holds_vectors_of(again, "letters", 48)
    assert ask(open_memory()).degraded == []


def test_cut_off_it_goes_on_where_it_was(learned: Learned, open_memory: OpenMemory, words: Words) -> None:
    words.configure(learned.memory.home, "letters", max_concurrency=1)
    words.before = lambda count: down(count) if count == 3 else None
    memory = open_memory()
    with pytest.raises(ProviderError):
        memory.reembed()
    assert cosines(ask(memory)), "the old ones answer"
    token = CancelToken()

    def stop(step: Progress) -> None:
        token.cancel() if step.stage == "index cards" else None

    with pytest.raises(CancelledError):
        open_memory().reembed(progress=stop, cancel=token)
    assert len(list((memory.home / "lancedb").glob("gen-*"))) == 1, "what was half built is gone"
    assert cosines(ask(memory))
    again = open_memory()
    assert again.reembed().done
    texts = [text for _, text in words.asked if text != "alaya"]
    assert len(texts) == len(set(texts)), "nothing was paid for twice"
    holds_vectors_of(again, "letters", 32)


def test_no_lock_is_held_while_the_service_works(learned: Learned, open_memory: OpenMemory, words: Words) -> None:
    words.configure(learned.memory.home, "letters", max_concurrency=1)
    other = open_memory()
    captured: list[str] = []

    def meanwhile(count: int) -> None:
        if count == 2:
            captured.append(other.capture("The walrus guards the docker container.").card.card_id)
            assert captured[0] in [hit.card_id for hit in ask(other, "walrus").results]
            assert cosines(ask(other))

    words.before = meanwhile
    memory = open_memory()
    assert memory.reembed().done
    assert captured
    assert memory.reembed().done, "the one that came meanwhile follows"
    holds_vectors_of(memory, "letters", 32)
    assert memory.verify().ok


def test_another_length_of_the_same_model(learned: Learned, open_memory: OpenMemory, words: Words) -> None:
    words.configure(learned.memory.home, "letters", dimensions=16)
    open_memory().reembed()
    words.configure(learned.memory.home, "letters", dimensions=24)
    memory = open_memory()
    answer = ask(memory)
    assert cosines(answer)
    assert answer.degraded == [
        "vectors are of letters (16 numbers), but letters with 24 numbers is configured: run `alaya reembed`"
    ]
    done = memory.reembed()
    assert (done.from_dimensions, done.to_dimensions) == (16, 24)
    holds_vectors_of(memory, "letters", 24)


def test_where_the_old_model_is_gone_the_words_answer(learned: Learned, open_memory: OpenMemory, words: Words) -> None:
    home = learned.memory.home
    words.configure(home, "letters")
    open_memory().reembed()
    words.before = down
    (home / "config.json").write_text("{}")
    memory = open_memory()
    answer = ask(memory)
    assert cosines(answer) == []
    assert answer.results[0].card_id == learned.docker
    assert any(said.startswith("no vectors: ") for said in answer.degraded)
    assert any("use-multilingual-v3 is configured" in said for said in answer.degraded)
    assert memory.status().sends_text_to == [words.server.url_for("/").removeprefix("http://").rstrip("/")]
    assert memory.reembed().done
    assert cosines(ask(memory))


def test_vectors_of_another_length_are_refused(learned: Learned, open_memory: OpenMemory, words: Words) -> None:
    home = learned.memory.home
    words.configure(home, "letters")
    open_memory().reembed()
    words.lengths["letters"] = 40  # somebody put another model in its place
    memory = open_memory()
    answer = ask(memory)
    assert cosines(answer) == []
    assert any("40 numbers, the stored vectors have 32" in said for said in answer.degraded)
    memory.capture("one more that gets no vector")
    memory.distill()
    assert memory.status().vectors.pending == 1
    shutil.rmtree(home / "cache")
    again = open_memory()
    again.rebuild("l1")
    holds_vectors_of(again, "letters", 40)


def test_without_the_service_a_rebuild_uses_what_is_there(
    learned: Learned, open_memory: OpenMemory, words: Words
) -> None:
    home = learned.memory.home
    words.configure(home, "letters")
    open_memory().reembed()
    (home / "cache/embeddings.sqlite").unlink()
    words.before = down
    memory = open_memory()
    asked = words.requests
    memory.forget(learned.tabs)
    assert memory.rebuild("l1").vectors_pending == 0
    assert words.requests == asked + 1, "only how long its vectors are today"
    holds_vectors_of(memory, "letters", 32)
    assert learned.tabs not in memory._work.vectors.inspect().hashes
    memory.capture("A card whose vector nobody can make now.")
    before, asked = memory._work.vectors.path, words.requests
    with pytest.raises(ProviderError, match="401"):
        memory.rebuild("l1")
    assert memory._work.vectors.path == before
    rebuild_vectors(memory._work, needed_now=False)
    assert memory._work.vectors.path != before
    assert memory.status().vectors.pending == 1
    assert words.requests == asked + 2, "it was asked by the rebuild that needs it, and by no other"
    words.before = lambda _: None
    again = open_memory()
    again.distill()
    holds_vectors_of(again, "letters", 32)


def test_nothing_secret_is_kept_with_the_vectors(learned: Learned, open_memory: OpenMemory, words: Words) -> None:
    home = learned.memory.home
    address = words.server.url_for("/v1").replace("http://", "http://me:hunter2@") + "?key=s3cret"
    words.configure(home, "letters", base_url=address, api_key_env="MY_KEY")
    memory = open_memory(environ={"MY_KEY": "sk-0123456789"})
    kept = json.dumps(recorded(memory._work.embedder._settings))
    assert not any(secret in kept for secret in ("hunter2", "s3cret", "0123456789"))
    words.configure(home, "letters", api_key_env="MY_KEY")
    open_memory(environ={"MY_KEY": "sk-0123456789"}).reembed()
    assert "0123456789" not in next((home / "lancedb").glob("gen-*/mark.json")).read_text()
    (home / "config.json").write_text("{}")
    answer = ask(open_memory())
    assert any("MY_KEY is not set" in said for said in answer.degraded), "it knows which key it lacks"


def test_a_config_that_cannot_be_used_is_said(learned: Learned, open_memory: OpenMemory) -> None:
    (learned.memory.home / "config.json").write_text(json.dumps({"embedding": {"model": "m"}}))
    memory = open_memory()
    assert cosines(ask(memory))
    with pytest.raises(ConfigError, match="bundled provider has only"):
        memory.reembed()


def test_a_reader_does_not_stumble_over_a_rebuild(learned: Learned, open_memory: OpenMemory) -> None:
    reader, builder = open_memory(), open_memory()
    for _ in range(4):
        usual = ask(reader)
    for _ in range(2):
        generation = reader._work.vectors.generation
        generation.matrix()
        builder.rebuild("l1")
        assert not generation.path.exists()
        # as if it had looked up the living generation a moment before it was replaced
        reader._work.vectors._generation = generation
        generation.path = reader._work.vectors._generations.current
        answer = ask(reader)
        assert (answer.degraded, answer.stale) == ([], False)
        assert [hit.card_id for hit in answer.results] == [hit.card_id for hit in usual.results]


def test_captures_go_on_while_vectors_are_rebuilt(learned: Learned, open_memory: OpenMemory) -> None:
    (learned.memory.home / "config.json").write_text('{"home": {"busy_timeout_s": 1}}')
    memory, other = open_memory(), open_memory()
    captured: list[str] = []

    def meanwhile(step: Progress) -> None:
        if step.stage == "index cards" and len(captured) < 3:
            captured.append(other.capture(f"The {len(captured)}. walrus plays the xylophone.").card.card_id)
            assert captured[-1] in [hit.card_id for hit in ask(other, "walrus xylophone").results]

    memory.rebuild("l1", progress=meanwhile)
    assert len(captured) >= 2, "one during the build, one during the replay of the rest"
    found = [hit.card_id for hit in ask(open_memory(), "walrus xylophone").results]
    assert set(captured) <= set(found)
    memory.distill()
    assert memory.verify().ok


def test_what_a_killed_rebuild_left_goes_with_the_next(learned: Learned) -> None:
    folder: Path = learned.memory.home / "lancedb"
    living = learned.memory._work.vectors.path
    shutil.copytree(living, folder / "gen-7")
    assert learned.memory.status().upkeep["leftover_bytes"] > 0
    learned.memory.rebuild("l1")
    [left] = folder.glob("gen-*")
    assert left.name == "gen-2"
