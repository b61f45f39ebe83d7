"""Intake: sessions that were read whole get their names together with the ledger line that names them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from alaya_core.models.answers import SessionOutcome
from alaya_core.models.commit import Event, session_ingested
from alaya_core.models.session import SessionInfo
from alaya_core.services.erase.arrivals import REASON, LogScrub
from alaya_core.services.growth import Arrival
from alaya_core.services.session_text import markdown
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader
from alaya_core.stores.sessions import Prepared
from alaya_core.stores.sources import PreparedSource, file_blocks

_BATCH_SESSIONS = 64
_BATCH_BYTES = 32 << 20


@dataclass(slots=True)
class Arrived:
    """A session read whole, waiting to be committed."""

    info: SessionInfo
    before: SessionInfo | None
    arrival: Arrival
    prepared: Prepared
    outcome: SessionOutcome
    size: int


class Intake:
    """Sessions and the bytes they came from, written under passing names and committed some at a time.

    Args:
        workspace: The home.
        run: The run that the commits belong to.
    """

    def __init__(self, workspace: Workspace, run: str) -> None:
        self._work = workspace
        self._run = run
        self._pending: list[Arrived] = []
        self._prepared: dict[str, PreparedSource] = {}

    @property
    def is_full(self) -> bool:
        """Whether it is time to commit."""
        return len(self._pending) >= _BATCH_SESSIONS or sum(item.size for item in self._pending) > _BATCH_BYTES

    def waits_for(self, session_id: str) -> bool:
        """Whether a session of this id, or one kept apart from it, waits to be committed."""
        return any(item.info.id.startswith(session_id) for item in self._pending)

    def add(self, item: Arrived) -> None:
        """Takes one more."""
        self._pending.append(item)

    def prepare_source(self, file: BinaryIO, digest: str, scrub: LogScrub | None) -> str:
        """Writes the bytes that a session came from, without what was erased; they get their name with its commit.

        Returns:
            The sha256 of what is kept; empty where they cannot be kept without it.
        """
        blocks: Iterable[bytes] = ()
        if self._work.config.raw.keep_source:
            blocks = file_blocks(file)
        if scrub is not None:
            file.seek(0)
            clean = scrub.clean(file.read()) if blocks else None
            if clean is None:
                return ""
            blocks, digest = [clean], hashlib.sha256(clean).hexdigest()
        if blocks and digest not in self._prepared:
            prepared = self._work.sources.prepare(blocks, digest)
            self._prepared |= {digest: prepared} if prepared else {}
        return digest

    def commit(self) -> list[SessionOutcome]:
        """Commits what waits, in one line.

        Returns:
            What became of each session.
        """
        pending, self._pending = self._pending, []
        if not pending:
            return []

        replaced = {item.info.id: self._replaced(item) for item in pending}

        def plan(reader: GraphReader) -> list[Event]:
            events: list[Event] = []
            for item in pending:
                now = reader.session(item.info.id)
                known = now is not None and now.chain == item.info.chain and self._work.sessions.holds(now.path)
                if known and item.outcome.status != "unchanged":
                    item.outcome.status, item.outcome.new_turns = "unchanged", 0
                    continue
                if now is None and (mark := reader.erased(item.info.id)) is not None and mark.what == "session":
                    item.outcome.status, item.outcome.new_turns, item.outcome.reason = "unchanged", 0, REASON
                    continue
                if (now.chain if now else None) != (item.before.chain if item.before else None):
                    item.outcome.status, item.outcome.reason = "failed", "another process changed it meanwhile; repeat"
                    continue
                self._publish(item)
                events.append(
                    session_ingested(
                        item.info,
                        from_turn=item.arrival.from_turn,
                        skipped=item.outcome.skipped_count,
                        replaced=replaced[item.info.id],
                    )
                )
            return events

        try:
            self._work.commit("ingest", plan, run=self._run)
        finally:
            self._discard(pending)
        for item in pending:
            if item.outcome.status in ("failed", "unchanged"):
                continue
            self._work.sessions.write_markdown(
                item.info.path, markdown(item.info, self._work.sessions.turns(item.info.path))
            )
            if replaced[item.info.id]:
                self._work.sources.drop(replaced[item.info.id])
        return [item.outcome for item in pending]

    def discard(self) -> None:
        """Removes what was not committed."""
        self._discard(self._pending)

    def _replaced(self, item: Arrived) -> str:
        """The earlier bytes of a session that the new ones begin with: these need not be kept."""
        before, source = item.before, item.info.source
        begins = before and self._work.sources.begins_with(source, before.source, self._prepared.get(source))
        return before.source if before and begins else ""

    def _publish(self, item: Arrived) -> None:
        """Gives a session, and the bytes it came from, their names; the caller holds the writer lock."""
        source = self._prepared.pop(item.info.source, None)
        if source is not None:
            self._work.staging.add("source", source.digest, "")
            self._work.sources.publish(source)
        if not self._work.sessions.holds(item.info.path):
            self._work.staging.add("session", item.info.id, item.info.path)
        self._work.sessions.publish(item.prepared)

    def _discard(self, pending: Iterable[Arrived]) -> None:
        """Removes what was prepared and has no name."""
        for item in pending:
            item.prepared.discard()
        for source in self._prepared.values():
            source.discard()
        self._prepared.clear()
