"""What the commands about cards and links print for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from alaya_core.clock import local
from alaya_core.models.answers import (
    CardAnswer,
    CardList,
    CardRow,
    CardView,
    LinkAnswer,
    LinkView,
    Related,
)
from alaya_core.text import cells, counted, pad, safe_line
from alaya_tui.headless.render_layout import Page, age, ago, argument, ratio, short, spans, tags

ORDERS = {
    "recent": "most recent first",
    "hottest": "hottest first",
    "coldest": "coldest first",
    "linked": "most linked first",
    "importance": "most important first",
    "title": "by title",
    "used": "most used first",
}
NARROW = 76  # below it a list gives its room to the titles
DONE = {
    "capture": "Captured",
    "edit": "Changed",
    "pin": "Pinned",
    "unpin": "Unpinned",
    "archive": "Archived",
    "forget": "Forgot",
    "restore": "Restored",
    "merge": "Merged into",
}


def card_lines(answer: CardAnswer, page: Page) -> Iterator[str]:
    """A card in full: head, text, neighbours, sources."""
    card = answer.card
    yield from (page.bold(line) for line in page.item("", card.title))
    yield page.dim(safe_line(card.card_id))
    yield from page.item("", _vitals(card))
    if names := tags(card.tags):
        yield from page.item("", names)
    if card.entities:
        yield from page.item("about: ", ", ".join(card.entities))
    yield from page.item("", _times(card, page))
    if card.successor:
        yield from page.item("! ", f"replaced by {short(card.successor)}")
    for text in (card.overview, card.content):
        if text.strip():
            yield ""
            yield from page.block(text)
    yield from _neighbours(answer, page)
    yield from _sources(answer, page)
    if answer.note:
        yield ""
        yield from page.item("", answer.note)


def _vitals(card: CardView) -> str:
    parts = [
        card.type,
        f"{card.tier} {ratio(card.temperature)}",
        f"importance {ratio(card.importance)} ({card.importance_by})",
        f"confidence {ratio(card.confidence)}",
        card.standing,
        card.scope,
        f"from {card.distilled_by or card.origin}",
        *(["pinned"] if card.pinned else []),
        *([card.state.upper()] if card.state != "active" else []),
    ]
    return "  ".join(parts)


def _times(card: CardView, page: Page) -> str:
    changed = f", changed {ago(card.updated_at, page.now)} (rev {card.rev})" if card.rev > 1 else ""
    used = (
        f"used {card.access_count:g} times, last {ago(card.last_access, page.now)}"
        if card.access_count
        else "never used"
    )
    return f"of {local(card.created_at)}{changed}; {used}"


def _neighbours(answer: CardAnswer, page: Page) -> Iterator[str]:
    if not answer.related:
        return
    yield ""
    yield f"Related ({max(answer.related_total, len(answer.related)):,})"
    for near in answer.related:
        yield from page.item(
            f"  {ratio(near.score):>4} ", f"{_direction(near)}  {near.title}  {short(near.card_id)}{_mark(near)}"
        )
    if answer.related_total > len(answer.related):
        yield page.dim(f"  and {answer.related_total - len(answer.related):,} more")


def _direction(near: Related) -> str:
    return {"out": f"{near.relation} ->", "in": f"<- {near.relation}", "both": f"{near.relation} <>"}[near.direction]


def _mark(near: Related) -> str:
    state = "" if near.state == "active" else f"  [{near.state}]"
    return state + (f'  "{near.reason}"' if near.reason else "")


def _sources(answer: CardAnswer, page: Page) -> Iterator[str]:
    if not answer.sources:
        return
    yield ""
    for source in answer.sources:
        turns = f"  turns {spans(source.turns)}" if source.turns else ""
        yield from page.item("from ", f"{source.session_id}{turns}")
    yield page.dim(f"read them with: {page.call} trace {argument(answer.card.card_id)}")


def changed_lines(verb: str, answer: CardAnswer, page: Page) -> Iterator[str]:
    """What a command did to one card."""
    card = answer.card
    if answer.changed:
        yield from page.item("✓ ", f'{DONE[verb]} {short(card.card_id)}: "{card.title}" [{card.type}]')
    else:
        yield from page.item("= ", f'Nothing to change: {short(card.card_id)} "{card.title}"')
    if answer.note:
        yield from page.item("  ", answer.note)
    back = {"forget": "restore", "archive": "restore", "pin": "unpin"}.get(verb)
    if answer.changed and back:
        yield page.dim(f"  undo with: {page.call} {back} {argument(card.card_id)}")
    elif answer.changed and verb == "merge":
        yield page.dim(f"  undo with: {page.call} undo")
    elif answer.changed and verb in ("capture", "edit", "restore"):
        yield page.dim(f"  open with: {page.call} show {argument(card.card_id)}")


def list_lines(
    answer: CardList, page: Page, *, offset: int = 0, filtered: bool = False, filters: Iterable[str] = ()
) -> Iterator[str]:
    """One line a card: id, tier and temperature, type, age, links, title.

    Args:
        answer: The page of cards.
        page: Where it is laid out.
        offset: How many cards were left out before it.
        filtered: Whether filters were asked for; then an empty list does not mean an empty memory.
        filters: Lines that say what they did.
    """
    ids = [short(row.card_id) for row in answer.cards]
    widest = min(40, max(map(cells, ids), default=0))
    for row, told in zip(answer.cards, ids, strict=True):
        lead = f"{pad(told, widest) if cells(told) < widest else told}  {_columns(row, page)}  "
        yield page.dim(lead) + page.clip(row.title + _flags(row), cells(lead))
    if answer.cards:
        yield ""
    shown = offset + len(answer.cards)
    order = ORDERS.get(answer.sort, safe_line(answer.sort))
    yield f"{len(answer.cards):,} of {counted(answer.total, 'card')}" + (f", {order}" if answer.cards else "")
    if shown < answer.total and answer.cards:
        yield page.dim(f"next: --offset {shown}")
    yield from filters
    if not answer.total and filtered:
        yield page.dim(f"no card passes these filters; without them: {page.call} list")
    elif not answer.total:
        yield page.dim(
            f"bring sessions in with: {page.call} ingest PATH --distill; or write one: {page.call} capture TEXT"
        )


def _columns(row: CardRow, page: Page) -> str:
    links = f"{row.links} <>" if row.links else ""
    warm = f"{row.tier[:1]} {ratio(row.temperature)}"
    if page.width and page.width < NARROW:
        return f"{warm:<5}"
    return f"{warm:<5}  {pad(safe_line(row.type), 10)}  {age(row.created_at, page.now):>4}  {links:>6}"


def _flags(row: CardRow) -> str:
    return ("  [pinned]" if row.pinned else "") + ("" if row.state == "active" else f"  [{row.state}]")


def link_lines(answer: LinkAnswer, page: Page) -> Iterator[str]:
    """What `link` or `unlink` did."""
    if answer.link is not None:
        mark = "✓ Created link: " if answer.changed else "= Already linked: "
        yield from _link(mark, answer.link, page)
    for link in answer.removed:
        yield from _link("✓ Removed link: ", link, page)
    if answer.link is None and not answer.removed:
        yield "= No link to remove"
    if answer.note:
        yield from page.item("  ", answer.note)


def _link(mark: str, link: LinkView, page: Page) -> Iterator[str]:
    yield from page.item(mark, f"{short(link.from_id)} {link.relation} {short(link.to_id)}")
    reason = f"; {link.reason}" if link.reason else ""
    yield from page.item("  ", f'"{link.from_title}" {link.relation} "{link.to_title}" ({link.weight:.2f}{reason})')
