"""Verify: the ledger, the graph, the vectors and the raw files compared with each other, and mended."""

from alaya_core.services.verify.run import verify

__all__ = ["verify"]
