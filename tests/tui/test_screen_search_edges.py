"""Search where something is missing: no answer yet, no answer at all, nothing to open."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from alaya_core.errors import BusyError, DamagedError
from alaya_core.models.answers import Filtered, PassageHit, RecallAnswer
from alaya_tui.app import AlayaApp
from alaya_tui.messages import CardWanted
from alaya_tui.screens.card import CardScreen
from alaya_tui.screens.search import SearchScreen
from tests.tui.conftest import NOW, Cards, Log, engine, fixed_clock, open_memory, until, visible
from tests.tui.test_screen_search import keys, settled, status


async def test_enter_counts_only_for_the_answer_it_asked_for(app: AlayaApp):
    log = Log()
    async with app.run_test(size=(120, 40), message_hook=log) as pilot:
        await engine(pilot)
        await pilot.press(*"zeppelin", "enter")
        await until(pilot, lambda: settled(app) and 'Nothing found for "zeppelin"' in visible(app))
        assert app.memory is not None
        card = app.memory.capture("A zeppelin flies.", title="The zeppelin").card.card_id
        await until(pilot, lambda: keys(app) == [card] and settled(app))
        await pilot.pause()
        assert isinstance(app.screen, SearchScreen)
        assert not [m for m in log.messages if isinstance(m, CardWanted)]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CardScreen))


async def test_who_goes_elsewhere_opens_nothing_later(app: AlayaApp, monkeypatch: pytest.MonkeyPatch):
    import threading

    gate = threading.Event()
    log = Log()
    async with app.run_test(size=(120, 40), message_hook=log) as pilot:
        await engine(pilot)
        assert app.memory is not None
        real = app.memory.recall
        monkeypatch.setattr(app.memory, "recall", lambda *told: (gate.wait(30), real(*told))[1])
        await pilot.press(*"docker", "enter", "f1")
        gate.set()
        await until(pilot, lambda: log.answered("vectors"))
        assert not [m for m in log.messages if isinstance(m, CardWanted)]


async def test_while_it_searches_and_when_nothing_is_found_list_and_status_agree(
    app: AlayaApp, monkeypatch: pytest.MonkeyPatch
):
    import threading

    words, vectors = threading.Event(), threading.Event()
    async with app.run_test(size=(120, 40)) as pilot:
        await engine(pilot)
        assert app.memory is not None
        real = app.memory.recall

        def recall(query, options):
            (vectors if options.vectors else words).wait(30)
            return real(query, options)

        monkeypatch.setattr(app.memory, "recall", recall)
        app.screen.query_one("#query", Input).value = "zeppelin"
        await until(pilot, lambda: status(app) == "searching ...")
        words.set()
        await until(pilot, lambda: status(app).startswith("0 of"))
        assert keys(app) == []
        assert "Docker needs" not in visible(app)
        vectors.set()
        await until(pilot, lambda: "Nothing found for" in visible(app))
        assert "results" not in visible(app).splitlines()[-1]
        assert "open" not in visible(app).splitlines()[-1]


async def test_titles_help_where_only_passages_were_found(app: AlayaApp, cards: Cards, monkeypatch: pytest.MonkeyPatch):
    hit = PassageHit(
        session_id="session-1", turn=3, role="user", text="docking", timestamp=NOW, score=0.8, cards=[], why={}
    )
    answer = RecallAnswer(
        query="dock", results=[], passages=[hit], filtered=Filtered(), degraded=[], stale=False, took_ms=3
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await engine(pilot)
        monkeypatch.setattr(app.memory, "recall", lambda *_: answer)
        await pilot.press(*"dock", "enter")
        await until(pilot, lambda: isinstance(app.screen, CardScreen))
        await pilot.press("escape")
        await until(pilot, lambda: settled(app) and len(keys(app)) == 4)
        assert keys(app)[1] == cards["docker"]
        assert keys(app)[3] == "session-1#3"


async def test_only_a_busy_memory_is_asked_again(app: AlayaApp, monkeypatch: pytest.MonkeyPatch):
    from alaya_tui.screens import browsing

    monkeypatch.setattr(browsing, "RETRY_PAUSE", 0.01)
    asked: list[int] = []

    def list_cards(**_: object) -> object:
        asked.append(1)
        raise (
            BusyError("somebody writes", "wait") if len(asked) < 3 else DamagedError("torn [/red]", "run alaya verify")
        )

    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.memory)
        await engine(pilot)
        monkeypatch.setattr(app.memory, "list_cards", list_cards)
        await pilot.press("down", "s")
        await until(pilot, lambda: "torn [/red]" in visible(app))
        assert "run alaya verify" in visible(app)
        assert status(app) == "no answer"
        await pilot.pause(0.1)
        assert len(asked) == 3


async def test_a_memory_that_cannot_be_listed_says_why_and_loads_nothing(home: Path):
    memory = open_memory(home)

    def list_cards(**_: object) -> object:
        raise DamagedError("the ledger is torn", "run alaya verify")

    memory.list_cards = list_cards  # type: ignore[method-assign, assignment]
    app = AlayaApp(lambda: memory, clock=fixed_clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "the ledger is torn" in visible(app))
        await until(pilot, lambda: "loading" not in visible(app))
    memory.close()


async def test_a_letter_that_is_no_key_goes_to_the_box(app: AlayaApp):
    async with app.run_test() as pilot:
        await engine(pilot)
        box = app.screen.query_one("#query", Input)
        await pilot.press("down", "j", "k", "s", "w")
        assert box.value == ""
        await pilot.press("d", "o", "c", "k")
        assert app.screen.focused is box
        assert box.value == "dock"


async def test_the_selected_row_is_marked_without_colour(app: AlayaApp, cards: Cards):
    async with app.run_test(size=(120, 40)) as pilot:
        await engine(pilot)
        marked = [line for line in visible(app).splitlines() if line.startswith(">") and "search the" not in line]
        assert len(marked) == 1
        assert "Telegram" in marked[0]
        await pilot.press("down", "down")
        await pilot.pause()
        marked = [line for line in visible(app).splitlines() if line.startswith(">") and "search the" not in line]
        assert len(marked) == 1
        assert "Gateway" in marked[0]


async def test_the_footer_offers_what_does_something(tmp_path: Path, app: AlayaApp):
    def footer(app: AlayaApp) -> str:
        return visible(app).splitlines()[-1]

    empty = AlayaApp(lambda: open_memory(tmp_path / "new"), clock=fixed_clock, given_home="my home [/red]")
    async with empty.run_test(size=(120, 30)) as pilot:
        await engine(pilot)
        await until(pilot, lambda: "alaya ingest FILE --distill --home 'my home [/red]'" in visible(empty))
        for words in ("Enter", "Down", "Esc"):
            assert words not in footer(empty)
        await pilot.press("x")
        await until(pilot, lambda: "Esc back" in footer(empty))
    assert empty.memory is not None
    empty.memory.close()
    async with app.run_test(size=(120, 30)) as pilot:
        await engine(pilot)
        await until(pilot, lambda: "Enter open" in footer(app) and "Down results" in footer(app))
