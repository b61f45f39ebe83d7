"""The app: opens at once, opens the memory behind the first picture, and takes people from place to place."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual import on
from textual.app import App
from textual.binding import BindingType
from textual.command import Provider
from textual.driver import Driver
from textual.reactive import var
from textual.screen import Screen

from alaya_core.clock import Clock, system_clock
from alaya_core.errors import AlayaError, BusyError, NotFoundError
from alaya_core.models.answers import PassageVectors, StatusAnswer
from alaya_tui.actions import CARD, EVERYWHERE, SEARCH, bindings_for
from alaya_tui.core_worker import CoreCalls, newest_change, wait_for_threads
from alaya_tui.messages import CardWanted, HeaderState, SearchWanted
from alaya_tui.render_text import block, error_sentence, home_name
from alaya_tui.screens.place import Place
from alaya_tui.stylesheets import style_paths
from alaya_tui.terminal import bear_any_bytes, leave_on_signals

if TYPE_CHECKING:
    from alaya_core.memory import Memory
    from alaya_tui.screens.card import CardScreen

LOOK_FOR_CHANGES = 2.0
EMBED_SECONDS, EMBED_PAUSE = 0.5, 1.0
LOADING = "loading the engine ..."
GONE = "the home is gone"


def _search_screen() -> Screen[None]:
    from alaya_tui.screens.search import SearchScreen

    return SearchScreen()


def _card_screen() -> Screen[None]:
    from alaya_tui.screens.card import CardScreen

    return CardScreen()


def _palette() -> type[Provider]:
    from alaya_tui.screens.palette import ActionCommands

    return ActionCommands


class AlayaApp(CoreCalls, App[None], inherit_bindings=False):
    """The screen of one memory.

    Args:
        open_memory: Opens the memory; called in a thread, after the first picture.
        clock: What "2 days ago" is counted from.
        query: What is in the search box at first.
        card: The card to begin with.
        given_home: The home as it was named on the command line, for hints that name it too; empty = the usual one.
    """

    TITLE = "Alaya"
    CSS_PATH: ClassVar[list[str | PurePath]] = style_paths()
    BINDINGS: ClassVar[list[BindingType]] = bindings_for(EVERYWHERE)
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_palette}
    MODES: ClassVar[dict[str, str | Callable[[], Screen[None]]]] = {SEARCH: _search_screen, CARD: _card_screen}
    DEFAULT_MODE = SEARCH

    header: var[HeaderState] = var(HeaderState(busy="opening the memory ..."))

    def __init__(
        self,
        open_memory: Callable[[], Memory],
        *,
        clock: Clock = system_clock,
        query: str = "",
        card: str = "",
        given_home: str = "",
    ) -> None:
        super().__init__()
        self.memory: Memory | None = None
        self.engine_ready = False
        self.recall_floor: float | None = None
        self.clock = clock
        self._open_memory = open_memory
        self.first_query = query
        self.given_home = given_home
        self.leaves_on_signals = False
        self.places: list[Place] = []
        self._first_card = card
        self._warming = False
        self._embedding = False
        self._seen_change: int | None = None
        self._told: dict[str, str] = {}

    # Opening

    def get_driver_class(self) -> type[Driver]:
        """Textual's own, which then bears whatever a terminal sends."""
        return bear_any_bytes(super().get_driver_class())

    def on_load(self) -> None:
        """The terminal is not altered yet; from now on it is put right whatever ends the process."""
        if self.leaves_on_signals:
            leave_on_signals(lambda status: self.exit(return_code=status))

    def on_ready(self) -> None:
        """The first picture is on the screen: now the memory."""
        self.ask_without_memory("open", self._open_and_look, self._memory_opened, failed=self._cannot_open)

    def _open_and_look(self) -> Memory:
        memory = self._open_memory()
        with suppress(AlayaError):  # asked before anything is read: no later change can be missed
            self._seen_change = memory.last_change()
        return memory

    def _memory_opened(self, memory: Memory) -> None:
        self.memory = memory
        self.recall_floor = memory.config.recall.floor
        self.header = replace(self.header, home=home_name(memory.home), read_only=memory.read_only, busy=LOADING)
        self._memory_changed()
        self.set_interval(LOOK_FOR_CHANGES, self._look_for_changes)
        if memory.config.warnings:
            self.notify(block("\n".join(memory.config.warnings), 2_000), severity="warning", timeout=8, markup=False)
        if self._first_card:
            self.post_message(CardWanted(self._first_card, self._first_card))

    def _cannot_open(self, error: Exception) -> None:
        """Without a memory there is nothing to show: leave, and say why where it stays readable."""
        sentence, hint = error_sentence(error)
        status = error.exit_status if isinstance(error, AlayaError) else 1
        self.exit(return_code=status, message=Text(f"alaya: {sentence}" + (f"\n  {hint}" if hint else "")))

    def first_list_shown(self) -> None:
        """The whole list is on the screen: now the engine, which takes seconds to import."""
        if not self._warming:
            self._warming = True
            self.ask(
                "warm up", lambda memory: memory.warm_up(), lambda _: self._engine_is_ready(), failed=self._no_engine
            )

    def _engine_is_ready(self) -> None:
        self.engine_ready = True
        self.header = replace(self.header, busy="")
        self._places_changed()
        self._embed_passages()

    def _no_engine(self, error: Exception) -> None:
        """Searching may still work without one of its legs; it will say itself what it lacks."""
        self._engine_is_ready()
        self.show_error(error)

    # The memory changed

    def _look_for_changes(self) -> None:
        if not self.is_waiting_for("changes"):
            self.ask("changes", newest_change, self._changes_came, failed=lambda error: self._watch_failed("", error))

    def _changes_came(self, newest: int) -> None:
        changed = self._seen_change is not None and newest != self._seen_change
        self._seen_change = newest
        if self._told.pop("", None) is not None and self.header.busy == GONE:
            self.header = replace(self.header, busy="" if self.engine_ready else LOADING)
            changed = True
        if changed or (self.header.cards is None and "status" not in self._told):  # it may have been busy at first
            self._memory_changed()

    def _memory_changed(self) -> None:
        self.ask(
            "status",
            lambda memory: memory.status(),
            self._status_came,
            failed=lambda error: self._watch_failed("status", error),
        )
        self._places_changed()

    def _watch_failed(self, what: str, error: Exception) -> None:
        """Nobody asked, so a person is told once; a memory that is busy will answer next time."""
        if isinstance(error, BusyError):
            return
        if isinstance(error, NotFoundError):
            self.header = replace(self.header, busy=GONE)
        sentence, _ = error_sentence(error)
        if sentence not in self._told.values():
            self.show_error(error)
        self._told[what] = sentence

    def _status_came(self, status: StatusAnswer) -> None:
        self._told.pop("status", None)
        if status.vectors.passages_owing:
            self._embed_passages()
        tiers = tuple((tier, status.tiers.get(tier, 0)) for tier in ("HOT", "WARM", "COLD"))
        self.header = replace(self.header, cards=sum(status.tiers.values()), tiers=tiers)

    def _places_changed(self) -> None:
        for place in self.places:
            place.memory_changed()

    def _embed_passages(self) -> None:
        """Makes vectors of passages a little at a time, with a pause after each: nobody who types waits for them."""
        if not self.engine_ready or self._embedding or (self.memory is not None and self.memory.read_only):
            return
        self._embedding = True
        self.ask(
            "passages",
            lambda memory: memory.embed_passages(seconds=EMBED_SECONDS),
            self._passages_came,
            failed=lambda _: setattr(self, "_embedding", False),
        )

    def _passages_came(self, done: PassageVectors) -> None:
        self._embedding = False
        if done.left and done.made and not done.note:
            self.set_timer(EMBED_PAUSE, self._embed_passages)

    # From place to place

    @on(CardWanted)
    async def _open_card(self, message: CardWanted) -> None:
        await self.switch_mode(CARD)
        card_screen = next(place for place in self.places if place.place_name == CARD)
        cast("CardScreen", card_screen).begin(message.card_id, message.title)

    @on(SearchWanted)
    async def _open_search(self, message: SearchWanted) -> None:
        await self.switch_mode(SEARCH)
        if message.typing:
            await self.run_action("focus_query", self.screen)

    async def action_go(self, place: str) -> None:
        """To one of the five places; there is no way to the card place before a card was opened."""
        if place == CARD and not any(there.place_name == CARD for there in self.places):
            self.notify("no card was opened yet", timeout=3, markup=False)
            return
        await self.switch_mode(place)

    def action_keys(self) -> None:
        """The keys of this place."""
        from alaya_tui.screens.keys import KeysWindow

        if isinstance(self.screen, Place):
            self.push_screen(KeysWindow(self.screen.place_name))

    # What went wrong

    def show_error(self, error: Exception) -> None:
        """What a person can act on is a toast; what nobody foresaw is a window with all that helps to report it."""
        sentence, hint = error_sentence(error)
        if isinstance(error, AlayaError):
            message = f"{sentence}\n{hint}" if hint else sentence
            severity = "warning" if error.retryable else "error"
            self.notify(message, severity=severity, timeout=8, markup=False)  # type: ignore[arg-type]
            return
        self.show_unforeseen(error)

    def show_unforeseen(self, error: Exception) -> None:
        """A window, if nobody foresaw it."""
        if isinstance(error, AlayaError):
            return
        from alaya_tui.screens.text_window import TextWindow

        sentence, _ = error_sentence(error)
        trace = "".join(traceback.format_exception(error))
        told = f"{sentence}\n\nNothing was lost. If it happens again, please report this:\n\n{trace}"
        self.push_screen(TextWindow("Something went wrong inside Alaya", told, classes="-error"))


