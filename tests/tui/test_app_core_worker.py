"""Jobs run off the event loop; of many answers only the last asked for arrives."""

from __future__ import annotations

import threading

from textual.app import App

from alaya_core.errors import BusyError
from alaya_tui.app import AlayaApp
from alaya_tui.core_worker import MAX_THREADS, CoreCalls, wait_for_threads
from alaya_tui.screens.text_window import TextWindow
from tests.tui.conftest import engine, until, visible


class Asking(CoreCalls, App[None]):
    """Asks for nothing but what the test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.came: list[object] = []
        self.errors: list[Exception] = []

    def show_error(self, error: Exception) -> None:
        """Keeps it."""
        self.errors.append(error)


async def test_an_older_answer_is_dropped_even_if_it_comes_last():
    app = Asking()
    async with app.run_test() as pilot:
        gate = threading.Event()
        app.ask_without_memory("find", lambda: gate.wait(20) and "old", app.came.append)
        app.ask_without_memory("find", lambda: "new", app.came.append)
        assert app.is_waiting_for("find")
        await until(pilot, lambda: app.came)
        gate.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.came == ["new"]
        assert not app.is_waiting_for("find")


async def test_few_threads_run_and_only_the_newest_waits():
    app = Asking()
    async with app.run_test() as pilot:
        gate, ran = threading.Event(), []

        def job(number: int) -> int:
            ran.append(number)
            gate.wait(20)
            return number

        for number in range(10):
            app.ask_without_memory("find", lambda number=number: job(number), app.came.append)  # type: ignore[misc]
        gate.set()
        await until(pilot, lambda: app.came)
        assert app.came == [9]
        assert sorted(ran) == [*range(MAX_THREADS), 9]


async def test_dropped_answers_do_not_arrive():
    app = Asking()
    async with app.run_test() as pilot:
        app.ask_without_memory("find", lambda: 1, app.came.append)
        app.drop("find")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.came == []


async def test_errors_arrive_where_they_are_wanted():
    app = Asking()
    async with app.run_test() as pilot:
        here: list[Exception] = []

        def fail(kind: type[BaseException]) -> None:
            raise kind("no")

        app.ask_without_memory("a", lambda: fail(ValueError), app.came.append, failed=here.append)
        app.ask_without_memory("b", lambda: fail(BusyError), app.came.append)
        app.ask_without_memory("c", lambda: fail(SystemExit), app.came.append)
        app.ask_without_memory("d", lambda: fail(StopIteration), app.came.append)
        await until(pilot, lambda: len(app.errors) == 3 and here)
        assert isinstance(here[0], ValueError)
        assert any(isinstance(error, BusyError) for error in app.errors)


async def test_leaving_does_not_wait_for_a_job():
    app = Asking()
    gate = threading.Event()
    async with app.run_test():
        app.ask_without_memory("slow", lambda: gate.wait(60), app.came.append)
    assert not wait_for_threads(0.01)
    gate.set()
    assert wait_for_threads(20)


async def test_an_error_one_can_act_on_is_a_toast_in_its_own_words(app: AlayaApp):
    async with app.run_test(notifications=True, size=(100, 30)) as pilot:
        await engine(pilot)
        app.show_error(BusyError("[/red] holds the home [$x]", "wait a moment"))
        await until(pilot, lambda: "[/red] holds the home [$x]" in visible(app))
        assert "wait a moment" in visible(app)


async def test_what_nobody_foresaw_is_a_window(app: AlayaApp):
    async with app.run_test(size=(100, 30)) as pilot:
        await engine(pilot)
        app.show_error(ValueError("[/red] \x1b]52;c;aGk=\x07"))
        await until(pilot, lambda: isinstance(app.screen, TextWindow))
        assert "ValueError: [/red] \u241b]52;c;aGk=\u2407" in visible(app)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, TextWindow))
