"""Card: one card, its neighbours, and the way walked so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from alaya_core.errors import NotFoundError
from alaya_core.models.answers import CardAnswer, Related
from alaya_tui.actions import CARD, bindings_for
from alaya_tui.messages import SearchWanted
from alaya_tui.render_text import block, title
from alaya_tui.screens import card_rows
from alaya_tui.screens.place import Place
from alaya_tui.widgets.row_list import RowList
from alaya_tui.widgets.rows import FixedRows
from alaya_tui.widgets.safe_markdown import StoredText

FIRST_NEIGHBOURS = 20
MOST_NEIGHBOURS = 5_000
LONGEST_TRAIL = 500


@dataclass(slots=True)
class Step:
    """A card on the way, and where the cursor stood when it was left."""

    card_id: str
    title: str
    neighbours: int = FIRST_NEIGHBOURS
    cursor: str | None = None


def _text(answer: CardAnswer) -> tuple[str, str]:
    return answer.card.overview or "", answer.card.content


class CardScreen(Place):
    """The card on the left, its neighbours on the right; Enter walks, Esc goes back."""

    place_name = CARD
    BINDINGS: ClassVar[list[BindingType]] = bindings_for(CARD)
    AUTO_FOCUS = "#neighbours"

    def __init__(self) -> None:
        super().__init__()
        self._trail: list[Step] = []
        self._shown: CardAnswer | None = None

    def compose_body(self) -> ComposeResult:
        """Breadcrumbs, the card, its neighbours."""
        yield Static(id="crumbs", markup=False)
        with Container(id="body"):
            with VerticalScroll(id="card-pane"):
                yield Static(id="card-title", markup=False)
                yield Static(id="overview", markup=False)
                yield StoredText(id="card-content")
                yield Static(id="about", markup=False)
            with Vertical(id="neighbours-pane"):
                yield Static(id="neighbours-title", markup=False)
                yield RowList(id="neighbours", pages_if_short=False)

    @property
    def neighbours(self) -> RowList:
        """The list."""
        return self.query_one("#neighbours", RowList)

    @property
    def card(self) -> CardAnswer | None:
        """The card on the screen."""
        return self._shown

    def begin(self, card_id: str, name: str) -> None:
        """Starts a new way at this card."""
        self._trail = [Step(card_id, name)]
        self._load()

    def memory_changed(self) -> None:
        """Shows the card as it is now."""
        if self._trail:
            self._remember_cursor()
            self._load()

    def on_resize(self) -> None:
        """The breadcrumbs use the width there is."""
        self._show_crumbs()

    def _load(self) -> None:
        step = self._trail[-1]
        self._show_crumbs()
        self.ask(
            "card",
            lambda memory: memory.show(step.card_id, neighbours=step.neighbours),
            lambda answer: self._card_came(step, answer),
            failed=self._card_failed,
        )

    def _card_came(self, step: Step, answer: CardAnswer) -> None:
        another = self._shown is None or self._shown.card.card_id != answer.card.card_id
        new_text = another or self._shown is None or _text(self._shown) != _text(answer)
        self._shown = answer
        step.card_id, step.title = answer.card.card_id, answer.card.title  # it may have been named by a prefix
        self._show_crumbs()
        self.query_one("#card-title", Static).update(Content.styled(title(answer.card.title), "bold"))
        self.query_one("#about", Static).update(card_rows.about(answer, self.alaya.clock()))
        self.query_one("#neighbours-title", Static).update(Content(card_rows.neighbours_words(answer)))
        if new_text:
            self._show_text(answer)
        if another:
            self.query_one("#card-pane", VerticalScroll).scroll_home(animate=False)
        found = card_rows.neighbour_rows(answer)
        self.neighbours.show(FixedRows(found), keep=step.cursor)
        self.set_class(not found, "-alone")
        if another or not found:
            self.set_focus(self.neighbours if found else self.query_one("#card-pane"))
        self.refresh_bindings()

    def _show_text(self, answer: CardAnswer) -> None:
        overview = self.query_one("#overview", Static)
        overview.display = bool(answer.card.overview)
        overview.update(Content(block(answer.card.overview, 2_000)))
        self.query_one(StoredText).show(answer.card.content)

    def _card_failed(self, error: Exception) -> None:
        self.alaya.show_error(error)
        if isinstance(error, NotFoundError):
            self.action_back()

    def _show_crumbs(self) -> None:
        crumbs = card_rows.breadcrumbs([step.title for step in self._trail], self.size.width - 2)
        self.query_one("#crumbs", Static).update(crumbs)

    def _remember_cursor(self) -> None:
        row = self.neighbours.selected
        self._trail[-1].cursor = row.key if row else None

    @on(RowList.Chosen, "#neighbours")
    def action_walk(self) -> None:
        """To the neighbour under the cursor; or the neighbours that were left out."""
        row = self.neighbours.selected
        if row is None or self.is_waiting_for("card"):
            return
        if isinstance(row.data, Related):
            self._remember_cursor()
            self._trail.append(Step(row.data.card_id, row.data.title))
            del self._trail[:-LONGEST_TRAIL]
            self._load()
        elif isinstance(row.data, card_rows.MoreNeighbours):
            self._trail[-1].neighbours = MOST_NEIGHBOURS
            self._load()

    def action_back(self) -> None:
        """One step back; from the first card, to Search."""
        if len(self._trail) > 1:
            self._trail.pop()
            self._load()
        else:
            self.post_message(SearchWanted())

    def action_other_side(self) -> None:
        """From the neighbours to the text and back."""
        text = self.query_one("#card-pane", VerticalScroll)
        self.set_focus(text if self.focused is self.neighbours or not len(self.neighbours.source) else self.neighbours)

    def action_scroll_text(self, pages: int) -> None:
        """The text, one page on or back."""
        pane = self.query_one("#card-pane", VerticalScroll)
        pane.scroll_relative(y=pages * max(1, pane.size.height - 1), animate=False)

    def action_search(self) -> None:
        """To the search box."""
        self.post_message(SearchWanted(typing=True))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There must be somewhere to walk."""
        if action == "walk" and self.is_mounted:
            return self.neighbours.selected is not None or None
        if action == "other_side" and self.is_mounted:
            return len(self.neighbours.source) > 0
        return True

    def action_copy_id(self) -> None:
        """The id of the card, for the command line."""
        if self._shown is not None:
            self.app.copy_to_clipboard(self._shown.card.card_id)
            self.app.notify("id copied", timeout=2, markup=False)
