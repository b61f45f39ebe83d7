"""Verify finds every fault that was planted, and mends what can be mended; rebuild needs nothing but `raw/`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from alaya_core.errors import UsageError
from alaya_core.memory import Memory
from alaya_core.models.requests import Filters
from tests.conftest import OpenMemory
from tests.core.homes import found_ids, kinds, session, write
from tests.core.services.conftest import Learned
from tests.core.services.test_service_ingest import take
from tests.core.services.verify_faults import FAULTS, Fault, append, digest, garbled_graph, seen


@pytest.mark.parametrize("name", FAULTS)
def test_every_planted_fault_is_found_and_mended_when_told(
    learned: Learned, open_memory: OpenMemory, name: str
) -> None:
    fault: Fault = FAULTS[name]
    memory, home = learned.memory, learned.memory.home
    before = seen(memory)
    memory.close()
    fault.plant(home)
    memory = open_memory()
    answer = memory.verify()
    assert answer.ok == (fault.outcome == "told"), answer
    assert not answer.plan
    [ids] = [finding.ids for finding in answer.findings if finding.kind == fault.kind]
    assert all(finding.fix for finding in answer.findings)
    wanted = getattr(learned, fault.ids, fault.ids)
    assert not wanted or any(wanted in one for one in ids), ids
    untouched = digest(home)
    told = memory.verify(fix=True)
    assert kinds(told) == kinds(answer), "looking changes nothing"
    assert digest(home) == untouched, "what was only said is not done"
    assert bool(told.plan) == (fault.outcome == "mended")
    assert not told.fixed
    fixed = memory.verify(fix=True, yes=True)
    assert fixed.ok == (fault.outcome != "stays"), fixed
    if fault.outcome == "mended":
        assert fixed.fixed
        again = open_memory()
        assert kinds(again.verify()) == set()
        assert seen(again) == before
        again.capture("life goes on")
        assert again.verify().ok


def test_a_sound_home_says_what_was_looked_at(learned: Learned) -> None:
    answer = learned.memory.verify()
    assert answer.ok, answer.findings
    cards = 4 + len(learned.distilled)
    assert answer.checked["cards"] == answer.checked["vectors"] == cards
    assert answer.checked["sessions"] == 1
    assert answer.checked["passages"] == 8


def test_an_id_far_from_its_timestamp_is_told(memory: Memory, tmp_path: Path) -> None:
    take(memory, write(tmp_path / "s.json", session("session-20250101-120000")))
    answer = memory.verify()
    assert answer.ok, "it is only told"
    [told] = answer.findings
    assert (told.kind, told.ids, told.report) == ("session_time", ["session-20250101-120000"], True)


def snapshot(memory: Memory) -> str:
    """All that a person can see of a memory."""
    rows = memory.list_cards(Filters(archived=True), limit=1000, sort="title").cards
    seen = [memory.show(row.card_id).model_dump(mode="json") for row in rows]
    traces = [memory.trace(row.card_id).model_dump(mode="json") for row in rows]
    history = memory.history(limit=1000).model_dump(mode="json")
    return json.dumps([seen, traces, history], sort_keys=True, ensure_ascii=False)


def test_everything_comes_back_from_nothing_but_raw(learned: Learned, open_memory: OpenMemory) -> None:
    memory = learned.memory
    memory.archive(learned.docker)
    memory.forget(learned.tabs)
    memory.pin(learned.gateway)
    before, home = snapshot(memory), memory.home
    hits = found_ids(memory, "plugins.allow gateway", typed=True)
    memory.close()
    for path in home.iterdir():
        if path.name != "raw":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in home.rglob("*.idx"):
        path.unlink()
    again = open_memory()
    assert snapshot(again) == before
    answer = again.rebuild()
    assert answer.rebuilt == ["l2", "l1"]
    assert (answer.cards, answer.sessions, answer.vectors_pending) == (4 + len(learned.distilled), 1, 0)
    assert snapshot(again) == before
    assert found_ids(again, "plugins.allow gateway", typed=True) == hits
    assert again.verify().ok
    assert again.restore(learned.tabs).card.state == "active"


@pytest.mark.parametrize("what", ["all", "l1", "l2"])
def test_a_rebuild_of_a_living_home_changes_nothing(learned: Learned, what: str) -> None:
    before = snapshot(learned.memory)
    stages: set[str] = set()
    learned.memory.rebuild(what, progress=lambda step: stages.add(step.stage))  # type: ignore[arg-type]
    assert snapshot(learned.memory) == before
    assert learned.memory.verify().ok
    assert stages
    for folder in ("kuzu", "lancedb"):
        assert len([path for path in (learned.memory.home / folder).glob("gen-*") if "." not in path.suffix[1:]]) == 1


def test_what_cannot_be_rebuilt(memory: Memory) -> None:
    with pytest.raises(UsageError):
        memory.rebuild("l3")  # type: ignore[arg-type]


def test_an_empty_home_is_sound_and_can_be_rebuilt(memory: Memory) -> None:
    assert memory.verify().ok
    assert memory.rebuild("l2").cards == 0
    assert memory.verify().ok


def test_a_readable_form_that_is_gone_is_made_anew(learned: Learned) -> None:
    [path] = (learned.memory.home / "raw/sessions").glob("*/*.md")
    before = path.read_bytes()
    path.unlink()
    answer = learned.memory.verify(fix=True)
    assert answer.ok, "nothing is lost with it"
    assert answer.plan == ["1 readable session is made anew from the session file"]
    assert learned.memory.verify(fix=True, yes=True).findings == []
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["{}", '{"id":"nobody","turns":[]}', "[]", "no json"])
def test_a_stray_file_without_a_turn_becomes_no_session(learned: Learned, content: str) -> None:
    stray = learned.memory.home / "raw/sessions/2026-11/stray.json"
    stray.write_text(content, encoding="utf-8")
    stray.chmod(0o600)
    answer = learned.memory.verify(fix=True, yes=True)
    assert answer.ok, answer.findings
    assert answer.checked["sessions"] == 1
    assert (learned.memory.home / "raw/set-aside/sessions/stray.json").read_text(encoding="utf-8") == content


def test_a_mend_that_is_impossible_is_told_and_the_others_are_done(learned: Learned) -> None:
    """A number that no ledger reaches: nothing is made up for all that would be missing before it."""
    home = learned.memory.home
    append(seq=10**9)(home)
    garbled_graph(home)
    (home / "raw/contexts").chmod(0o755)
    answer = learned.memory.verify(fix=True, yes=True)
    assert {"ledger_gap", "graph_unreadable", "not_mended"} <= kinds(answer)
    assert "permissions" not in kinds(answer)
