"""Nouns of the linked layer: cards, links, and where a card came from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from alaya_core.models.card_types import CardType

SESSION_SUMMARY = "session-summary"
"""Who distils the summary of a session."""
RULES_SUMMARY = "rules/summary"
"""Who writes a summary of the facts about one thing."""


class CardState(StrEnum):
    """Who sees a card; `erased` cards have no record at all."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"
    MERGED = "merged"


LIVING = (CardState.ACTIVE, CardState.SUPERSEDED)
"""States of cards that are found without being asked for, and that cool."""


class Standing(StrEnum):
    """How slowly a card cools."""

    CORE = "core"
    WORKING = "working"
    PERIPHERAL = "peripheral"


class Tier(StrEnum):
    """Where a card's vector lives; COLD has none."""

    HOT = "HOT"
    WARM = "WARM"
    COLD = "COLD"


class Relation(StrEnum):
    """Types of link between two cards."""

    RELATES_TO = "RELATES_TO"
    SIMILAR_TO = "SIMILAR_TO"
    CONTRADICTS = "CONTRADICTS"
    DEPENDS_ON = "DEPENDS_ON"
    CAUSED_BY = "CAUSED_BY"
    TEMPORAL_NEXT = "TEMPORAL_NEXT"

    @property
    def symmetric(self) -> bool:
        """Whether it reads the same from both ends (and is stored once)."""
        return self in (Relation.RELATES_TO, Relation.SIMILAR_TO, Relation.CONTRADICTS)


@dataclass(frozen=True, slots=True)
class SourceRef:
    """The turns of one session that a card came from (numbers from 0)."""

    session_id: str
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CardDraft:
    """A card that a distiller, reader or person proposes; it has no id and no history yet.

    Attributes:
        title: At most 80 terminal cells, no cut word.
        content: Markdown; reads alone.
        key: By which links of the same proposal name it; the title when empty.
        importance_by: Who judged the importance: `human`, `rules` or `llm`.
        created_at: When it was true, ms since the epoch, UTC; None = when it enters.
        sources: Where it came from.
        expires_at: When dated or passing information stops being true, ms; None = never.
    """

    title: str
    content: str
    type: CardType = CardType.CONCEPT
    overview: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    importance: float = 0.5
    importance_by: str = "rules"
    confidence: float = 0.7
    created_at: int | None = None
    sources: tuple[SourceRef, ...] = ()
    key: str = ""
    expires_at: int | None = None

    def text_to_embed(self) -> str:
        """What the vector of such a card would stand for."""
        return _text_to_embed(self)


@dataclass(frozen=True, slots=True)
class LinkDraft:
    """A link between two drafts of one proposal, named by their keys."""

    from_key: str
    to_key: str
    relation: Relation
    weight: float = 0.5
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """One self-contained piece of knowledge.

    Attributes:
        id: `card-` and 32 hex digits (imported cards may carry others).
        rev: Rises by one with every change of it; writers name the rev they saw.
        importance: 0..1; `importance_by` says who judged it.
        confidence: 0..1.
        scope: Whose memory it is.
        origin: Where it came from: `human`, `rules`, `llm`, `memex`.
        created_at: When it was true; added_at: when it entered; updated_at: last change (ms, UTC).
        successor: The card that supersedes or absorbed it; empty if none.
        expires_at: When dated information stops being true, ms; None = never.
        standing: How slowly it cools.
        vector_dropped: Whether it is COLD, its vector given up.
        merged_from: Ids of the cards it absorbed, those that they had absorbed among them: all of them name it now.
    """

    id: str
    title: str
    content: str
    type: CardType
    created_at: int
    added_at: int
    updated_at: int
    overview: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    importance: float = 0.5
    importance_by: str = "rules"
    confidence: float = 0.7
    scope: str = "global"
    origin: str = "human"
    state: CardState = CardState.ACTIVE
    pinned: bool = False
    rev: int = 1
    sources: tuple[SourceRef, ...] = ()
    distilled_by: str = ""
    successor: str = ""
    expires_at: int | None = None
    standing: Standing = Standing.WORKING
    vector_dropped: bool = False
    merged_from: tuple[str, ...] = ()

    @property
    def is_session_summary(self) -> bool:
        """Whether it is the summary of one session, which stays outside standings and the HOT tier."""
        return self.distilled_by == SESSION_SUMMARY

    def text_to_embed(self) -> str:
        """What its vector stands for."""
        return _text_to_embed(self)

    def content_hash(self) -> str:
        """sha256 of the text its vector stands for, hex."""
        return hashlib.sha256(self.text_to_embed().encode("utf-8", "surrogatepass")).hexdigest()


def _text_to_embed(card: Card | CardDraft) -> str:
    return "\n".join(part for part in (card.title, card.overview, card.content) if part)


@dataclass(frozen=True, slots=True)
class Link:
    """A typed, weighted, reasoned edge; a symmetric one is stored once, the smaller id first."""

    from_id: str
    to_id: str
    relation: Relation
    weight: float
    reason: str
    origin: str
    created_at: int

    @property
    def id(self) -> str:
        """The same for the same two ends and relation."""
        raw = f"{self.from_id}|{self.to_id}|{self.relation}"
        return "link-" + hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def ordered_ends(from_id: str, to_id: str, relation: Relation) -> tuple[str, str]:
    """The ends as they are stored: as given for a directed relation, sorted for a symmetric one."""
    return tuple(sorted((from_id, to_id))) if relation.symmetric else (from_id, to_id)  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Vitals:
    """What use has done to a card.

    Attributes:
        access_count: Weighted number of accesses (an automatic recall counts 0.2).
        last_access: ms since the epoch; 0 = never.
        first_access: ms since the epoch; 0 = never (the mean gap between accesses follows from these three).
        similarities: The last ten recalls' similarities.
    """

    access_count: float = 0.0
    last_access: int = 0
    first_access: int = 0
    similarities: tuple[float, ...] = ()
