"""What an erase says before and after: the cards that go and why they matter, and everything that still holds it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from alaya_core.memory import Memory
from alaya_core.models.card import SourceRef
from alaya_core.models.commit import Event, card_changed
from alaya_core.models.requests import CardChanges
from alaya_core.stores.graph_read import GraphReader
from tests.core.erase_helpers import assert_whole, holding
from tests.core.homes import TALK, session, write
from tests.core.services.conftest import AsAgent, Learned
from tests.core.services.test_service_trace import card_of

TITLED = "Where staging lives"


def take(memory: Memory, path: Path, identifier: str, said: tuple[str, ...]) -> None:
    memory.ingest([write(path / f"{identifier}.json", session(identifier, said))], distill=True)


def left_of(answer: object) -> dict[str, str]:
    return {f"{left.kind} {left.name}": left.why for left in answer.left}  # type: ignore[attr-defined]


def test_what_goes_is_told_with_its_title_and_its_worth(learned: Learned) -> None:
    memory = learned.memory
    edited, merged = card_of(memory, "db-7"), card_of(memory, "tabs over spaces")
    into = card_of(memory, "Kubernetes")
    memory.edit(edited, CardChanges(title=TITLED))
    memory.merge(into, merged)
    by_hand = memory.capture("Gateways have their own rules.", scope="agent:main").card.card_id
    memory.merge(by_hand, card_of(memory, "plugins.allow"))
    preview, done = memory.erase(learned.talk), memory.erase(learned.talk, yes=True)
    assert preview.erased == done.erased
    going = {card.card_id: card for card in done.erased.going}
    assert list(going) == done.erased.cards
    assert (going[edited].title, going[edited].note) == (TITLED, "edited by hand")
    assert going[into].note == f"{merged[:13]} was merged into it"
    assert going[merged].note == ""
    assert going[by_hand].note.startswith("written by hand; card-")
    assert_whole(memory)


def test_what_an_agent_wrote_or_changed_is_not_by_hand(learned: Learned, as_agent: AsAgent) -> None:
    agent = as_agent("main")
    made = agent.capture("The agent wrote this of its own accord.").card.card_id
    agent.edit(made, CardChanges(content="The agent wrote this, and changed it."))
    [card] = learned.memory.erase(made).erased.going
    assert card.note == ""


@pytest.mark.parametrize("shortened", [False, True])
def test_an_id_that_was_merged_away_is_told(learned: Learned, shortened: bool) -> None:
    memory = learned.memory
    memory.merge(learned.docker, learned.tabs)
    named = learned.tabs[:20] if shortened else learned.tabs
    erased = memory.erase(named).erased
    assert (erased.name, set(erased.cards)) == (learned.docker, {learned.docker, learned.tabs})
    assert erased.note == f"{learned.tabs[:13]} was merged into this card; undo the merge first to erase it alone"
    assert memory.erase(learned.docker).erased.note == ""


def test_a_card_that_another_session_says_too_stays(learned: Learned, tmp_path: Path) -> None:
    memory = learned.memory
    take(memory, tmp_path, "talk-2", ("Good morning to you.", "Good morning.", TALK[0], "Noted."))
    card = card_of(memory, "db-7")
    assert set(memory.show(card).card.source_sessions) == {"talk-1", "talk-2"}
    preview, answer = memory.erase(learned.talk), memory.erase(learned.talk, yes=True)
    assert preview.left == answer.left
    assert card not in answer.erased.cards
    left = left_of(answer)
    assert left["turn talk-2#2"] == "it says the same: alaya erase talk-2 --turn 2"
    assert "which say the same" in left[f"card {card}"]
    assert memory.show(card).card.source_sessions == ["talk-2"]
    assert [row.session_id for row in memory.trace(card).sessions] == ["talk-2"]
    assert holding(memory.home, "talk-1", TALK[4]) == {}
    assert_whole(memory)
    memory.rebuild()
    assert memory.show(card).card.source_sessions == ["talk-2"]
    gone = memory.erase("talk-2", yes=True)
    assert (gone.erased.cards, gone.left) == ([card], [])
    assert holding(memory.home, "staging database runs", "db-7, port") == {}


def test_one_of_two_turns_that_say_the_same(learned: Learned, tmp_path: Path) -> None:
    memory = learned.memory
    take(memory, tmp_path, "talk-2", (TALK[0], "Noted."))
    card = card_of(memory, "db-7")
    answer = memory.erase(learned.talk, turn=0, yes=True)
    assert card not in answer.erased.cards
    assert "turn talk-2#0" in left_of(answer)
    assert memory.show(card).card.source_sessions == ["talk-2"]
    assert_whole(memory)


def test_a_card_that_says_more_than_the_other_session_goes_and_its_turns_are_named(
    learned: Learned, tmp_path: Path
) -> None:
    memory = learned.memory
    take(memory, tmp_path, "talk-2", (TALK[0], "Noted."))
    card = card_of(memory, "db-7")
    memory.edit(card, CardChanges(overview=f"He also said: {TALK[4]}"))
    answer = memory.erase(learned.talk, yes=True)
    assert card in answer.erased.cards
    assert "made from this turn, which stays: alaya erase talk-2 --turn 0" in left_of(answer)["turn talk-2#0"]
    assert holding(memory.home, TALK[4]) == {}
    assert_whole(memory)


def test_a_card_into_which_another_of_the_session_was_merged(learned: Learned, tmp_path: Path) -> None:
    """The merged one goes with the session; its survivor says nothing that the other session does not."""
    memory = learned.memory
    other = "Remember: the backup of the wine cellar runs every Sunday at noon on host vat-9."
    take(memory, tmp_path, "talk-2", (TALK[0], "Noted.", other, "Noted."))
    cellar, staging = card_of(memory, "vat-9"), card_of(memory, "db-7")
    memory.merge(cellar, card_of(memory, "Kubernetes"))
    answer = memory.erase(learned.talk, turn=4, yes=True)
    assert cellar in answer.erased.cards, "it says what only the erased turn said"
    assert "turn talk-2#2" in left_of(answer)
    assert staging not in answer.erased.cards
    assert holding(memory.home, TALK[4]) == {}
    assert_whole(memory)


def test_a_survivor_that_the_other_session_says_stays(learned: Learned, tmp_path: Path) -> None:
    memory = learned.memory
    memory.ingest([write(tmp_path / "talk-2.json", session("talk-2", (TALK[4], "Good.")))])
    keep = memory.capture(TALK[4], title="Deploying", scope="agent:main").card.card_id

    def root(reader: GraphReader) -> list[Event]:
        card = reader.cards([keep])[keep]
        return [card_changed(card, replace(card, sources=(SourceRef("talk-2", (0,)),), rev=card.rev + 1), "x")]

    memory._work.commit("test", root)
    memory.verify(fix=True, yes=True)
    absorbed = card_of(memory, "Kubernetes")
    memory.edit(absorbed, CardChanges(content=TALK[4]))
    memory.merge(keep, absorbed)
    answer = memory.erase(learned.talk, yes=True)
    assert absorbed in answer.erased.cards
    assert keep not in answer.erased.cards
    assert "turn talk-2#0" in left_of(answer)
    assert TALK[4] in memory.show(keep).card.content
    assert holding(memory.home, absorbed, "talk-1") == {}
    assert_whole(memory)


def test_logs_of_nobody_go(learned: Learned) -> None:
    memory = learned.memory
    for text, stays in ((f"notes\n{TALK[4]}\n", False), ("something else altogether", True)):
        digest = memory._work.sources.keep_bytes(text.encode())
        path = memory.home / f"raw/sources/{digest}.zst"
        assert path.exists()
        memory.erase(learned.talk, turn=4, yes=True) if not stays else memory.erase(learned.talk, yes=True)
        assert path.exists() == stays
    assert holding(memory.home, TALK[4]) == {}


def test_files_that_are_no_part_of_the_home_are_named_and_left(learned: Learned) -> None:
    memory, home = learned.memory, learned.memory.home
    secret = f"He said: {TALK[4]}"
    names = (
        "notes.md",
        "prompts/distill.txt",
        "raw/contexts/card-1.tmp",
        "raw/ledger/old.bak",
        "raw/sessions/2026-11/copy.json",
        "raw/sessions/2026-11/talk-1.json.bak",
        "raw/sources/mine.zst",
    )
    for name in names:
        (home / name).parent.mkdir(mode=0o700, exist_ok=True)
        (home / name).write_bytes(zstandard.compress(secret.encode()) if name.endswith("zst") else secret.encode())
    (home / "prompts/innocent.txt").write_text("Nothing of it.")
    before = {name: (home / name).read_bytes() for name in names}
    answer = memory.erase(learned.talk, yes=True)
    assert [left.name for left in answer.left if left.kind == "file"] == list(names)
    assert {name: (home / name).read_bytes() for name in names} == before
    for name in names:
        (home / name).unlink()
    assert holding(home, TALK[4]) == {}


def test_no_file_of_a_home_is_foreign(learned: Learned) -> None:
    from alaya_core.stores.foreign_files import foreign_files

    memory = learned.memory
    memory.upkeep()
    memory.rebuild()
    known = memory._work.sessions.path_for(learned.talk, 1_795_000_000_000)
    assert [path.name for path in foreign_files(memory._work.home, {known}.__contains__)] == []


def test_an_erased_turn_is_told_as_such(learned: Learned) -> None:
    memory = learned.memory
    card = card_of(memory, "db-7")
    memory.erase(learned.talk, turn=4, yes=True)
    [found] = memory.trace(card, full=True).sessions
    assert [turn.turn for turn in found.turns if turn.kind == "erased"] == [4]
    assert found.turns[4].content == ""
    [page] = (memory.home / "raw/sessions").rglob("talk-1.md")
    parts = page.read_text().split("\n## ")
    assert parts[5].startswith("[4] user")
    assert parts[5].endswith("\n\n(erased)\n")
    assert sum("(erased)" in part for part in parts) == 1
