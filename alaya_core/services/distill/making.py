"""What a distiller proposes for one session becomes events, judged against the memory as it is at that moment."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from alaya_core import secrets
from alaya_core.models.card import (
    SESSION_SUMMARY,
    Card,
    CardDraft,
    CardState,
    Link,
    LinkDraft,
    Relation,
    SourceRef,
    ordered_ends,
)
from alaya_core.models.card_types import POLICIES, OnDuplicate
from alaya_core.models.commit import Event, card_changed, card_created, link_created
from alaya_core.models.session import SessionInfo
from alaya_core.services.card_making import card_from_draft, links_from_drafts, masked, tidy
from alaya_core.services.distill.linking_across import links_across
from alaya_core.services.merging import united, united_sources, united_text
from alaya_core.services.workspace import Workspace
from alaya_core.stores.contexts import ContextTurn, context_turn
from alaya_core.stores.graph_read import GraphReader

_LONGEST = 8_000
"""Characters from which on a card grows no further: what is new becomes a card of its own."""


class Action(StrEnum):
    """What becomes of a draft that is like a known card; `same`: they say it in the same words."""

    MERGE = "merge"
    SKIP = "skip"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Fate:
    """A draft that goes into a known card, which is seen as it was when that was decided."""

    action: Action
    known: Card
    similarity: float


@dataclass(frozen=True, slots=True)
class Distiller:
    """Who made the cards: `rules` with its version, or `llm` with the model's name."""

    origin: str
    name: str

    @property
    def link_origin(self) -> str:
        """What its links are said to come from."""
        return "rule" if self.origin == "rules" else self.origin


@dataclass(slots=True)
class Made:
    """What one session became.

    Attributes:
        repeated: Drafts that a known card says already; merged: drafts that went into one.
        superseded: Known cards that a new one takes the place of.
        titles: Of the ends of links.
        stands_for: By the key of a draft, the card that says it now.
    """

    cards: list[Card] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    repeated: int = 0
    merged: int = 0
    superseded: int = 0
    titles: dict[str, str] = field(default_factory=dict)
    stands_for: dict[str, Card] = field(default_factory=dict)


