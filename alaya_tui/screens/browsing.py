"""The whole list: its pages, its order, and what is said where it cannot be had."""

from __future__ import annotations

from textual import on
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from alaya_core.errors import BusyError
from alaya_core.models.answers import CardList
from alaya_tui.render_text import error_sentence, line
from alaya_tui.screens import search_rows as rows
from alaya_tui.screens.place import Place
from alaya_tui.widgets.row_list import RowList
from alaya_tui.widgets.rows import FixedRows, PagedRows

RETRY_PAUSE = 2.0
SORTS = ("hottest", "recent", "used", "linked", "importance", "title", "coldest")
BROWSE, PAGE = "browse", "page"


class Browsing(Place):
    """The half of Search that shows all cards while nothing is typed."""

    def __init__(self) -> None:
        super().__init__()
        self._sort = SORTS[0]
        self._shown_query: str | None = None
        self._pages = PagedRows(0)
        self._typing: Timer | None = None

    @property
    def results(self) -> RowList:
        """The list."""
        return self.query_one("#results", RowList)

    @property
    def query_text(self) -> str:
        """What is asked now."""
        raise NotImplementedError

    def search_now(self) -> None:
        """Asks what stands in the box."""
        raise NotImplementedError

    def show_rows(self, text: str, source: FixedRows | PagedRows, empty: str = "", *, settled: bool = True) -> None:
        """Shows what answers `text`, or the words `empty` in its place."""
        raise NotImplementedError

    def say(self, words: str) -> None:
        """The status line."""
        self.query_one("#status", Static).update(Content(words))

    def show_failure(self, text: str, error: Exception) -> None:
        """What went wrong stands in place of the list: rows that answer something else would contradict it."""
        sentence, hint = error_sentence(error)
        self.say("no answer")
        self.show_rows(text, FixedRows(), f"{sentence}\n\n{hint}" if hint else sentence)

    def browse(self, page: int = 0) -> None:
        """Asks for a page of the whole list, and shows it."""
        sort, size = self._sort, PagedRows.PAGE
        self.ask(
            BROWSE,
            lambda memory: memory.list_cards(sort=sort, limit=size, offset=page * size),
            lambda cards: self._cards_came(page, cards),
            failed=self._browse_failed,
        )

    def action_next_sort(self) -> None:
        """The next way to sort the whole list."""
        self._sort = SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)]
        if not self.query_text:
            self._shown_query = None
            self.browse()

    def _browse_failed(self, error: Exception) -> None:
        """A memory that is busy now will answer later; nothing else is asked twice."""
        if isinstance(error, BusyError):
            self.say(f"{line(error.message, 200)}   trying again ...")
            self._typing = self.set_timer(RETRY_PAUSE, self.search_now)
            return
        self.show_failure("", error)
        self.alaya.show_unforeseen(error)

    def _cards_came(self, page: int, cards: CardList) -> None:
        now = self.alaya.clock()
        self._pages = PagedRows(cards.total)
        self._pages.put(page, [rows.card_row(card, now) for card in cards.cards])
        self.say(rows.browse_words(cards.total, cards.sort))
        self.show_rows("", self._pages, "" if cards.total else rows.no_cards(self.alaya.given_home))

    @on(RowList.Missing, "#results")
    def _row_missing(self, message: RowList.Missing) -> None:
        number, pages, sort, now = message.index // PagedRows.PAGE, self._pages, self._sort, self.alaya.clock()
        if self.results.source is not pages or pages.has(number) or self.is_waiting_for(PAGE):
            return

        def page_came(cards: CardList) -> None:
            pages.put(number, [rows.card_row(card, now) for card in cards.cards])
            if self.results.source is pages:
                self.results.refresh_rows()

        self.ask(
            PAGE,
            lambda memory: memory.list_cards(sort=sort, limit=pages.PAGE, offset=number * pages.PAGE),
            page_came,
        )
