"""Session files and their sources, compared with what the ledger says of them."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from alaya_core.clock import DAY_MS
from alaya_core.errors import AlayaError, SourceError
from alaya_core.models.commit import Event, session_ingested
from alaya_core.models.session import SessionInfo
from alaya_core.progress import silent
from alaya_core.readers import SourceHints, read_sessions
from alaya_core.services.erase.past import sources_named
from alaya_core.services.ingest import Ingest
from alaya_core.services.session_text import markdown
from alaya_core.services.verify.found import FIX, NOTHING, Found, counted_are
from alaya_core.services.workspace import Workspace
from alaya_core.stores.files import set_aside
from alaya_core.stores.folding import Folded
from alaya_core.stores.graph_read import GraphReader
from alaya_core.stores.sessions import Prepared
from alaya_core.text import counted

_DATED_ID = re.compile(r"(?<!\d)(20\d{2})-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)")
_AGAIN = "ingest it again, or restore raw/sessions from a backup"


def session_findings(workspace: Workspace, truth: Folded, found: Found) -> None:
    """Looks at every session file and every source."""
    spoilt = [digest for digest in workspace.sources.known() if not workspace.sources.matches(digest)]
    lost: list[SessionInfo] = []
    unread: list[SessionInfo] = []
    for info in truth.sessions.values():
        kind, detail = _state(workspace, info)
        if kind:
            kept = info.source not in spoilt and workspace.sources.path(info.source).exists() and bool(info.source)
            lost += [info] if kept else []
            found.add(kind, [info.id], FIX if kept else _AGAIN, detail)
        elif not (workspace.home.root / info.path).with_suffix(".md").exists():
            unread.append(info)
        if (days := _disagreement(info)) is not None:
            detail = f"its id is {days} days away from its timestamp"
            found.add("session_time", [info.id], NOTHING, detail, report=True)
    if lost:
        plan = f"{counted_are(len(lost), 'session file')} read again from the kept source"
        found.can("sessions", plan, lambda: _put_back(workspace, lost))
    _readable(workspace, unread, found)
    _strays(workspace, truth, found)
    _sources(workspace, truth, spoilt, found)
    _unknown_sources(workspace, truth, found)


def _readable(workspace: Workspace, infos: Sequence[SessionInfo], found: Found) -> None:
    """Sessions whose readable form is gone; it is made of the session file, so nothing is lost with it."""
    detail = "the .md beside the session file is not there"
    if found.add("readable_missing", [info.id for info in infos], FIX, detail, report=True):

        def make() -> str:
            for info in infos:
                workspace.sessions.write_markdown(info.path, markdown(info, workspace.sessions.turns(info.path)))
            return f"made {counted(len(infos), 'readable session')} anew"

        found.can("readable", f"{counted_are(len(infos), 'readable session')} made anew from the session file", make)


def _state(workspace: Workspace, info: SessionInfo) -> tuple[str, str]:
    """The kind of what is wrong with a session's file, and more of it; nothing where it is right."""
    try:
        count, behind = workspace.sessions.examine(info.path, info.turns)
    except AlayaError as error:
        return "session_missing", error.message
    if count < info.turns or (info.turns and behind.hex() != info.chain[:16]):
        return "session_differs", f"{count} turns of {info.turns}" if count < info.turns else "a turn was changed"
    try:
        if workspace.sessions.header(info.path)["id"] != info.id:
            return "session_differs", "it says that it is another session"
    except (AlayaError, KeyError):
        return "session_differs", "its first or last line cannot be read"
    return "", ""


def _put_back(workspace: Workspace, infos: Sequence[SessionInfo]) -> str:
    """Writes session files anew from their sources, where those hold what the ledger says."""
    back = 0
    for info in infos:
        prepared = _read_again(workspace, info)
        if prepared is None:
            continue
        with workspace.locks.writing("verify"):
            target = workspace.home.root / info.path
            if target.exists() and _state(workspace, info)[0]:
                set_aside(target, workspace.home.set_aside / "sessions")
            workspace.sessions.publish(prepared)
        workspace.sessions.write_markdown(info.path, markdown(info, workspace.sessions.turns(info.path)))
        back += 1
    return f"put back {counted(back, 'session file')} of {len(infos)} from the kept sources"


def _read_again(workspace: Workspace, info: SessionInfo) -> Prepared | None:
    """A session as its source has it, ready to be published; None where that is not what the ledger knows."""
    said = "openclaw" if info.format == "openclaw-sqlite" else info.format
    for format in (said, None):
        try:
            with tempfile.TemporaryFile() as file, workspace.sources.open(info.source) as kept:
                shutil.copyfileobj(kept, file)
                file.seek(0)
                for stream in read_sessions(file, SourceHints(f"{info.id}.jsonl", info.agent), format):
                    spool = workspace.sessions.spool()
                    with spool.body:
                        for turn in stream.turns:
                            spool.add(turn)
                        if (spool.count, spool.chain.hex()) != (info.turns, info.chain):
                            continue
                        header = stream.header
                        header.id, header.timestamp, header.format = info.id, info.timestamp, info.format
                        header.channel, header.agent = info.channel, info.agent
                        return workspace.sessions.prepare(info.path, header, spool)
        except (SourceError, OSError):
            continue
    return None