class Making:
    """Turns the drafts of one session into events, while the lock is held."""

    def __init__(self, workspace: Workspace, reader: GraphReader, info: SessionInfo, by: Distiller) -> None:
        self._work, self._reader, self._info, self._by = workspace, reader, info, by
        self._fates: Mapping[str, Fate] = {}
        self._now = workspace.clock()
        self._scope = f"agent:{info.agent}"
        self._events: list[Event] = []
        self._changed: dict[str, Card] = {}
        self._own_links: list[Link] = []
        self._known: dict[str, Card] = {}
        self._gone = reader.erased_cards()
        self.made = Made()

    def decide(self, fates: Mapping[str, Fate]) -> None:
        """Says which drafts, by their keys, go into known cards."""
        self._fates = fates
        self._known |= self._reader.cards({fate.known.id for fate in fates.values()})

    def events(self, drafts: Sequence[CardDraft], links: Sequence[LinkDraft]) -> list[Event]:
        """Events of one session's proposal; a card that is there already gains a source.

        Args:
            drafts: All of them from this one session.
            links: Between drafts, by their keys; an id stands for the known card itself.
        """
        kept = [masked(draft) for draft in drafts if not self._erased(draft)]
        twins = self._reader.cards_with_content([draft.content for draft in kept])
        edited = _edited(self._reader, self._info, self._by.origin)
        for draft in kept:
            twin = next((card for card in twins.get(draft.content, ()) if card.scope == self._scope), None)
            twin = twin or edited.pop(draft.sources, None)
            if twin is not None:
                self._say_again(twin, draft)
            elif not self._follow(draft):
                self._create(draft)
        self._link(links)
        _keep_contexts(self._work, self._info, self.made.cards)
        return [*self.take(), *(link_created(link) for link in self.made.links)]

    def supersede(self, old: Card, new: Card, why: str) -> None:
        """Puts a new card in the place of a known one, if that is as it was seen and nobody pinned it."""
        now = self._current(old)
        if now is None or now.rev != old.rev or now.pinned or now.state is not CardState.ACTIVE or now.id == new.id:
            return
        self._change(now, replace(now, state=CardState.SUPERSEDED, successor=new.id), "supersede", why)
        self.made.superseded += 1

    def put_summary(self, draft: CardDraft, earlier: Card | None) -> None:
        """Makes the summary of the session, or brings the one that is there up to date."""
        draft = masked(draft)
        if earlier is None:
            card = self._create(draft, Distiller("rules", SESSION_SUMMARY))
            _keep_contexts(self._work, self._info, [card])
        elif earlier.content != draft.content:
            after = replace(earlier, title=draft.title, content=draft.content, sources=draft.sources)
            self._change(earlier, after, "refresh", "the session has grown")

    def take(self) -> list[Event]:
        """The events that came since they were last asked for."""
        taken, self._events = self._events, []
        return taken

    def _erased(self, draft: CardDraft) -> bool:
        for sources in self._gone:
            if draft.sources == sources:
                return True
            # A model cuts its cards otherwise each time: nothing is made of a part of what was erased either.
            if self._by.origin == "llm" and all(_within(source, sources) for source in draft.sources):
                return True
        return False

    def _say_again(self, card: Card, draft: CardDraft) -> None:
        now = self._current(card)
        if now is None:
            return
        self.made.repeated += 1
        self.made.stands_for[draft.key or draft.title] = now
        sources = united_sources(*now.sources, *draft.sources)
        hands_off = now.origin == "human" and self._by.origin == "llm"  # a model changes nothing that a person wrote
        if sources != now.sources and not hands_off:
            self._change(now, replace(now, sources=sources), "seen again", "")

    def _follow(self, draft: CardDraft) -> bool:
        """Does what was decided about a draft; False when it becomes a card of its own after all."""
        fate = self._fates.get(draft.key)
        known = self._current(fate.known) if fate else None
        if fate is None or known is None or known.state is not CardState.ACTIVE or known.scope != self._scope:
            return False
        ours = known.id in self._changed
        if self._known[known.id].rev != fate.known.rev and not ours:
            return False
        if fate.action is Action.SAME:
            self._say_again(known, draft)
            return True
        if known.origin == "human":
            card = self._create(draft)
            self._similar(card, known, fate.similarity)
            return True
        if fate.action is Action.SKIP:
            self._say_again(known, draft)
            return True
        return self._merge(draft, known, fate)

    def _merge(self, draft: CardDraft, known: Card, fate: Fate) -> bool:
        policies = {POLICIES[draft.type].on_duplicate, POLICIES[known.type].on_duplicate}
        if OnDuplicate.APPEND in policies:
            return False
        if policies & {OnDuplicate.NEWEST, OnDuplicate.REPLACE}:
            if (draft.created_at or self._now) < known.created_at:  # read again, or read late: it is the older one
                self._say_again(known, draft)
                return True
            card = self._create(draft)
            if known.id in self._changed:
                self._similar(card, known, fate.similarity)
            else:
                self.supersede(known, card, f"{self._by.name}: the newer one holds")
            return True
        content = united_text(known.content, draft.content)
        if len(content) > _LONGEST:
            return False
        whole = replace(
            known,
            content=content,
            tags=tidy(united(known.tags, draft.tags)),
            entities=tidy(united(known.entities, draft.entities)),
            sources=united_sources(*known.sources, *draft.sources),
        )
        self._change(known, whole, "merge", f"{self._by.name}: says more of the same")
        self.made.merged += 1
        self.made.stands_for[draft.key or draft.title] = self._changed[known.id]
        return True

    def _create(self, draft: CardDraft, by: Distiller | None = None) -> Card:
        by = by or self._by
        card = card_from_draft(
            draft,
            card_id=self._work.ids.new_card(),
            scope=self._scope,
            origin=by.origin,
            distilled_by=by.name,
            now=self._now,
            time=self._info.timestamp,
        )
        self.made.stands_for[draft.key or draft.title] = card
        self.made.cards.append(card)
        self._events.append(card_created(card))
        return card

    def _similar(self, card: Card, known: Card, similarity: float) -> None:
        ends = ordered_ends(card.id, known.id, Relation.SIMILAR_TO)
        self._own_links.append(
            Link(*ends, Relation.SIMILAR_TO, round(similarity, 3), "says the same", self._by.link_origin, self._now)
        )

    def _link(self, drafts: Sequence[LinkDraft]) -> None:
        ids = {key: card.id for key, card in self.made.stands_for.items()}
        others = {end for draft in drafts for end in (draft.from_key, draft.to_key)} - ids.keys()
        usable = self._reader.cards(others) if others else {}
        ids |= {card.id: card.id for card in usable.values() if card.scope == self._scope}
        links = links_from_drafts(drafts, ids, origin=self._by.link_origin, now=self._now)
        links += [*self._own_links, *links_across(self._reader, self.made.cards, self._now)]
        links = list({link.id: link for link in reversed(links)}.values())[::-1]
        new = {card.id for card in self.made.cards}
        may_be = {link.from_id for link in links if not new & {link.from_id, link.to_id}}
        there = {near.link.id for around in self._reader.neighbours(list(may_be)).values() for near in around}
        self.made.links = [link for link in links if link.id not in there]
        known = self._reader.cards({end for link in links for end in (link.from_id, link.to_id)} - new)
        self.made.titles = {card.id: card.title for card in (*self.made.cards, *known.values())}

    def _current(self, card: Card) -> Card | None:
        """A card as it is now, with what this session did to it."""
        return self._changed.get(card.id) or self._known.get(card.id) or self._read(card.id)

    def _read(self, card_id: str) -> Card | None:
        self._known |= self._reader.cards([card_id])
        return self._known.get(card_id)

    def _change(self, before: Card, after: Card, verb: str, why: str) -> None:
        after = replace(after, rev=before.rev + 1, updated_at=self._now)
        self._changed[after.id] = after
        self._events.append(card_changed(before, after, verb, why=why))


def _within(source: SourceRef, others: Collection[SourceRef]) -> bool:
    return any(source.session_id == other.session_id and {*source.turns} <= {*other.turns} for other in others)


def _edited(reader: GraphReader, info: SessionInfo, origin: str) -> dict[tuple[SourceRef, ...], Card]:
    """Cards of a session that somebody changed since, by the turns they came from: what is read from these turns again
    is what such a card said before."""
    came = [card_id for card_id, _ in reader.cards_from([info.id]).get(info.id, ())]
    return {
        card.sources: card
        for card in reader.cards(came).values()
        if card.rev > 1 and card.origin == origin and not card.is_session_summary
    }


def _keep_contexts(workspace: Workspace, info: SessionInfo, cards: Sequence[Card]) -> None:
    """Keeps the turns of new cards; they all come from this one session."""
    for card in cards:
        kept: list[ContextTurn] = []
        for number in sorted({number for source in card.sources for number in source.turns}):
            for turn in workspace.sessions.turns(info.path, number, number + 1):
                kept.append(context_turn(info.id, number, turn, secrets.mask(turn.content)))
        workspace.staging.add("card", card.id, "")
        workspace.contexts.write(card.id, kept)
