"""F1: the keys of this place, from the table of actions."""

from __future__ import annotations

from textual.content import Content

from alaya_tui.actions import EVERYWHERE, LIST, PLACE_NAMES, QUERY, SEARCH, Action, actions_for
from alaya_tui.render_text import fit
from alaya_tui.screens.text_window import TextWindow


class KeysWindow(TextWindow):
    """What every key does here."""

    def __init__(self, place: str) -> None:
        super().__init__("Keys", _keys_text(place, *([QUERY] if place == SEARCH else []), LIST, EVERYWHERE))


def _keys_text(*places: str) -> Content:
    lines: list[Content] = []
    for place in places:
        lines += [Content.styled(PLACE_NAMES[place], "bold $text-primary")]
        lines += [_told(action) for action in actions_for(place) if action.keys]
        lines.append(Content(""))
    return Content("\n").join(lines[:-1])


def _told(action: Action) -> Content:
    return Content.assemble((f"  {fit(action.key_text, 8)}  ", "bold"), action.tooltip)
