"""The search box."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from alaya_tui.actions import QUERY, bindings_for
from alaya_tui.render_text import line


class QueryInput(Input):
    """An input into which nothing can be pasted that a terminal would obey."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for(QUERY)

    def insert_text_at_cursor(self, text: str) -> None:
        """Typed and pasted text, made harmless."""
        super().insert_text_at_cursor(_harmless(text))

    def replace(self, text: str, start: int, end: int) -> None:
        """Text that replaces a selection, made harmless."""
        super().replace(_harmless(text), start, end)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enter is offered where there is something to open, or something is asked."""
        if action == "submit":
            return bool(getattr(self.screen, "enter_counts", True))
        return super().check_action(action, parameters)


def _harmless(text: str) -> str:
    return text if text.isprintable() else line(text, 2_000)