def run_app(*, home: str | None, agent: str | None, command: str | None = None, argument: str | None = None) -> int:
    """Runs the screen until the person leaves.

    Args:
        home: The folder of the memory; None = the usual one, which is made if it does not exist.
        agent: Whose memories may be seen.
        command: What to begin with: `recall` fills the search box, `show` and `trace` open a card.
        argument: The query, or the card.

    Returns:
        The exit status.
    """
    # Its Rust logger writes straight to the terminal the pictures are drawn on, unless told before it is imported.
    os.environ.setdefault("LANCEDB_LOG", "error")

    def open_memory() -> Memory:
        from alaya_core.memory import Memory

        return Memory.open(home, agent=agent, create=home is None)

    query = argument or "" if command in ("recall", "search") else ""
    card = argument or "" if command in ("show", "card", "trace") else ""
    app = AlayaApp(open_memory, query=query, card=card, given_home=home or "")
    app.leaves_on_signals = True
    app.run()
    status = 1 if app.return_code is None else app.return_code  # nobody left it: it crashed
    if wait_for_threads(0.3):
        if app.memory is not None:
            app.memory.close()
        return status
    # A search or an import still runs in a thread. Nobody waits for it, and ending the interpreter under native code
    # can crash: so the process ends here. Nothing is half-written: changes are committed whole or not at all.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # the terminal may be gone
            stream.flush()
    os._exit(status)
