"""Recall: from a query to cards, their neighbours and passages, each with the reason for its place."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from alaya_core.errors import AlayaError, BusyError
from alaya_core.models.answers import Filtered, PassageHit, RecallAnswer, RecallHit, Related, TraceTurn
from alaya_core.models.card import Card
from alaya_core.models.recall_parts import Candidate
from alaya_core.models.requests import RecallOptions
from alaya_core.models.session import SessionInfo
from alaya_core.services.card_views import Now, related_under
from alaya_core.services.index import repay, sync
from alaya_core.services.lookup import as_seen, without_sessions
from alaya_core.services.recall.cache import Kept, Uses
from alaya_core.services.recall.diversity import DiversitySettings
from alaya_core.services.recall.emptied import active
from alaya_core.services.recall.explain_filters import explain_filters
from alaya_core.services.recall.fuse import FusionSettings, doubtful, fuse
from alaya_core.services.recall.guard import needs_memory
from alaya_core.services.recall.legs import search_cards
from alaya_core.services.recall.passage_leg import search_passages
from alaya_core.services.recall.rerank import rerank
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
    key, state = (answer.query, repr(options), workspace.agent, workspace.config.recall), _state(workspace)
    # What could not be brought up to date has something to say that an earlier answer did not.
    kept = None if answer.stale or answer.degraded else workspace.recalled.get(key, state)
    if kept is None:
        kept = Kept(answer, _search(workspace, asked, options, answer))
        if _state(workspace) == state:
            workspace.recalled.put(key, state, kept)
    if not options.typed and kept.uses:
        kind = "auto" if options.auto else "recall"
        workspace.accesses.append(AccessLine(workspace.clock(), workspace.agent or "", kind, kept.uses))
    return _timed(kept.answer, started)


def _state(workspace: Workspace) -> object:
    """What an answer depends on, time and use apart; None where nothing is kept."""
    if not workspace.recalled.on:
        return None
    vectors = workspace.vectors
    return workspace.ledger.last_seq(), str(vectors.path), vectors.exists, vectors.mark()


def _search(workspace: Workspace, query: str, options: RecallOptions, answer: RecallAnswer) -> Uses:
    """Fills an answer, and says what it is a use of."""
    now = workspace.now()
    limit = options.limit if options.limit is not None else workspace.config.recall.max_results
    hits, passages = _look(workspace, query, options, now, limit, answer)
    if limit > 0 and not options.typed and active(options.filters):

        def search(bare: RecallOptions) -> tuple[list[tuple[Candidate, Card]], list[PassageHit]]:
            scratch = answer.model_copy(update={"degraded": [], "filtered": Filtered()})
            return _look(workspace, query, bare, now, workspace.config.recall.candidates, scratch)

        try:
            explain_filters(workspace, options, hits, passages, answer.filtered, search)
        except AlayaError as error:
            answer.degraded.append(f"filters not explained: {error.message}")
    _add_graph(workspace, hits, passages, options, answer)
    answer.passages = passages
    answer.degraded = list(dict.fromkeys(answer.degraded))
    return tuple((candidate.id, candidate.similarity or candidate.score) for candidate, _ in hits)


def _look(
    workspace: Workspace, query: str, options: RecallOptions, now: Now, limit: int, answer: RecallAnswer
) -> tuple[list[tuple[Candidate, Card]], list[PassageHit]]:
    """Cards and passages, best first."""
    hits: list[tuple[Candidate, Card]] = []
    # The passages are looked for beside the cards: both wait for the vector engine most of the time.
    with ThreadPoolExecutor(1) as beside:
        wanted = options.within == "passages" or (options.within == "both" and not options.filters.only_cards)
        looking = beside.submit(search_passages, workspace, query, options, limit) if wanted else None
        if options.within in ("cards", "both"):
            hits = _cards(workspace, query, options, now, limit, answer)
        passages, notes = looking.result() if looking else ([], [])
    answer.degraded.extend(notes)
    return hits, passages


def _cards(
    workspace: Workspace, query: str, options: RecallOptions, now: Now, limit: int, answer: RecallAnswer
) -> list[tuple[Candidate, Card]]:
    config = workspace.config.recall
    found = search_cards(workspace, query, options, now)
    if found.vectors_ran:
        repay(workspace)
    answer.degraded.extend(found.degraded)
    usual = FusionSettings(min_similarity=config.min_similarity)
    fused = fuse(found.candidates, query, replace(usual, exact_floor=0.0) if "exact" in config.off else usual)
    if not options.typed:  # nobody pays for every keystroke
        fused, said = rerank(workspace, query, fused)
        answer.degraded.extend([said] if said else [])
    doubt, off = doubtful(found.searched), frozenset(config.off)
    settings = StageSettings(floor=config.floor, doubt=doubt, off=off, diversity=DiversitySettings(enough=limit))
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
    """Neighbours under each hit, the cards that came from each passage, and the turns behind a hit if asked for.

    Without the graph nobody can tell whose a session is: then only the owner is told where a card came from.
    """
    config, scopes = workspace.config.recall, workspace.visible_scopes()
    depth = 0 if "neighbours" in config.off else config.graph_expand_depth
    ids = [candidate.id for candidate, _ in hits]
    under: Mapping[str, list[Related]] = {}
    origins: Mapping[str, list[tuple[str, list[int]]]] = {}
    seen = {card.id: card if scopes is None else without_sessions(card) for _, card in hits}
    whole: Mapping[str, Card] = {}
    sessions: Mapping[str, SessionInfo] = {}
    try:
        with workspace.graph.reading(timeout_s=_GRAPH_PATIENCE_S) as reader:
            if depth and ids:
                under = related_under(
                    ids, lambda wanted: reader.neighbours(wanted, scopes), scopes, config.related, depth
                )
            seen = as_seen(reader, [card for _, card in hits], scopes)
            origins = reader.cards_from([passage.session_id for passage in passages], scopes)
            if options.context:
                whole = as_seen(reader, reader.cards(ids).values(), scopes)
                sessions = reader.sessions_by_id(key for card in whole.values() for key in _sessions(card))
            answer.stale = answer.stale or reader.stale
    except BusyError:
        answer.degraded.append("graph busy")
    except AlayaError as error:
        answer.degraded.append(f"no graph: {error.message}{f': {error.hint}' if error.hint else ''}")
    for passage in passages:
        passage.cards = [card for card, turns in origins.get(passage.session_id, ()) if passage.turn in turns]
    # The logs are read after the graph is let go of: they may be long, and a writer waits for it.
    context = {card.id: source_turns(workspace, card, sessions) for card in whole.values()}
    answer.results = [
        _hit(candidate, seen[card.id], under.get(card.id, []), context.get(card.id)) for candidate, card in hits
    ]


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
