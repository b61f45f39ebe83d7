"""The leg over raw sessions: passages that answer, beside the cards."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alaya_core import words
from alaya_core.errors import AlayaError
from alaya_core.models.answers import PassageHit
from alaya_core.models.recall_parts import Candidate, Why
from alaya_core.models.requests import RecallOptions
from alaya_core.services.embedding import Embedder, dominant_script
from alaya_core.services.index.embedders import asked_by, without_vectors
from alaya_core.services.index.mend import lacking_records, with_words
from alaya_core.services.recall.diversity import DiversitySettings, overlap, spread
from alaya_core.services.recall.noise import drop_noise
from alaya_core.services.recall.passage_features import (
    Features,
    Floats,
    Rows,
    asked,
    neighbours_of,
    passage_features,
)
from alaya_core.services.recall.passage_score import passage_scores
from alaya_core.services.workspace import Workspace
from alaya_core.stores.passage_columns import PassageColumns
from alaya_core.stores.vector_generation import VectorGeneration
from alaya_core.stores.vector_tables import PASSAGES, WordsIndexError

FOUND = 300
"""Passages that the words bring."""
_FOLLOWED, _STEPS = 100, 3
"""Of how many of these the turns around are judged too, and how many turns."""
_STRETCHES = 60
"""Stretches that the vectors bring."""
_MORE, _SPARE = 2, 8
"""For each passage to be shown so many are compared, and some texts more are read: some say the same again, some
nothing."""


@dataclass(slots=True)
class Sought:
    """What one generation holds for a query.

    Attributes:
        features: Of the passages that may be meant.
        columns: The records they are of.
        living: The generation.
        searched: How many passages might have been found.
        off: Stages that are switched off, or whose leg did not answer.
        notes: What did not answer.
    """

    features: Features
    columns: PassageColumns
    living: VectorGeneration
    searched: int
    off: frozenset[str]
    notes: list[str] = field(default_factory=list)


def search_passages(
    workspace: Workspace, query: str, options: RecallOptions, limit: int
) -> tuple[list[PassageHit], list[str]]:
    """Passages for a query, best first, each turn once; and why the leg did not answer, if it did not.

    Filters that only a card can meet (type, tag, tier, standing, origin, entity, importance) leave passages out.
    """
    if options.within == "both" and options.filters.only_cards:
        return [], []
    try:
        lack = lacking_records(workspace)
        sought = seek_passages(workspace, query, options)
        sought.notes.extend([lack] if lack else [])
        return _ranked(workspace, sought, limit), sought.notes
    except AlayaError as error:
        return [], [f"no passages: {error.message}"]


def seek_passages(workspace: Workspace, query: str, options: RecallOptions) -> Sought:
    """Finds the passages that a query may mean, by words, by meaning and by standing beside one that was found."""
    notes: list[str] = []
    scopes, filters = workspace.visible_scopes(), options.filters

    def look(living: VectorGeneration, wanted: str) -> Sought:
        found, _ = living.spoken.match(wanted, filters, scopes, FOUND)
        columns = living.spoken.columns()
        vector, embedder = _query_vector(workspace, living, query, columns, options, notes)
        seen = columns.visible(filters, scopes)
        near = np.zeros(0, np.int64) if vector is None else columns.nearest_stretches(vector, _STRETCHES, seen)
        beside = neighbours_of(columns, found[:_FOLLOWED], _STEPS)
        rows = columns.passing(np.unique(np.concatenate((found, near, beside))), filters, seen)
        hits = columns.passing(found, filters, seen)
        features = passage_features(columns, asked(query, vector), rows, hits, _rescale(embedder, query))
        off = {*workspace.config.recall.off, *(["vectors"] if vector is None else []), *([] if wanted else ["words"])}
        return Sought(features, columns, living, columns.searched(seen), frozenset(off), notes)

    wanted = "" if "words" in workspace.config.recall.off else words.match_query(query)
    store = workspace.vectors
    try:
        return with_words(workspace, PASSAGES, lambda: store.read(lambda living: look(living, wanted)))
    except WordsIndexError as error:
        notes.append(f"no passages by words: {error.message}: {error.hint}")
        return store.read(lambda living: look(living, ""))


def _query_vector(
    workspace: Workspace,
    living: VectorGeneration,
    query: str,
    columns: PassageColumns,
    options: RecallOptions,
    notes: list[str],
) -> tuple[Floats | None, Embedder | None]:
    if "vectors" in workspace.config.recall.off or not options.vectors or not len(columns.means):
        return None, None
    try:
        embedder, vector = asked_by(workspace, living.mark(), query)
    except AlayaError as error:
        notes.append(without_vectors(error))
        return None, None
    return vector, embedder


def _rescale(embedder: Embedder | None, query: str) -> Any:
    if embedder is None:
        return None
    script = dominant_script(query)

    def rescale(cosines: Floats, chinese: NDArray[np.bool_]) -> Floats:
        return embedder.rescale(cosines, script, chinese)

    return rescale


def _ranked(workspace: Workspace, sought: Sought, limit: int) -> list[PassageHit]:
    config, features, columns = workspace.config.recall, sought.features, sought.columns
    scores = passage_scores(features, sought.searched, off=sought.off)
    order = np.lexsort((features.rows, -scores))
    best = _each_turn_once(columns, features.rows, order[scores[order] >= config.floor])[: _MORE * limit + _SPARE]
    candidates: tuple[Candidate, ...] = tuple(_candidate(features, at, float(scores[at])) for at in best)
    if "diversity" not in config.off:
        bags = {candidate.id: columns.bag(int(candidate.id)) for candidate in candidates}
        candidates = spread(
            candidates, lambda one, other: overlap(bags[one], bags[other]), DiversitySettings(enough=limit + _SPARE)
        )
    texts = sought.living.spoken.rows([int(candidate.id) for candidate in candidates[: limit + _SPARE]])
    told = [replace(c, text=texts[int(c.id)]["text"]) for c in candidates if int(c.id) in texts]
    loud = told if "noise" in config.off else drop_noise(told)[0]
    return [_hit(texts[int(candidate.id)], candidate) for candidate in loud[:limit]]


def _each_turn_once(columns: PassageColumns, rows: Rows, order: NDArray[np.intp]) -> list[int]:
    records = columns.records
    kept: dict[tuple[int, int], int] = {}
    for at in order.tolist():
        record = records[rows[at]]
        kept.setdefault((int(record["session"]), int(record["turn"])), at)
    return list(kept.values())


def _candidate(features: Features, at: int, score: float) -> Candidate:
    told = {
        "words": features.words[at],
        "words_around": features.words_around[at],
        "words_session": features.words_session[at],
        "vector": features.meaning[at],
        "vector_around": features.meaning_around[at],
        "speaker": features.speaker[at],
        "exact": features.exact[at],
    }
    scores = tuple((name, float(value)) for name, value in told.items() if value > 0)
    why = Why((*scores, ("fused", score)))
    return Candidate(id=str(features.rows[at]), score=score, why=why)


def _hit(row: dict[str, Any], candidate: Candidate) -> PassageHit:
    return PassageHit(
        session_id=row["session_id"],
        turn=row["turn"],
        role=row["role"],
        text=row["text"],
        timestamp=row["timestamp"],
        score=round(candidate.score, 4),
        cards=[],
        why=dict(candidate.why.as_dict()),
    )
