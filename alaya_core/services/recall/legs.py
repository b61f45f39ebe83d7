"""The two legs of recall over cards: what the words find and what the vectors find, made candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from alaya_core import words
from alaya_core.errors import AlayaError
from alaya_core.models.card import Card
from alaya_core.models.recall_parts import Candidate
from alaya_core.models.requests import RecallOptions
from alaya_core.providers.embedding import Script
from alaya_core.services.card_views import Now
from alaya_core.services.embedding import Embedder, dominant_script
from alaya_core.services.embedding_choice import mismatch
from alaya_core.services.index import card_from_table
from alaya_core.services.index.embedders import asked_by, without_vectors
from alaya_core.services.index.mend import with_words
from alaya_core.services.recall.diversity import Similarity
from alaya_core.services.recall.weighing import token_weights
from alaya_core.services.workspace import Workspace
from alaya_core.stores.matrix import Matrix
from alaya_core.stores.vector_generation import VectorGeneration
from alaya_core.stores.vector_tables import CARDS, WordsIndexError

_TEXT = 8_000
_DEEPER = 20
"""How much deeper the legs reach when a filter can only be judged afterwards."""


@dataclass(slots=True)
class Found:
    """What the legs brought.

    Attributes:
        candidates: Each card once; cards: the cards themselves.
        vectors_ran, words_ran: Whether a leg answered.
        searched: Among how many cards the vectors looked.
        embedder: Whose vectors answered.
        degraded: Why one did not.
    """

    candidates: list[Candidate] = field(default_factory=list)
    cards: dict[str, Card] = field(default_factory=dict)
    vectors_ran: bool = False
    words_ran: bool = False
    searched: int = 0
    similarity: Similarity | None = None
    embedder: Embedder | None = None
    degraded: list[str] = field(default_factory=list)


def search_cards(workspace: Workspace, query: str, options: RecallOptions, now: Now) -> Found:
    """Candidates for a query; either leg may fail alone."""
    found = Found()
    filters = options.filters
    depth = workspace.config.recall.candidates * (_DEEPER if filters.tier else 1)
    off = workspace.config.recall.off
    rows: dict[str, dict[str, Any]] = {}
    raw_words: dict[str, float] = {}
    try:
        asked_for, scopes = "" if "words" in off else words.match_query(query), workspace.visible_scopes()
        for row in with_words(
            workspace, CARDS, lambda: workspace.vectors.match_cards(asked_for, filters, scopes, depth)
        ):
            rows[row["id"]] = row
            raw_words[row["id"]] = row["_score"]
        found.words_ran = "words" not in off
    except WordsIndexError as error:
        found.degraded.append(f"no words: {error.message}: {error.hint}")
    except AlayaError as error:
        found.degraded.append(f"no words: {error.message}")
    by_meaning = options.vectors and "vectors" not in off
    cosines = _by_vector(workspace, query, options, depth, found, list(rows)) if by_meaning else {}
    rows |= workspace.vectors.card_rows([card for card in cosines if card not in rows])
    ghosts = [card for card in cosines if card not in rows]
    if ghosts:
        found.degraded.append(f"{len(ghosts)} vectors without a card")
    similarities = _rescaled(found.embedder, query, cosines, rows)
    covered = _coverage(query, {card_id: row.pop("words") for card_id, row in rows.items()}, raw_words)
    script = dominant_script(query)
    for card_id, row in rows.items():
        row.pop("_score", None)
        other_language = _script(row) != script
        card = card_from_table(row)
        temperature = now.temperature(card)
        tier = now.tier(card, temperature)
        if filters.tier and str(tier) not in filters.tier:
            continue
        if card_id not in raw_words and similarities.get(card_id, 0.0) < workspace.config.recall.min_similarity:
            continue
        found.cards[card_id] = card
        found.candidates.append(
            Candidate(
                id=card_id,
                text=f"{card.overview}\n{card.content}"[:_TEXT],
                title=card.title,
                length=len(card.content),
                similarity=similarities.get(card_id),
                words=raw_words.get(card_id),
                coverage=covered[card_id] if found.words_ran else None,
                other_language=other_language,
                state=card.state,
                standing=card.standing,
                temperature=temperature,
                importance=card.importance,
                scope=card.scope,
                tier=tier,
                pinned=card.pinned,
                successor=card.successor,
                apart=card.is_session_summary,
            )
        )
    return found


def _coverage(query: str, texts: Mapping[str, str], raw_words: Mapping[str, float]) -> dict[str, float]:
    """Share of the query that each card has, by what its words tell among the cards that the words leg brought."""
    asked = words.query_words(query)
    sets = {card_id: frozenset(text.split()) for card_id, text in texts.items()}
    matched = [sets[card_id] for card_id in raw_words if card_id in sets]
    having = [sum(token in text for text in matched) for token in asked]
    weight = dict(zip(asked, token_weights(asked, having, len(matched)), strict=True))
    return {card_id: words.coverage(asked, text, weight.__getitem__) for card_id, text in sets.items()}


def _by_vector(
    workspace: Workspace, query: str, options: RecallOptions, depth: int, found: Found, known: Sequence[str]
) -> dict[str, float]:
    """Cosines by id of the nearest cards, and of those that are known already; none, and a note, when the leg cannot
    answer."""

    def look(living: VectorGeneration) -> tuple[Embedder, Matrix, int, dict[str, float]]:
        """All from one generation: another may hold the vectors of another model."""
        embedder, vector = asked_by(workspace, living.mark(), query)
        allowed, matrix = living.allowed(options.filters, workspace.visible_scopes()), living.matrix()
        nearest = dict(matrix.nearest(vector, depth, allowed))
        beside = matrix.vectors_of([card for card in known if card not in nearest])
        searched = len(matrix) if allowed is None else len(allowed)
        return embedder, matrix, searched, nearest | {card: float(other @ vector) for card, other in beside.items()}

    if said := mismatch(workspace.config, workspace.vectors.mark()):
        found.degraded.append(said)
    try:
        found.embedder, matrix, searched, nearest = workspace.vectors.read(look)
    except AlayaError as error:
        found.degraded.append(without_vectors(error))
        return {}
    found.vectors_ran, found.searched = True, searched

    def similarity(one: str, other: str) -> float | None:
        pair = matrix.vectors_of((one, other))
        return float(pair[one] @ pair[other]) if len(pair) == 2 else None

    found.similarity = similarity
    return nearest


def _rescaled(
    embedder: Embedder | None, query: str, cosines: Mapping[str, float], rows: Mapping[str, Mapping[str, Any]]
) -> dict[str, float]:
    known = [card for card in cosines if card in rows]
    if not known or embedder is None:
        return {}
    import numpy as np

    scripts = [_script(rows[card]) for card in known]
    values = embedder.rescale(np.array([cosines[card] for card in known], np.float32), dominant_script(query), scripts)
    return {card: float(value) for card, value in zip(known, values, strict=True)}


def _script(row: Mapping[str, Any]) -> Script:
    return dominant_script(f"{row['title']} {row['content'][:200]}")
