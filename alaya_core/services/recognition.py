"""Which session it is that comes in, and what it is to the one that is kept."""

from __future__ import annotations

import contextlib

from alaya_core.models.session import SessionInfo
from alaya_core.services.erase.arrivals import ErasedBefore
from alaya_core.services.erase.arrivals import buried as buried_turns
from alaya_core.services.growth import Arrival, judge_arrival, judge_return
from alaya_core.services.session_text import Summary
from alaya_core.services.workspace import Workspace
from alaya_core.stores.sessions import Spool


class Recognition:
    """Compares one session with the memory.

    Args:
        erased: What must not come back.
        spools: Closes what was spooled for it.
    """

    def __init__(self, workspace: Workspace, erased: ErasedBefore, spools: contextlib.ExitStack) -> None:
        self._work = workspace
        self._erased = erased
        self._spools = spools

    def buried(self, spool: Spool, numbers: frozenset[int]) -> tuple[Spool, Summary]:
        """A session with its erased turns as tombstones, and its summary."""
        clean, summary = self._work.sessions.spool(), Summary()
        self._spools.enter_context(clean.body)
        for turn in buried_turns(spool.turns(), numbers):
            clean.add(turn)
            summary.add(turn)
        return clean, summary

    def apart(
        self, session_id: str, spool: Spool, conflict: Arrival
    ) -> tuple[str, SessionInfo | None, Arrival, frozenset[int]]:
        """An id for a session whose own id another one has: by the turn where they part, so that it is the same id
        when the session comes again, grown or not.

        Returns:
            The id, what is known by it, what comes in, and which turns of it were erased.
        """
        again, shared = conflict, self._erased.turns(session_id)
        for _ in range(spool.count):
            apart = f"{session_id}~{spool.hash_behind(again.shared + 1).hex()[:8]}"
            before, own = self.session(apart), self._erased.turns(apart)
            # What was erased before they parted may stand in the other one still; in a new one it must not.
            for numbers in [own, own | shared] if before else [own | shared]:
                again = self.judge(before, self.buried(spool, numbers)[0] if numbers else spool)
                if again.status != "conflict":
                    return apart, before, again if before else conflict, numbers
        return f"{session_id}~{spool.chain.hex()}", None, conflict, shared

    def session(self, session_id: str) -> SessionInfo | None:
        """The kept session of this id."""
        with self._work.graph.reading() as reader:
            return reader.session(session_id)

    def judge(self, before: SessionInfo | None, spool: Spool) -> Arrival:
        """What comes in, compared with the session of its id that is kept."""
        if before is not None and not self._work.sessions.holds(before.path):
            return judge_return(before, spool.count, spool.hash_behind)

        def old_hash(turn: int) -> bytes:
            return self._work.sessions.hash_behind(before.path, turn) if before else b""

        return judge_arrival(before.turns if before else None, old_hash, spool.count, spool.hash_behind)
