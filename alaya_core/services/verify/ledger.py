"""The ledger's own health: what its lines say, what is lost of it, and what the graph still knows of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from alaya_core.errors import AlayaError, BusyError
from alaya_core.models.commit import Commit, Event, card_changed, card_from_json
from alaya_core.services.verify.found import (
    BACKUP,
    FIX,
    NOTHING,
    REBUILD_GRAPH,
    Found,
    counted_are,
    rebuild_mend,
)
from alaya_core.services.verify.healing import GraphState, told, whole, written_back
from alaya_core.services.verify.watch import Watch
from alaya_core.services.workspace import Workspace
from alaya_core.stores.files import make_directory
from alaya_core.stores.folding import Folded, fold, link_key
from alaya_core.stores.graph_engine import OlderGraphError, UnfinishedGraphError
from alaya_core.stores.ledger_mending import BadLine, LedgerScan, Place, line_of, rewrite
from alaya_core.text import counted

_KINDS = {"torn": "torn_line", "crc": "ledger_checksum", "json": "ledger_json", "repeated": "ledger_repeated"}
_UNKNOWN = ", and nothing knows what it said"
_MOST = 100_000
"""Lost lines that lines are put in for at once; more than that was never a ledger."""


@dataclass(slots=True)
class LedgerLook:
    """The ledger as it was looked at.

    Attributes:
        truth: What its commits leave behind, those among them that can be written back.
        graph_seq: The last commit of the graph; None where there is none that opens.
        graph_fault: Why the graph does not open; empty where it does.
        back: The events of the lost lines that the graph still knows, by seq.
        lost: Runs of seqs, (first, last), that nobody knows: empty lines take their place.
        ahead: How far the graph claims to be beyond the ledger without holding anything that the ledger does not.
    """

    scan: LedgerScan
    watch: Watch
    truth: Folded
    graph_seq: int | None = None
    graph_fault: str = ""
    back: dict[int, list[Event]] = field(default_factory=dict)
    lost: list[tuple[int, int]] = field(default_factory=list)
    ahead: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether the ledger can go on without what is lost of it."""
        return sum(last - first + 1 for first, last in self.lost) <= _MOST

    @property
    def lost_seqs(self) -> list[int]:
        """The seqs that empty lines are put in for, rising."""
        return [seq for first, last in self.lost for seq in range(first, last + 1)] if self.goes_on else []

    @property
    def hopeless(self) -> list[BadLine]:
        """Damaged lines of which nobody knows what they said."""
        open_ends = {first - 1 for first, _ in self.lost}
        return [line for line in self.scan.bad if not self._is_mended(line, open_ends)]

    def _is_mended(self, line: BadLine, open_ends: set[int]) -> bool:
        if line.whole is not None or line.kind in ("torn", "repeated"):
            return True
        at_the_end = line.after == self.scan.last_seq and line.after + 1 not in self.back
        return not at_the_end and line.after not in open_ends

    @property
    def sound(self) -> bool:
        """Whether every line can be read as it is, and none is lost."""
        return not (self.scan.bad or self.scan.missing or self.back or self.lost or self.ahead)

    @property
    def whole(self) -> bool:
        """Whether `truth` is all of it."""
        return not (self.lost or self.hopeless)


def look_at_ledger(workspace: Workspace) -> LedgerLook:
    """Reads all of the ledger, and what the graph says of lines that are lost; changes nothing.

    Raises:
        NewerHomeError: A newer version wrote it.
    """
    scan, watch = LedgerScan(workspace.ledger), Watch()
    truth = fold(watch.over(commit for commit, _ in scan.commits()), {}, {})
    look = LedgerLook(scan, watch, truth)
    _look_at_graph(workspace, look)
    known = look.graph_seq or 0
    at_the_end = [line for line in scan.bad if line.after == scan.last_seq and line.kind in ("crc", "json")]
    end = max(known, scan.last_seq + len(at_the_end))  # each of them was a commit
    room = _MOST
    for first, last in [*scan.missing, *([(scan.last_seq + 1, end)] if end > scan.last_seq else [])]:
        middle = min(last, known, first + room - 1)
        look.back |= {seq: [] for seq in range(first, middle + 1)}
        room -= max(0, middle - first + 1)
        if middle < last:
            look.lost.append((max(first, middle + 1), last))
    if look.back:
        _heal(workspace, look, scan.last_seq + len(at_the_end))
    return look


def _look_at_graph(workspace: Workspace, look: LedgerLook) -> None:
    try:
        with workspace.graph.as_it_stands() as reader:
            look.graph_seq = reader.mark().seq if reader is not None else None
    except (OlderGraphError, UnfinishedGraphError):
        return  # whoever opens it next puts that right
    except BusyError:
        raise
    except AlayaError as error:
        look.graph_fault = error.message


