"""What `erase` prints for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from alaya_core.models.answers import EraseAnswer, Erasure, GoingCard
from alaya_core.text import cells, counted, safe_line
from alaya_tui.headless.render_layout import Page, listed, short

MOST_CARDS = 10


def erase_lines(answer: EraseAnswer, page: Page) -> Iterator[str]:
    """What went, or would go, and what still holds it."""
    if answer.done:
        yield from page.item("✓ ", f"Erased {_what(answer.erased)}")
        yield from _whole(answer, page)
        return
    yield from preview_lines(answer, page)
    yield page.dim("nothing was changed; --yes does it, and nothing brings it back")


def preview_lines(answer: EraseAnswer, page: Page) -> Iterator[str]:
    """What would go, and what would still hold it."""
    yield from page.item("", f"This would erase {_what(answer.erased)}")
    yield from _whole(answer, page)


def question(answer: EraseAnswer) -> str:
    """What a person is asked."""
    return f"erase the {answer.erased.what} {_name(answer.erased)} for good?"


def _whole(answer: EraseAnswer, page: Page) -> Iterator[str]:
    erased = answer.erased
    if erased.note:
        yield from page.item("! ", erased.note)
    yield from page.item("  ", f"{_amount(erased)}, and every trace of it")
    yield from _cards(erased.going, page)
    if answer.left:
        yield "Left alone:" if answer.done else "It would leave alone:"
    for left in answer.left:
        yield from page.item("! ", f"{left.kind} {short(left.name)}: {left.why}")


def _cards(going: Sequence[GoingCard], page: Page) -> Iterator[str]:
    """The cards that go, those first of which a person should know something."""
    for card in sorted(going, key=lambda card: not card.note)[:MOST_CARDS]:
        name = f" ({short(card.card_id)})"
        yield f"  - {page.clip(card.title, 4 + cells(name))}{name}"
        if card.note:
            yield from page.item("    ", card.note)
    if len(going) > MOST_CARDS:
        yield f"  - and {len(going) - MOST_CARDS:,} more"


def _what(erased: Erasure) -> str:
    title = f": {safe_line(erased.title)}" if erased.title else ""
    return f"the {erased.what} {_name(erased)}{title}"


def _name(erased: Erasure) -> str:
    return short(erased.name)


def _amount(erased: Erasure) -> str:
    parts = [
        counted(number, noun)
        for number, noun in (
            (erased.turns, "turn"),
            (len(erased.cards), "card"),
            (erased.links, "link"),
            (erased.sources, "kept log"),
            (erased.commits, "ledger line"),
        )
        if number
    ]
    return listed(parts) or "nothing else"
