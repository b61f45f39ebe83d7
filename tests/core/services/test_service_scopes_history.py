"""History as an agent is told it: nothing of what is hidden, or was when it happened, and no place taken by it."""

from __future__ import annotations

import pytest

from alaya_core.errors import NotFoundError
from alaya_core.memory import Memory
from tests.core.services.test_service_scopes import World, assert_silent, main, template, told

__all__ = ["main", "template"]


def test_history_tells_nothing_hidden(main: Memory, template: World) -> None:
    whole = main.history(limit=1000)
    assert whole.commits
    assert whole.total == len(whole.commits)
    assert_silent(told(whole), template)
    for seen in template.seen:
        own = main.history(seen)
        assert own.total == len(own.commits)
        assert_silent(told(own), template)


def test_what_is_hidden_takes_no_place_in_history(main: Memory) -> None:
    whole = main.history(limit=1000)
    assert [view.seq for view in main.history(limit=2).commits] == [view.seq for view in whole.commits[:2]]


def test_a_hidden_card_has_no_history(main: Memory, template: World) -> None:
    for hidden in (template.hidden, template.lent, template.merged, template.forgotten):
        with pytest.raises(NotFoundError) as error:
            main.history(hidden)
        assert error.value.message == f"there is no card '{hidden}'"