def _heal(workspace: Workspace, look: LedgerLook, end: int) -> None:
    """Finds out what the lost lines did.

    Args:
        end: The last seq that the ledger had, as far as its own bytes say.
    """
    with workspace.graph.as_it_stands() as reader:
        if reader is None or (mark := reader.mark().seq) < max(look.back):
            look.lost = sorted([*look.lost, *((seq, seq) for seq in look.back)])
            look.back = {}
            return
        graph = GraphState(
            seq=mark,
            cards={card.id: card for card in reader.all_cards()},
            card_seqs=reader.card_seqs(),
            links={link_key(link): link for link in reader.all_links()},
            sessions={info.id: info for info in reader.sessions()},
            erased=reader.all_erased(),
        )
    again = LedgerScan(workspace.ledger)
    commits = [commit for commit, _ in again.commits()]
    sound = [commit for commit in commits if commit.seq <= graph.seq]
    look.back = written_back(sound, sorted(look.back), graph)
    end = max([end, *(last for _, last in look.lost)])
    while (last := max(look.back, default=0)) > end and not look.back[last]:
        del look.back[last]
        look.ahead += 1
    look.watch = Watch()
    look.truth = fold(look.watch.over(whole(commits, look.back)), {}, {})


def ledger_findings(workspace: Workspace, look: LedgerLook, found: Found) -> None:
    """Says what is wrong with the ledger, and what would mend it."""
    if not workspace.ledger.folder.exists():
        found.add_whole("ledger_missing", FIX, "raw/ledger is gone")
    hopeless = look.hopeless
    for kind, name in _KINDS.items():
        for lines, fix in (
            ([line for line in look.scan.bad if line.kind == kind and line not in hopeless], FIX),
            ([line for line in look.scan.bad if line.kind == kind and line in hopeless], _no_help(look)),
        ):
            details = Counter(line.detail + (_UNKNOWN if line in hopeless else "") for line in lines)
            found.add(name, [_named(line.place) for line in lines], fix, "; ".join(details))
    inner = [f"seq {seq}" for seq in look.back if seq <= look.scan.last_seq]
    ahead = [f"seq {seq}" for seq in look.back if seq > look.scan.last_seq]
    found.add("ledger_gap", inner, FIX, "lines are gone")
    found.add("graph_ahead", ahead, FIX, "the graph holds changes that the ledger lost")
    if look.ahead:
        detail = f"its mark is {look.graph_seq}, and it holds nothing more than the ledger"
        found.add_whole("graph_ahead", REBUILD_GRAPH, detail)
        rebuild_mend(workspace, found)
    gone = [f"seq {first}" if first == last else f"seq {first}-{last}" for first, last in look.lost]
    found.add("ledger_gap", gone, _no_help(look), "lines are gone, and nothing knows what they said")
    found.add("ledger_commit_twice", [key for _, key in look.watch.same_id], FIX, "two commits have one id")
    found.add("ledger_card_twice", [key for _, key in look.watch.made_twice], FIX, "made again while it lived")
    if look.whole:
        detail = "changed, and never made: the change has no effect"
        found.add("ledger_unknown_card", [key for _, key in look.watch.strangers], NOTHING, detail, report=True)
    if plan := _plan(workspace, look):
        found.can("ledger", plan, lambda: mend_ledger(workspace))


def _no_help(look: LedgerLook) -> str:
    why = f"the graph cannot help ({look.graph_fault})" if look.graph_fault else "the graph does not know them"
    return f"{BACKUP}: {why}" + (f"; or go on without: {FIX}" if look.goes_on else "")


def _plan(workspace: Workspace, look: LedgerLook) -> str:
    parts = [] if workspace.ledger.folder.exists() else ["the folder raw/ledger is made anew"]
    torn = [line for line in look.scan.bad if line.kind == "torn" and line.whole is None]
    if torn:
        parts.append("the half-written last line is moved to raw/ledger/torn")
    for line in look.scan.bad:
        if line.whole is not None:
            parts.append(f"{_spoken(line.place)} is made whole: its checksum says which byte of it is wrong")
    parts += [f"{_spoken(line.place)} is taken out: {line.detail}" for line in look.scan.bad if line.kind == "repeated"]
    stray = [line for line in look.scan.bad if line.whole is None and line.kind in ("crc", "json")]
    parts += [f"the bytes of {_spoken(line.place)} are set aside" for line in stray if line not in look.hopeless]
    if look.back:
        seqs = sorted(look.back)
        comes = told(look.back) or "nothing that anything later left standing"
        which = f"line {_span(seqs)} of the ledger is" if len(seqs) == 1 else f"lines {_span(seqs)} of the ledger are"
        parts.append(f"{which} written back from the graph: {comes}")
    if look.lost_seqs:
        parts.append(_without(look))
    if look.watch.same_id:
        parts.append(f"{counted(len(look.watch.same_id), 'commit')} of a used id gets an id of its own")
    if look.watch.made_twice:
        parts.append(f"the second making of {counted(len(look.watch.made_twice), 'card')} becomes a change of it")
    return "; ".join(parts)


