"""Search, the home: type, and what the memory holds appears."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widgets import Input, Label, Static

from alaya_core.models.answers import CardList, CardRow, PassageHit, RecallAnswer, RecallHit
from alaya_core.models.requests import RecallOptions
from alaya_core.text import counted
from alaya_tui.actions import SEARCH, bindings_for
from alaya_tui.messages import CardWanted
from alaya_tui.screens import search_rows as rows
from alaya_tui.screens.browsing import BROWSE, Browsing
from alaya_tui.screens.preview import Preview
from alaya_tui.screens.text_window import TextWindow
from alaya_tui.widgets.query_input import QueryInput
from alaya_tui.widgets.row_list import RowList
from alaya_tui.widgets.rows import FixedRows, PagedRows

TYPING_PAUSE = 0.2
MOST_RESULTS = 50
MOST_TITLES = 5_000
_WORDS, _VECTORS = "words", "vectors"
_SEARCHING = "searching ..."
_MOST_AGAIN = 5
"""How often, in ever longer pauses, an answer that lacks the newest changes is asked for again."""


class SearchScreen(Browsing):
    """A box, the results, and a preview of the one under the cursor."""

    place_name = SEARCH
    BINDINGS: ClassVar[list[BindingType]] = bindings_for(SEARCH)
    AUTO_FOCUS = "#query"

    def __init__(self) -> None:
        super().__init__()
        self._why = False
        self._answered: str | None = None
        self._asked_again = 0
        self._open_when_answered: str | None = None

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
        self.say("opening the memory ...")

    @property
    def query_text(self) -> str:
        """What is asked now."""
        return self.query_one("#query", QueryInput).value.strip()

    @property
    def is_settled(self) -> bool:
        """Whether the list answers what stands in the box, and nothing more is to come."""
        return self._shown_query == self.query_text and not self.is_waiting_for(_WORDS, _VECTORS, BROWSE)

    def memory_changed(self) -> None:
        """Asks again, and leaves the cursor where it is."""
        self._asked_again = 0
        if self._answered is not None and self._answered == self.query_text:
            self._ask_vectors(self._answered)
        else:
            self.search_now()

    @on(Input.Changed, "#query")
    def _typed(self) -> None:
        self._asked_again = 0
        self._open_when_answered = None
        self.refresh_bindings()
        self._stop_timer()
        if self.query_text:
            self._typing = self.set_timer(TYPING_PAUSE, self.search_now)
        else:
            self.search_now()

    @on(Input.Submitted, "#query")
    def _entered(self) -> None:
        if self._shown_query == self.query_text:
            self.action_open_selected()
            return
        self._open_when_answered = self.query_text
        self.search_now()

    def search_now(self) -> None:
        self._stop_timer()
        if self.alaya.memory is None:
            return
        text = self.query_text
        self.drop(_VECTORS)
        if not text:
            self.drop(_WORDS)
            self.browse(self.results.cursor // PagedRows.PAGE if self._shown_query == "" else 0)
            return
        self.drop(BROWSE)
        if self._shown_query != text:
            self.say(_SEARCHING)
        if self.alaya.engine_ready:
            options = RecallOptions(limit=MOST_RESULTS, typed=True, vectors=False)
            self.ask(
                _WORDS,
                lambda memory: memory.recall(text, options),
                lambda answer: self._words_came(text, answer),
                failed=lambda error: self._words_failed(text, error),
            )
        else:
            self._ask_titles(
                lambda cards: self._titles_came(text, cards), lambda error: self._words_failed(text, error)
            )

    def _ask_titles(self, deliver: Callable[[CardList], None], failed: Callable[[Exception], None]) -> None:
        self.ask(_WORDS, lambda memory: memory.list_cards(sort="hottest", limit=MOST_TITLES), deliver, failed=failed)

    def _words_came(self, text: str, answer: RecallAnswer) -> None:
        self._show_answer(text, answer, more_to_come=True)
        self._ask_vectors(text)

    def _words_failed(self, text: str, error: Exception) -> None:
        self.show_failure(text, error)
        self.alaya.show_unforeseen(error)

    def _ask_vectors(self, text: str) -> None:
        options = RecallOptions(limit=MOST_RESULTS, typed=True)
        self.ask(
            _VECTORS,
            lambda memory: memory.recall(text, options),
            lambda full: self._show_answer(text, full, more_to_come=False),
            failed=lambda error: self._vectors_failed(text, error),
        )

    def _vectors_failed(self, text: str, error: Exception) -> None:
        """What was found by words stays on the screen."""
        self._open_when_answered = None
        if not len(self.results.source):
            self._words_failed(text, error)
            return
        self.say("by words only")
        self.alaya.show_error(error)

    def _show_answer(self, text: str, answer: RecallAnswer, *, more_to_come: bool) -> None:
        now = self.alaya.clock()
        total, floor = self.alaya.header.cards, self.alaya.recall_floor
        self.say(rows.answer_words(answer, total, floor, more_to_come=more_to_come))
        self._answered = text if not more_to_come else None
        if answer.stale and not more_to_come and self._asked_again < _MOST_AGAIN:
            self._asked_again += 1
            self.set_timer(2.0**self._asked_again, lambda: self._ask_again(text))
        if answer.results or more_to_come:
            found = rows.answer_rows(answer, now)
            waiting = "" if found else _SEARCHING
            self.show_rows(text, FixedRows(found), waiting, settled=bool(answer.results))
        else:
            self._ask_titles(
                lambda cards: self._only_titles(text, answer, cards.cards),
                lambda _: self._only_titles(text, answer, []),
            )

    def _titles_came(self, text: str, cards: CardList) -> None:
        """Until the engine is there, titles answer."""
        found = rows.title_rows(cards.cards, text, self.alaya.clock())
        self.say(f"{counted(len(found), 'title')} so far ...   loading the engine")
        self.show_rows(text, FixedRows(found))

    def _ask_again(self, text: str) -> None:
        """What was not searched yet when the answer came may be by now; no further change will say so."""
        if self._answered == text == self.query_text:
            self._ask_vectors(text)

    def _only_titles(self, text: str, answer: RecallAnswer, cards: Sequence[CardRow]) -> None:
        """Half a word is no word yet: where no card was found, titles that hold it still help."""
        found = rows.only_titles(answer, cards, text, self.alaya.clock())
        self.show_rows(text, FixedRows(found), "" if found else rows.nothing_found(text, answer))

    def show_rows(self, text: str, source: FixedRows | PagedRows, empty: str = "", *, settled: bool = True) -> None:
        """Shows what answers `text`, or the words `empty` in its place.

        Args:
            text: What was asked.
            source: The rows.
            empty: What to say where there are none.
            settled: Whether Enter, pressed before there was an answer, meant this one.
        """
        selected = self.results.selected
        same = self._shown_query == text and not self.results.is_at_first
        self._shown_query = text
        self.results.display = not empty
        message = self.query_one("#empty", Static)
        message.display = bool(empty)
        message.update(Content(empty))
        self.results.show(source, keep=selected.key if same and selected else None)
        if empty and self.focused is self.results:
            self.action_focus_query()
        self.refresh_bindings()
        self.alaya.first_list_shown()
        if settled:
            entered, self._open_when_answered = self._open_when_answered, None
            if entered == text and len(source):
                self.action_open_selected()

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
        if self._has_results:
            self.set_focus(self.results)

    def action_leave_query(self) -> None:
        """From the box to the list; from the list back to all cards."""
        box = self.query_one("#query", QueryInput)
        self._open_when_answered = None
        if self.focused is box and self._has_results:
            self.action_focus_results()
        else:
            box.value = ""

    def action_toggle_why(self) -> None:
        """The stages of the score, in the preview."""
        self._why = not self._why
        self.set_class(self._why, "-why")
        self._show_preview()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Sorting is for the whole list, why for hits; nobody goes where he is, or where nothing is."""
        if not self.is_mounted:
            return True
        in_box = self.focused is self.query_one("#query")
        if action == "next_sort":
            return not self.query_text or None
        if action == "toggle_why":
            return bool(self.query_text) or None
        if action in ("focus_results", "open_selected"):
            return self._has_results
        if action == "leave_query":
            return bool(self.query_one("#query", QueryInput).value) or (in_box and self._has_results)
        return action != "focus_query" or not in_box

    @property
    def enter_counts(self) -> bool:
        """Whether Enter in the box opens something, or will when the answer comes."""
        return self._has_results or self._shown_query != self.query_text

    @property
    def _has_results(self) -> bool:
        return self.results.display and len(self.results.source) > 0

    def on_screen_suspend(self) -> None:
        """Who goes elsewhere does not want a card opened any more."""
        self._open_when_answered = None

    def on_key(self, event: events.Key) -> None:
        """A letter that is no key of the list is meant for the box."""
        if self.focused is self.results and event.is_printable and event.key not in self.active_bindings:
            event.stop()
            box = self.query_one("#query", QueryInput)
            self.set_focus(box)
            box.action_end()
            box.insert_text_at_cursor(event.character or "")

    def _stop_timer(self) -> None:
        if self._typing is not None:
            self._typing.stop()
