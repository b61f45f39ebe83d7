"""Messages that cross from one screen to another, or to the app."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class CardWanted(Message):
    """A person chose a card in Search.

    Attributes:
        query: What had been typed when the card was found; empty when browsing.
    """

    card_id: str
    title: str
    query: str = ""


@dataclass
class SearchWanted(Message):
    """A person wants to be back in Search.

    Attributes:
        typing: Whether the search box is to have the focus.
    """

    typing: bool = False


@dataclass(frozen=True, slots=True)
class HeaderState:
    """What the first line of every place says.

    Attributes:
        home: The folder of the memory, as a person writes it.
        cards: None until it is known.
        tiers: Cards by tier.
        busy: What runs now; empty when nothing does.
        read_only: Whether the memory can only be read.
    """

    home: str = ""
    cards: int | None = None
    tiers: tuple[tuple[str, int], ...] = ()
    busy: str = ""
    read_only: bool = False
