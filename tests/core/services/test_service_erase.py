"""An erased card is gone to the last byte of the home, and everything else is as it was."""

from __future__ import annotations

import gzip
import json
import zipfile

import pytest
import zstandard

from alaya_core.errors import (
    AmbiguousIdError,
    BusyError,
    ConflictError,
    NotFoundError,
    ReadOnlyHomeError,
    UsageError,
)
from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges
from alaya_core.progress import CancelledError, CancelToken
from tests.conftest import OpenMemory
from tests.core.erase_helpers import MARKS, TITLE, Seen, assert_whole, digest_of, holding, planted
from tests.core.homes import found_ids, ledger_lines, session, write
from tests.core.services.conftest import AsAgent, Learned


def test_no_byte_of_a_card_stays(learned: Learned) -> None:
    memory = learned.memory
    card = planted(memory, learned.docker)
    before, lines = Seen.of(memory, but={card}), ledger_lines(memory.home)
    assert set(holding(memory.home, *MARKS, card)) == {*MARKS, card}
    answer = memory.erase(card, yes=True)
    assert answer.done
    assert (answer.erased.what, answer.erased.cards, answer.erased.links) == ("card", [card], 1)
    assert answer.left == []
    assert holding(memory.home, *MARKS, card) == {}
    assert_whole(memory)
    assert Seen.of(memory, but={card}) == before
    after = ledger_lines(memory.home)
    assert len(after) == len(lines) + 1
    same = ("seq", "id", "at", "actor", "run", "device")
    assert [[line[key] for key in same] for line in after[:-1]] == [[line[key] for key in same] for line in lines]
    emptied = [line for line in after if line["events"] == []]
    assert len(emptied) == answer.erased.commits
    assert [event["kind"] for event in after[-1]["events"]] == ["erased"]
    with pytest.raises(NotFoundError):
        memory.show(card)


@pytest.mark.parametrize("folded", [False, True])
def test_what_others_know_of_use_stays(learned: Learned, open_memory: OpenMemory, folded: bool) -> None:
    memory = learned.memory
    card = planted(memory, learned.docker)
    for query in ("Start the container with --memory=2g", "Docker memory limit"):
        assert memory.recall(query).results
    if folded:
        log = next((memory.home / "raw/accesses").glob("*.jsonl"))
        memory._work.accesses.write_fold(memory._work.vitals.all(), {log.name: log.stat().st_size})
        assert memory.recall("Format Go code with gofmt; it uses tabs").results
    vitals = dict(open_memory()._work.vitals.all())
    assert card in vitals
    memory.erase(card, yes=True)
    again = open_memory()
    del vitals[card]
    assert dict(again._work.vitals.all()) == vitals
    assert again.verify().ok


def test_a_preview_changes_no_byte(learned: Learned) -> None:
    memory = learned.memory
    card = planted(memory, learned.docker)
    memory.erase(card)  # makes what locks are still missing
    before = digest_of(memory.home)
    for target, turn in ((card, None), (learned.talk, None), (learned.talk, 2), (card[:16], None)):
        answer = memory.erase(target, turn=turn)
        assert not answer.done
        assert answer.erased.cards
        assert answer.erased.commits
    assert digest_of(memory.home) == before


def test_a_preview_says_what_is_then_done(learned: Learned) -> None:
    card = planted(learned.memory, learned.docker)
    preview, done = learned.memory.erase(card), learned.memory.erase(card, yes=True)
    assert preview.erased == done.erased
    assert preview.left == done.left


def test_what_was_erased_is_not_found_again(learned: Learned, open_memory: OpenMemory) -> None:
    memory = learned.memory
    card = planted(memory, learned.docker)
    assert card in found_ids(memory, "zqxsecond", typed=True)
    for one in (memory, open_memory()):
        memory.erase(card, yes=True) if one is memory else None
        assert card not in found_ids(one, "zqxsecond 霁月清风", typed=True)
        assert learned.tabs in found_ids(one, "gofmt tabs", typed=True)


