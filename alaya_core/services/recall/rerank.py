"""Reranking: the best of the fused candidates, judged once more by whoever reads query and text side by side."""

from __future__ import annotations

from collections.abc import Sequence

from alaya_core import secrets
from alaya_core.errors import AlayaError
from alaya_core.models.recall_parts import Candidate
from alaya_core.services.recall.fuse import with_rerank
from alaya_core.services.workspace import Workspace

_READ = 4_000
"""Characters of a text that are looked at; far more than a reranker is sent."""


def rerank(workspace: Workspace, query: str, fused: tuple[Candidate, ...]) -> tuple[tuple[Candidate, ...], str | None]:
    """The candidates in the order that the reranker's judgement gives them; as they are if none is configured.

    Waits for another machine: nothing may be locked meanwhile.

    Args:
        fused: Best first; the first of them are sent.

    Returns:
        The candidates, and why no reranker judged them though one is configured: then cosines did in its place.
    """
    config = workspace.config.rerank
    sent = fused[: config.candidates]
    try:
        reranker = workspace.reranker
        if reranker is None or not fused:
            return fused, None
        scores = reranker.scores(secrets.mask(query), [_document(candidate) for candidate in sent])
    except AlayaError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return by_cosine(fused, config.weight), f"no rerank: {error.message}{hint}"
    return by_reranker(fused, scores, config.weight), None


def by_reranker(fused: Sequence[Candidate], scores: Sequence[float], weight: float) -> tuple[Candidate, ...]:
    """Blends in the scores (0..1) of the first candidates.

    The rest count as if they had got the least of them: fused lower than each that was judged, none overtakes it only
    because nobody judged it.
    """
    judged = len(scores)
    least = min(scores, default=0.0)
    rest = [candidate.noted("not sent to the reranker: counts as the least it gave") for candidate in fused[judged:]]
    figures = {candidate.id: score for candidate, score in zip(fused, scores, strict=False)}
    return with_rerank((*fused[:judged], *rest), figures | {candidate.id: least for candidate in rest}, weight)


def by_cosine(fused: Sequence[Candidate], weight: float) -> tuple[Candidate, ...]:
    """Blends in what each candidate's own vector says; whom the vectors did not bring keeps its score."""
    known = {candidate.id: candidate.similarity for candidate in fused if candidate.similarity is not None}
    noted = [candidate.noted("reranked by its vector") if candidate.id in known else candidate for candidate in fused]
    return with_rerank(noted, known, weight)


def _document(candidate: Candidate) -> str:
    return secrets.mask(f"{candidate.title}\n{candidate.text.strip()}"[:_READ]).strip()
