"""Search's rows and sentences: what the core answered, as lines of a list."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from alaya_core.models.answers import CardRow, PassageHit, RecallAnswer, RecallHit
from alaya_core.text import counted
from alaya_tui.render_text import age, count, line, share, tier_letter, title
from alaya_tui.widgets.rows import Cell, Column, Row, heading

# Narrow lists first lose the links, then the type, then the age: the title is what people read.
_CARD = (
    Column(1),
    Column(4, right=True),
    Column(1),
    Column(10, from_width=50),
    Column(0),
    Column(5, True, 60),
    Column(4, True, 36),
)

_PASSAGE = (Column(1), Column(4, right=True), Column(5), Column(0), Column(9, from_width=44), Column(4, True, 60))

_STATE_MARKS = {"superseded": "~", "archived": "-", "forgotten": "x"}
SORT_NAMES = {
    "hottest": "hottest first",
    "recent": "newest first",
    "coldest": "coldest first",
    "linked": "most linked first",
    "importance": "most important first",
    "title": "by title",
    "used": "most used first",
}
_ROLE_NAMES = {"user": "you", "human": "you", "assistant": "agent", "toolResult": "tool", "tool": "tool"}


def tier_role(tier: str) -> str:
    """The role of a tier's letter."""
    return {"HOT": "hot", "WARM": "warm", "COLD": "cold"}.get(tier, "dim")


def who(role: str) -> str:
    """Who said it, in at most five letters."""
    return _ROLE_NAMES.get(role, line(role, 5))


def links_text(links: int) -> str:
    """`3 <>`: how many neighbours a card has."""
    return f"{min(links, 999)} <>" if links else ""


def card_row(card: CardRow, now: int) -> Row:
    """A card of the whole list: its temperature stands where a hit has its score."""
    mark = "*" if card.pinned else _STATE_MARKS.get(card.state, " ")
    cells = (
        Cell(mark, "marked"),
        Cell(share(card.temperature), "dim"),
        Cell(tier_letter(card.tier), tier_role(card.tier)),
        Cell(line(card.type, 10), "dim"),
        Cell(title(card.title), "title"),
        Cell(links_text(card.links), "dim"),
        Cell(age(card.created_at, now), "dim"),
    )
    return Row(card.card_id, _CARD, cells, data=card)


def hit_row(hit: RecallHit, now: int) -> Row:
    """A card that was found."""
    cells = (
        Cell(_STATE_MARKS.get(hit.state, " "), "marked"),
        Cell(share(hit.score), "score"),
        Cell(tier_letter(hit.tier), tier_role(hit.tier)),
        Cell(line(hit.type, 10), "dim"),
        Cell(title(hit.title), "title"),
        Cell(links_text(len(hit.related)), "dim"),
        Cell(age(hit.created_at, now) if hit.created_at is not None else "", "dim"),
    )
    return Row(hit.card_id, _CARD, cells, data=hit)


def passage_row(hit: PassageHit, now: int) -> Row:
    """A turn that was found."""
    cells = (
        Cell(" "),
        Cell(share(hit.score), "score"),
        Cell(who(hit.role), "dim"),
        Cell(line(hit.text), "text"),
        Cell(f"turn {hit.turn}", "dim"),
        Cell(age(hit.timestamp, now), "dim"),
    )
    return Row(f"{hit.session_id}#{hit.turn}", _PASSAGE, cells, data=hit)


def answer_rows(answer: RecallAnswer, now: int) -> list[Row]:
    """Cards, then passages under their own heading."""
    rows = [hit_row(hit, now) for hit in answer.results]
    if answer.passages:
        rows.append(heading("passages in sessions"))
        rows.extend(passage_row(hit, now) for hit in answer.passages)
    return _with_distinct_keys(rows)


def title_rows(cards: Sequence[CardRow], text: str, now: int) -> list[Row]:
    """Of these cards, those whose title contains the text."""
    wanted = text.casefold()
    return [card_row(card, now) for card in cards if wanted in card.title.casefold()]


def only_titles(answer: RecallAnswer, cards: Sequence[CardRow], text: str, now: int) -> list[Row]:
    """What to show where no card was found: those whose title holds the text, then the passages."""
    found = title_rows(cards, text, now)
    titles = [heading("titles that contain it"), *found] if found else []
    return [*titles, *answer_rows(answer, now)]


def _with_distinct_keys(rows: Sequence[Row]) -> list[Row]:
    """A long turn is found by several of its pieces; the best stands for it."""
    return list({row.key: row for row in reversed(rows)}.values())[::-1]


def browse_words(total: int, sort: str) -> str:
    """The status line of the whole list."""
    return f"{counted(total, 'card')}, {SORT_NAMES.get(sort, sort)}"


def answer_words(answer: RecallAnswer, total: int | None, floor: float | None, *, more_to_come: bool) -> str:
    """The status line of a search: how many, how fast, what was left out, what did not answer."""
    cards = count(len(answer.results))
    parts = [f"{cards} of {count(total)}" if total is not None else counted(len(answer.results), "card")]
    if answer.passages:
        parts[0] += f" + {counted(len(answer.passages), 'passage')}"
    parts.append(f"{answer.took_ms} ms")
    if answer.filtered.below_floor:
        below = f" below {share(floor)}" if floor is not None else " below the floor"
        best = f" (best {share(answer.filtered.best)})" if answer.filtered.best is not None else ""
        parts.append(f"{answer.filtered.below_floor} more{below}{best}")
    if more_to_come:
        parts.append("by words so far ...")
    else:
        parts.extend(line(note, 80) for note in answer.degraded)
    if answer.stale:
        parts.append("newer changes not seen yet")
    return "   ".join(parts)


def nothing_found(query: str, answer: RecallAnswer) -> str:
    """What to do when nothing was found."""
    shown = line(query, 60)
    if answer.filtered.below_floor:
        weak = f'Nothing close enough to "{shown}": {counted(answer.filtered.below_floor, "weak hit")} left out.'
        return f"{weak}\n\nTry other words, or fewer."
    return f'Nothing found for "{shown}".\n\nTry other words, or fewer. Esc shows all cards.'


def no_cards(home: str) -> str:
    """What to do with an empty memory; the home is repeated as it was named."""
    named = f" --home {line(shlex.quote(home), 1_000)}" if home else ""
    return f"""There are no cards here yet.

Bring in conversation logs and distill them:
    alaya ingest FILE --distill{named}

Or look around in a memory made for looking around:
    alaya demo"""
