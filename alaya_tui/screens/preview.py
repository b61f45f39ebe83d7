"""The pane beside the results: what stands under the cursor."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from alaya_core.models.answers import CardAnswer, CardRow, PassageHit, RecallHit
from alaya_tui.core_worker import CoreCalls
from alaya_tui.screens.preview_text import card_preview, hit_preview, passage_preview

CURSOR_PAUSE = 0.1
FEW_NEIGHBOURS = 8


class Preview(CoreCalls, VerticalScroll, can_focus=False):
    """Shows a hit at once, and fetches a card of the whole list when the cursor rests on it."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._resting: Timer | None = None

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static(id="preview", markup=False)

    def show(self, data: object, *, why: bool) -> None:
        """Shows what a row stands for.

        Args:
            data: The hit or card; None shows nothing.
            why: Whether to tell the stages of a hit's score.
        """
        if self._resting is not None:
            self._resting.stop()
        self.drop("preview")
        if isinstance(data, CardRow):
            if self.display:
                self._resting = self.set_timer(CURSOR_PAUSE, lambda: self._fetch(data.card_id))
        elif isinstance(data, RecallHit):
            self._put(hit_preview(data, why=why))
        elif isinstance(data, PassageHit):
            self._put(passage_preview(data, why=why))
        else:
            self._put(Content(""))

    def _fetch(self, card: str) -> None:
        def came(answer: CardAnswer) -> None:
            self._put(card_preview(answer))

        # A card that cannot be shown is said when it is opened; the cursor may just be passing by.
        self.ask("preview", lambda memory: memory.show(card, neighbours=FEW_NEIGHBOURS), came, failed=lambda _: None)

    def _put(self, content: Content) -> None:
        self.query_one("#preview", Static).update(content)
        self.scroll_home(animate=False)
