"""Search, the home: type, and what the memory holds appears."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Label, Static

from alaya_core.errors import AlayaError
from alaya_core.models.answers import CardList, CardRow, PassageHit, RecallAnswer, RecallHit
from alaya_core.models.requests import RecallOptions
from alaya_tui.actions import SEARCH, bindings_for
from alaya_tui.messages import CardWanted
from alaya_tui.render_text import line, plural
from alaya_tui.screens import search_rows as rows
from alaya_tui.screens.place import Place
from alaya_tui.screens.preview import Preview
from alaya_tui.screens.text_window import TextWindow
from alaya_tui.widgets.query_input import QueryInput
from alaya_tui.widgets.row_list import RowList
from alaya_tui.widgets.rows import FixedRows, PagedRows, heading

TYPING_PAUSE = 0.2
RETRY_PAUSE = 2.0
MOST_RESULTS = 50
MOST_TITLES = 5_000
SORTS = ("hottest", "recent", "used", "linked", "importance", "title", "coldest")
_WORDS, _VECTORS, _BROWSE, _PAGE = "words", "vectors", "browse", "page"


class SearchScreen(Place):
    """A box, the results, and a preview of the one under the cursor."""

    place_name = SEARCH
    BINDINGS: ClassVar[list[BindingType]] = bindings_for(SEARCH)
    AUTO_FOCUS = "#query"

    def __init__(self) -> None:
        super().__init__()
        self._sort = SORTS[0]
        self._why = False
        self._shown_query: str | None = None
        self._answered: str | None = None
        self._pages = PagedRows(0)
        self._typing: Timer | None = None
        self._open_when_answered = False

    def compose_body(self) -> ComposeResult:
        """The box, the status line, the results and the preview."""
        with Horizontal(id="query-line"):
            yield Label("> ", id="prompt", markup=False)
            yield QueryInput(
                self.alaya.first_query, id="query", compact=True, placeholder="search the memory", select_on_focus=False
            )
        yield Static(id="status", markup=False)
        with Container(id="body"):
            yield RowList(id="results")
            yield Static(id="empty", markup=False)
            yield Preview(id="preview-pane")

    def on_mount(self) -> None:
        """Nothing is known yet, and says so."""
        self.query_one("#empty").display = False
        self._say("opening the memory ...")

    @property
    def results(self) -> RowList:
        """The list."""
        return self.query_one("#results", RowList)

    @property
    def query_text(self) -> str:
        """What is asked now."""
        return self.query_one("#query", QueryInput).value.strip()

    @property
    def is_settled(self) -> bool:
        """Whether the list answers what stands in the box, and nothing more is to come."""
        return self._shown_query == self.query_text and not self.is_waiting_for(_WORDS, _VECTORS, _BROWSE)

    def memory_changed(self) -> None:
        """Asks again, and leaves the cursor where it is."""
        if self._answered is not None and self._answered == self.query_text:
            self._ask_vectors(self._answered)
        else:
            self._search_now()

    @on(Input.Changed, "#query")
    def _typed(self) -> None:
        self._open_when_answered = False
        self.refresh_bindings()
        self._stop_timer()
        if self.query_text:
            self._typing = self.set_timer(TYPING_PAUSE, self._search_now)
        else:
            self._search_now()

    @on(Input.Submitted, "#query")
    def _entered(self) -> None:
        if self._shown_query == self.query_text:
            self.action_open_selected()
            return
        self._open_when_answered = True
        self._search_now()

    def _search_now(self) -> None:
        self._stop_timer()
        if self.alaya.memory is None:
            return
        text = self.query_text
        self.drop(_VECTORS)
        if not text:
            self.drop(_WORDS)
            self._browse(self.results.cursor // PagedRows.PAGE if self._shown_query == "" else 0)
            return
        self.drop(_BROWSE)
        if self.alaya.engine_ready:
            options = RecallOptions(limit=MOST_RESULTS, typed=True, vectors=False)
            self.ask(_WORDS, lambda memory: memory.recall(text, options), lambda answer: self._words_came(text, answer))
        else:
            self._ask_titles(lambda cards: self._titles_came(text, cards))

    def _ask_titles(self, deliver: Callable[[CardList], None]) -> None:
        self.ask(_WORDS, lambda memory: memory.list_cards(sort="hottest", limit=MOST_TITLES), deliver)

    def _words_came(self, text: str, answer: RecallAnswer) -> None:
        self._show_answer(text, answer, more_to_come=True)
        self._ask_vectors(text)

    def _ask_vectors(self, text: str) -> None:
        options = RecallOptions(limit=MOST_RESULTS, typed=True)
        self.ask(
            _VECTORS,
            lambda memory: memory.recall(text, options),
            lambda full: self._show_answer(text, full, more_to_come=False),
            failed=self._vectors_failed,
        )

    def _vectors_failed(self, error: Exception) -> None:
        """What was found by words stays on the screen."""
        self._say("by words only")
        self.alaya.show_error(error)

    def _show_answer(self, text: str, answer: RecallAnswer, *, more_to_come: bool) -> None:
        now = self.alaya.clock()
        found = rows.answer_rows(answer, now)
        total, floor = self.alaya.header.cards, self.alaya.recall_floor
        self._say(rows.answer_words(answer, total, floor, more_to_come=more_to_come))
        if found:
            self._show_rows(text, FixedRows(found))
        elif not more_to_come:
            self._ask_titles(lambda cards: self._only_titles(text, answer, cards))
        self._answered = text if not more_to_come else None

    def _titles_came(self, text: str, cards: CardList) -> None:
        """Until the engine is there, titles answer."""
        found = rows.title_rows(cards.cards, text, self.alaya.clock())
        self._say(f"{plural(len(found), 'title')} so far ...   loading the engine")
        self._show_rows(text, FixedRows(found))

    def _only_titles(self, text: str, answer: RecallAnswer, cards: CardList) -> None:
        """Half a word is no word yet: where nothing else was found, titles that hold it still help."""
        found = rows.title_rows(cards.cards, text, self.alaya.clock())
        shown = [heading("titles that contain it"), *found] if found else []
        self._show_rows(text, FixedRows(shown), "" if shown else rows.nothing_found(text, answer))

    def _show_rows(self, text: str, source: FixedRows | PagedRows, empty: str = "") -> None:
        selected = self.results.selected
        same = self._shown_query == text and self.results.cursor > 0
        self._shown_query = text
        self.results.display = not empty
        message = self.query_one("#empty", Static)
        message.display = bool(empty)
        message.update(Content(empty))
        self.results.show(source, keep=selected.key if same and selected else None)
        if empty and self.focused is self.results:
            self.action_focus_query()
        self.alaya.first_list_shown()
        if self._open_when_answered and len(source):
            self._open_when_answered = False
            self.action_open_selected()

    def _browse(self, page: int = 0) -> None:
        sort, size = self._sort, PagedRows.PAGE
        self.ask(
            _BROWSE,
            lambda memory: memory.list_cards(sort=sort, limit=size, offset=page * size),
            lambda cards: self._cards_came(page, cards),
            failed=self._browse_failed,
        )

    def _browse_failed(self, error: Exception) -> None:
        """A memory that is busy now will answer later."""
        if not isinstance(error, AlayaError):
            self.alaya.show_error(error)
            return
        self._say(f"{line(error.message, 200)}   trying again ...")
        self._typing = self.set_timer(RETRY_PAUSE, self._search_now)

    def _cards_came(self, page: int, cards: CardList) -> None:
        now = self.alaya.clock()
        self._pages = PagedRows(cards.total)
        self._pages.put(page, [rows.card_row(card, now) for card in cards.cards])
        self._say(rows.browse_words(cards.total, cards.sort))
        self._show_rows("", self._pages, "" if cards.total else rows.NO_CARDS)

    @on(RowList.Missing, "#results")
    def _row_missing(self, message: RowList.Missing) -> None:
        number, pages, sort, now = message.index // PagedRows.PAGE, self._pages, self._sort, self.alaya.clock()
        if self.results.source is not pages or pages.has(number) or self.is_waiting_for(_PAGE):
            return

        def page_came(cards: CardList) -> None:
            pages.put(number, [rows.card_row(card, now) for card in cards.cards])
            if self.results.source is pages:
                self.results.refresh_rows()

        self.ask(
            _PAGE,
            lambda memory: memory.list_cards(sort=sort, limit=pages.PAGE, offset=number * pages.PAGE),
            page_came,
        )

    @on(RowList.Highlighted, "#results")
    def _show_preview(self) -> None:
        row = self.results.selected
        self.query_one(Preview).show(row.data if row else None, why=self._why)

    @on(RowList.Chosen, "#results")
    def action_open_selected(self) -> None:
        """Opens what is under the cursor."""
        row = self.results.selected
        data = row.data if row and self.results.display else None
        if isinstance(data, PassageHit):
            where = f"{rows.who(data.role)}   turn {data.turn}   {data.session_id}"
            self.app.push_screen(TextWindow(where, data.text))
        elif isinstance(data, RecallHit):
            card, query = data.card_id, self._shown_query or ""
            self.ask(f"opened {card}", lambda memory: memory.opened(card, query=query), lambda _: None)
            self.post_message(CardWanted(card, data.title, query))
        elif isinstance(data, CardRow):
            self.post_message(CardWanted(data.card_id, data.title))

    def action_focus_query(self) -> None:
        """To the box."""
        self.set_focus(self.query_one("#query"))

    def action_focus_results(self) -> None:
        """To the list, if there is one."""
        if self.results.display and len(self.results.source):
            self.set_focus(self.results)

    def action_leave_query(self) -> None:
        """From the box to the list; from the list back to all cards."""
        box = self.query_one("#query", QueryInput)
        if self.focused is box and self.results.display and len(self.results.source):
            self.action_focus_results()
        else:
            box.value = ""

    def action_toggle_why(self) -> None:
        """The stages of the score, in the preview."""
        self._why = not self._why
        self.set_class(self._why, "-why")
        self._show_preview()

    def action_next_sort(self) -> None:
        """The next way to sort the whole list."""
        self._sort = SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)]
        if not self.query_text:
            self._shown_query = None
            self._browse()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Sorting is for the whole list, why for hits; and nobody goes where he is."""
        if not self.is_mounted:
            return True
        if action == "next_sort":
            return not self.query_text or None
        if action == "toggle_why":
            return bool(self.query_text) or None
        return action != "focus_query" or self.focused is not self.query_one("#query")

    def _say(self, words: str) -> None:
        self.query_one("#status", Static).update(Content(words))

    def _stop_timer(self) -> None:
        if self._typing is not None:
            self._typing.stop()
