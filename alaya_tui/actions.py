"""The one table of actions and keys: bindings, the F1 panel and the palette are all made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.binding import Binding, BindingType

EVERYWHERE = "everywhere"
SEARCH = "search"
QUERY = "query"
CARD = "card"
LIST = "list"
TEXT = "text"

PLACE_NAMES = {
    EVERYWHERE: "Everywhere",
    SEARCH: "In Search",
    QUERY: "In the search box",
    CARD: "On a card",
    LIST: "In a list",
    TEXT: "In a text window",
}


@dataclass(frozen=True, slots=True)
class Action:
    """Something a person can do, and the keys that do it.

    Attributes:
        id: Names the action in key maps; never changes.
        keys: Textual's names of the keys, the one to show first.
        action: The Textual action it runs.
        label: One or two words for the footer.
        tooltip: A sentence for the F1 panel and the palette.
        where: The place in which it works, one of the constants above.
        shown: Whether the footer shows it.
        key_label: How the keys are written for a person.
        palette: Whether the palette offers it (moving a cursor by name helps nobody).
        priority: Whether it comes before whatever has the focus.
        built: Whether it does anything yet; what is not built is never bound.
    """

    id: str
    keys: tuple[str, ...]
    action: str
    label: str
    tooltip: str
    where: str
    shown: bool = True
    key_label: str = ""
    palette: bool = True
    priority: bool = False
    built: bool = True

    @property
    def key_text(self) -> str:
        """The keys as a person reads them."""
        return self.key_label or " ".join(_KEY_NAMES.get(key, key) for key in self.keys)

    def binding(self) -> Binding:
        """This action as a Textual binding."""
        from textual.binding import Binding

        return Binding(
            ",".join(self.keys),
            self.action,
            self.label,
            show=self.shown,
            key_display=self.key_text,
            tooltip=self.tooltip,
            id=self.id,
            priority=self.priority,
        )


_KEY_NAMES = {
    "enter": "Enter",
    "escape": "Esc",
    "slash": "/",
    "up": "Up",
    "down": "Down",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "ctrl+p": "^P",
    "ctrl+q": "^Q",
    "ctrl+c": "^C",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}

ACTIONS: tuple[Action, ...] = (
    # Search
    Action("query.open", ("enter",), "submit", "open", "Open the selected result", QUERY, palette=False),
    Action("query.leave", ("down",), "screen.focus_results", "results", "Go to the results", QUERY, palette=False),
    Action("search.open", ("enter",), "open_selected", "open", "Open the selected card or passage", SEARCH),
    # First of all, so that what is typed fast behind it already lands in the box.
    Action("search.focus", ("slash",), "focus_query", "search", "Go to the search box", SEARCH, priority=True),
    Action(
        "search.leave", ("escape",), "leave_query", "back", "Leave the search box; in the list: show all cards", SEARCH
    ),
    Action("search.why", ("w",), "toggle_why", "why", "Show why a hit ranks where it does, stage by stage", SEARCH),
    Action("search.sort", ("s",), "next_sort", "sort", "Sort the whole list another way", SEARCH),
    # Card
    Action("card.walk", ("enter",), "walk", "walk", "Walk to the selected neighbour", CARD),
    Action("card.back", ("escape",), "back", "back", "Go back to where you came from", CARD),
    Action(
        "card.side",
        ("tab", "shift+tab"),
        "other_side",
        "text",
        "Go from the neighbours to the text, which then scrolls with the arrows, or back",
        CARD,
        key_label="Tab",
    ),
    Action(
        "card.text_up",
        ("pageup",),
        "scroll_text(-1)",
        "text up",
        "Scroll the text up, where no list of neighbours needs the key",
        CARD,
        shown=False,
        palette=False,
    ),
    Action(
        "card.text_down",
        ("pagedown",),
        "scroll_text(1)",
        "text down",
        "Scroll the text down, where no list of neighbours needs the key",
        CARD,
        shown=False,
        palette=False,
    ),
    Action("card.search", ("slash",), "search", "search", "Go to the search box", CARD, shown=False),
    Action("card.copy_id", ("c",), "copy_id", "copy id", "Copy the id of this card to the clipboard", CARD),
    # Lists
    Action("list.up", ("up", "k"), "cursor_up", "up", "One line up", LIST, shown=False, palette=False),
    Action("list.down", ("down", "j"), "cursor_down", "down", "One line down", LIST, shown=False, palette=False),
    Action("list.page_up", ("pageup",), "page_up", "page up", "One page up", LIST, shown=False, palette=False),
    Action(
        "list.page_down", ("pagedown",), "page_down", "page down", "One page down", LIST, shown=False, palette=False
    ),
    Action("list.first", ("home",), "first", "first", "To the first line", LIST, shown=False, palette=False),
    Action("list.last", ("end",), "last", "last", "To the last line", LIST, shown=False, palette=False),
    # Windows with a text
    Action("text.close", ("escape", "enter", "q"), "close", "close", "Close this window", TEXT, palette=False),
    # The five places, and what works in all of them
    Action("place.search", ("f2", "1"), "go('search')", "Search", "Search the memory (home)", EVERYWHERE, shown=False),
    Action("place.card", ("f3", "2"), "go('card')", "Card", "The card looked at last", EVERYWHERE, shown=False),
    Action("place.trace", ("f4", "3"), "go('trace')", "Trace", "The turns a card came from", EVERYWHERE, built=False),
    Action(
        "place.dashboard", ("f5", "4"), "go('dashboard')", "Dashboard", "The memory in figures", EVERYWHERE, built=False
    ),
    Action(
        "place.introspect",
        ("f6", "5"),
        "go('introspect')",
        "Introspect",
        "Watch and steer the tidying of the memory",
        EVERYWHERE,
        built=False,
    ),
    Action("app.keys", ("f1",), "keys", "keys", "Show the keys of this place", EVERYWHERE),
    Action(
        "app.palette",
        ("ctrl+p",),
        "command_palette",
        "all actions",
        "Find any action by name",
        EVERYWHERE,
        palette=False,
    ),
    Action("app.theme", (), "change_theme", "theme", "Choose the colours", EVERYWHERE),
    Action("app.quit", ("q",), "quit", "quit", "Leave Alaya", EVERYWHERE),
    Action(
        "app.quit_now",
        ("ctrl+q",),
        "quit",
        "quit",
        "Leave Alaya, also from the search box",
        EVERYWHERE,
        shown=False,
        palette=False,
        priority=True,
    ),
    Action("app.quit_help", ("ctrl+c",), "help_quit", "quit?", "Say how to quit", EVERYWHERE, False, palette=False),
)


def actions_for(*places: str) -> list[Action]:
    """The actions that work in these places, in the order of the table."""
    return [action for action in ACTIONS if action.built and action.where in places]


def bindings_for(*places: str) -> list[BindingType]:
    """The bindings of these places."""
    return [action.binding() for action in actions_for(*places) if action.keys]
