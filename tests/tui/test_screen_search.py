"""Search: type, look, open."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, Static

from alaya_core.errors import ProviderError
from alaya_core.models.answers import Filtered, PassageHit, RecallAnswer
from alaya_tui.app import AlayaApp
from alaya_tui.core_worker import CoreAnswered
from alaya_tui.messages import CardWanted
from alaya_tui.screens.card import CardScreen
from alaya_tui.screens.search import SearchScreen
from alaya_tui.screens.search_rows import answer_rows, answer_words, nothing_found
from alaya_tui.screens.text_window import TextWindow
from alaya_tui.widgets.row_list import RowList
from alaya_tui.widgets.rows import FixedRows
from tests.tui.conftest import NOW, Cards, Log, engine, fixed_clock, open_memory, until, visible


def results(app: AlayaApp) -> RowList:
    """The list of the search screen."""
    return app.screen.query_one("#results", RowList)


def keys(app: AlayaApp) -> list[str]:
    """What is in it."""
    return [row.key for index in range(len(results(app).source)) if (row := results(app).source.row(index))]


def settled(app: AlayaApp) -> bool:
    """Whether no answer is still to come."""
    return isinstance(app.screen, SearchScreen) and app.screen.is_settled


def status(app: AlayaApp) -> str:
    """The line under the box."""
    return str(app.screen.query_one("#status", Static).render())


async def test_nothing_typed_shows_everything_and_names_the_order(app: AlayaApp, cards: Cards):
    async with app.run_test(size=(120, 40)) as pilot:
        await engine(pilot)
        assert set(keys(app)) == set(cards.values())
        assert status(app) == f"{len(cards)} cards, hottest first"
        assert f"{len(cards)} cards" in visible(app)
        await pilot.press("down", "s")
        await until(pilot, lambda: status(app) == f"{len(cards)} cards, newest first")


async def test_typing_finds_by_words_at_once_and_by_meaning_after(app: AlayaApp, cards: Cards):
    log = Log()
    async with app.run_test(size=(120, 40), message_hook=log) as pilot:
        await engine(pilot)
        await pilot.press(*"docker")
        await until(pilot, lambda: log.answered("vectors") and settled(app))
        assert keys(app)[0] == cards["docker"]
        assert " ms" in status(app)
        order = [m.purpose for m in log.messages if isinstance(m, CoreAnswered) and m.purpose in ("words", "vectors")]
        assert list(dict.fromkeys(order)) == ["words", "vectors"]
        assert "Docker needs a memory limit" in visible(app)
        assert "Set `--memory`" in visible(app), "the preview"
        await pilot.press("escape", "escape")
        await until(pilot, lambda: len(keys(app)) == len(cards))


async def test_half_a_word_finds_titles_and_no_word_says_so(app: AlayaApp, cards: Cards):
    async with app.run_test(size=(120, 40)) as pilot:
        await engine(pilot)
        box = app.screen.query_one("#query", Input)
        box.value = "dock"
        await until(pilot, lambda: keys(app)[-1:] == [cards["docker"]] and settled(app))
        box.value = "qwxzv"
        await until(pilot, lambda: "qwxzv" in visible(app) and "Try other words" in visible(app))
        await pilot.press("escape")
        await until(pilot, lambda: len(keys(app)) == len(cards))


async def test_chinese_finds_chinese(app: AlayaApp, cards: Cards):
    log = Log()
    async with app.run_test(size=(120, 40), message_hook=log) as pilot:
        await engine(pilot)
        app.screen.query_one("#query", Input).value = "重启前发通知"
        await until(pilot, lambda: log.answered("vectors") and settled(app))
        assert keys(app)[0] == cards["gateway"]


async def test_fast_typing_asks_once(app: AlayaApp):
    log = Log()
    async with app.run_test(message_hook=log) as pilot:
        await engine(pilot)
        box = app.screen.query_one("#query", Input)
        for text in ("d", "do", "doc", "dock", "docke", "docker"):
            box.value = text
        await until(pilot, lambda: log.answered("vectors") and settled(app))
        assert log.answered("words") <= 2


async def test_enter_opens_and_counts_the_access(app: AlayaApp, cards: Cards, monkeypatch: pytest.MonkeyPatch):
    log = Log()
    async with app.run_test(size=(120, 40), message_hook=log) as pilot:
        await engine(pilot)
        opened: list[tuple[str, str]] = []
        assert app.memory is not None
        real = app.memory.opened

        def spy(card: str, *, query: str) -> None:
            real(card, query=query)
            opened.append((card, query))

        monkeypatch.setattr(app.memory, "opened", spy)
        await pilot.press(*"docker", "enter")  # at once: the answer is not there yet
        await until(pilot, lambda: isinstance(app.screen, CardScreen) and app.screen.card)
        assert isinstance(app.screen, CardScreen)
        assert app.screen.card is not None
        assert app.screen.card.card.card_id == cards["docker"]
        await until(pilot, lambda: opened == [(cards["docker"], "docker")])
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        assert app.screen.query_one("#query", Input).value == "docker"


async def test_browsing_is_no_access(app: AlayaApp, monkeypatch: pytest.MonkeyPatch):
    log = Log()
    async with app.run_test(message_hook=log) as pilot:
        await engine(pilot)
        monkeypatch.setattr(app.memory, "opened", lambda *_, **__: pytest.fail("counted"))
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, CardScreen) and app.screen.card)
        assert next(m.query for m in log.messages if isinstance(m, CardWanted)) == ""


async def test_a_double_click_opens(app: AlayaApp):
    async with app.run_test(size=(100, 30)) as pilot:
        await engine(pilot)
        await pilot.click("#results", offset=(20, 1), times=2)
        await until(pilot, lambda: isinstance(app.screen, CardScreen))


async def test_the_box_is_left_and_found_again(app: AlayaApp):
    async with app.run_test() as pilot:
        await engine(pilot)

        def focused() -> str | None:
            return app.screen.focused.id if app.screen.focused else None

        assert focused() == "query"
        await pilot.press("down")
        assert focused() == "results"
        await pilot.press("slash")
        assert focused() == "query"
        await pilot.press("slash")
        assert app.screen.query_one("#query", Input).value == "/"
        await pilot.press("backspace", "escape")
        assert focused() == "results"


async def test_why_is_told_stage_by_stage(app: AlayaApp):
    log = Log()
    async with app.run_test(size=(120, 40), message_hook=log) as pilot:
        await engine(pilot)
        await pilot.press(*"docker")
        await until(pilot, lambda: log.answered("vectors") and settled(app))
        assert "why ." not in visible(app)
        await pilot.press("down", "w")
        await pilot.pause()
        assert "why ." in visible(app)
        await pilot.press("w")
        await pilot.pause()
        assert "why ." not in visible(app)


async def test_an_empty_memory_says_what_to_do(tmp_path: Path):
    app = AlayaApp(lambda: open_memory(tmp_path / "new"), clock=fixed_clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await engine(pilot)
        assert "alaya ingest FILE --distill" in visible(app)
        assert "alaya demo" in visible(app)
        await pilot.press("down", "enter", "escape", "escape", "slash", "w")
        assert app.memory is not None
        app.memory.close()


async def test_changes_from_outside_appear(app: AlayaApp, home: Path, cards: Cards):
    async with app.run_test(size=(120, 40)) as pilot:
        await engine(pilot)
        await pilot.press("down", "down")
        selected = results(app).selected
        with open_memory(home) as other:
            other.capture("Written by somebody else.", title="From outside")
        await until(pilot, lambda: "From outside" in visible(app))
        assert selected is not None
        assert results(app).selected is not None
        assert results(app).selected.key == selected.key  # type: ignore[union-attr]


async def test_hostile_titles_are_shown_as_they_are(app: AlayaApp):
    async with app.run_test(size=(99, 40)) as pilot:
        await engine(pilot)
        seen = visible(app)
        assert "[/red] closes nothing [@click=app.quit]x[/] [$name]" in seen
        assert "\u241b]52;c;aGk=\u2407" in seen
        assert "\x1b" not in seen
        assert "\u202e" not in seen
        for _ in range(12):
            await pilot.press("down")
        await pilot.click("#results", offset=(60, 6))
        await pilot.pause()
        assert app.is_running


async def test_any_size(app: AlayaApp):
    log = Log()
    sizes = [(40, 12), (99, 19), (100, 20), (300, 80), (20, 4), (3, 2), (80, 24)]
    async with app.run_test(size=(80, 24), message_hook=log) as pilot:
        await engine(pilot)
        app.screen.query_one("#query", Input).value = "docker"
        await until(pilot, lambda: log.answered("vectors") and settled(app))
        await pilot.press("down", "w")
        for size in sizes:
            await pilot.resize_terminal(*size)
            await pilot.press("down", "up")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CardScreen) and app.screen.card)
        for size in sizes:
            await pilot.resize_terminal(*size)
            await pilot.press("down", "up")
        await pilot.press("f1")
        for size in sizes:
            await pilot.resize_terminal(*size)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        assert "docker" in visible(app)


async def test_a_passage_opens_in_a_window(app: AlayaApp):
    hit = PassageHit(
        session_id="session-1", turn=3, role="user", text="为什么没收到通知？ [/red]\x1b]0;x\x07", timestamp=NOW,
        score=0.8, cards=[], why={"words": 0.5},
    )  # fmt: skip
    answer = RecallAnswer(
        query="q", results=[], passages=[hit], filtered=Filtered(), degraded=[], stale=False, took_ms=3
    )
    async with app.run_test(size=(100, 30)) as pilot:
        await engine(pilot)
        results(app).show(FixedRows(answer_rows(answer, NOW)))
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, TextWindow))
        assert "为什么没收到通知？ [/red]\u241b]0;x\u2407" in visible(app)
        assert "turn 3" in visible(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))


async def test_when_meaning_fails_words_stay(app: AlayaApp, cards: Cards, monkeypatch: pytest.MonkeyPatch):
    log = Log()
    async with app.run_test(size=(120, 40), notifications=True, message_hook=log) as pilot:
        await engine(pilot)
        assert app.memory is not None
        real = app.memory.recall

        def recall(query, options):
            if options.vectors:
                raise ProviderError("the model is away", "try later")
            return real(query, options)

        monkeypatch.setattr(app.memory, "recall", recall)
        app.screen.query_one("#query", Input).value = "docker"
        await until(pilot, lambda: "by words only" in status(app))
        assert keys(app)[0] == cards["docker"]
        await until(pilot, lambda: "the model is away" in visible(app))


def test_the_status_line_is_silent_about_nothing():
    answer = RecallAnswer(
        query="q", results=[], passages=[], filtered=Filtered(below_floor=4, best=0.31), degraded=["graph busy"],
        stale=True, took_ms=34,
    )  # fmt: skip
    words = answer_words(answer, 8512, 0.35, more_to_come=False)
    assert words == "0 of 8,512   34 ms   4 more below .35 (best .31)   graph busy   newer changes not seen yet"
    assert answer_words(answer, 8512, 0.35, more_to_come=True).endswith(
        "by words so far ...   newer changes not seen yet"
    )
    assert "4 weak hits left out" in nothing_found("q [/red]", answer)
