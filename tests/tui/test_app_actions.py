"""The table of actions holds together, and everything made from it is complete."""

from __future__ import annotations

from collections import Counter

import pytest

from alaya_tui.actions import ACTIONS, CARD, EVERYWHERE, LIST, QUERY, SEARCH, TEXT, actions_for, bindings_for
from alaya_tui.app import AlayaApp
from alaya_tui.screens.card import CardScreen
from alaya_tui.screens.keys import KeysWindow
from alaya_tui.screens.search import SearchScreen
from alaya_tui.screens.text_window import TextWindow
from alaya_tui.widgets.query_input import QueryInput
from alaya_tui.widgets.row_list import RowList

OWNERS = {
    EVERYWHERE: AlayaApp,
    SEARCH: SearchScreen,
    CARD: CardScreen,
    LIST: RowList,
    QUERY: QueryInput,
    TEXT: TextWindow,
}


def test_ids_are_unique_and_every_action_is_explained():
    assert [name for name, times in Counter(action.id for action in ACTIONS).items() if times > 1] == []
    assert all(action.label and action.tooltip for action in ACTIONS)


@pytest.mark.parametrize("place", OWNERS)
def test_a_key_means_one_thing_in_a_place(place: str):
    keys = Counter(key for action in actions_for(place) for key in action.keys)
    assert [key for key, times in keys.items() if times > 1] == []


@pytest.mark.parametrize("place", [SEARCH, CARD])
def test_a_place_does_not_hide_what_works_everywhere(place: str):
    here = {key for action in actions_for(place, LIST) for key in action.keys}
    assert here & {key for action in actions_for(EVERYWHERE) for key in action.keys} == set()


def test_every_bound_action_exists():
    for action in ACTIONS:
        if action.built:
            name = action.action.partition("(")[0]
            owner = SearchScreen if name.startswith("screen.") else OWNERS[action.where]
            assert hasattr(owner, f"action_{name.removeprefix('screen.')}"), action.id


def test_what_is_not_built_is_not_bound():
    dead = {action.id for action in ACTIONS if not action.built}
    assert {"place.trace", "place.dashboard", "place.introspect"} >= dead
    assert dead & {binding.id for place in OWNERS for binding in bindings_for(place)} == set()  # type: ignore[union-attr]


async def test_f1_tells_every_key_of_the_place(app: AlayaApp):
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("f1")
        await pilot.pause()
        assert isinstance(app.screen, KeysWindow)
        told = str(app.screen.query_one("#window-text").render())
        for action in actions_for(SEARCH, LIST, EVERYWHERE):
            assert action.tooltip in told or not action.keys
        await pilot.press("escape")
        assert isinstance(app.screen, SearchScreen)


async def test_the_palette_offers_the_actions_of_the_place(app: AlayaApp):
    from alaya_tui.screens.palette import ActionCommands

    async with app.run_test():
        offered = [hit.help async for hit in ActionCommands(app.screen).discover()]
        wanted = [action.tooltip for action in actions_for(SEARCH, EVERYWHERE) if action.palette]
        assert offered == wanted
        found = [hit.help async for hit in ActionCommands(app.screen).search("sort")]
        assert "Sort the whole list another way" in found
