"""An erased session or turn is gone with its logs and cards, and does not come back with its log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from alaya_core.errors import NotFoundError, UsageError
from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges
from tests.conftest import OpenMemory
from tests.core.erase_helpers import Seen, assert_whole, digest_of, holding
from tests.core.homes import START, found_ids, session, write
from tests.core.services.conftest import Learned

TURN = 2
SAID = (
    "Good morning, let us talk about the harvest of this year.",
    "Gladly. What about it?",
    "Remember: the zqxorchard 霁月清风果园 yields nine hundred baskets of zqxquince every October.",
    "Noted, that is a lot of fruit.",
    "We decided to sell the apples at the northern market because the road is better.",
    "The northern market it is.",
)
GONE = ("zqxorchard", "霁月清风果园", "zqxquince")
KEPT = ("harvest of this year", "northern market because the road")


def alaya_log(identifier: str, said: tuple[str, ...]) -> bytes:
    return json.dumps(session(identifier, said), ensure_ascii=False).encode()


def escaped_log(identifier: str, said: tuple[str, ...]) -> bytes:
    return json.dumps(session(identifier, said, metadata={"title": said[TURN]}), indent=1).encode()


def openclaw_log(identifier: str, said: tuple[str, ...]) -> bytes:
    when = "2026-11-18T11:06:{:02d}.000Z"
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": identifier, "timestamp": when.format(0), "cwd": "/home/lin/workspace"},
        {"type": "session_info", "id": "b0", "parentId": None, "timestamp": when.format(0), "name": said[TURN]},
    ]
    for number, text in enumerate(said):
        content: list[dict[str, Any]] = [{"type": "text", "text": text}]
        if number == TURN:
            content.append({"type": "image", "mimeType": "image/png", "data": "enF4cGljdHVyZQ" * 40})
        message = {"role": "assistant" if number % 2 else "user", "content": content, "timestamp": START + number}
        lines.append(
            {
                "type": "message",
                "id": f"m{number}",
                "parentId": "b0",
                "timestamp": when.format(number),
                "message": message,
            }
        )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def plain_log(identifier: str, said: tuple[str, ...]) -> bytes:
    spoken = [f"{'Assistant' if number % 2 else 'User'}: {text}" for number, text in enumerate(said)]
    spoken[TURN] = spoken[TURN].replace(" every", "\n  every")
    return "\n\n".join(spoken).encode()


Log = Callable[[str, tuple[str, ...]], bytes]
LOGS: dict[str, tuple[str, Log]] = {
    "alaya": ("s.json", alaya_log),
    "alaya, escaped": ("s.json", escaped_log),
    "openclaw": ("harvest-1.jsonl", openclaw_log),
    "plain": ("harvest-1.txt", plain_log),
}


@pytest.fixture(params=LOGS)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Log]:
    name, make = LOGS[request.param]
    path = tmp_path / name
    path.write_bytes(make("harvest-1", SAID))
    return path, make


def taken(memory: Memory, path: Path, **options: Any) -> Any:
    [outcome] = memory.ingest([path], **options).sessions
    return outcome


def turns(memory: Memory, identifier: str) -> list[Any]:
    with memory._work.graph.reading() as reader:
        info = reader.session(identifier)
    assert info is not None
    assert info.turns == memory._work.sessions.count(info.path)
    return list(memory._work.sessions.turns(info.path))


def test_a_turn_becomes_a_tombstone(learned: Learned, log: tuple[Path, Log]) -> None:
    memory, (path, _) = learned.memory, log
    identifier = taken(memory, path, distill=True).session_id
    before = turns(memory, identifier)
    assert set(holding(memory.home, *GONE)) == set(GONE)
    made = {row.card_id for row in memory.list_cards(limit=100).cards if "zqx" in memory.show(row.card_id).card.content}
    answer = memory.erase(identifier, turn=TURN, yes=True)
    assert set(answer.erased.cards) == made
    assert (answer.erased.what, answer.erased.turns) == ("turn", 1)
    assert holding(memory.home, *GONE, "enF4cGljdHVyZQ") == {}
    assert set(holding(memory.home / "raw/sources", *KEPT)) == set(KEPT), "the rest of the log is kept"
    after = turns(memory, identifier)
    assert [turn for at, turn in enumerate(after) if at != TURN] == [
        turn for at, turn in enumerate(before) if at != TURN
    ]
    assert (after[TURN].content, after[TURN].text, after[TURN].role) == ("", "", "user")
    assert_whole(memory)


def test_an_erased_turn_does_not_come_back(learned: Learned, log: tuple[Path, Log]) -> None:
    memory, (path, make) = learned.memory, log
    identifier = taken(memory, path, distill=True).session_id
    memory.erase(identifier, turn=TURN, yes=True)
    for _ in range(2):
        assert taken(memory, path, distill=True).status == "unchanged"
        assert holding(memory.home, *GONE) == {}
    path.write_bytes(make("harvest-1", (*SAID, "One more: the zqxplum trees are young.")))
    outcome = taken(memory, path, distill=True)
    assert (outcome.status, outcome.new_turns) == ("grown", 1)
    assert set(holding(memory.home, *GONE, "enF4cGljdHVyZQ", "zqxplum")) == {"zqxplum"}
    assert set(holding(memory.home / "raw/sources", *KEPT, "zqxplum")) == {*KEPT, "zqxplum"}
    assert_whole(memory)
    memory.distill(redo=True)
    assert holding(memory.home, *GONE) == {}
    memory.rebuild()
    assert holding(memory.home, *GONE) == {}
    assert_whole(memory)


def test_a_session_and_all_that_came_of_it(learned: Learned, log: tuple[Path, Log]) -> None:
    memory, (path, make) = learned.memory, log
    path = path.rename(path.with_name("harvest-1" + path.suffix))
    identifier = taken(memory, path, distill=True).session_id
    path.write_bytes(make("harvest-1", (*SAID, "And zqxplum.", "Yes.")))
    assert taken(memory, path, distill=True).status == "grown"
    made = {row.card_id for row in memory.list_cards(limit=100).cards} - {*learned.distilled}
    made = {card for card in made if identifier in memory.show(card).card.source_sessions}
    before = Seen.of(memory, but=made, sessions_but=[identifier])
    answer = memory.erase(identifier, yes=True)
    assert set(answer.erased.cards) == made
    assert answer.erased.turns == len(SAID) + 2
    assert holding(memory.home, *GONE, *KEPT, *made, identifier, "zqxplum", "harvest") == {}
    assert len(list((memory.home / "raw/sources").iterdir())) == 1
    assert Seen.of(memory) == before
    assert_whole(memory)
    outcome = taken(memory, path, distill=True)
    assert (outcome.status, outcome.reason) == ("unchanged", "erased by a person; not taken in again")
    assert holding(memory.home, *GONE, *KEPT, "zqxplum") == {}
    assert Seen.of(memory) == before
    assert_whole(memory)


def two_sessions(tmp_path: Path) -> Path:
    other = ("Hello, I am another talk.", "Hello.", "The lighthouse keeper paints his door every spring, he told me.")
    return write(tmp_path / "both.json", [session("harvest-1", SAID), session("other-1", other)])


def test_a_log_of_two_sessions_loses_one(memory: Memory, tmp_path: Path) -> None:
    path = two_sessions(tmp_path)
    memory.ingest([path], distill=True)
    assert memory.erase("harvest-1", yes=True).erased.sources == 1
    assert holding(memory.home, *GONE, *KEPT, "harvest-1") == {}
    assert set(holding(memory.home / "raw/sources", "lighthouse keeper", "other-1")) == {"lighthouse keeper", "other-1"}
    assert_whole(memory)
    report = memory.ingest([path], distill=True)
    assert [outcome.status for outcome in report.sessions] == ["unchanged", "unchanged"]
    assert holding(memory.home, *GONE, *KEPT) == {}
    memory.erase("other-1", yes=True)
    assert holding(memory.home, "lighthouse", "other-1") == {}
    assert list((memory.home / "raw/sources").iterdir()) == []
    assert_whole(memory)


def test_a_log_of_two_sessions_of_which_one_grows(memory: Memory, tmp_path: Path) -> None:
    path = two_sessions(tmp_path)
    memory.ingest([path])
    memory.erase("harvest-1", yes=True)
    data = json.loads(path.read_text())
    data[1]["turns"].append(
        {"role": "user", "content": "And zqxsails are mended in winter.", "timestamp": START + 9000}
    )
    data[0]["turns"].append({"role": "user", "content": "And zqxplum too, of course.", "timestamp": START + 9000})
    write(path, data)
    report = memory.ingest([path])
    assert [outcome.status for outcome in report.sessions] == ["unchanged", "grown"]
    assert set(holding(memory.home, *GONE, *KEPT, "zqxplum", "zqxsails")) == {"zqxsails"}
    assert "zqxsails" in holding(memory.home / "raw/sources", "zqxsails")
    assert_whole(memory)


def test_a_card_of_two_sessions(memory: Memory, tmp_path: Path) -> None:
    """One that quotes the erased session goes; one that does not only loses the reference."""
    from alaya_core.models.card import SourceRef
    from alaya_core.models.commit import card_changed

    memory.ingest([two_sessions(tmp_path)])
    quoting = memory.capture(f"In short: {SAID[2]}", title="Quinces").card.card_id
    own = memory.capture("Fruit and lighthouses go together.", title="Together").card.card_id
    by_hand = memory.capture(f"I noted: {SAID[4]}", title="Market").card.card_id

    def root(reader: Any) -> list[Any]:
        from dataclasses import replace

        sources = (SourceRef("harvest-1", (0, 2)), SourceRef("other-1", (2,)))
        cards = reader.cards([quoting, own])
        return [card_changed(card, replace(card, sources=sources, rev=card.rev + 1), "x") for card in cards.values()]

    memory._work.commit("test", root)
    memory.verify(fix=True, yes=True)
    answer = memory.erase("harvest-1", yes=True)
    assert answer.erased.cards == [quoting]
    assert [(left.kind, left.name) for left in answer.left] == [("turn", "other-1#2"), ("card", by_hand)]
    assert set(holding(memory.home, *GONE, "harvest-1", quoting, KEPT[1])) == {KEPT[1]}
    assert memory.show(own).card.source_sessions == ["other-1"]
    assert [row.session_id for row in memory.trace(own).sessions] == ["other-1"]
    assert memory.show(by_hand).card.content.endswith(SAID[4])
    assert_whole(memory)


def test_a_card_of_two_turns_loses_one(memory: Memory, tmp_path: Path) -> None:
    from alaya_core.models.card import SourceRef
    from alaya_core.models.commit import card_changed

    taken(memory, write(tmp_path / "s.json", session("harvest-1", SAID)))
    own = memory.capture("Fruit is a business.", title="Fruit").card.card_id

    def root(reader: Any) -> list[Any]:
        from dataclasses import replace

        card = reader.cards([own])[own]
        return [card_changed(card, replace(card, sources=(SourceRef("harvest-1", (2, 4)),), rev=2), "x")]

    memory._work.commit("test", root)
    memory.verify(fix=True, yes=True)
    assert memory.erase("harvest-1", turn=2, yes=True).erased.cards == []
    with memory._work.graph.reading() as reader:
        assert reader.cards([own])[own].sources == (SourceRef("harvest-1", (4,)),)
    assert holding(memory.home, *GONE) == {}
    assert_whole(memory)


def test_sessions_kept_apart_are_named(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", session("harvest-1", SAID))
    taken(memory, path)
    write(path, session("harvest-1", (*SAID[:3], "Something else altogether, zqxapart.", "Yes.", "No.")))
    apart = taken(memory, path).session_id
    assert apart.startswith("harvest-1~")
    answer = memory.erase("harvest-1", turn=2, yes=True)
    assert [(left.kind, left.name) for left in answer.left] == [("session", apart)]
    assert memory.erase(apart, turn=3, yes=True).done
    for _ in range(2):
        assert taken(memory, path).status == "unchanged"
        assert set(holding(memory.home, "zqxapart")) == set()
    assert memory.erase(apart, yes=True).done
    outcome = taken(memory, path)
    assert (outcome.status, outcome.session_id) == ("unchanged", apart)
    assert holding(memory.home, apart, *GONE, "zqxapart") == {}
    assert_whole(memory)


def test_what_other_turns_say_too_stays_and_is_named(memory: Memory, tmp_path: Path) -> None:
    said = (SAID[2], "So you say.", SAID[2], "I heard you.", f"I repeat, {SAID[2]}")
    path = write(tmp_path / "s.json", session("harvest-1", said))
    taken(memory, path)
    answer = memory.erase("harvest-1", turn=0, yes=True)
    assert [(left.kind, left.name) for left in answer.left] == [("turn", "harvest-1#2"), ("turn", "harvest-1#4")]
    assert [turn.content for turn in turns(memory, "harvest-1")] == ["", *said[1:]]
    for number in (2, 4):
        memory.erase("harvest-1", turn=number, yes=True)
    assert holding(memory.home, *GONE) == {}
    assert [turn.content for turn in turns(memory, "harvest-1")] == ["", "So you say.", "", "I heard you.", ""]
    assert taken(memory, path).status == "unchanged"
    assert holding(memory.home, *GONE) == {}
    assert_whole(memory)


@pytest.mark.parametrize("text", ["ok", "yes!", "PIN 4711x", "好的", "密码四七一一九九"])
def test_short_turns(memory: Memory, tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "s.json", session("harvest-1", (SAID[0], SAID[1], text, SAID[3])))
    taken(memory, path)
    memory.erase("harvest-1", turn=2, yes=True)
    assert [turn.content for turn in turns(memory, "harvest-1")] == [SAID[0], SAID[1], "", SAID[3]]
    if len(text) >= 8:
        assert holding(memory.home, text) == {}
    assert set(holding(memory.home / "raw/sources", SAID[0])) == {SAID[0]}
    assert taken(memory, path).status == "unchanged"
    assert_whole(memory)


def test_tools_and_thoughts_of_a_turn(memory: Memory, tmp_path: Path) -> None:
    data = session("harvest-1", SAID)
    data["turns"][3] |= {
        "thinking": "zqxthought that nobody needs to know about",
        "tool_calls": [{"id": "call-1", "name": "zqxtool", "arguments": {"path": "/srv/zqxpath/of/the/orchard.txt"}}],
        "name": "Zqxspeaker",
    }
    path = write(tmp_path / "s.json", data)
    taken(memory, path)
    memory.erase("harvest-1", turn=3, yes=True)
    assert holding(memory.home, "zqxthought", "zqxtool", "zqxpath", "zqxspeaker", SAID[3]) == {}
    assert taken(memory, path).status == "unchanged"
    assert_whole(memory)


def test_a_log_that_cannot_be_read_goes(memory: Memory, tmp_path: Path) -> None:
    """What is not found where it must be stands in another form: nothing is kept then."""
    path = tmp_path / "harvest-1.txt"
    path.write_bytes(plain_log("harvest-1", SAID).decode().encode("utf-16"))
    outcome = taken(memory, path)
    if outcome.status == "failed":
        path = write(tmp_path / "s.json", session("harvest-1", SAID))
        outcome = taken(memory, path)
        [source] = (memory.home / "raw/sources").iterdir()
        source.write_bytes(b"\x28\xb5\x2f\xfdnonsense")
    memory.erase(outcome.session_id, turn=2, yes=True)
    assert holding(memory.home, *GONE) == {}
    assert list((memory.home / "raw/sources").iterdir()) == []
    assert_whole(memory)


def test_a_session_whose_file_is_gone(memory: Memory, tmp_path: Path) -> None:
    taken(memory, write(tmp_path / "s.json", session("harvest-1", SAID)))
    for path in (memory.home / "raw/sessions").rglob("harvest-1.json"):
        path.unlink()
    memory.erase("harvest-1", yes=True)
    assert holding(memory.home, *GONE, "harvest-1") == {}
    assert_whole(memory)


def test_without_kept_logs(home: Path, open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    memory.close()
    (home / "config.json").write_text(json.dumps({"raw": {"keep_source": False}}))
    memory = open_memory()
    path = write(tmp_path / "s.json", session("harvest-1", SAID))
    taken(memory, path)
    memory.erase("harvest-1", turn=2, yes=True)
    assert taken(memory, path).status == "unchanged"
    assert holding(memory.home, *GONE) == {}
    assert_whole(memory)


def test_passages_are_searched_as_before(learned: Learned, tmp_path: Path) -> None:
    memory = learned.memory
    taken(memory, write(tmp_path / "s.json", session("harvest-1", SAID)))
    memory.erase("harvest-1", turn=2, yes=True)
    answer = memory.recall("northern market apples road")
    assert any("northern market" in passage.text for passage in answer.passages)
    assert not any("zqx" in passage.text for passage in memory.recall("zqxorchard quince").passages)
    assert found_ids(memory, "gofmt tabs", typed=True)[0] == learned.tabs
    memory.edit(learned.tabs, CardChanges(content="Spaces in Rust, of course."))
    assert found_ids(memory, "spaces rust", typed=True)[0] == learned.tabs
    assert_whole(memory)


def test_erasing_twice_says_that_it_is_gone(memory: Memory, tmp_path: Path) -> None:
    taken(memory, write(tmp_path / "s.json", session("harvest-1", SAID)))
    memory.erase("harvest-1", turn=2, yes=True)
    before = digest_of(memory.home)
    for yes in (False, True):
        with pytest.raises(UsageError, match="is erased already"):
            memory.erase("harvest-1", turn=2, yes=yes)
    assert digest_of(memory.home) == before
    memory.erase("harvest-1", yes=True)
    with pytest.raises(NotFoundError):
        memory.erase("harvest-1", yes=True)
