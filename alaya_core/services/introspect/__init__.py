"""A memory tidies itself: runs in phases that can be watched, cut off, gone on with, and undone."""

from alaya_core.services.introspect.deciding import decide, review
from alaya_core.services.introspect.run import introspect
from alaya_core.services.introspect.watching import last_whole_run, list_runs, watch

__all__ = ["decide", "introspect", "last_whole_run", "list_runs", "review", "watch"]
