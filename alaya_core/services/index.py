"""Keeps L1 up with the ledger: words and vectors of cards that changed, passages of sessions that came in.

Slow work (embedding) is done first, without a lock; the tables are written in pieces under the writer lock, and the
mark is moved last, so that a process killed anywhere in between only means that the piece is written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from alaya_core import words
from alaya_core.errors import (
    BusyError,
    DamagedError,
    NewerHomeError,
    NotFoundError,
    ProviderError,
    ReadOnlyHomeError,
    VectorMismatchError,
)
from alaya_core.models.card import Card, CardState, SourceRef, Tier
from alaya_core.models.commit import card_fields, event_cards
from alaya_core.models.session import SessionInfo
from alaya_core.progress import CancelledError, CancelToken, Progress, ProgressSink, silent
from alaya_core.services.passages import passage_rows
from alaya_core.services.workspace import Workspace
from alaya_core.stores.ledger import LedgerMark
from alaya_core.stores.vector_state import VectorMark, at
from alaya_core.stores.vectors import VectorStore

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SEARCHED = (CardState.ACTIVE, CardState.SUPERSEDED, CardState.ARCHIVED)
_WARM = "vector_dropped = false"
_WITHOUT_VECTOR = f"vector IS NULL AND {_WARM}"
_CARDS_AT_ONCE = 2_000
_PASSAGES_AT_ONCE = 2_000  # 5,000 cost 100 MB more at the peak
_EMBED_UNASKED = 64
_CHARACTERS_UNASKED = 50_000
_CARDS_UNASKED = 1_000
_TURNS_UNASKED = 2_000
"""What a reader does in passing; more is left to whoever has the time."""


@dataclass(slots=True)
class Synced:
    """How L1 stands after a sync.

    Attributes:
        stale: Whether changes are waiting that it does not hold.
        notes: What did not work, in words for `degraded`.
        passages: How many passages were written.
        lost: Sessions whose file cannot be read: they are left out.
    """

    stale: bool = False
    notes: list[str] = field(default_factory=list)
    passages: int = 0
    lost: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """What changed since L1 was written."""

    target: LedgerMark
    cards: tuple[str, ...]
    sessions: dict[str, int]  # session id -> first turn that is new
    turns: int


def sync(
    workspace: Workspace,
    *,
    patient: bool,
    progress: ProgressSink = silent,
    cancel: CancelToken | None = None,
) -> Synced:
    """Brings L1 up to the ledger.

    Args:
        patient: Whether to wait for other processes and to embed whatever is missing; a reader is not patient: it
            leaves both to others and answers from what is there.
    """
    store = workspace.vectors
    try:
        mark, last = store.mark(), workspace.ledger.last_seq()
        if mark.seq > last:  # the ledger was restored from a backup
            if patient:
                return rebuild_vectors(workspace, progress, cancel)
            return Synced(stale=True, notes=["the index holds changes that the ledger lost: run `alaya rebuild l1`"])
        if store.exists and mark.seq == last and not (patient and mark.pending):
            return Synced()
        workspace.require_writable()
        with workspace.locks.indexing(timeout_s=None if patient else 0):
            return _sync(workspace, store, patient, progress, cancel)
    except (BusyError, ReadOnlyHomeError):
        if patient:
            raise
        return Synced(stale=True)
    except (DamagedError, NewerHomeError) as error:
        if patient:
            raise
        return Synced(stale=True, notes=[f"newer changes are not searched: {error.message}"])


def rebuild_vectors(workspace: Workspace, progress: ProgressSink = silent, cancel: CancelToken | None = None) -> Synced:
    """Builds a new generation of L1 from the graph, the sessions and the cache, beside the living one, and switches.

    Raises:
        ProviderError: Vectors are missing because the service does not answer, and the living generation has some:
            it goes on living.
    """
    with workspace.locks.indexing():
        fresh = workspace.vectors.new_generation()
        found = Synced()
        model, dimensions = _model(workspace, found)
        with workspace.locks.writing("rebuild l1"):
            fresh.create(model, dimensions)
        outcome = _sync(workspace, fresh, True, progress, cancel)
        outcome.notes = found.notes + outcome.notes
        with workspace.locks.writing("rebuild l1"):
            if outcome.notes and workspace.vectors.mark().dimensions:
                fresh.discard()
                raise ProviderError(outcome.notes[0], "the tables stay as they were; repeat when the service answers")
            workspace.vectors.switch_to(fresh)
        return outcome


def _pending(store: VectorStore) -> int:
    return store.cards.count(_WITHOUT_VECTOR if store.mark().dimensions else _WARM)


def _sync(
    workspace: Workspace, store: VectorStore, patient: bool, progress: ProgressSink, cancel: CancelToken | None
) -> Synced:
    outcome = Synced()
    if not store.exists:
        if store.broken:
            outcome.notes.append("the tables of words and vectors were gone, and are made anew")
        model, dimensions = _model(workspace, outcome)
        with workspace.locks.writing("index"):
            store.create(model, dimensions)
    mark = store.mark()
    waiting = _waiting(workspace, mark.ledger)
    if not patient and (len(waiting.cards) > _CARDS_UNASKED or waiting.turns > _TURNS_UNASKED):
        return Synced(stale=True)
    wanted = set(waiting.cards)
    if patient and mark.dimensions:
        rows = store.cards.rows(_WITHOUT_VECTOR, ["id"])
        wanted |= {row["id"] for row in rows}
    for chunk in _chunks(sorted(wanted), _CARDS_AT_ONCE):
        _write_cards(workspace, store, mark, chunk, patient, outcome, progress, cancel)
    for done, (session_id, from_turn) in enumerate(waiting.sessions.items()):
        progress(Progress("index passages", done, len(waiting.sessions), session_id))
        try:
            outcome.passages += _write_passages(workspace, store, session_id, from_turn, cancel)
        except (NotFoundError, DamagedError) as error:
            outcome.lost.append(f"session {session_id} is left out: {error.message}")
    with workspace.locks.writing("index"):
        counted = replace(store.mark(), pending=_pending(store), passages=store.passages.count())
        store.set_mark(at(counted, waiting.target))
        store.upkeep()
        if store.matrix_is_stale():
            store.save_matrix(_hot_first(workspace))
        store.close_to_others()
    return outcome


def _model(workspace: Workspace, outcome: Synced) -> tuple[str, int]:
    """The model whose vectors a new table holds, and their length; no length while nobody knows it."""
    provider = workspace.embedder.provider
    if provider.dimensions is None:
        try:
            provider.embed_query("alaya")
        except ProviderError as error:
            outcome.notes.append(f"no vectors: {error.message}")
    return provider.model, provider.dimensions or 0


def _waiting(workspace: Workspace, mark: LedgerMark) -> _Waiting:
    cards: dict[str, None] = {}
    sessions: dict[str, int] = {}
    turns = 0
    for commit in workspace.ledger.commits(mark):
        mark = LedgerMark(commit.seq, commit.segment, commit.end)
        for event in commit.events:
            if event["kind"].startswith("card."):
                cards.update(dict.fromkeys(event_cards(event)))
            elif event["kind"] == "session.ingested":
                key, first = event["session"]["id"], event["from_turn"]
                sessions[key] = min(first, sessions.get(key, first))
                turns += event["session"]["turns"] - first
            elif event["kind"] == "session.removed":
                sessions[event["id"]] = 0
    return _Waiting(mark, tuple(cards), sessions, turns)


def _write_cards(
    workspace: Workspace,
    store: VectorStore,
    mark: VectorMark,
    ids: Sequence[str],
    patient: bool,
    outcome: Synced,
    progress: ProgressSink,
    cancel: CancelToken | None,
) -> None:
    with workspace.graph.reading() as reader:
        cards, seqs = reader.cards(ids), reader.card_seqs(ids)
    living = [card for card in cards.values() if card.state in _SEARCHED]
    warm = [card for card in living if not card.vector_dropped]
    vectors: dict[str, NDArray[Any]] = {}
    if patient or (len(warm) <= _EMBED_UNASKED and sum(len(card.content) for card in warm) <= _CHARACTERS_UNASKED):
        vectors = _embed(workspace, mark, warm, outcome, progress, cancel)
    missing = [card for card in warm if card.id not in vectors]
    vectors |= store.vectors_of_text({card.id: card.content_hash() for card in missing})
    rows = [card_row(card, seqs[card.id], vectors.get(card.id)) for card in living]
    found = {card.id for card in living}
    gone = [card_id for card_id in ids if card_id not in found]
    with workspace.locks.writing("index"):
        store.cards.put(rows)
        if gone:
            store.remove_cards(gone)


def _embed(
    workspace: Workspace,
    mark: VectorMark,
    cards: Sequence[Card],
    outcome: Synced,
    progress: ProgressSink,
    cancel: CancelToken | None,
) -> dict[str, NDArray[Any]]:
    """Vectors of cards by id; none, and a note, when the provider does not answer or is another than the table's."""
    if not cards or not mark.dimensions:
        return {}
    try:
        check_model(workspace, mark)
        found = workspace.embedder.passages([card.text_to_embed() for card in cards], progress, cancel)
    except CancelledError:
        raise
    except ProviderError as error:
        outcome.notes.append(f"no vectors: {error.message}")
        return {}
    return {card.id: vector for card, vector in zip(cards, found, strict=True)}


