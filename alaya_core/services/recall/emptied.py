"""What filters left out: how many there were without each of them, and names that no card has. No I/O."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass, fields
from itertools import islice

from alaya_core.models.card import Card
from alaya_core.models.requests import Filters
from alaya_core.text import safe_line

ALL = "all"
"""In the counts: without any filter."""
_COMPARED = 20_000
_LONGEST = 200
_ENOUGH_ALIKE = 0.7
_ANY_MAY = ("scope", "session", "since", "until", "without_origin")


@dataclass(frozen=True, slots=True)
class Thing:
    """A card or a passage, as far as filters judge it.

    Attributes:
        at: When it was true or said, ms; None = nobody knows.
        card: None for a passage.
    """

    scope: str
    at: int | None
    sessions: tuple[str, ...]
    card: Card | None = None
    tier: str = ""


def card_thing(card: Card, tier: str) -> Thing:
    """A card, as filters see it."""
    return Thing(card.scope, card.created_at, tuple(source.session_id for source in card.sources), card, tier)


def active(filters: Filters, *, passages_only: bool = False) -> list[str]:
    """The filters that leave something out, by the names of their fields.

    Args:
        passages_only: Whether only passages are looked for: what only a card has then counts for nothing.
    """
    values = {each.name: getattr(filters, each.name) for each in fields(filters) if each.name != "archived"}
    used = [name for name, value in values.items() if value is not None and (not isinstance(value, Sized) or value)]
    return [name for name in used if name in _ANY_MAY] if passages_only else used


def passes(thing: Thing, filters: Filters, name: str) -> bool:
    """Whether one filter lets a thing through."""
    return _CHECKS[name](filters, thing)


def counts(filters: Filters, things: Iterable[Thing], *, passages_only: bool = False) -> dict[str, int]:
    """For each filter, how many of the things that were found without any pass all the others; and how many there are.

    Args:
        things: What a search without filters finds, of what may be seen.
    """
    names = active(filters, passages_only=passages_only)
    without = dict.fromkeys([*names, ALL], 0)
    for thing in things:
        without[ALL] += 1
        stopped = [name for name in names if not passes(thing, filters, name)]
        for name in names:
            without[name] += stopped in ([], [name])
    return without


def unknown_names(
    filters: Filters, seen: Sequence[Card], read: Callable[[str], Iterable[str]], *, sessions: bool = False
) -> list[str]:
    """A sentence for each tag and entity (and session) asked for that no card has, with those that are spelt alike.

    Args:
        seen: Cards that were found: what they have need not be looked for.
        read: All names of a kind (`tags`, `entities`, `sessions`) that whoever asks may see; asked only where a name
            is not among those of the cards that were found.
        sessions: Whether the session is judged too.
    """
    said = []
    session = (filters.session,) if sessions and filters.session else ()
    for kind, told, wanted in (("tags", "tag", filters.tag), ("entities", "entity", filters.entity),
                               ("sessions", "session", session)):  # fmt: skip
        have = {name for card in seen for name in names_of(card, kind)}
        missing = [name for name in dict.fromkeys(wanted) if name not in have]
        known = set(read(kind)) if missing else set()
        said += [_unknown(told, name, known) for name in missing if name not in known]
    return said


def close_to(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The names that one may have been meant by another, best first: spelt alike, or beginning with it."""
    wanted = name.casefold()
    folded: dict[str, str] = {}
    for each in islice(known, _COMPARED):
        if len(each) <= _LONGEST:
            folded.setdefault(each.casefold(), each)
    alike = difflib.get_close_matches(wanted[:_LONGEST], folded, most, _ENOUGH_ALIKE)
    longer = sorted(each for each in folded if wanted and each.startswith(wanted))
    return [folded[each] for each in dict.fromkeys([*alike, *longer])][:most]


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    near = ", ".join(safe_line(each)[:80] for each in close_to(name, sorted(known)))
    said = "no card comes from session" if kind == "session" else f"no card has {kind}"
    return f"{said} '{safe_line(name)[:80]}'" + (f"; close: {near}" if near else "")


def names_of(card: Card, kind: str) -> tuple[str, ...]:
    """A card's tags, entities, or the sessions it came from."""
    if kind == "sessions":
        return tuple(source.session_id for source in card.sources)
    return card.tags if kind == "tags" else card.entities


def _of_card(judge: Callable[[Filters, Card], bool]) -> Callable[[Filters, Thing], bool]:
    return lambda filters, thing: thing.card is not None and judge(filters, thing.card)


_CHECKS: dict[str, Callable[[Filters, Thing], bool]] = {
    "scope": lambda filters, thing: thing.scope in filters.scope,
    "type": _of_card(lambda filters, card: str(card.type) in filters.type),
    "tag": _of_card(lambda filters, card: not set(card.tags).isdisjoint(filters.tag)),
    "tier": lambda filters, thing: thing.card is not None and thing.tier in filters.tier,
    "standing": _of_card(lambda filters, card: str(card.standing) in filters.standing),
    "origin": _of_card(lambda filters, card: card.origin in filters.origin),
    "without_origin": lambda filters, thing: thing.card is None or thing.card.origin not in filters.without_origin,
    "entity": _of_card(lambda filters, card: not set(card.entities).isdisjoint(filters.entity)),
    "session": lambda filters, thing: filters.session in thing.sessions,
    "importance": _of_card(lambda filters, card: card.importance >= (filters.importance or 0)),
    "since": lambda filters, thing: thing.at is not None and thing.at >= (filters.since or 0),
    "until": lambda filters, thing: thing.at is not None and filters.until is not None and thing.at <= filters.until,
}
