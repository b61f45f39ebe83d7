"""Cards as rows of the vector tables, and back. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from alaya_core import words
from alaya_core.models.card import Card, SourceRef
from alaya_core.models.commit import card_fields

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
        "distilled_by": card.distilled_by,
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
