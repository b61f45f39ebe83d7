"""Keeps L1 up with the ledger: words and vectors of cards that changed, passages of sessions that came in."""

from alaya_core.services.index.card_rows import card_from_table, card_row
from alaya_core.services.index.embedders import embedder_of
from alaya_core.services.index.passage_vectors import embed_passages
from alaya_core.services.index.rebuild import rebuild_vectors
from alaya_core.services.index.sync import repay, sync
from alaya_core.services.index.writer import Synced

__all__ = [
    "Synced",
    "card_from_table",
    "card_row",
    "embed_passages",
    "embedder_of",
    "rebuild_vectors",
    "repay",
    "sync",
]
