"""Whatever a person, an agent or a file hands in: an answer, or an error of ours; never a crash."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from alaya_core.errors import AlayaError, NotFoundError
from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges, Filters, RecallOptions
from tests.core.homes import kinds, session, write
from tests.core.services.conftest import Learned
from tests.core.services.test_service_ingest import take

IDS = ["../../x", "O'Brien", "x' OR 1=1 --", "é" * 150, "", " ", "card-", "\x00", "\ud800", "a\nb", "$id"]
QUERIES = [
    "", " ", "x" * 10_000, "中" * 10_000, "word " * 2_000, '"unclosed', "AND", "OR NOT", "C++", "*", "a\x00b", "\x00",
    "\ud800", "lone \udfff surrogate", "'; DROP TABLE cards; --", "title:x^3~", "\\", "(((",
    "[a TO b]", "\u202e", "👩‍👩‍👧",
]  # fmt: skip
VERBS: dict[str, Callable[[Memory, str], object]] = {
    "show": lambda memory, name: memory.show(name),
    "trace": lambda memory, name: memory.trace(name),
    "pin": lambda memory, name: memory.pin(name),
    "forget": lambda memory, name: memory.forget(name),
    "restore": lambda memory, name: memory.restore(name),
    "edit": lambda memory, name: memory.edit(name, CardChanges(title="x")),
    "link": lambda memory, name: memory.link(name, name),
    "unlink": lambda memory, name: memory.unlink(name, name),
    "distill": lambda memory, name: memory.distill(session=name),
}


@pytest.mark.parametrize("verb", VERBS)
def test_ids_that_are_none_are_not_found(learned: Learned, verb: str) -> None:
    before = learned.memory.last_change()
    for name in IDS:
        with pytest.raises(NotFoundError) as unknown:
            VERBS[verb](learned.memory, name)
        assert "\x00" not in unknown.value.message
        unknown.value.message.encode()
    assert learned.memory.last_change() == before


def test_no_history_of_what_is_not_there(learned: Learned) -> None:
    for name in IDS:
        if name:
            with pytest.raises(NotFoundError):
                learned.memory.history(name)


@pytest.mark.parametrize("vectors", [True, False])
def test_any_query_has_an_answer(learned: Learned, vectors: bool) -> None:
    for query in QUERIES:
        answer = learned.memory.recall(query, RecallOptions(vectors=vectors))
        assert answer.degraded == [], query
        answer.model_dump_json()
        if not query.strip():
            assert (answer.results, answer.passages) == ([], [])


def test_operators_are_words_like_others(learned: Learned) -> None:
    memory = learned.memory
    card = memory.capture("C++ and the operator AND differ from C# in O'Brien's book", title="C++ book").card.card_id
    for query in ("C++", "O'Brien", "C++ AND C#", '"C++ book', "book*", "'C++'"):
        hits = memory.recall(query, RecallOptions(vectors=False)).results
        assert [hit.card_id for hit in hits][:1] == [card], query
    assert memory.recall("*", RecallOptions(vectors=False)).results == []


def test_any_value_of_a_filter(learned: Learned) -> None:
    for name in IDS:
        for field in ("scope", "type", "tag", "tier", "standing", "origin", "entity"):
            wanted = Filters(**{field: (name,)})  # type: ignore[arg-type]
            assert learned.memory.list_cards(wanted).total == 0, (field, name)
            assert learned.memory.recall("docker", RecallOptions(filters=wanted)).results == [], (field, name)
        wanted = Filters(session=name)
        assert learned.memory.list_cards(wanted).total == (0 if name else 9), name
        learned.memory.recall("docker", RecallOptions(filters=wanted))
    far = Filters(since=-(1 << 62), until=1 << 62)
    assert learned.memory.list_cards(far).total == learned.memory.list_cards().total


def test_any_text_can_be_kept_and_comes_back(learned: Learned) -> None:
    memory = learned.memory
    for number, text in enumerate([*QUERIES, *IDS, "e\u0301 \ufffe \U0010ffff", "-" * 1_500]):
        if not text.strip() or len(text) > 2_000:
            continue
        content = f"{text} {number}"
        answer = memory.capture(content, title=f"{text} title", tags=[text], entities=[text])
        shown = memory.show(answer.card.card_id)
        shown.model_dump_json().encode()
        assert shown.card.content.endswith(str(number))
        if text.isprintable():
            assert shown.card.content == content
        edited = memory.edit(answer.card.card_id, CardChanges(overview=text, content=f"{content}!", tags=(text, text)))
        edited.model_dump_json().encode()
        memory.link(answer.card.card_id, learned.tabs, reason=text).model_dump_json().encode()
    total = memory.list_cards(limit=1_000).total
    memory.rebuild("l2")
    assert memory.list_cards(limit=1_000).total == total
    memory.distill()
    verified = memory.verify()
    assert verified.ok, verified.findings


def test_sessions_of_any_id_stand_beside_each_other(memory: Memory, tmp_path: Path) -> None:
    """Also one that has the very name that the file of another was given."""
    names = [name for name in (*IDS, "Case", "case", "CON", "con") if name.strip() and "\ud800" not in name]
    first = [take(memory, write(tmp_path / "s.json", session(name, [f"said in {n}"]))) for n, name in enumerate(names)]
    paths = [report.sessions[0].path for report in first]
    assert len({path.lower() for path in paths}) == len(names)
    taken_name = Path(paths[0]).stem
    paths.append(take(memory, write(tmp_path / "s.json", session(taken_name, ["said last"]))).sessions[0].path)
    assert len(set(paths)) == len(names) + 1
    root = (memory.home / "raw/sessions").resolve()
    assert all((memory.home / path).resolve().is_relative_to(root) for path in paths)
    assert memory.status().raw.sessions == len(names) + 1
    assert kinds(memory.verify()) == set()


def test_agents_of_any_name(memory: Memory, tmp_path: Path) -> None:
    for number, agent in enumerate(IDS):
        value = session(f"s{number}", [f"Remember: the otter number {number} lives in Rome.", "Noted."], agent=agent)
        (tmp_path / "s.json").write_text(json.dumps(value))
        report = take(memory, tmp_path / "s.json")
        assert report.sessions[0].status == "new", agent
    assert memory.status().raw.sessions == len(IDS)
    memory.distill()
    assert memory.recall("otter lives in Rome").passages


def test_numbers_that_cannot_be(memory: Memory) -> None:
    card = memory.capture("x").card.card_id
    for limit in (0, -1):
        assert memory.recall("x", RecallOptions(limit=limit)).results == []
        assert memory.show(card, neighbours=limit).related == []
    with pytest.raises(AlayaError):
        memory.edit(card, CardChanges(title="y"), rev=-1)
