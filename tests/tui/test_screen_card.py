"""Card: read, walk, come back."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from alaya_core.models.answers import CardAnswer, CardView, Related
from alaya_tui.app import AlayaApp
from alaya_tui.messages import CardWanted
from alaya_tui.screens.card import CardScreen
from alaya_tui.screens.card_rows import MoreNeighbours, neighbour_rows
from alaya_tui.screens.search import SearchScreen
from alaya_tui.widgets.safe_markdown import MOST_BLOCKS, SafeMarkdown, StoredText, is_good_as_markdown, literal_parser
from tests.tui.conftest import Cards, engine, fixed_clock, open_memory, until, visible


def shown(app: AlayaApp) -> str:
    """The id of the card on the screen."""
    screen = app.screen
    return screen.card.card.card_id if isinstance(screen, CardScreen) and screen.card else ""


async def go_to(pilot: Pilot[None], card: str) -> CardScreen:
    """Opens a card."""
    await engine(pilot)
    app = pilot.app
    assert isinstance(app, AlayaApp)
    app.screen.post_message(CardWanted(card, ""))
    await until(pilot, lambda: shown(app) == card)
    assert isinstance(app.screen, CardScreen)
    return app.screen


def crumbs(app: AlayaApp) -> str:
    """The way walked."""
    return str(app.screen.query_one("#crumbs", Static).render())


async def test_a_card_with_its_neighbours_in_words(app: AlayaApp, cards: Cards):
    async with app.run_test(size=(140, 40)) as pilot:
        await go_to(pilot, cards["telegram"])
        seen = visible(app)
        for words in ("depends on", "needed by", "contradicts", "caused by", "需要先连上", "neighbours (4)", ".85"):
            assert words in seen
        for words in ("concept", "importance", "confidence", "never used", "added 2026-11-30", cards["telegram"]):
            assert words in seen
        assert "[link](https://evil.example)" not in seen
        assert crumbs(app) == "Search > Telegram 消息通知机制"


async def test_walking_there_and_back(app: AlayaApp, cards: Cards):
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await go_to(pilot, cards["telegram"])
        await pilot.press("down")
        row = screen.neighbours.selected
        assert row is not None
        assert isinstance(row.data, Related)
        assert row.data.card_id == cards["plugins"]
        await pilot.press("enter")
        await until(pilot, lambda: shown(app) == cards["plugins"])
        assert crumbs(app) == "Search > Telegram 消息通知机制 > 避免漏掉 plugins.allow 配置"
        await pilot.press("enter")
        await until(pilot, lambda: shown(app) == cards["telegram"])
        assert crumbs(app).count(">") == 3
        await pilot.press("escape")
        await until(pilot, lambda: shown(app) == cards["plugins"])
        await pilot.press("escape")
        await until(pilot, lambda: shown(app) == cards["telegram"])
        assert screen.neighbours.selected is not None
        assert screen.neighbours.selected.key == row.key, "the cursor is where it was left"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        await pilot.press("f3")
        await until(pilot, lambda: shown(app) == cards["telegram"])
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        assert app.screen.focused is app.screen.query_one("#query")


async def test_there_is_no_way_to_a_card_before_one_was_opened(app: AlayaApp):
    async with app.run_test(notifications=True) as pilot:
        await engine(pilot)
        await pilot.press("f3")
        await until(pilot, lambda: "no card was opened yet" in visible(app))
        assert isinstance(app.screen, SearchScreen)


async def test_what_means_harm_is_shown_as_it_is(app: AlayaApp, cards: Cards):
    async with app.run_test(size=(140, 40)) as pilot:
        for name in ("markup", "escape", "bidi", "emoji", "long"):
            await go_to(pilot, cards[name])
            await app.workers.wait_for_complete()
            if name != "long":
                await until(pilot, lambda: "[link](https://evil.example)" in visible(app))
            assert "\x1b" not in visible(app)
            if name == "markup":
                assert "hostile markup: [/red] closes nothing [@click=app.quit]x[/] [$name]" in visible(app)


@pytest.mark.parametrize(
    "text",
    ["[a](https://x)", "![a](https://x)", "<https://x>", "https://x www.x.com", "[a]\n\n[a]: https://x", "<b>x</b>",
     "<script>\nx\n</script>", "[![a](b)](c)", "- [a](b)\n\n| [a](b) |\n|-|\n", "&lt;a&gt;"],
)  # fmt: skip
def test_nothing_stored_becomes_a_link_a_picture_or_html(text: str):
    tokens = literal_parser().parse(text)
    kinds = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}
    assert not kinds & {"link_open", "image", "html_inline", "html_block"}
    assert "".join(child.content for token in tokens for child in token.children or ())


@pytest.mark.parametrize(
    "text",
    ["> " * 3_000 + "deep", "- " * 3_000 + "deep", "|a|b|\n|-|-|\n" + "|x|y|\n" * 2_000, "x" * 900_000,
     "# h\n" * 3_000, "```" + "\x1b" * 50 + "\n[/red]", "\u200b", "**" * 10_000],
    ids=["quotes", "lists", "table", "long", "headings", "fence", "nothing", "stars"],
)  # fmt: skip
async def test_any_text_can_be_opened(tmp_path: Path, text: str):
    with open_memory(tmp_path / "home") as memory:
        card = memory.capture(text, title="any").card.card_id
    app = AlayaApp(lambda: open_memory(tmp_path / "home"), clock=fixed_clock)
    async with app.run_test(size=(80, 24)) as pilot:
        await go_to(pilot, card)
        await app.workers.wait_for_complete()
        await pilot.press("tab", "pagedown", "end")
        await pilot.pause()
        assert app.is_running
        assert app.memory is not None
        app.memory.close()


async def test_a_hub_shows_its_first_neighbours_and_how_many_more(tmp_path: Path):
    with open_memory(tmp_path / "home") as memory:
        hub = memory.capture("Everything is about this.", title="Hub").card.card_id
        for number in range(22):
            spoke = memory.capture(f"Spoke {number} of the hub.", title=f"Spoke {number}").card.card_id
            memory.link(hub, spoke, weight=0.5 + number / 100)
    app = AlayaApp(lambda: open_memory(tmp_path / "home"), clock=fixed_clock)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await go_to(pilot, hub)
        await pilot.press("end")
        assert screen.neighbours.selected is not None
        assert screen.neighbours.selected.data == MoreNeighbours(2)
        await until(pilot, lambda: "+2 more" in visible(app))
        await pilot.press("enter")
        await until(pilot, lambda: screen.card and len(screen.card.related) == 22)
        assert "more" not in visible(app)
        assert app.memory is not None
        app.memory.close()


async def test_a_card_that_is_gone_is_said_and_left(app: AlayaApp, cards: Cards):
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await engine(pilot)
        app.screen.post_message(CardWanted("card-" + "f" * 32, "gone"))
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and "no card" in visible(app))


async def test_the_id_can_be_copied(app: AlayaApp, cards: Cards):
    async with app.run_test() as pilot:
        await go_to(pilot, cards["docker"])
        await pilot.press("c")
        await until(pilot, lambda: app.clipboard == cards["docker"])


def test_groups_stand_in_one_order_and_the_strongest_first():
    def one(relation: str, direction: Literal["out", "in", "both"], score: float, state: str = "active") -> Related:
        return Related(
            card_id=f"{relation}{score}", title=f"{relation} {score}", relation=relation, direction=direction,
            score=score, state=state,
        )  # fmt: skip

    answer = CardAnswer.model_construct(
        card=cast("CardView", None),
        related=[one("CONTRADICTS", "both", 0.6, "superseded"), one("DEPENDS_ON", "in", 0.2),
                 one("DEPENDS_ON", "out", 0.3), one("DEPENDS_ON", "out", 0.9), one("TEMPORAL_NEXT", "in", 0.5)],
        related_total=500,
    )  # fmt: skip
    told = [next(cell.text for cell in row.cells[::-1] if cell.text) for row in neighbour_rows(answer)]
    assert told == [
        "depends on", "DEPENDS_ON 0.9", "DEPENDS_ON 0.3", "needed by", "DEPENDS_ON 0.2", "before", "TEMPORAL_NEXT 0.5",
        "contradicts", "CONTRADICTS 0.6 (superseded)", "+495 more",
    ]  # fmt: skip


def nested(mark: str, depth: int) -> str:
    """A list in a list in a list."""
    return "\n".join("  " * level + f"{mark} level {level}" for level in range(depth))


@pytest.mark.parametrize(
    ("text", "good"),
    [(nested("-", 3), True), (nested("-", 6), False), ("> > > > > > > deep", False), ("> quoted\n\n1. a\n2. b", True),
     ("|a|b|\n|-|-|\n|1|2|", True), ("|a|b|\n|-|-|\n|1|2|secret|", False), ("```python\nx = 1\n```", True),
     ("```python hidden words\nx = 1\n```", False), ("# 标题\n\n*重* ~~要~~ `x`", True), ("", True),
     ("|a|b|c|d|\n|-|-|-|-|\n" + "|1|2|3|4|\n" * 100, False), ("- x\n" * (MOST_BLOCKS - 5), False)],
)  # fmt: skip
def test_what_the_widget_would_not_draw_whole_and_soon_is_shown_as_it_is_written(text: str, good: bool):
    assert is_good_as_markdown(text) is good


async def test_no_stored_text_vanishes(tmp_path: Path):
    texts = [nested("-", 9), "|a|b|\n|-|-|\n|1|2|beyond|", "> " * 9 + "quoted deep"]
    with open_memory(tmp_path / "home") as memory:
        made = [memory.capture(text, title=f"any {number}").card.card_id for number, text in enumerate(texts)]
    app = AlayaApp(lambda: open_memory(tmp_path / "home"), clock=fixed_clock)
    async with app.run_test(size=(80, 40)) as pilot:
        for card, word in zip(made, ("level 8", "beyond", "quoted deep"), strict=True):
            await go_to(pilot, card)
            await until(pilot, lambda word=word: word in visible(app))  # type: ignore[misc]
    assert app.memory is not None
    app.memory.close()


async def test_a_title_never_stands_over_the_text_of_another_card(app: AlayaApp, cards: Cards):
    import asyncio

    async with app.run_test(size=(140, 40)) as pilot:
        screen = await go_to(pilot, cards["docker"])
        markdown = screen.query_one(SafeMarkdown)
        await until(pilot, lambda: markdown.display and "or the host dies" in visible(app))
        async with markdown.lock:  # laying out takes as long as it takes
            app.screen.post_message(CardWanted(cards["second"], ""))
            await until(pilot, lambda: shown(app) == cards["second"])
            assert "or the host dies" not in visible(app)
            await asyncio.sleep(0)
        await until(pilot, lambda: "When Telegram is down" in visible(app))


async def test_showing_twice_shows_the_last(app: AlayaApp, cards: Cards):
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await go_to(pilot, cards["docker"])
        stored = screen.query_one(StoredText)
        for text in ("*first*", "> > > > > > plain", "*second*"):
            stored.show(text)
        await until(pilot, lambda: "second" in visible(app))
        assert "plain" not in visible(app)


async def test_a_long_text_is_scrolled_by_keys_and_keeps_the_focus(tmp_path: Path):
    with open_memory(tmp_path / "home") as memory:
        long = memory.capture("\n\n".join(f"line {n}" for n in range(50)), title="Long").card.card_id
        other = memory.capture("Something else.", title="Other").card.card_id
        memory.link(long, other, weight=0.5)
    app = AlayaApp(lambda: open_memory(tmp_path / "home"), clock=fixed_clock)
    async with app.run_test(size=(120, 24)) as pilot:
        screen = await go_to(pilot, long)
        pane = screen.query_one("#card-pane")
        await until(pilot, lambda: pane.max_scroll_y > 20)
        assert screen.focused is screen.neighbours
        assert "Tab text" in visible(app)
        await pilot.press("pagedown")
        await until(pilot, lambda: pane.scroll_y > 10)
        await pilot.press("pageup")
        await until(pilot, lambda: pane.scroll_y == 0)
        await pilot.press("tab", "end")
        await until(pilot, lambda: pane.scroll_y == pane.max_scroll_y)
        assert screen.focused is pane
        with open_memory(tmp_path / "home") as memory:
            memory.pin(long)
        await until(pilot, lambda: screen.card and screen.card.card.pinned)
        assert screen.focused is pane
        assert pane.scroll_y == pane.max_scroll_y
        await pilot.press("tab")
        assert screen.focused is screen.neighbours
        await pilot.press("enter")
        await until(pilot, lambda: shown(app) == other)
    assert app.memory is not None
    app.memory.close()
