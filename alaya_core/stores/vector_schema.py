"""The columns of the tables of words and vectors; a change of them is a change of `vector_state.LAYOUT`."""

from __future__ import annotations

from typing import Any

CARD_FIELDS = {
    "id": "string",
    "title": "string",
    "overview": "string",
    "content": "string",
    "words": "string",
    "type": "string",
    "state": "string",
    "standing": "string",
    "scope": "string",
    "origin": "string",
    "distilled_by": "string",
    "successor": "string",
    "tags": "strings",
    "entities": "strings",
    "sessions": "strings",
    "importance": "float",
    "confidence": "float",
    "pinned": "bool",
    "vector_dropped": "bool",
    "merged_from": "strings",
    "created_at": "int",
    "added_at": "int",
    "updated_at": "int",
    "expires_at": "int",
    "rev": "int",
    "seq": "int",
    "content_hash": "string",
}
PASSAGE_FIELDS = {
    "id": "string",
    "session_id": "string",
    "turn": "int",
    "piece": "int",
    "role": "string",
    "kind": "string",
    "name": "string",
    "said": "int",
    "marks": "int",
    "text": "string",
    "words": "string",
    "scope": "string",
    "timestamp": "int",
}


def schema(fields: dict[str, str], dimensions: int | None) -> Any:
    """The Arrow schema of a table.

    Args:
        fields: Names and kinds.
        dimensions: Numbers of its vectors; None = it has none.
    """
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "strings": pa.list_(pa.string()),
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
    }
    columns = [pa.field(name, types[kind]) for name, kind in fields.items()]
    if dimensions:
        columns.append(pa.field("vector", pa.list_(pa.float32(), dimensions), nullable=True))
    return pa.schema(columns)