def _without(look: LedgerLook) -> str:
    """How the ledger goes on without what nobody knows any more."""
    lost = look.lost_seqs
    damaged = ", ".join(_spoken(line.place) for line in look.hopeless)
    where = f"{damaged}, of which the bytes are kept in raw/ledger/damaged" if damaged else f"line {_span(lost)}"
    read = look.scan.last_seq - sum(last - first + 1 for first, last in look.scan.missing)
    marked = f"#{_span(lost)} {'is' if len(lost) == 1 else 'are'} marked as lost"
    return f"the ledger goes on without {where}: {counted_are(read, 'sound commit')} read again, {marked}"


def mend_ledger(workspace: Workspace) -> str:
    """Mends what can be mended of the ledger, as it is now; what is taken out of it is kept beside it."""
    with workspace.locks.writing("verify"):
        plan = _plan(workspace, look_at_ledger(workspace))
        make_directory(workspace.ledger.folder)
        workspace.ledger.set_torn_tail_aside()
        look = look_at_ledger(workspace)
        staying = [] if look.goes_on else look.hopeless
        away: list[Place] = [line.place for line in look.scan.bad if line not in staying]
        lines = {line.whole.seq: line_of(line.whole) for line in look.scan.bad if line.whole is not None}
        added = {**look.back, **{seq: [] for seq in look.lost_seqs}}
        neighbours = _neighbours(workspace, added)
        for seq, events in added.items():
            beside = neighbours[seq]
            lines[seq] = line_of(
                replace(beside, seq=seq, id=_fresh_id(workspace, beside), actor="verify", run="", events=tuple(events))
            )
        for place, commit in _again(workspace, look):
            if commit.seq not in lines:
                away.append(place)
            lines[commit.seq] = line_of(commit)
        if away or lines:
            rewrite(workspace.ledger, away, lines)
    return plan


def _fresh_id(workspace: Workspace, beside: Commit) -> str:
    return workspace.ids.new_commit(beside.at)


def _neighbours(workspace: Workspace, seqs: Mapping[int, Any]) -> dict[int, Commit]:
    """For each lost seq the sound commit before it, or behind it where there is none before."""
    found: dict[int, Commit] = {}
    waiting = sorted(seqs)
    before: Commit | None = None
    for commit, _ in LedgerScan(workspace.ledger).commits():
        while waiting and waiting[0] < commit.seq:
            found[waiting.pop(0)] = before or commit
        before = commit
        if not waiting:
            return found
    now = workspace.clock()
    for seq in waiting:
        found[seq] = before or Commit(seq, "", now, "", "", "", ())
    return found


def _again(workspace: Workspace, look: LedgerLook) -> list[tuple[Place, Commit]]:
    """The commits that cannot stand as they are: of a used id, or making a card that lives."""
    wrong = {seq for seq, _ in (*look.watch.same_id, *look.watch.made_twice)}
    if not wrong:
        return []
    used = {seq for seq, _ in look.watch.same_id}
    twice = set(look.watch.made_twice)
    told_apart: list[tuple[Place, Commit]] = []
    before: list[Commit] = []
    for commit, place in LedgerScan(workspace.ledger).commits():
        if commit.seq in wrong:
            events = _changing(commit, before, {key for seq, key in twice if seq == commit.seq})
            fresh = _fresh_id(workspace, commit) if commit.seq in used else commit.id
            commit = replace(commit, id=fresh, events=tuple(events))
            told_apart.append((place, commit))
        before.append(commit)
    return told_apart


def _changing(commit: Commit, before: Sequence[Commit], twice: set[str]) -> list[Event]:
    """The events of a commit, those that make a living card anew as changes of it."""
    living = fold(before, {}, {}).cards if twice else {}
    events: list[Event] = []
    for event in commit.events:
        if event["kind"] == "card.created" and event["card"]["id"] in twice & living.keys():
            old, new = living[event["card"]["id"]], card_from_json(event["card"])
            if old != new:
                events.append(card_changed(old, new, "edit", why="it was made twice"))
        else:
            events.append(event)
    return events


def _named(place: Place) -> str:
    return f"{place[0]}:{place[1]}"


def _spoken(place: Place) -> str:
    return f"line {place[1]} of {place[0]}"


def _span(seqs: Sequence[int]) -> str:
    first, last = seqs[0], seqs[-1]
    if len(seqs) == last - first + 1:
        return f"{first}" if first == last else f"{first}-{last}"
    return ", ".join(map(str, seqs[:20])) + (" ..." if len(seqs) > 20 else "")
