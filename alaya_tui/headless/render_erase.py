"""What `erase` prints for a person."""

from __future__ import annotations

from collections.abc import Iterator

from alaya_core.models.answers import EraseAnswer, Erasure
from alaya_core.text import safe_line
from alaya_tui.headless.render_layout import Page, listed, plural, short

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
    yield from page.item("  ", f"{_amount(erased)}, and every trace of it")
    for card in erased.cards[:MOST_CARDS]:
        yield f"  - {short(card)}"
    if len(erased.cards) > MOST_CARDS:
        yield f"  - and {len(erased.cards) - MOST_CARDS:,} more"
    if answer.left:
        yield "Left alone:" if answer.done else "It would leave alone:"
    for left in answer.left:
        yield from page.item("! ", f"{left.kind} {short(left.name)}: {left.why}")


def _what(erased: Erasure) -> str:
    title = f": {safe_line(erased.title)}" if erased.title else ""
    return f"the {erased.what} {_name(erased)}{title}"


def _name(erased: Erasure) -> str:
    return short(erased.name)


def _amount(erased: Erasure) -> str:
    parts = [
        plural(number, noun)
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