def test_a_card_and_all_that_was_merged_into_it(learned: Learned) -> None:
    memory = learned.memory
    inner, middle = planted(memory, learned.docker), planted(memory, learned.tabs)
    outer = memory.capture("zqxouter keeps the others.", title="zqxouter").card.card_id
    memory.merge(middle, inner, why="zqxreason the same")
    memory.merge(outer, middle)
    before = Seen.of(memory, but={inner, middle, outer})
    answer = memory.erase(inner, yes=True)
    assert sorted(answer.erased.cards) == sorted([inner, middle, outer])
    assert holding(memory.home, *MARKS, "zqxouter", inner, middle, outer) == {}
    assert_whole(memory)
    assert Seen.of(memory, but={inner, middle, outer}) == before


def test_a_card_that_was_merged_and_given_back(learned: Learned) -> None:
    memory = learned.memory
    card = planted(memory, learned.docker)
    memory.merge(learned.tabs, card, why="zqxreason: they are one")
    memory.undo()
    memory.edit(learned.tabs, CardChanges(content="Format Go code with gofmt; it uses tabs. Always."))
    before = Seen.of(memory, but={card})
    assert memory.erase(card, yes=True).erased.cards == [card]
    assert holding(memory.home, *MARKS, card) == {}
    assert_whole(memory)
    assert Seen.of(memory, but={card}) == before


def test_a_card_whose_making_was_undone(learned: Learned) -> None:
    memory = learned.memory
    made = memory.capture("zqxfirst was a mistake of mine.", title=TITLE).card.card_id
    memory.undo()
    assert memory.erase(made, yes=True).erased.cards == [made]
    assert holding(memory.home, *MARKS, made) == {}
    assert_whole(memory)


def test_other_cards_lose_what_names_it(learned: Learned) -> None:
    """A successor is a reference too: of a card that is superseded, only its state stays."""
    from alaya_core.models.card import CardState
    from alaya_core.models.commit import card_changed

    memory = learned.memory
    card = planted(memory, learned.docker)

    def supersede(reader: object) -> list[object]:
        from dataclasses import replace

        old = reader.cards([learned.tabs])[learned.tabs]  # type: ignore[attr-defined]
        return [card_changed(old, replace(old, state=CardState.SUPERSEDED, successor=card, rev=old.rev + 1), "replace")]

    memory._work.commit("test", supersede)  # type: ignore[arg-type]
    assert memory.recall("Format Go code with gofmt; it uses tabs").results
    memory.erase(card, yes=True)
    assert holding(memory.home, *MARKS, card) == {}
    assert_whole(memory)
    with memory._work.graph.reading() as reader:
        old = reader.cards([learned.tabs])[learned.tabs]
    assert (old.state, old.successor) == (CardState.SUPERSEDED, "")


def test_what_lies_about_goes_too(learned: Learned) -> None:
    memory, home = learned.memory, learned.memory.home
    card = planted(memory, learned.docker)
    (home / "runs").mkdir(mode=0o700)
    kept = '{"kept": "another line"}\n'
    for name in ("runs/run-1.jsonl", "logs/alaya.log"):
        (home / name).write_text(f'{kept}{{"card": "{card}"}}\n{{"said": {json.dumps(SAID)}}}\n{kept}')
    (home / "snapshot.md").write_text(f"# Memory\n\n{SAID}\n\nstays\n")
    (home / "cache" / "proposals.json").write_text(json.dumps([SAID]))
    (home / "cache" / "words.json").write_text("{}")
    (home / "raw/ledger/torn").mkdir(mode=0o700)
    (home / "raw/ledger/torn/1-2.part").write_text(f'{{"v":1,"events":[{{"id":"{card}","title":"zqxti')
    (home / "raw/contexts/.new-abc").write_text(f'{{"card_id": "{card}"')
    (home / "raw/sources/.new-abc").write_bytes(zstandard.compress(SAID.encode()))
    (home / "kuzu/damaged-gen-7.kuzu").write_text("zqxfirst")
    (home / "kuzu/damaged-gen-7.kuzu.wal").write_text("zqxfirst")
    (home / "lancedb/damaged-gen-7").mkdir()
    (home / "lancedb/damaged-gen-7/x").write_text("zqxfirst")
    for path in home.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    memory.erase(card, yes=True)
    assert holding(home, *MARKS, card, "zqxti") == {}
    assert (home / "runs/run-1.jsonl").read_text() == kept + kept
    assert (home / "logs/alaya.log").read_text() == kept + kept
    assert (home / "snapshot.md").read_text() == "# Memory\n\n\nstays\n"
    assert (home / "cache/words.json").exists()
    assert_whole(memory)