def check_model(workspace: Workspace, mark: VectorMark) -> None:
    """Makes sure that the configured model made the vectors that are stored.

    Raises:
        VectorMismatchError: It did not; names both and the command that mends it.
    """
    from alaya_core.providers.embedding import check_same

    if not mark.dimensions:
        raise VectorMismatchError("no vectors are stored yet", "alaya rebuild l1")
    check_same(mark.model, mark.dimensions, workspace.embedder.provider)


def _write_passages(
    workspace: Workspace, store: VectorStore, session_id: str, from_turn: int, cancel: CancelToken | None
) -> int:
    with workspace.graph.reading() as reader:
        info = reader.session(session_id)
    with workspace.locks.writing("index"):
        store.remove_passages(session_id, from_turn)
    if info is None:
        return 0
    written = 0
    rows = _passages(workspace, info, from_turn)
    while batch := list(islice(rows, _PASSAGES_AT_ONCE)):
        if cancel is not None:
            cancel.check()
        with workspace.locks.writing("index"):
            store.passages.add(batch)
        written += len(batch)
    return written


def _passages(workspace: Workspace, info: SessionInfo, from_turn: int) -> Iterator[dict[str, Any]]:
    limit = workspace.config.passages.tool_characters
    for number, turn in enumerate(workspace.sessions.turns(info.path, from_turn, info.turns), from_turn):
        yield from passage_rows(info.id, number, turn, f"agent:{info.agent}", limit)


