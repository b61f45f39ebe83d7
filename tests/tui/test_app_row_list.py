"""The list: opens at once however long it is, and the cursor stays where a person left it."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from alaya_tui.widgets.row_list import RowList
from alaya_tui.widgets.rows import Cell, Column, FixedRows, PagedRows, Row, heading
from tests.tui.conftest import Log, visible

COLUMNS = (Column(0),)


def row(name: str) -> Row:
    """A row that shows its key."""
    return Row(name, COLUMNS, (Cell(name),))


class ListApp(App[None]):
    """Nothing but a list."""

    def compose(self) -> ComposeResult:
        yield RowList()

    @property
    def rows(self) -> RowList:
        """The list."""
        return self.query_one(RowList)


class Counted(FixedRows):
    """Counts which rows were looked at."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length
        self.seen: set[int] = set()

    def __len__(self) -> int:
        return self.length

    def row(self, index: int) -> Row:
        self.seen.add(index)
        return row(f"row {index}")

    def index_of(self, key: str) -> int | None:
        return None


async def test_a_hundred_thousand_rows_cost_what_is_seen():
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        source = Counted(100_000)
        app.rows.show(source)
        await pilot.pause()
        await pilot.press("end")
        await pilot.pause()
        assert app.rows.selected is not None
        assert app.rows.selected.key == "row 99999"
        assert "row 99999" in visible(app)
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert len(source.seen) < 60


async def test_keys_move_over_headings():
    app = ListApp()
    async with app.run_test(size=(40, 6)) as pilot:
        app.rows.show(FixedRows([heading("one"), row("a"), heading("two"), row("b"), row("c"), row("d"), row("e")]))

        async def after(*keys: str) -> str:
            await pilot.press(*keys)
            selected = app.rows.selected
            return selected.key if selected else ""

        assert await after() == "a"
        assert await after("down") == "b"
        assert await after("up") == "a"
        assert await after("up") == "a"
        assert await after("j", "j") == "c"
        assert await after("k") == "b"
        assert await after("end") == "e"
        assert await after("pageup") == "a"
        assert await after("pagedown") == "e"
        assert await after("home") == "a"
        await pilot.pause()
        assert "one" in visible(app)


async def test_the_cursor_stays_with_its_row():
    app = ListApp()
    async with app.run_test() as pilot:
        app.rows.show(FixedRows([row("a"), row("b"), row("c")]))
        await pilot.press("end")
        app.rows.show(FixedRows([row("c"), row("a"), row("b")]), keep="c")
        assert app.rows.cursor == 0
        app.rows.show(FixedRows([row("a"), row("b")]), keep="c")
        assert app.rows.cursor == 0
        app.rows.show(FixedRows())
        assert app.rows.selected is None
        await pilot.press("down", "up", "end", "home", "pagedown")


async def test_a_click_selects_and_two_choose():
    log = Log()
    app = ListApp()
    async with app.run_test(message_hook=log) as pilot:
        app.rows.show(FixedRows([row("a"), heading("h"), row("b")]))
        await pilot.click(RowList, offset=(3, 2))
        assert app.rows.cursor == 2
        await pilot.click(RowList, offset=(3, 1))
        assert app.rows.cursor == 2
        await pilot.click(RowList, offset=(3, 9))
        assert [m.row.key for m in log.messages if isinstance(m, RowList.Chosen)] == []
        await pilot.click(RowList, offset=(3, 0), times=2)
        assert [m.row.key for m in log.messages if isinstance(m, RowList.Chosen)][:1] == ["a"]


async def test_missing_rows_are_asked_for_and_drawn_when_they_come():
    log = Log()
    app = ListApp()
    async with app.run_test(message_hook=log, size=(40, 5)) as pilot:
        pages = PagedRows(1_000)
        pages.put(0, [row(f"row {index}") for index in range(200)])
        app.rows.show(pages)
        await pilot.press("end")
        await pilot.pause()
        asked = [message.index for message in log.messages if isinstance(message, RowList.Missing)]
        assert asked
        assert {index // PagedRows.PAGE for index in asked} == {4}
        pages.put(4, [row(f"row {800 + index}") for index in range(200)])
        app.rows.refresh_rows()
        await pilot.pause()
        assert "row 999" in visible(app)


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (300, 80)])
async def test_any_size(size: tuple[int, int]):
    app = ListApp()
    async with app.run_test(size=size) as pilot:
        app.rows.show(FixedRows([heading("消息"), row("消息通知" * 50)]))
        await pilot.press("down")
        await pilot.pause()


def test_pages_unseen_for_longest_go():
    pages = PagedRows(10_000)
    for number in range(PagedRows.KEPT_PAGES + 1):
        pages.put(number, [row("x")])
    assert not pages.has(0)
    assert pages.has(1)
