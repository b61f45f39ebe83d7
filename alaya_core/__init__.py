"""Alaya's engine: long-term memory of AI agents, kept, found and traced.

from alaya_core import Memory

with Memory.open("~/.alaya") as memory:
    for hit in memory.recall("why no notification").results:
        print(hit.score, hit.title)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alaya_core.memory import Memory

__all__ = ["Memory"]


def __getattr__(name: str) -> Any:
    # Importing any part of the package runs this file: the engine itself comes only when it is asked for.
    if name == "Memory":
        from alaya_core.memory import Memory

        return Memory
    raise AttributeError(f"module 'alaya_core' has no attribute '{name}'")