SAID = "The first wording said zqxfirst quagga and went on"


def test_backups_and_exports_are_named_and_left(learned: Learned) -> None:
    memory, home = learned.memory, learned.memory.home
    card = planted(memory, learned.docker)
    for name in ("backup/old", "export"):
        (home / name).mkdir(parents=True, mode=0o700)
    (home / "backup").chmod(0o700)
    (home / "export/cards.json").write_text(json.dumps({"content": SAID}))
    (home / "export/innocent.json").write_text("{}")
    (home / "backup/old/ledger.jsonl.zst").write_bytes(zstandard.compress(SAID.encode()))
    (home / "backup/old/cards.gz").write_bytes(gzip.compress(f'"{card}"'.encode()))
    (home / "backup/old/broken.zst").write_bytes(b"\x28\xb5\x2f\xfdnonsense")
    with zipfile.ZipFile(home / "backup/all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("card.md", SAID)
    for path in home.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    before = {path: path.read_bytes() for folder in ("backup", "export") for path in (home / folder).rglob("*.*")}
    left = memory.erase(card, yes=True).left
    assert [(item.kind, item.name) for item in left] == [
        ("backup", "backup/all.zip"),
        ("backup", "backup/old/broken.zst"),
        ("backup", "backup/old/cards.gz"),
        ("backup", "backup/old/ledger.jsonl.zst"),
        ("export", "export/cards.json"),
    ]
    assert "cannot be looked into" in left[1].why
    assert {path: path.read_bytes() for path in before} == before


def test_a_card_that_quotes_it_is_named_and_left(learned: Learned) -> None:
    memory = learned.memory
    card = planted(memory, learned.docker)
    quoting = memory.capture(f"He wrote: {SAID}. I disagree.").card.card_id
    before = Seen.of(memory, but={card})
    [left] = memory.erase(card, yes=True).left
    assert (left.kind, left.name) == ("card", quoting)
    assert Seen.of(memory, but={card}) == before
    assert_whole(memory)


def test_a_card_of_turns_is_not_made_of_them_again(learned: Learned) -> None:
    memory = learned.memory
    card = next(one for one in learned.distilled if "Kubernetes because" in memory.show(one).card.content)
    answer = memory.erase(card, yes=True)
    assert [(item.kind, item.name) for item in answer.left if item.kind == "turn"] == [("turn", "talk-1#4")]
    assert "alaya erase talk-1 --turn 4" in answer.left[0].why
    assert holding(memory.home, card) == {}
    [outcome] = memory.distill(redo=True).sessions
    assert outcome.cards == []
    assert holding(memory.home, card) == {}
    assert len(memory.list_cards().cards) == 4 + len(learned.distilled) - 1
    assert_whole(memory)


def test_vectors_need_no_service(learned: Learned, open_memory: OpenMemory) -> None:
    """Everything that is embedded already is copied; the provider is not even built."""
    memory = learned.memory
    card = planted(memory, learned.docker)
    memory.recall("quagga")
    memory.close()
    (memory.home / "config.json").write_text(
        json.dumps({"embedding": {"provider": "openai", "model": "nowhere", "base_url": "http://127.0.0.1:9/v1"}})
    )
    again = open_memory()
    mark = again._work.vectors.mark()
    again.erase(card, yes=True)
    assert holding(memory.home, *MARKS, card) == {}
    after = again._work.vectors.mark()
    assert (after.model, after.dimensions, after.passages, after.pending) == (
        mark.model,
        mark.dimensions,
        mark.passages,
        mark.pending,
    )
    assert len(again._work.vectors.vectors()) == 4 + len(learned.distilled)


def test_tables_that_cannot_be_read_are_made_anew(learned: Learned, open_memory: OpenMemory) -> None:
    memory = learned.memory
    card = planted(memory, learned.docker)
    memory.close()
    for path in (memory.home / "lancedb").rglob("*.lance"):
        if path.is_file():
            path.write_bytes(b"zqxfirst" + path.read_bytes()[:50])
    again = open_memory()
    again.erase(card, yes=True)
    assert holding(memory.home, *MARKS, card) == {}
    assert found_ids(open_memory(), "gofmt tabs", typed=True)
    assert open_memory().verify().ok


def test_unknown_and_ambiguous_targets(learned: Learned, tmp_path_factory: pytest.TempPathFactory) -> None:
    memory = learned.memory
    for target in ("card-00000000", "nobody", "", "talk", "\x00", "../talk-1"):
        with pytest.raises(NotFoundError):
            memory.erase(target, yes=True)
    for turn in (8, 99, -1):
        with pytest.raises(UsageError, match="no turn"):
            memory.erase(learned.talk, turn=turn, yes=True)
    with pytest.raises(UsageError, match="no turns"):
        memory.erase(learned.tabs, turn=0, yes=True)
    source = tmp_path_factory.mktemp("more") / "s.json"
    memory.ingest([write(source, session(learned.tabs))])
    with pytest.raises(AmbiguousIdError):
        memory.erase(learned.tabs, yes=True)
    assert memory.show(learned.tabs).card.card_id == learned.tabs


def test_an_agent_cannot_erase(learned: Learned, as_agent: AsAgent) -> None:
    """Nor look at what would go: that tells of what it may not see."""
    before = digest_of(learned.memory.home)
    for name, target in (("other", learned.secret), ("main", learned.talk), ("main", "nothing-of-that-name")):
        for yes in (False, True):
            with pytest.raises(ConflictError, match="an agent cannot erase") as caught:
                as_agent(name).erase(target, yes=yes)
            assert "--agent" in caught.value.hint
    assert digest_of(learned.memory.home) == before


def test_homes_that_take_no_changes(learned: Learned, open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = learned.memory
    other = open_memory()
    object.__setattr__(other._work.locks, "_timeout_s", 0.05)
    with memory._work.locks.writing("test"), pytest.raises(BusyError):
        other.erase(learned.tabs, yes=True)
    assert other.erase(learned.tabs).erased.cards == [learned.tabs]
    import os

    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
    with pytest.raises(ReadOnlyHomeError):
        other.erase(learned.tabs, yes=True)
    assert not other.erase(learned.tabs).done


def test_a_cancel_before_the_first_step_changes_nothing(learned: Learned) -> None:
    token = CancelToken()
    token.cancel()
    seq = learned.memory._work.ledger.last_seq()
    with pytest.raises(CancelledError):
        learned.memory.erase(learned.tabs, yes=True, cancel=token)
    assert learned.memory._work.ledger.last_seq() == seq
    assert_whole(learned.memory)


def test_two_erases_and_changes_between_them(learned: Learned) -> None:
    memory = learned.memory
    first, second = planted(memory, learned.docker), planted(memory, learned.tabs)
    memory.erase(first, yes=True)
    memory.edit(learned.tabs, CardChanges(content="Spaces it is."))
    memory.erase(second, yes=True)
    assert holding(memory.home, *MARKS, first, second) == {}
    assert memory.show(learned.tabs).card.content == "Spaces it is."
    assert_whole(memory)
    memory.rebuild()
    assert_whole(memory)


def test_an_alias_of_nothing(memory: Memory) -> None:
    """The only card of a home."""
    made = memory.capture("zqxfirst alone in the world.", title=TITLE).card.card_id
    memory.erase(made, yes=True)
    assert holding(memory.home, *MARKS, made) == {}
    assert_whole(memory)
    assert memory.list_cards().total == 0
