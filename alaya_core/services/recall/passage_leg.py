"""The leg over raw sessions: passages that answer, beside the cards."""

from __future__ import annotations

from typing import Any

from alaya_core import words
from alaya_core.errors import AlayaError
from alaya_core.models.answers import PassageHit
from alaya_core.models.recall_parts import Candidate
from alaya_core.models.requests import Filters, RecallOptions
from alaya_core.services.index.mend import with_words
from alaya_core.services.recall.diversity import DiversitySettings, overlap, spread
from alaya_core.services.recall.fuse import FusionSettings, fuse
from alaya_core.services.recall.noise import drop_noise
from alaya_core.services.workspace import Workspace
from alaya_core.stores.vector_tables import PASSAGES, WordsIndexError

_TOOL_SHARE = 0.7
"""What a tool's output keeps of its score: it holds every word and says little."""


def search_passages(
    workspace: Workspace, query: str, options: RecallOptions, limit: int
) -> tuple[list[PassageHit], list[str]]:
    """Passages for a query, best first, each turn once; and why the leg did not answer, if it did not.

    Filters that only a card can meet (type, tag, tier, standing, origin, entity) leave passages out.
    """
    if options.within == "both" and _only_cards(options.filters):
        return [], []
    try:
        asked_for, scopes = words.match_query(query), workspace.visible_scopes()
        most = workspace.config.recall.candidates
        rows = with_words(
            workspace, PASSAGES, lambda: workspace.vectors.match_passages(asked_for, options.filters, scopes, most)
        )
    except WordsIndexError as error:
        return [], [f"no passages: {error.message}: {error.hint}"]
    except AlayaError as error:
        return [], [f"no passages: {error.message}"]
    by_id: dict[str, dict[str, Any]] = {row["id"]: row for row in rows}
    asked = words.query_words(query)
    texts = [frozenset(row["words"].split()) for row in rows]
    weigh = words.telling_among(texts)
    candidates = [
        Candidate(
            id=row["id"],
            text=row["text"],
            length=len(row["text"]),
            words=row["_score"],
            coverage=words.coverage(asked, text, weigh),
        )
        for row, text in zip(rows, texts, strict=True)
    ]
    fused = fuse(candidates, query, FusionSettings(), vectors_ran=False, words_ran=True)
    damped = [
        c.scored("tool", c.score * _TOOL_SHARE, _TOOL_SHARE) if by_id[c.id]["kind"] == "tool" else c for c in fused
    ]
    above = [candidate for candidate in damped if candidate.score >= workspace.config.recall.floor]
    loud, _ = drop_noise(sorted(above, key=lambda candidate: (-candidate.score, candidate.id)))
    hits: dict[tuple[str, int], PassageHit] = {}
    bags = dict(zip(by_id, texts, strict=True))

    def alike(one: str, other: str) -> float:
        return overlap(bags[one], bags[other])

    for candidate in spread(loud, alike, DiversitySettings(enough=3 * limit)):
        row = by_id[candidate.id]
        key = (row["session_id"], row["turn"])
        if key not in hits:
            hits[key] = _hit(row, candidate)
    return list(hits.values())[:limit], []


def _only_cards(filters: Filters) -> bool:
    return any((filters.type, filters.tag, filters.tier, filters.standing, filters.origin, filters.entity))


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
