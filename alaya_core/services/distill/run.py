"""Distill: sessions that have turns not read yet become cards, each with the very turns it came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from alaya_core import secrets
from alaya_core.errors import AlayaError, NotFoundError
from alaya_core.models.answers import DistilledCard, DistilledLink, DistillOutcome, DistillReport
from alaya_core.models.card import Card, CardDraft, Link, Relation, SourceRef, ordered_ends
from alaya_core.models.commit import Event, card_changed, card_created, link_created, session_distilled
from alaya_core.models.session import SessionInfo, Turn, TurnKind
from alaya_core.progress import CancelToken, Progress, ProgressSink
from alaya_core.services.card_making import card_from_draft, links_from_drafts, masked
from alaya_core.services.distill.rules import RULES_VERSION, Proposal, distill_by_rules
from alaya_core.services.workspace import Workspace
from alaya_core.stores.contexts import ContextTurn, context_turn
from alaya_core.stores.graph_read import GraphReader
from alaya_core.text import safe_line

_SHARED_ENTITY_WEIGHT = 0.4
_COMMON_ENTITY = 12
"""Cards from which on an entity says too little to link two of them."""
_LINKS_ACROSS = 3


@dataclass(slots=True)
class _Made:
    """What one session became."""

    cards: list[Card]
    links: list[Link]
    repeated: int
    titles: dict[str, str]


def distill(
    workspace: Workspace,
    *,
    session: str | None,
    redo: bool,
    progress: ProgressSink,
    cancel: CancelToken | None,
    run: str = "",
) -> DistillReport:
    """Distills one session, or all that have turns not distilled yet, by rules.

    Args:
        session: A session's id; None = all.
        redo: Read turns again that were distilled before; what they gave already is not made twice.
        run: The run it belongs to; empty = one of its own.

    Raises:
        NotFoundError: There is no such session.
    """
    workspace.require_writable()
    token = cancel or CancelToken()
    infos = _sessions(workspace, session, redo)
    run = run or workspace.new_run()
    outcomes = []
    for done, info in enumerate(infos):
        token.check()
        progress(Progress("distill", done, len(infos), info.id))
        outcomes.append(_distill_one(workspace, info, 0 if redo else info.distilled_turns, run))
    progress(Progress("distill", len(infos), len(infos)))
    counts: Counter[str] = Counter(outcome.status for outcome in outcomes)
    counts["cards"] = sum(len(outcome.cards) for outcome in outcomes)
    counts["links"] = sum(len(outcome.links) for outcome in outcomes)
    return DistillReport(sessions=outcomes, counts=dict(counts), distiller=RULES_VERSION)


def _sessions(workspace: Workspace, session: str | None, redo: bool) -> list[SessionInfo]:
    with workspace.graph.reading() as reader:
        if session is None:
            return [info for info in reader.sessions() if _wanted(workspace, info, redo)]
        info = reader.session(session)
    if info is None or not _may_read(workspace, info):
        shown = safe_line(session)[:80]
        raise NotFoundError(f"there is no session '{shown}'", "`alaya status` counts them; ids are exact")
    return [info] if _wanted(workspace, info, redo) else []


def _wanted(workspace: Workspace, info: SessionInfo, redo: bool) -> bool:
    return _may_read(workspace, info) and (redo or info.turns > info.distilled_turns)


def _may_read(workspace: Workspace, info: SessionInfo) -> bool:
    return workspace.agent is None or info.agent == workspace.agent


def _distill_one(workspace: Workspace, info: SessionInfo, start: int, run: str) -> DistillOutcome:
    try:
        abandoned = _abandoned(workspace, info)
        turns = list(_learnable(workspace.sessions.turns(info.path, start, info.turns), start, abandoned))
    except AlayaError as error:
        return DistillOutcome(session_id=info.id, status="retry", reason=error.message)
    proposal = distill_by_rules(
        turns,
        session_id=info.id,
        session_time=info.timestamp,
        max_cards=workspace.config.distill.max_cards_per_session,
    )
    made = _Made([], [], 0, {})

    def plan(reader: GraphReader) -> list[Event]:
        now = reader.session(info.id)
        if now is None or now.chain != info.chain:
            return []
        events = _events(workspace, reader, info, proposal, made)
        _keep_contexts(workspace, info, made.cards)
        status = "done" if proposal.cards else "skipped"
        return [*events, session_distilled(info.id, turns=info.turns, by=RULES_VERSION, status=status)]

    if workspace.commit("distill", plan, run=run, actor="rules") is None:
        return DistillOutcome(session_id=info.id, status="retry", reason="it changed while it was read; repeat")
    return DistillOutcome(
        session_id=info.id,
        status="done" if proposal.cards else "skipped",
        reason=_reason(proposal, made, len(turns)),
        cards=[DistilledCard(card_id=card.id, title=card.title, type=str(card.type)) for card in made.cards],
        links=[
            DistilledLink(
                from_title=made.titles[link.from_id],
                relation=str(link.relation),
                to_title=made.titles[link.to_id],
                reason=link.reason,
            )
            for link in made.links
        ],
    )


def _learnable(turns: Iterator[Turn], start: int, abandoned: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Turn]]:
    """The turns that may be learnt from, without what a distiller does not read."""
    for number, turn in enumerate(turns, start):
        if turn.kind is not TurnKind.MESSAGE or not turn.text.strip():
            continue
        if any(first <= number <= last for first, last in abandoned):
            continue
        yield number, replace(turn, content="", thinking="", tool_calls=())


def _abandoned(workspace: Workspace, info: SessionInfo) -> list[tuple[int, int]]:
    ranges = workspace.sessions.header(info.path)["metadata"].get("abandoned") or []
    return [(int(first), int(last)) for first, last in ranges]


def _events(
    workspace: Workspace, reader: GraphReader, info: SessionInfo, proposal: Proposal, made: _Made
) -> list[Event]:
    """Events of one session's proposal against the memory as it is; a card that is there already gains a source."""
    now = workspace.clock()
    erased = set(reader.erased_cards())
    drafts = [masked(draft) for draft in proposal.cards if draft.sources not in erased]
    known = reader.cards_with_content([draft.content for draft in drafts])
    events: list[Event] = []
    ids: dict[str, str] = {}
    twins: list[Card] = []
    scope = f"agent:{info.agent}"
    edited = _edited(reader, info)
    for draft in drafts:
        twin = next((card for card in known.get(draft.content, ()) if card.scope == scope), None)
        twin = twin or edited.pop(draft.sources, None)
        if twin is not None:
            ids[draft.key or draft.title] = twin.id
            made.repeated += 1
            twins.append(twin)
            grown = _with_sources(twin, draft, now)
            if grown is not None:
                events.append(card_changed(twin, grown, "seen again"))
            continue
        card = card_from_draft(
            draft,
            card_id=workspace.ids.new_card(),
            scope=scope,
            origin="rules",
            distilled_by=RULES_VERSION,
            now=now,
            time=info.timestamp,
        )
        ids[draft.key or draft.title] = card.id
        made.cards.append(card)
        events.append(card_created(card))
    made.links = links_from_drafts(proposal.links, ids, origin="rule", now=now)
    made.links += _links_across(reader, made.cards, now)
    there = {near.link.id for around in reader.neighbours([twin.id for twin in twins]).values() for near in around}
    made.links = [link for link in made.links if link.id not in there]
    older = reader.cards({end for link in made.links for end in (link.from_id, link.to_id)} - set(ids.values()))
    made.titles = {card.id: card.title for card in (*made.cards, *older.values(), *twins)}
    return [*events, *(link_created(link) for link in made.links)]


