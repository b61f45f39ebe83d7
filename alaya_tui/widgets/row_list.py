"""A list that draws only the lines that can be seen, so that a hundred thousand rows open at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from alaya_tui.actions import LIST, bindings_for
from alaya_tui.widgets.rows import FixedRows, Row, RowSource

ROLES = ("text", "title", "dim", "heading", "hot", "warm", "cold", "score", "marked", "more")
MARK = ">"


class RowList(ScrollView, can_focus=True):
    """Rows under a cursor."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "RowList { overflow-x: hidden; overflow-y: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for(LIST)
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"row--{role}" for role in ROLES),
        "row--cursor",
        "row--cursor-unfocused",
    }

    cursor: var[int] = var(0)

    @dataclass
    class Highlighted(Message):
        """The cursor stands on another row, or on none."""

        list: RowList
        row: Row | None

        @property
        def control(self) -> RowList:
            """The list."""
            return self.list

        def can_replace(self, message: Message) -> bool:
            """While a key is held down, only the last row matters."""
            return isinstance(message, RowList.Highlighted) and message.list is self.list

    @dataclass
    class Chosen(Message):
        """A row was double-clicked."""

        list: RowList
        row: Row

        @property
        def control(self) -> RowList:
            """The list."""
            return self.list

    @dataclass
    class Missing(Message):
        """A row is on the screen that its source does not have yet."""

        list: RowList
        index: int

        @property
        def control(self) -> RowList:
            """The list."""
            return self.list

        def can_replace(self, message: Message) -> bool:
            """The list asks again as long as a row is missing."""
            return isinstance(message, RowList.Missing) and message.list is self.list

    def __init__(self, *, id: str | None = None, classes: str | None = None, pages_if_short: bool = True) -> None:
        """An empty list.

        Args:
            id: Names the widget.
            classes: For the style sheet.
            pages_if_short: Whether a list of one page takes the keys that turn pages.
        """
        super().__init__(id=id, classes=classes)
        self._pages_if_short = pages_if_short
        self.source: RowSource = FixedRows()

    @property
    def selected(self) -> Row | None:
        """The row under the cursor."""
        if not 0 <= self.cursor < len(self.source):
            return None
        row = self.source.row(self.cursor)
        return row if row is not None and row.selectable else None

    @property
    def is_at_first(self) -> bool:
        """Whether the cursor stands where it stands in a list nobody has moved in."""
        return self.cursor == (self._selectable(0, 1) or 0)

    def show(self, source: RowSource, *, keep: str | None = None) -> None:
        """Takes other rows.

        Args:
            source: The rows.
            keep: The key of the row the cursor is to stay on, where it still exists; else it goes to the first.
        """
        self.source = source
        index = source.index_of(keep) if keep is not None else None
        self._fit()
        self.set_reactive(RowList.cursor, index if index is not None else self._selectable(0, 1) or 0)
        if index is None:
            self.scroll_to(y=0, animate=False)
        else:
            self._scroll_to_cursor()
        self.refresh()
        self.post_message(self.Highlighted(self, self.selected))

    def refresh_rows(self) -> None:
        """Draws again: rows that were missing have come."""
        self.refresh()
        self.post_message(self.Highlighted(self, self.selected))

    def validate_cursor(self, value: int) -> int:
        """Keeps the cursor inside the list."""
        return max(0, min(value, len(self.source) - 1))

    def watch_cursor(self) -> None:
        """Follows the cursor."""
        self._scroll_to_cursor()
        self.refresh()
        self.post_message(self.Highlighted(self, self.selected))

    def on_resize(self) -> None:
        """A list has no line wider than itself."""
        self._fit()
        self._scroll_to_cursor()

    def on_focus(self) -> None:
        """The cursor is drawn stronger."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor is drawn weaker."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """One click selects, two open."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = offset.y + self.scroll_offset.y
        row = self.source.row(index) if 0 <= index < len(self.source) else None
        if row is None or not row.selectable:
            return
        self.cursor = index
        if event.chain == 2:
            self.post_message(self.Chosen(self, row))

    def action_cursor_up(self) -> None:
        """One selectable row up; above the first, the headings come into view."""
        index = self._selectable(self.cursor - 1, -1)
        if index is None:
            self.scroll_to(y=0, animate=False)
        else:
            self.cursor = index

    def action_cursor_down(self) -> None:
        """One selectable row down."""
        self._move(self.cursor + 1, 1)

    def action_page_up(self) -> None:
        """One page up."""
        self._move(self.cursor - max(1, self.size.height - 1), -1)

    def action_page_down(self) -> None:
        """One page down."""
        self._move(self.cursor + max(1, self.size.height - 1), 1)

    def action_first(self) -> None:
        """The first row."""
        self._move(0, 1)
        self.scroll_to(y=0, animate=False)

    def action_last(self) -> None:
        """The last row."""
        self._move(len(self.source) - 1, -1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where there are no pages to turn, the keys are left to the screen."""
        if action in ("page_up", "page_down") and not self._pages_if_short:
            return len(self.source) > self.size.height
        return True

    def _move(self, index: int, step: int) -> None:
        """To the nearest selectable row at or beyond `index`, or before it at an end of the list."""
        index = max(0, min(index, len(self.source) - 1))
        found = self._selectable(index, step)
        if found is None:
            found = self._selectable(index, -step)
        if found is not None:
            self.cursor = found

    def _selectable(self, index: int, step: int) -> int | None:
        while 0 <= index < len(self.source):
            row = self.source.row(index)
            if row is None or row.selectable:
                return index
            index += step
        return None

    def _fit(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self.source))

    def _scroll_to_cursor(self) -> None:
        # The heading right above comes along, so that the first row of a group is seen with its name.
        above = self.source.row(self.cursor - 1) if 0 < self.cursor <= len(self.source) else None
        with_heading = above is not None and not above.selectable and self.size.height > 2
        top = self.cursor - 1 if with_heading else self.cursor
        self.scroll_to_region(Region(0, top, 1, self.cursor - top + 1), animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        """One line on the screen."""
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        base = self.rich_style
        if index >= len(self.source):
            return Strip.blank(width, base)
        row = self.source.row(index)
        if row is None:
            self.post_message(self.Missing(self, index))
            pieces = [("   ...".ljust(width)[:width], "dim")]
        else:
            pieces = [(" ", "marked"), *row.laid_out(width - 2), (" ", "text")] if width > 2 else row.laid_out(width)
        cursor = None
        if index == self.cursor and (row is None or row.selectable):
            name = "row--cursor" if self.has_focus else "row--cursor-unfocused"
            cursor = self.get_component_rich_style(name, partial=True)
            pieces[0] = (MARK + pieces[0][0][1:], pieces[0][1])  # colour alone would not say it
        segments = []
        for text, role in pieces:
            style = self.get_component_rich_style(f"row--{role}")
            segments.append(Segment(text, style + cursor if cursor else style))
        return Strip(segments, width)
