"""A window with a text: a turn, a failure."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from alaya_tui.actions import TEXT, bindings_for
from alaya_tui.render_text import block, line


class TextWindow(ModalScreen[None]):
    """Shows a text literally; it scrolls, and Esc closes it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for(TEXT)

    def __init__(self, title: str, text: str | Content, *, classes: str = "") -> None:
        super().__init__(classes=classes)
        self._heading = line(title)
        self._body = Content(block(text)) if isinstance(text, str) else text

    def compose(self) -> ComposeResult:
        """The title and the text."""
        with Vertical(id="window"):
            yield Static(Content(self._heading), id="window-title")
            with VerticalScroll(id="window-body"):
                yield Static(self._body, id="window-text")
            yield Footer(compact=True, show_command_palette=False)

    def action_close(self) -> None:
        """Closes it."""
        self.dismiss()