def _edited(reader: GraphReader, info: SessionInfo) -> dict[tuple[SourceRef, ...], Card]:
    """Cards of a session that somebody changed since, by the turns they came from: what is read from these turns again
    is what such a card said before."""
    came = [card_id for card_id, _ in reader.cards_from([info.id]).get(info.id, ())]
    return {card.sources: card for card in reader.cards(came).values() if card.rev > 1 and card.origin == "rules"}


def _with_sources(card: Card, draft: CardDraft, now: int) -> Card | None:
    """A card that was said again: it also comes from these turns. None when they are known."""
    merged = {source.session_id: set(source.turns) for source in card.sources}
    for source in draft.sources:
        merged.setdefault(source.session_id, set()).update(source.turns)
    sources = tuple(SourceRef(key, tuple(sorted(turns))) for key, turns in merged.items())
    if sources == card.sources:
        return None
    return replace(card, sources=sources, rev=card.rev + 1, updated_at=now)


def _links_across(reader: GraphReader, cards: Sequence[Card], now: int) -> list[Link]:
    """Links from new cards to older ones that mention the same rare thing."""
    mentions = reader.mentioning({entity for card in cards for entity in card.entities})
    links: dict[str, Link] = {}
    for card in cards:
        shared: dict[str, list[str]] = {}
        for entity in card.entities:
            others = mentions.get(entity, [])
            if len(others) <= _COMMON_ENTITY:
                for other in others:
                    shared.setdefault(other, []).append(entity)
        best = sorted(shared.items(), key=lambda item: (-len(item[1]), item[0]))[:_LINKS_ACROSS]
        for other, entities in best:
            ends = ordered_ends(card.id, other, Relation.RELATES_TO)
            weight = min(0.8, _SHARED_ENTITY_WEIGHT + 0.1 * (len(entities) - 1))
            reason = f"both mention {', '.join(entities[:3])}"
            link = Link(*ends, Relation.RELATES_TO, weight, reason, "rule", now)
            links.setdefault(link.id, link)
    return list(links.values())


def _keep_contexts(workspace: Workspace, info: SessionInfo, cards: Sequence[Card]) -> None:
    """Keeps the turns of new cards; they all come from this one session."""
    for card in cards:
        kept: list[ContextTurn] = []
        for number in sorted({number for source in card.sources for number in source.turns}):
            for turn in workspace.sessions.turns(info.path, number, number + 1):
                kept.append(context_turn(info.id, number, turn, secrets.mask(turn.content)))
        workspace.staging.add("card", card.id, "")
        workspace.contexts.write(card.id, kept)


def _reason(proposal: Proposal, made: _Made, read: int) -> str:
    parts = [f"{count} {why}" for why, count in proposal.skipped.items() if count]
    if made.repeated:
        parts.append(f"{made.repeated} known already")
    if not read:
        return "nothing in it that somebody said"
    return f"not kept: {', '.join(parts)}" if parts else ""
