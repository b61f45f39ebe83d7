"""Rows of a list: plain cells and where they stand; nothing here knows what a row is about."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from alaya_tui.render_text import fit


@dataclass(frozen=True, slots=True)
class Column:
    """Where a cell stands.

    Attributes:
        width: Cells; 0 takes what the others leave.
        right: Whether it is aligned to the right.
        from_width: Lists narrower than this leave the column out.
    """

    width: int
    right: bool = False
    from_width: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """A harmless piece of one line, and its role: the `row--<role>` of the style sheet."""

    text: str
    role: str = "text"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list.

    Attributes:
        key: Tells the row from all others; the cursor stays with it when the list changes.
        kind: Only items can be selected.
        data: What the row stands for; the list does not look at it.
    """

    key: str
    columns: Sequence[Column]
    cells: Sequence[Cell]
    kind: Literal["item", "heading"] = "item"
    data: object = None

    @property
    def selectable(self) -> bool:
        """Whether the cursor may stand on it."""
        return self.kind == "item"

    def laid_out(self, width: int) -> list[tuple[str, str]]:
        """The row as pieces of text with their roles, together exactly `width` cells."""
        shown = [
            (column, cell) for column, cell in zip(self.columns, self.cells, strict=True) if width >= column.from_width
        ]
        fixed = sum(column.width for column, _ in shown) + max(0, len(shown) - 1)
        room = max(0, width - fixed)
        pieces: list[tuple[str, str]] = []
        left = width
        for index, (column, cell) in enumerate(shown):
            cell_width = min(left, column.width or room)
            pieces.append((fit(cell.text, cell_width, right=column.right), cell.role))
            left -= cell_width
            if left and index < len(shown) - 1:
                pieces.append((" ", "text"))
                left -= 1
        if left:
            pieces.append((" " * left, "text"))
        return pieces


_HEADING = (Column(0),)


def heading(text: str) -> Row:
    """A line that names what follows."""
    return Row(f"heading:{text}", _HEADING, (Cell(text, "heading"),), kind="heading")


class RowSource(Protocol):
    """Where a list takes its rows from."""

    def __len__(self) -> int: ...

    def row(self, index: int) -> Row | None:
        """The row, or None while it is not here yet."""
        ...

    def index_of(self, key: str) -> int | None:
        """Where the row with this key is, if that is known."""
        ...


class FixedRows:
    """Rows that are all here."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row | None:
        """The row."""
        return self._rows[index]

    def index_of(self, key: str) -> int | None:
        """Where the row with this key is."""
        return next((index for index, row in enumerate(self._rows) if row.key == key), None)


class PagedRows:
    """Very many rows, of which some pages are here."""

    PAGE = 200
    KEPT_PAGES = 20

    def __init__(self, total: int) -> None:
        self._total = total
        self._pages: OrderedDict[int, Sequence[Row]] = OrderedDict()

    def __len__(self) -> int:
        return self._total

    def row(self, index: int) -> Row | None:
        """The row, or None while its page is not here."""
        page = self._pages.get(index // self.PAGE)
        if page is None or index % self.PAGE >= len(page):
            return None
        self._pages.move_to_end(index // self.PAGE)
        return page[index % self.PAGE]

    def put(self, number: int, rows: Sequence[Row]) -> None:
        """A page has come; the one unseen for longest goes."""
        self._pages[number] = rows
        while len(self._pages) > self.KEPT_PAGES:
            self._pages.popitem(last=False)

    def has(self, number: int) -> bool:
        """Whether the page is here."""
        return number in self._pages

    def index_of(self, key: str) -> int | None:
        """Where the row with this key is, as far as its page is here."""
        for number, rows in self._pages.items():
            for offset, row in enumerate(rows):
                if row.key == key:
                    return number * self.PAGE + offset
        return None
