"""History says who, when, why, and what became of each field."""

from __future__ import annotations

from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges
from alaya_core.services.field_changes import text_diff
from tests.conftest import Clock
from tests.core.services.conftest import AsAgent, Learned

LONG = "\n".join(
    f"line {number} of a longer note, long enough for the ledger to name it by its hash" for number in range(8)
)


def test_fields_are_told_one_by_one(memory: Memory) -> None:
    card = memory.capture(LONG, title="Before", tags=["a", "b"]).card.card_id
    memory.edit(
        card, CardChanges(title="After", content=LONG.replace("line 3", "LINE 3"), tags=("b", "c"), importance=1)
    )
    [view, made] = memory.history(card).commits
    assert made.changes == []
    told = {change.field: change for change in view.changes}
    assert (told["title"].before, told["title"].after, told["title"].diff) == ("Before", "After", [])
    assert (told["importance"].before, told["importance"].after) == ("0.5", "1.0")
    assert told["tags"].diff == ["- a", "+ c"]
    assert told["content"].before == LONG
    lines = told["content"].diff
    assert [line[:8] for line in lines if line[0] in "+-"] == ["- line 3", "+ LINE 3"]
    assert len(lines) == 4, "one line around it on each side"
    assert "rev" not in told
    assert "updated_at" not in told


def test_a_difference_without_lines_in_common() -> None:
    assert text_diff("a\nb", "c") == ["- a", "- b", "+ c"]
    assert text_diff("a\nb\nc\nd\ne\nf\ng", "A\nb\nc\nd\ne\nf\nG") == [
        "- a",
        "+ A",
        "  b",
        "  ...",
        "  f",
        "- g",
        "+ G",
    ]


def test_reasons_are_told(learned: Learned) -> None:
    memory = learned.memory
    memory.merge(learned.tabs, learned.docker, why="one topic")
    memory.undo()
    newest, merged, *older = memory.history(limit=100).commits
    assert newest.why == f"undoes #{merged.seq}"
    assert (merged.why, merged.undone, newest.undone) == ("one topic", True, False)
    assert any(view.why == "distilled from session talk-1 by rules/1" for view in older)
    memory.redo()
    assert not memory.history(limit=2).commits[0].undone
    assert memory.history(learned.docker).commits[0].why == f"redoes #{merged.seq}"


def test_the_history_of_a_survivor_holds_that_of_what_it_absorbed(learned: Learned) -> None:
    memory = learned.memory
    memory.edit(learned.docker, CardChanges(title="Container limit"))
    memory.merge(learned.tabs, learned.docker)
    told = [line for view in memory.history(learned.docker).commits for line in view.what]
    assert any("Container limit" in line for line in told)
    assert 'new card "Tabs in Go"' in told


def test_what_was_taken_back_is_still_told(memory: Memory) -> None:
    memory.capture("Never mind", title="Never mind")
    memory.undo()
    [back, made] = memory.history().commits
    assert made.undone
    assert made.what == ['new card "Never mind"']
    assert "took back" in back.what[0]


def test_an_agent_hears_nothing_of_what_it_cannot_see(learned: Learned, as_agent: AsAgent) -> None:
    learned.memory.edit(learned.secret, CardChanges(title="Turquoise vault"))
    learned.memory.undo()
    told = as_agent("main").history(limit=100).model_dump_json()
    assert "urquoise" not in told
    assert learned.secret not in told
    assert "urquoise" in as_agent("other").history(limit=100).model_dump_json()


def test_a_long_line_is_shown_where_it_changed() -> None:
    line = "网关重启之前一定要先设置插件，" * 30
    went, came = text_diff(line, line[:200] + "不" + line[201:])
    assert went.startswith("- ... ")
    assert came.endswith(" ...")
    assert len(came) < 100
    assert "不" in came
    assert "不" not in went


def test_a_card_whose_making_was_undone_has_a_history(memory: Memory) -> None:
    card = memory.capture("Never mind", title="Never mind").card.card_id
    memory.undo()
    told = [line for view in memory.history(card[:13]).commits for line in view.what]
    assert told == ['took back the making of "Never mind"', 'new card "Never mind"']
    assert memory.history(limit=1).commits[0].what == ['took back the making of "Never mind"']


def test_times_are_told_as_times(memory: Memory, clock: Clock) -> None:
    old = memory.capture("older").card.card_id
    clock.advance(days=3)
    new = memory.capture("newer").card.card_id
    memory.merge(new, old)
    [change] = [c for c in memory.history(new).commits[0].changes if c.field == "created_at"]
    assert str(change.before).startswith("2026-12-03")
    assert str(change.after).startswith("2026-11-30")