def card_row(card: Card, seq: int, vector: NDArray[Any] | None) -> dict[str, Any]:
    """A card as a row of the table."""
    text = "\n".join((card.title, card.overview, card.content, " ".join(card.tags), " ".join(card.entities)))
    return {
        "id": card.id,
        "title": card.title,
        "overview": card.overview,
        "content": card.content,
        "words": words.normalise(text),
        "type": str(card.type),
        "state": str(card.state),
        "standing": str(card.standing),
        "scope": card.scope,
        "origin": card.origin,
        "successor": card.successor,
        "tags": list(card.tags),
        "entities": list(card.entities),
        "sessions": [source.session_id for source in card.sources],
        "importance": card.importance,
        "confidence": card.confidence,
        "pinned": card.pinned,
        "vector_dropped": card.vector_dropped,
        "merged_from": list(card.merged_from),
        "created_at": card.created_at,
        "added_at": card.added_at,
        "updated_at": card.updated_at,
        "expires_at": card.expires_at,
        "rev": card.rev,
        "seq": seq,
        "content_hash": card.content_hash(),
        "vector": vector,
    }


def card_from_table(row: dict[str, Any]) -> Card:
    """A card from a row of the table; its sources are known by session only."""
    fields = card_fields({name: value for name, value in row.items() if name != "sessions"})
    return Card(**fields, sources=tuple(SourceRef(session, ()) for session in row["sessions"]))


def _hot_first(workspace: Workspace) -> list[str]:
    """Cards in the order of the matrix; the caller holds the writer lock."""
    with workspace.graph.reading_to_write() as reader:
        cards = reader.all_cards()
    now = workspace.now()
    return [card.id for card in cards if now.tier(card) is Tier.HOT]


def _chunks(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
