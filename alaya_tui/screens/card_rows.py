"""The card place's rows and sentences: neighbours in words, and what is known about the card."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from alaya_core.models.answers import CardAnswer, Related
from alaya_tui.render_text import (
    RELATION_ORDER,
    count,
    day_and_age,
    fit,
    joined,
    line,
    relation_words,
    share,
    tier_colour,
    tier_letter,
    title,
    turns_words,
)
from alaya_tui.widgets.rows import Cell, Column, Row, heading

_NEIGHBOUR = (Column(1), Column(3, right=True), Column(0), Column(20, from_width=70))
_REASON = (Column(5), Column(0))
_MORE = (Column(5), Column(0))
SHOWN_SOURCES = 4
LONGEST_CRUMB = 28


@dataclass(frozen=True, slots=True)
class MoreNeighbours:
    """The row that stands for the neighbours not shown."""

    number: int


def neighbour_rows(answer: CardAnswer) -> list[Row]:
    """Neighbours by relation and direction, each with its reason below, the strongest first."""
    groups: dict[str, list[Related]] = defaultdict(list)
    for neighbour in answer.related:
        groups[relation_words(neighbour.relation, neighbour.direction)].append(neighbour)
    rows: list[Row] = []
    for words in sorted(groups, key=_place):
        rows.append(heading(words))
        for neighbour in sorted(groups[words], key=lambda one: -one.score):
            rows.extend(_neighbour(neighbour, words))
    hidden = answer.related_total - len(answer.related)
    if hidden > 0:
        cells = (Cell(""), Cell(f"+{count(hidden)} more", "more"))
        rows.append(Row("more", _MORE, cells, data=MoreNeighbours(hidden)))
    return rows


def _place(words: str) -> tuple[int, str]:
    return (RELATION_ORDER.index(words) if words in RELATION_ORDER else len(RELATION_ORDER), words)


def _neighbour(neighbour: Related, words: str) -> list[Row]:
    mark = "!" if neighbour.relation == "CONTRADICTS" else " "
    state = "" if neighbour.state == "active" else f" ({line(neighbour.state, 20)})"
    cells = (
        Cell(mark, "marked"),
        Cell(share(neighbour.score), "score"),
        Cell(title(neighbour.title) + state, "dim" if state else "title"),
        Cell(line(neighbour.type, 20), "dim"),
    )
    # Two cards may be linked in several ways, so the card's id alone does not tell the row.
    rows = [Row(f"{words}:{neighbour.card_id}", _NEIGHBOUR, cells, data=neighbour)]
    if reason := line(neighbour.reason):
        rows.append(Row(f"why:{words}:{neighbour.card_id}", _REASON, (Cell(""), Cell(reason, "dim")), kind="heading"))
    return rows


def neighbours_words(answer: CardAnswer) -> str:
    """The heading of the list."""
    return f"neighbours ({count(answer.related_total)})" if answer.related_total else "no neighbours yet"


def about(answer: CardAnswer, now: int) -> Content:
    """What is known about the card, in a few lines."""
    card = answer.card
    pinned = "pinned" if card.pinned else ""
    state = "" if card.state == "active" else line(card.state, 20)
    uses = f"{card.access_count:g} time{'' if card.access_count == 1 else 's'}"
    used = f"used {uses}, last {day_and_age(card.last_access, now)}" if card.access_count else "never used"
    lines = [
        joined(
            [
                (line(card.type, 20), "bold"),
                (f"{tier_letter(card.tier)} {share(card.temperature)}", tier_colour(card.tier)),
                f"importance {share(card.importance)}",
                f"confidence {share(card.confidence)}",
                line(card.standing, 20),
                (pinned, "$text-accent"),
                (state, "$text-warning"),
            ]
        ),
        joined([used, f"added {day_and_age(card.added_at, now)}", line(card.scope, 60)]),
    ]
    if card.tags or card.entities:
        tags = [(f"#{line(tag, 30)}", "$text-accent") for tag in card.tags[:20]]
        lines.append(joined([*tags, *((line(entity, 30), "$foreground-muted") for entity in card.entities[:20])]))
    lines += _sources(answer)
    lines.append(
        joined([(line(card.card_id, 60), "$foreground-muted"), (f"by {line(card.origin, 20)}", "$foreground-muted")])
    )
    return Content("\n").join(lines)


def _sources(answer: CardAnswer) -> list[Content]:
    if not answer.sources:
        return [
            joined([(f"from {line(session, 60)}", "$foreground-muted")]) for session in answer.card.source_sessions[:4]
        ]
    lines = [
        joined(
            [
                f"from {line(source.session_id, 60)}",
                (turns_words(source.turns) if source.turns else "", "$foreground-muted"),
            ]
        )
        for source in answer.sources[:SHOWN_SOURCES]
    ]
    if len(answer.sources) > SHOWN_SOURCES:
        lines.append(Content(f"and {len(answer.sources) - SHOWN_SOURCES} more sessions"))
    return lines


def breadcrumbs(titles: Sequence[str], width: int) -> Content:
    """`Search > A > B`, the oldest left out when there is no room."""
    names = [title(name, 200) for name in titles]
    names[:-1] = [name if cell_len(name) <= LONGEST_CRUMB else fit(name, LONGEST_CRUMB) for name in names[:-1]]
    crumbs: list[str] = names[-1:]
    used = len("Search > ") + cell_len(names[-1]) if names else 0
    for name in reversed(names[:-1]):
        used += cell_len(name) + 3
        if used > width - 6:
            crumbs.insert(0, "...")
            break
        crumbs.insert(0, name)
    pieces: list[str | tuple[str, str]] = [("Search", "$foreground-muted")]
    for index, crumb in enumerate(crumbs):
        pieces.append((" > ", "$foreground-muted"))
        pieces.append((crumb, "bold" if index == len(crumbs) - 1 else "$foreground-muted"))
    return Content.assemble(*pieces)
