"""Recall: from a query to cards, their neighbours and passages, each with the reason for its place."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from alaya_core.errors import AlayaError, BusyError
from alaya_core.models.answers import Filtered, PassageHit, RecallAnswer, RecallHit, Related, TraceTurn
from alaya_core.models.card import Card
from alaya_core.models.recall_parts import Candidate
from alaya_core.models.requests import RecallOptions
from alaya_core.services.card_views import Now, related
from alaya_core.services.index import repay, sync
from alaya_core.services.recall.diversity import DiversitySettings
from alaya_core.services.recall.fuse import FusionSettings, fuse
from alaya_core.services.recall.guard import needs_memory
from alaya_core.services.recall.legs import search_cards
from alaya_core.services.recall.passage_leg import search_passages
from alaya_core.services.recall.stages import StageSettings, run_stages
from alaya_core.services.trace import source_turns
from alaya_core.services.workspace import Workspace
from alaya_core.stores.accesses import AccessLine
from alaya_core.text import storable

_GRAPH_PATIENCE_S = 0.25
_LONGEST_QUERY = 20_000


def recall(workspace: Workspace, query: str, options: RecallOptions) -> RecallAnswer:
    """Finds cards and passages for a query; reads, and appends one line to the access log."""
    started = time.perf_counter()
    asked = storable(query)[:_LONGEST_QUERY]
    answer = RecallAnswer(
        query=storable(query), results=[], passages=[], filtered=Filtered(), degraded=[], stale=False, took_ms=0
    )
    if options.auto:
        needed, reason = needs_memory(asked)
        if not needed:
            answer.skipped = reason
            return _timed(answer, started)
    if not asked.strip():
        return _timed(answer, started)
    synced = sync(workspace, patient=False)
    answer.stale = synced.stale
    answer.degraded.extend(synced.notes)
    if not workspace.vectors.exists:
        answer.degraded.append("nothing is indexed yet")
        return _timed(answer, started)
    now = workspace.now()
    limit = options.limit if options.limit is not None else workspace.config.recall.max_results
    hits: list[tuple[Candidate, Card]] = []
    # The passages are looked for beside the cards: both wait for the vector engine most of the time.
    with ThreadPoolExecutor(1) as beside:
        wanted = options.within in ("passages", "both")
        looking = beside.submit(search_passages, workspace, asked, options, limit) if wanted else None
        if options.within in ("cards", "both"):
            hits = _cards(workspace, asked, options, now, limit, answer)
        passages, notes = looking.result() if looking else ([], [])
    answer.degraded.extend(notes)
    _add_graph(workspace, hits, passages, options, answer)
    answer.passages = passages
    answer.degraded = list(dict.fromkeys(answer.degraded))
    if not options.typed and hits:
        kind = "auto" if options.auto else "recall"
        cards = tuple((candidate.id, candidate.similarity or candidate.score) for candidate, _ in hits)
        workspace.accesses.append(AccessLine(now.at, workspace.agent or "", kind, cards))
    return _timed(answer, started)


def _cards(
    workspace: Workspace, query: str, options: RecallOptions, now: Now, limit: int, answer: RecallAnswer
) -> list[tuple[Candidate, Card]]:
    config = workspace.config.recall
    found = search_cards(workspace, query, options, now)
    if found.vectors_ran:
        repay(workspace)
    answer.degraded.extend(found.degraded)
    fused = fuse(
        found.candidates,
        query,
        FusionSettings(min_similarity=config.min_similarity),
        vectors_ran=found.vectors_ran,
        words_ran=found.words_ran,
    )
    settings = StageSettings(floor=config.floor, diversity=DiversitySettings(enough=limit))
    staged = run_stages(fused, settings, found.similarity)
    best = None if staged.best_below is None else round(staged.best_below, 4)
    answer.filtered = Filtered(below_floor=staged.below_floor, best=best)
    return [(candidate, found.cards[candidate.id]) for candidate in staged.kept[:limit]]


def _add_graph(
    workspace: Workspace,
    hits: Sequence[tuple[Candidate, Card]],
    passages: Sequence[PassageHit],
    options: RecallOptions,
    answer: RecallAnswer,
) -> None:
    """Neighbours under each hit, the cards that came from each passage, and the turns behind a hit if asked for."""
    under: Mapping[str, list[Related]] = {}
    context: Mapping[str, list[TraceTurn]] = {}
    config = workspace.config.recall
    try:
        with workspace.graph.reading(timeout_s=_GRAPH_PATIENCE_S) as reader:
            ids = [candidate.id for candidate, _ in hits]
            if config.graph_expand_depth:
                scopes = workspace.visible_scopes()
                neighbours = reader.neighbours(ids)
                under = {card_id: related(card_id, neighbours[card_id], scopes, config.related) for card_id in ids}
            if options.context:
                full = reader.cards(ids)
                sessions = {key: reader.session(key) for card in full.values() for key in _sessions(card)}
                context = {
                    card.id: source_turns(workspace, card, {k: v for k, v in sessions.items() if v})
                    for card in full.values()
                }
            origins = reader.cards_from([passage.session_id for passage in passages])
            answer.stale = answer.stale or reader.stale
    except BusyError:
        answer.degraded.append("graph busy")
        origins = {}
    except AlayaError as error:
        answer.degraded.append(f"no graph: {error.message}")
        origins = {}
    for passage in passages:
        passage.cards = [card for card, turns in origins.get(passage.session_id, ()) if passage.turn in turns]
    answer.results = [_hit(candidate, card, under.get(card.id, []), context.get(card.id)) for candidate, card in hits]


def _sessions(card: Card) -> list[str]:
    return [source.session_id for source in card.sources]


def _hit(candidate: Candidate, card: Card, neighbours: list[Related], context: list[TraceTurn] | None) -> RecallHit:
    return RecallHit(
        card_id=card.id,
        title=card.title,
        content=card.content,
        score=round(candidate.score, 4),
        type=str(card.type),
        tags=list(card.tags),
        related=neighbours,
        source_sessions=_sessions(card),
        tier=str(candidate.tier),
        temperature=round(candidate.temperature, 4),
        importance=card.importance,
        origin=card.origin,
        scope=card.scope,
        state=str(card.state),
        created_at=card.created_at,
        why=dict(candidate.why.as_dict()),
        context=context,
    )


def _timed(answer: RecallAnswer, started: float) -> RecallAnswer:
    answer.took_ms = round((time.perf_counter() - started) * 1000)
    return answer


def opened(workspace: Workspace, card_id: str, query: str) -> None:
    """Logs that a hit of a typed search was opened."""
    if query.strip():
        line = AccessLine(workspace.clock(), workspace.agent or "", "open", ((card_id, 1.0),))
        workspace.accesses.append(line)
