"""What the places have in common: header, footer, the memory, and what to do when it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Footer

from alaya_tui.core_worker import CoreCalls
from alaya_tui.messages import HeaderState
from alaya_tui.widgets.header_line import HeaderLine

if TYPE_CHECKING:
    from alaya_tui.app import AlayaApp


class Place(CoreCalls, Screen[None]):
    """One of the five places; `compose_body` is what makes it that place."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]  # noqa: RUF012

    place_name: ClassVar[str]

    @property
    def alaya(self) -> AlayaApp:
        """The app."""
        return cast("AlayaApp", self.app)

    def compose(self) -> ComposeResult:
        """Header, body, footer."""
        yield HeaderLine()
        yield from self.compose_body()
        yield Footer(compact=True, show_command_palette=False)

    def compose_body(self) -> ComposeResult:
        """What stands between header and footer."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Joins the places of the app."""
        self.alaya.places.append(self)
        self.watch(self.app, "header", self._show_header)

    def _show_header(self, state: HeaderState) -> None:
        self.query_one(HeaderLine).state = state

    def memory_changed(self) -> None:
        """Called when the memory was opened, its engine became ready, or anybody changed it."""
