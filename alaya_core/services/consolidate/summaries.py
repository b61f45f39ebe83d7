"""Several facts about one thing become a summary of it, kept up to date as long as nobody else touched it. No I/O."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from alaya_core.models.card import RULES_SUMMARY, Card, CardState, Link, Relation, SourceRef, ordered_ends
from alaya_core.models.card_types import CardType
from alaya_core.models.plan import Decision
from alaya_core.services.consolidate.verdicts import safe_why
from alaya_core.services.distill.subjects import is_chinese
from alaya_core.services.distill.titles import fit
from alaya_core.services.merging import united_sources
from alaya_core.services.proposal_key import proposal_key
from alaya_core.text import clip, safe_line

_TOLD_OF = (
    CardType.FACT,
    CardType.PROFILE,
    CardType.PREFERENCE,
    CardType.DECISION,
    CardType.CONCEPT,
    CardType.PATTERN,
    CardType.GOTCHA,
)
_WRITTEN = (CardState.ACTIVE, CardState.ARCHIVED, CardState.FORGOTTEN)
_MOST_LINES = 20
_LINE = 120  # cells
_HIGHEST = 0.8  # importance; a summary is not what has to be kept for ever
_LEAST_CARDS = 6  # in a scope, below which no name is too common
_TOO_COMMON = 0.5  # share of the cards of a scope


def plan_summaries(
    cards: Iterable[Card], *, now: int, new_card_id: Callable[[], str], least: int = 3
) -> list[Decision]:
    """Summaries to be made or refreshed: one for each thing that enough active cards of a scope are about.

    A summary that a person wrote, edited or judged is left as it is, and one that was put away is not made again.

    Args:
        cards: Of any state, in any order.
        now: ms.
        new_card_id: Called once for each summary that is made.
        least: Cards about a thing from which on it gets a summary.
    """
    about: dict[tuple[str, str], list[Card]] = defaultdict(list)
    written: dict[tuple[str, str], Card] = {}
    sizes: Counter[str] = Counter()
    for card in sorted(cards, key=lambda card: (not _is_ours(card), card.id)):
        if card.type is CardType.SUMMARY:
            if card.entities and card.state in _WRITTEN:
                written.setdefault((card.scope, card.entities[0].casefold()), card)
        elif card.type in _TOLD_OF and card.state is CardState.ACTIVE:
            sizes[card.scope] += 1
            for name in sorted({name.casefold() for name in card.entities}):
                about[(card.scope, name)].append(card)
    decisions = []
    for key in sorted(about):
        own = about[key]
        if len(own) < least or not _is_telling(key[1]) or _is_common(len(own), sizes[key[0]]):
            continue
        decision = _summary(own, key[1], written.get(key), now, new_card_id)
        if decision is not None:
            decisions.append(decision)
    return decisions


def _summary(
    own: Sequence[Card], folded: str, written: Card | None, now: int, new_card_id: Callable[[], str]
) -> Decision | None:
    """A summary made or refreshed; None if it says what it would say already, or is not ours."""
    chosen = sorted(own, key=lambda card: (-card.importance, -card.created_at, card.id))[:_MOST_LINES]
    name = _spelled(own, folded)
    lines = tuple(dict.fromkeys(f"- {clip(safe_line(card.title), _LINE)}" for card in chosen))
    content = "\n".join(lines)
    why = safe_why(f"{len(own)} cards about {name}")
    if written is not None:
        if not (_is_ours(written) and written.state is CardState.ACTIVE):
            return None
        if set(written.content.splitlines()) == set(lines):
            return None
        after = replace(
            written,
            content=content,
            importance=_importance(chosen),
            sources=_sources(chosen),
            updated_at=now,
        )
        seen = (written, *chosen)
        links = _links(written.id, chosen, now)
        return Decision("summarize", seen, changed=(after,), links=links, why=why, key=_key(seen))
    made = Card(
        id=new_card_id(),
        title=fit(f"{name}：摘要" if is_chinese(content) else f"{name}: summary"),
        content=content,
        type=CardType.SUMMARY,
        created_at=max(card.created_at for card in chosen),
        added_at=now,
        updated_at=now,
        entities=(name,),
        importance=_importance(chosen),
        confidence=min(card.confidence for card in chosen),
        scope=chosen[0].scope,
        origin="rules",
        sources=_sources(chosen),
        distilled_by=RULES_SUMMARY,
    )
    links = _links(made.id, chosen, now)
    return Decision("summarize", tuple(chosen), made=(made,), links=links, why=why, key=_key(chosen))


def _is_ours(card: Card) -> bool:
    """Whether a summary is as this module writes them: whatever else stands in it, a person put there."""
    plain = all(line.startswith("- ") for line in card.content.splitlines()) and not card.overview
    return card.distilled_by == RULES_SUMMARY and plain and "human" not in (card.importance_by, card.origin)


def _is_telling(name: str) -> bool:
    """Whether a name names something: not one letter, nor a number."""
    wide = any("\u3400" <= char <= "\u9fff" for char in name)
    return len(name) >= (2 if wide else 3) and any(char.isalpha() for char in name)


def _is_common(count: int, of: int) -> bool:
    return of >= _LEAST_CARDS and count > _TOO_COMMON * of


def _spelled(cards: Sequence[Card], folded: str) -> str:
    """A name as most cards write it."""
    spellings = Counter(name for card in cards for name in card.entities if name.casefold() == folded)
    return min(spellings, key=lambda name: (-spellings[name], name))


def _importance(cards: Sequence[Card]) -> float:
    return min(_HIGHEST, max(card.importance for card in cards))


def _sources(cards: Sequence[Card]) -> tuple[SourceRef, ...]:
    """The turns of all of them, in the order of their sessions, whatever that of the cards."""
    every = united_sources(*(source for card in cards for source in card.sources))
    return tuple(sorted(every, key=lambda source: source.session_id))


def _links(summary: str, cards: Sequence[Card], now: int) -> tuple[Link, ...]:
    return tuple(
        Link(*ordered_ends(summary, card.id, Relation.RELATES_TO), Relation.RELATES_TO, 0.6, "summed up", "rule", now)
        for card in cards
    )


def _key(cards: Sequence[Card]) -> str:
    return proposal_key("summarize", cards)
