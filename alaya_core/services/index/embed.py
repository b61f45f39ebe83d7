"""Makes vectors before anything is written: slow work, done without a lock, each batch kept as soon as it is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from alaya_core.errors import ConfigError, ProviderError, VectorMismatchError
from alaya_core.models.card import Card
from alaya_core.progress import CancelledError, CancelToken, Progress, ProgressSink
from alaya_core.services.index.waiting import chunks
from alaya_core.services.index.writer import CARDS_AT_ONCE, SEARCHED
from alaya_core.services.workspace import Workspace
from alaya_core.stores.vector_generation import VectorGeneration

if TYPE_CHECKING:
    from alaya_core.services.embedding import Embedder


def embed_cards(
    workspace: Workspace,
    embedder: Embedder,
    ids: Sequence[str],
    *,
    dimensions: int,
    older: VectorGeneration | None,
    progress: ProgressSink,
    cancel: CancelToken | None,
) -> str:
    """Makes the vectors that some cards lack, so that whoever writes their rows finds them known.

    Args:
        dimensions: Numbers a vector must have.
        older: A generation whose vectors are of this kind: what it holds is not made again.

    Returns:
        Why it could not, in words for `degraded`; empty = all are there.

    Raises:
        CancelledError: `cancel` was set.
    """
    for done, some in enumerate(chunks(ids, CARDS_AT_ONCE)):
        lacking = cards_lacking(embedder, warm_cards(workspace, some), older)
        before = done * CARDS_AT_ONCE + len(some) - len(lacking)
        total = len(ids)

        def told(step: Progress, before: int = before, total: int = total) -> None:
            progress(Progress(step.stage, before + step.done, total))

        if said := embed_texts(embedder, [card.text_to_embed() for card in lacking], dimensions, told, cancel):
            return said
    return ""


def embed_texts(
    embedder: Embedder, texts: Sequence[str], dimensions: int, progress: ProgressSink, cancel: CancelToken | None
) -> str:
    """Makes the vectors of texts, and says why it could not."""
    if not texts:
        return ""
    try:
        found = embedder.passages(texts, progress, cancel)
    except CancelledError:
        raise
    except (ProviderError, ConfigError) as error:
        return f"no vectors: {error.message}"
    if dimensions and found.shape[1] != dimensions:
        wrong = VectorMismatchError(
            f"{embedder.provider.model} answers with {found.shape[1]} numbers, the stored vectors have {dimensions}"
        )
        return f"no vectors: {wrong.message}"
    return ""


def warm_cards(workspace: Workspace, ids: Sequence[str]) -> list[Card]:
    """Of some cards those that are searched and have not given up their vector."""
    with workspace.graph.reading() as reader:
        cards = reader.cards(ids)
    return [card for card in cards.values() if card.state in SEARCHED and not card.vector_dropped]


def cards_lacking(embedder: Embedder, cards: Sequence[Card], older: VectorGeneration | None) -> list[Card]:
    """Those whose vector nobody knows yet."""
    known = embedder.known([card.text_to_embed() for card in cards])
    lacking = [card for place, card in enumerate(cards) if place not in known]
    if older is None or not lacking:
        return lacking
    stored = older.vectors_of_text({card.id: card.content_hash() for card in lacking})
    return [card for card in lacking if card.id not in stored]
