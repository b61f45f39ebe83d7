"""Ingest: sessions come in, whole, once, and nothing of them is lost."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from alaya_core.errors import AlayaError, DiskFullError, SourceError, UsageError
from alaya_core.models.answers import IngestReport, PassedOver, SessionOutcome
from alaya_core.models.session import SessionInfo, SessionStream
from alaya_core.progress import CancelledError, CancelToken, Progress, ProgressSink
from alaya_core.readers import FORMATS, FoundFile, SourceHints, expand, hints_for, read_sessions
from alaya_core.services.erase.arrivals import ErasedBefore, LogScrub
from alaya_core.services.ingest_outcome import not_taken, outcome_of, unchanged
from alaya_core.services.intake import Arrived, Intake
from alaya_core.services.recognition import Recognition
from alaya_core.services.session_text import Summary
from alaya_core.services.workspace import Workspace
from alaya_core.stores.files import is_disk_full
from alaya_core.stores.sessions import Spool
from alaya_core.stores.sources import decompress, file_digests

_BEGINNING = 256
_MANY_SESSIONS = ("alaya", "text")
"""Formats whose files may hold more than one session."""


class Ingest:
    """One ingest of some paths.

    Args:
        workspace: The home.
        format: The format all files are in; None = found out for each.
        progress: Told bytes read and what is read.
        run: The run it belongs to; empty = one of its own.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        format: str | None,
        progress: ProgressSink,
        cancel: CancelToken | None,
        run: str = "",
    ) -> None:
        self._work = workspace
        self._format = format
        self._progress = progress
        self._cancel = cancel or CancelToken()
        self._outcomes: list[SessionOutcome] = []
        self._passed_over: list[PassedOver] = []
        self._intake = Intake(workspace, run or workspace.new_run())
        self._erased = ErasedBefore({})
        self._scrub: LogScrub | None = None
        self._done = self._total = 0

    def run(self, paths: Sequence[Path | str], stdin: BinaryIO | None) -> IngestReport:
        """Reads all of it; a file that cannot be read costs only itself."""
        try:
            with self._work.graph.reading() as reader:
                self._erased = ErasedBefore(reader.all_erased())
            found = list(self._find(paths))
            self._total = sum(_size(item.path) for item in found)
            for item in found:
                self._cancel.check()
                self._progress(Progress("ingest", self._done, self._total, item.path.name))
                self._take_file(item)
                self._done += _size(item.path)
            if any(str(path) == "-" for path in paths) and stdin is not None:
                self._take_stdin(stdin)
            self._flush()
            self._progress(Progress("ingest", self._total, self._total))
        finally:
            self._intake.discard()
        return self._report()

    def _find(self, paths: Sequence[Path | str]) -> Iterator[FoundFile]:
        for path in paths:
            if str(path) == "-":
                continue
            try:
                for item in expand(Path(path).expanduser()):
                    insisted = self._format is not None and not item.walked and item.path.is_file()
                    if item.verdict.ingest or insisted:
                        yield item
                    elif item.walked:
                        self._passed_over.append(PassedOver(path=str(item.path), reason=item.verdict.reason))
                    else:
                        self._fail(item.path, item.verdict.reason)
            except SourceError as error:
                self._fail(Path(path), error.message)

    def _take_file(self, item: FoundFile) -> None:
        try:
            with item.path.open("rb") as file:
                self._take(file, hints_for(item.path, walked=item.walked), item.path)
        except CancelledError:
            raise
        except SourceError as error:
            if item.walked:
                self._passed_over.append(PassedOver(path=str(item.path), reason=error.message))
            else:
                self._fail(item.path, error.message)
        except OSError as error:
            if is_disk_full(error):
                raise DiskFullError(f"{item.path.name} was not taken in") from error
            self._fail(item.path, f"cannot be read: {error.strerror or error}")
        except AlayaError:
            raise
        except Exception as error:
            # What a file can do to a parser nobody knows beforehand; it must not cost the other files.
            self._fail(item.path, f"cannot be read: {type(error).__name__}: {error}")

    def _take_stdin(self, stdin: BinaryIO) -> None:
        with tempfile.TemporaryFile() as file:
            while block := stdin.read(1 << 20):
                file.write(block)
            file.seek(0)
            beginning = hashlib.sha256(file.read(_BEGINNING)).hexdigest()
            try:
                # Named by how it begins: it may grow, and two that have nothing in common are two.
                self._take(file, SourceHints(f"stdin-{beginning[:8]}"), None)
            except SourceError as error:
                self._fail(Path("-"), error.message)

    def _take(self, file: BinaryIO, hints: SourceHints, path: Path | None) -> None:
        digest = file_digests(file)[0]
        known = [] if self._format else self._sessions_of_source(digest)
        # Of a file of many sessions some may have come in and others not, when the ingest was cut off.
        if known and not any(info.format in _MANY_SESSIONS for info in known):
            self._flush()
            for info in known:
                self._outcomes.append(unchanged(info, hints.name))
            return

        def streams() -> Iterator[SessionStream]:
            file.seek(0)
            return read_sessions(file, hints, self._format, path=path, decompress=decompress)

        self._scrub = self._erased.scrub_of(streams)
        for stream in streams():
            self._take_session(stream, file, digest, hints.name)

    def _sessions_of_source(self, digest: str) -> list[SessionInfo]:
        with self._work.graph.reading() as reader:
            known = reader.sessions_of_source(digest)
        if self._work.config.raw.keep_source and not self._work.sources.path(digest).exists():
            return []
        return known if all(self._work.sessions.holds(info.path) for info in known) else []

    def _take_session(self, stream: SessionStream, file: BinaryIO, digest: str, source: str) -> None:
        spool, summary = self._work.sessions.spool(), Summary()
        with contextlib.ExitStack() as spools:
            spools.enter_context(spool.body)
            known = Recognition(self._work, self._erased, spools)
            for turn in stream.turns:
                spool.add(turn)
                summary.add(turn)
                if spool.count % 500 == 0:
                    self._cancel.check()
                    self._progress(Progress("ingest", self._done + file.tell(), self._total, source))
            if stream.raw_rows is None:
                position = file.tell()
                self._settle(stream, known, spool, summary, file, digest, source)
                file.seek(position)
            else:
                with tempfile.TemporaryFile() as rows:
                    rows.writelines(stream.raw_rows)
                    self._settle(stream, known, spool, summary, rows, file_digests(rows)[0], source)
        if self._intake.is_full:
            self._flush()

    def _settle(
        self,
        stream: SessionStream,
        known: Recognition,
        spool: Spool,
        summary: Summary,
        file: BinaryIO,
        digest: str,
        source: str,
    ) -> None:
        """Judges a session that has been read, and prepares it and keeps its source unless it is unchanged."""
        header, whole, said = stream.header, spool, summary
        if self._erased.session(header.id):
            self._outcomes.append(not_taken(header.id, spool.count, stream, source))
            return
        if numbers := self._erased.turns(header.id):
            spool, summary = known.buried(whole, numbers)
        if self._intake.waits_for(header.id):
            self._flush()
        before = known.session(header.id)
        arrival = known.judge(before, spool)
        if arrival.status == "conflict":
            header.metadata["conflicts_with"] = header.id
            header.id, before, arrival, numbers = known.apart(header.id, whole, arrival)
            if self._erased.session(header.id):
                self._outcomes.append(not_taken(header.id, whole.count, stream, source))
                return
            spool, summary = known.buried(whole, numbers) if numbers else (whole, said)
            if numbers:
                self._scrub = LogScrub.of_turns(whole.turns, numbers)
        if self._scrub is not None:
            header.metadata = self._scrub.clean_value(header.metadata)
        if header.timestamp is None:
            header.timestamp = spool.first_time if spool.first_time is not None else self._work.clock()
        path = before.path if before else self._work.sessions.path_for(header.id, header.timestamp)
        info = SessionInfo(
            id=header.id,
            timestamp=before.timestamp if before else header.timestamp,
            channel=header.channel,
            agent=header.agent,
            format=header.format,
            turns=spool.count,
            path=path,
            summary=summary.text(header),
            source=digest,
            chain=spool.chain.hex(),
        )
        outcome = outcome_of(info, arrival, stream, source)
        if arrival.status == "unchanged" and not self._lacks_source(before, spool):
            self._outcomes.append(outcome)
            return
        header.timestamp = info.timestamp
        info = replace(info, source=self._intake.prepare_source(file, digest, self._scrub))
        prepared = self._work.sessions.prepare(path, header, spool)
        self._intake.add(Arrived(info, before, arrival, prepared, outcome, spool.size))

    def _lacks_source(self, before: SessionInfo | None, spool: Spool) -> bool:
        """Whether the bytes of a kept session are gone, and come in with it again."""
        if before is None or before.turns != spool.count or not self._work.config.raw.keep_source:
            return False
        return self._scrub is None and not (before.source and self._work.sources.path(before.source).exists())

    def _flush(self) -> None:
        self._outcomes.extend(self._intake.commit())

    def _fail(self, path: Path, reason: str) -> None:
        self._outcomes.append(
            SessionOutcome(session_id=path.name or str(path), status="failed", reason=reason, source=str(path))
        )

    def _report(self) -> IngestReport:
        counts: Counter[str] = Counter(outcome.status for outcome in self._outcomes)
        counts["turns"] = sum(outcome.turns for outcome in self._outcomes)
        counts["new_turns"] = sum(outcome.new_turns for outcome in self._outcomes)
        counts["skipped_lines"] = sum(outcome.skipped_count for outcome in self._outcomes)
        counts["passed_over"] = len(self._passed_over)
        return IngestReport(sessions=self._outcomes, passed_over=self._passed_over, counts=dict(counts))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def ingest(
    workspace: Workspace,
    paths: Sequence[Path | str],
    *,
    format: str | None,
    stdin: BinaryIO | None,
    progress: ProgressSink,
    cancel: CancelToken | None,
    run: str = "",
) -> IngestReport:
    """Reads sessions from files, folders and standard input (`-`) into L3 and the ledger.

    Raises:
        AlayaError: The home takes no changes; what a file does wrong is in the report.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"unknown format '{format}'", f"one of: {', '.join(FORMATS)}")
    workspace.require_writable()
    return Ingest(workspace, format=format, progress=progress, cancel=cancel, run=run).run(paths, stdin)
