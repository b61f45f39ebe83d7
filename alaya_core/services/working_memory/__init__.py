"""The working memory that is put before an agent; and what a memory knows of one thing, or of a time."""

from __future__ import annotations

from alaya_core.services.working_memory.entity_pages import entities
from alaya_core.services.working_memory.snapshots import snapshot
from alaya_core.services.working_memory.timelines import timeline

__all__ = ["entities", "snapshot", "timeline"]
