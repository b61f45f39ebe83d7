"""One object per home, a method per use case; the only builder of stores and providers."""

from alaya_core.memory.memory import Memory

__all__ = ["Memory"]
