"""How it looks: few pictures, of what words do not test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from alaya_tui.app import AlayaApp
from alaya_tui.messages import CardWanted
from alaya_tui.screens.card import CardScreen
from tests.tui.conftest import Cards, engine, until, visible

SnapCompare = Callable[..., bool]


@pytest.fixture(autouse=True)
def one_theme(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the person running the tests likes."""
    monkeypatch.delenv("TEXTUAL_THEME", raising=False)


def still_life(*keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Waits for everything, presses the keys, and hides what differs from run to run."""

    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, AlayaApp)
        await engine(pilot)
        await pilot.press(*keys)
        await until(pilot, lambda: app.screen.is_settled)  # type: ignore[attr-defined]
        await pilot.pause(0.3)
        await app.workers.wait_for_complete()
        app.header = replace(app.header, home="~/.alaya")
        await pilot.pause()

    return run


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["narrow", "wide"])
def test_the_whole_list(app: AlayaApp, snap_compare: SnapCompare, size: tuple[int, int]):
    assert snap_compare(app, terminal_size=size, run_before=still_life("down", "down"))


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["narrow", "wide"])
def test_a_card(app: AlayaApp, cards: Cards, snap_compare: SnapCompare, size: tuple[int, int]):
    async def run(pilot: Pilot[None]) -> None:
        await still_life()(pilot)
        pilot.app.screen.post_message(CardWanted(cards["telegram"], ""))
        screen: Any = None
        await until(pilot, lambda: isinstance(pilot.app.screen, CardScreen) and pilot.app.screen.card)
        screen = pilot.app.screen
        await pilot.app.workers.wait_for_complete()
        await until(pilot, lambda: "先连上" in visible(pilot.app))
        assert screen.query_one("#crumbs", Static)

    assert snap_compare(app, terminal_size=size, run_before=run)