def _strays(workspace: Workspace, truth: Folded, found: Found) -> None:
    infos = [*truth.sessions.values(), *(info for info in truth.removed_sessions.values() if info is not None)]
    known = {info.path for info in infos}
    known |= {staged.path for staged in workspace.staging.files()}  # somebody is at it right now
    strays = [path for path in workspace.sessions.files() if path not in known]
    if found.add("session_unknown", strays, FIX, "the ledger knows of no such file"):
        plan = f"{counted_are(len(strays), 'unknown session file')} moved to raw/set-aside; what has turns is ingested"
        found.can("strays", plan, lambda: _take_in(workspace, strays))


def _take_in(workspace: Workspace, paths: Iterable[str]) -> str:
    moved: list[Path] = []
    for path in paths:
        if workspace.sessions.holds(path):
            target = workspace.home.root / path
            moved.append(set_aside(target, workspace.home.set_aside / "sessions"))
            target.with_suffix(".idx").unlink(missing_ok=True)
    done = f"moved {counted(len(moved), 'unknown session file')} to raw/set-aside"
    spoken = [path for path in moved if _has_turns(path)]
    if not spoken:
        return f"{done}; no turn is in {'it' if len(moved) == 1 else 'them'}"
    report = Ingest(workspace, format="alaya", progress=silent, cancel=None).run([*spoken], None)
    said = ", ".join(f"{number} {status}" for status, number in report.counts.items() if status in _STATUSES and number)
    return f"{done} and ingested {'it' if len(moved) == 1 else 'what has turns'}: {said}"


def _has_turns(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            streams = read_sessions(file, SourceHints(path.name), "alaya")
            return any(next(iter(stream.turns), None) is not None for stream in streams)
    except SourceError:
        return False


_STATUSES = ("new", "grown", "unchanged", "conflict", "failed")


def _sources(workspace: Workspace, truth: Folded, spoilt: Sequence[str], found: Found) -> None:
    named = {info.source: info for info in truth.sessions.values() if info.source}
    missing: set[str] = set()
    if workspace.config.raw.keep_source:
        missing = {digest for digest in named if not workspace.sources.path(digest).exists()}
    gone = missing | (set(spoilt) & named.keys())
    found.add(
        "source_missing", [named[digest].id for digest in sorted(missing)], FIX, "its source is not kept any more"
    )
    found.add("source_differs", spoilt, FIX, "its bytes are not those of its name")
    if not gone and not spoilt:
        return
    plan = [f"{counted_are(len(spoilt), 'spoilt source')} moved to raw/set-aside"] if spoilt else []
    plan += [f"{counted_are(len(gone), 'source')} noted as not kept; ingest the files again to have it"] if gone else []
    found.can("sources", "; ".join(plan), lambda: _note_missing(workspace, spoilt, gone))


def _unknown_sources(workspace: Workspace, truth: Folded, found: Found) -> None:
    """Bytes that no session came from: what an ingest that was killed left, or somebody put there."""
    named = {info.source for info in truth.sessions.values()}
    coming = {staged.id for staged in workspace.staging.files()}
    maybe = [digest for digest in workspace.sources.known() if digest not in named | coming]
    if not maybe:
        return
    try:
        ever = sources_named(workspace.ledger.commits())
    except AlayaError:  # a ledger with a fault is told of as such; until it is mended nobody can say
        return
    strays = [digest for digest in maybe if digest not in ever]
    if found.add("source_unknown", strays, FIX, "no session came from it"):
        plan = f"{counted_are(len(strays), 'source')} of no session moved to raw/set-aside"
        found.can("unknown sources", plan, lambda: _set_sources_aside(workspace, strays))


def _set_sources_aside(workspace: Workspace, digests: Sequence[str]) -> str:
    with workspace.locks.writing("verify"):
        for digest in digests:
            if workspace.sources.path(digest).exists():
                set_aside(workspace.sources.path(digest), workspace.home.set_aside / "sources")
    return f"moved {counted(len(digests), 'source')} of no session to raw/set-aside"


def _note_missing(workspace: Workspace, spoilt: Iterable[str], gone: set[str]) -> str:
    with workspace.locks.writing("verify"):
        aside = [
            set_aside(workspace.sources.path(digest), workspace.home.set_aside / "sources")
            for digest in spoilt
            if workspace.sources.path(digest).exists() and not workspace.sources.matches(digest)
        ]

    def plan(reader: GraphReader) -> list[Event]:
        return list(_without_source(workspace, reader.sessions(), gone))

    commit = workspace.commit("verify", plan, actor="verify")
    noted = len(commit.events) if commit else 0
    parts = [f"moved {counted(len(aside), 'spoilt source')} to raw/set-aside"] if aside else []
    parts += [f"noted that the source of {counted(noted, 'session')} is not kept"] if noted else []
    return "; ".join(parts)


def _without_source(workspace: Workspace, infos: Iterable[SessionInfo], gone: set[str]) -> Iterator[Event]:
    for info in infos:
        if info.source in gone and not workspace.sources.path(info.source).exists():
            yield session_ingested(replace(info, source=""), from_turn=info.turns, skipped=0)


def _disagreement(info: SessionInfo) -> int | None:
    """Days between the date in a session's id and its timestamp, where they are more than two days apart."""
    match = _DATED_ID.search(info.id)
    if match is None:
        return None
    try:
        named = datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC).timestamp() * 1000
    except ValueError:
        return None
    days = abs(named - info.timestamp) / DAY_MS
    return round(days) if days > 2 else None
