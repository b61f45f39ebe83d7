"""Verify: the ledger, the graph, the vectors and the raw files compared with each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from alaya_core import secrets
from alaya_core.clock import DAY_MS
from alaya_core.errors import AlayaError
from alaya_core.models.answers import Finding, VerifyAnswer
from alaya_core.models.card import Card, CardState
from alaya_core.models.session import SessionInfo, Turn
from alaya_core.services.index import rebuild_vectors, sync
from alaya_core.services.workspace import Workspace
from alaya_core.stores.contexts import ContextTurn, content_digest, context_turn
from alaya_core.stores.files import close_to_others
from alaya_core.stores.folding import Folded, fold
from alaya_core.stores.graph_read import GraphReader

_SEARCHED = (CardState.ACTIVE, CardState.SUPERSEDED, CardState.ARCHIVED)
_DATED_ID = re.compile(r"(?<!\d)(20\d{2})-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)")
_SHOWN = 50
REBUILD_GRAPH = "alaya rebuild l2"
REBUILD_VECTORS = "alaya rebuild l1"
FIX = "alaya verify --fix"


class Verification:
    """One verification of a home."""

    def __init__(self, workspace: Workspace) -> None:
        self._work = workspace
        self._findings: list[Finding] = []
        self._checked: Counter[str] = Counter()

    def run(self) -> VerifyAnswer:
        """Looks at everything; changes nothing."""
        faults = self._work.ledger.faults()
        for fault in faults:
            kind = {"torn": "torn_line", "crc": "ledger_checksum", "gap": "ledger_gap"}[fault.kind]
            mend = FIX if fault.kind == "torn" else "restore raw/ledger from a backup"
            self._find(kind, [f"{fault.segment}:{fault.line}"], mend, fault.detail)
        if not any(fault.kind in ("crc", "gap") for fault in faults):
            self._views()
        self._permissions()
        return VerifyAnswer(ok=not self._findings, findings=self._findings, checked=dict(self._checked))

    def _views(self) -> None:
        truth = fold(self._work.ledger.commits(), {}, {})
        self._checked.update(commits=self._work.ledger.last_seq(), cards=len(truth.cards), links=len(truth.links))
        self._checked.update(sessions=len(truth.sessions))
        try:
            with self._work.graph.reading() as reader:
                self._graph(truth, reader)
        except AlayaError as error:
            self._find("graph_unreadable", [], REBUILD_GRAPH, error.message)
        try:
            self._vectors(truth.cards, bool(truth.sessions))
        except AlayaError as error:
            self._find("vectors_unreadable", [], REBUILD_VECTORS, error.message)
        self._sessions(truth.sessions.values())
        self._contexts(truth.cards)

    def _graph(self, truth: Folded, reader: GraphReader) -> None:
        cards = {card.id: card for card in reader.all_cards()}
        self._compare("graph_card", truth.cards, cards, REBUILD_GRAPH)
        links = {link.id: link for link in reader.all_links()}
        self._compare("graph_link", {link.id: link for link in truth.links.values()}, links, REBUILD_GRAPH)
        sessions = {session.id: session for session in reader.sessions()}
        self._compare("graph_session", truth.sessions, sessions, REBUILD_GRAPH)
        dangling = [
            link.id for link in truth.links.values() if link.from_id not in truth.cards or link.to_id not in truth.cards
        ]
        if dangling:
            self._find("dangling_link", dangling, REBUILD_GRAPH)

    def _compare(self, what: str, truth: Mapping[str, object], view: Mapping[str, object], fix: str) -> None:
        missing = [key for key in truth if key not in view]
        extra = [key for key in view if key not in truth]
        differs = [key for key in truth if key in view and truth[key] != view[key]]
        for kind, ids in (("missing", missing), ("unknown", extra), ("differs", differs)):
            if ids:
                self._find(f"{what}_{kind}", ids, fix)

    def _vectors(self, cards: dict[str, Card], ingested: bool) -> None:
        store = self._work.vectors
        if store.broken:
            self._find("vectors_unreadable", [], REBUILD_VECTORS, "a table is gone")
            return
        if not store.exists and cards and ingested:
            # A card by hand waits for the next recall; whatever ingests a session indexes it.
            self._find("no_vectors", [], REBUILD_VECTORS, "nothing is indexed")
            return
        writable = self._work.takes_changes
        sync(self._work, patient=writable)
        waiting = self._work.ledger.last_seq() - store.mark().seq
        if not store.exists or waiting > 0:
            # What nobody could index yet is a backlog, not damage.
            self._checked.update(unindexed=max(0, waiting))
            return
        report = store.inspect()
        self._checked.update(vectors=report.with_vector, passages=report.passages)
        living = {key: card for key, card in cards.items() if card.state in _SEARCHED}
        mark = store.mark()
        if report.passages != mark.passages:
            self._find("passage_count", [], REBUILD_VECTORS, f"{report.passages} passages where {mark.passages} were")
        kinds: dict[str, Iterable[str]] = {
            "vector_missing": [
                key for key, card in living.items() if not card.vector_dropped and key not in report.with_vector_ids
            ],
            "row_missing": [key for key in living if key not in report.hashes],
            "row_unknown": [key for key in report.hashes if key not in living],
            "row_duplicate": report.duplicates,
            "row_differs": [
                key
                for key, card in living.items()
                if report.hashes.get(key, card.content_hash()) != card.content_hash()
            ],
            "vector_bad": report.bad_vectors,
            "passage_duplicate": report.duplicate_passages,
        }
        for kind, ids in kinds.items():
            if listed := list(ids):
                self._find(kind, listed, REBUILD_VECTORS)

    def _sessions(self, sessions: Iterable[SessionInfo]) -> None:
        known: set[str] = set()
        for info in sessions:
            known.add(info.path)
            try:
                count, behind = self._work.sessions.examine(info.path, info.turns)
            except AlayaError as error:
                self._find("session_missing", [info.id], "ingest it again, or restore raw/sessions", error.message)
                continue
            if count < info.turns or (info.turns and behind.hex() != info.chain[:16]):
                self._find("session_differs", [info.id], "ingest it again", f"{count} turns of {info.turns}")
            if (days := _disagreement(info)) is not None:
                detail = f"its id is {days} days away from its timestamp"
                self._find("session_time", [info.id], "nothing to do if the id is right: only reported", detail)
            if info.source and self._work.config.raw.keep_source and not self._work.sources.path(info.source).exists():
                self._find("source_missing", [info.id], "ingest it again, or restore raw/sources")
        stray = [path for path in self._work.sessions.files() if path not in known]
        if stray:
            self._find("session_unknown", stray, "ingest these files again, or remove them")

    def _contexts(self, cards: dict[str, Card]) -> None:
        kept = self._work.contexts.known()
        wanted = {key for key, card in cards.items() if card.sources}
        missing = [key for key in wanted if self._work.contexts.path(key).name not in kept]
        if missing:
            self._find("context_missing", missing, FIX, "trace still reads the sessions themselves")
        stray = kept - {self._work.contexts.path(key).name for key in cards}
        if stray:
            self._find("context_unknown", sorted(stray), FIX)

    def _permissions(self) -> None:
        import os

        if os.name == "nt":
            return
        root = self._work.home.root
        open_to_others = [
            path.relative_to(root).as_posix() or "."
            for path in (root, *root.rglob("*"))
            if not path.is_symlink() and path.exists() and path.stat().st_mode & 0o077
        ]
        if open_to_others:
            self._find("permissions", open_to_others, FIX, "others on this machine can read it")

    def _find(self, kind: str, ids: Iterable[str], fix: str, detail: str = "") -> None:
        listed = list(ids)
        more = f"{len(listed)} in all" if len(listed) > _SHOWN else ""
        said = "; ".join(part for part in (detail, more) if part)
        self._findings.append(Finding(kind=kind, ids=listed[:_SHOWN], fix=fix, detail=said))


def verify(workspace: Workspace, *, fix: bool) -> VerifyAnswer:
    """Compares the layers; with `fix`, mends what can be mended without losing anything, and looks again."""
    answer = Verification(workspace).run()
    if not fix or answer.ok:
        return answer
    workspace.require_writable()
    fixed = [done for mend in _mends(workspace, answer) if (done := mend())]
    again = Verification(workspace).run()
    again.fixed = fixed
    return again


def _mends(workspace: Workspace, answer: VerifyAnswer) -> list[Callable[[], str]]:
    kinds = {finding.kind for finding in answer.findings}
    fixes = {finding.fix for finding in answer.findings}
    mends: list[Callable[[], str]] = []
    if "torn_line" in kinds:
        mends.append(lambda: _torn(workspace))
    if REBUILD_GRAPH in fixes:
        mends.append(lambda: _graph(workspace))
    if REBUILD_VECTORS in fixes:
        mends.append(lambda: _vectors(workspace))
    if kinds & {"context_missing", "context_unknown"}:
        mends.append(lambda: _contexts(workspace))
    if "permissions" in kinds:
        mends.append(lambda: _permissions(workspace))
    return mends


def _torn(workspace: Workspace) -> str:
    with workspace.locks.writing("verify"):
        aside = workspace.ledger.set_torn_tail_aside()
    return f"moved the half-written last line to {aside.name}" if aside else ""


def _graph(workspace: Workspace) -> str:
    with workspace.locks.writing("verify"):
        workspace.graph.rebuild()
    return "built the graph anew from the ledger"


def _vectors(workspace: Workspace) -> str:
    rebuild_vectors(workspace)
    return "built the vector tables anew"


def _contexts(workspace: Workspace) -> str:
    """Makes missing contexts from the sessions, and removes those of no card whose turns the sessions hold."""
    with workspace.locks.writing("verify"):
        with workspace.graph.reading_to_write() as reader:
            cards = reader.all_cards()
            sessions = {info.id: info for info in reader.sessions()}
        kept = workspace.contexts.known()
        made = removed = 0
        for card in cards:
            if card.sources and workspace.contexts.path(card.id).name not in kept:
                turns = [
                    context_turn(source.session_id, number, turn, secrets.mask(turn.content))
                    for source in card.sources
                    for number in source.turns
                    for turn in _turns(workspace, sessions.get(source.session_id), number)
                ]
                if turns:
                    workspace.contexts.write(card.id, turns)
                    made += 1
        for name in kept - {workspace.contexts.path(card.id).name for card in cards}:
            own = workspace.contexts.read_file(name)
            if own and all(_holds(workspace, sessions.get(turn.session_id), turn) for turn in own):
                workspace.contexts.remove_file(name)
                removed += 1
    return f"made {made} contexts anew, removed {removed} of no card" if made or removed else ""


def _permissions(workspace: Workspace) -> str:
    close_to_others(workspace.home.root)
    return "closed the home to others on this machine"


def _turns(workspace: Workspace, info: SessionInfo | None, number: int) -> list[Turn]:
    """The turn of a number, in a list; none where it cannot be read."""
    try:
        return list(workspace.sessions.turns(info.path, number, number + 1)) if info else []
    except AlayaError:
        return []


def _holds(workspace: Workspace, info: SessionInfo | None, kept: ContextTurn) -> bool:
    return any(content_digest(turn.content) == kept.hash for turn in _turns(workspace, info, kept.turn))


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
