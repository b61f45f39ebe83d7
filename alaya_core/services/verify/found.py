"""What a verification finds, and what would mend it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from alaya_core.models.answers import Finding
from alaya_core.services.workspace import Workspace
from alaya_core.text import counted

FIX = "alaya verify --fix"
REBUILD_GRAPH = "alaya rebuild l2"
REBUILD_VECTORS = "alaya rebuild l1"
BACKUP = "restore raw/ledger from a backup"
NOTHING = "nothing to do: only told"

_SHOWN = 50
_LISTED = 5
_ORDER = (
    "names",
    "ledger",
    "dangling",
    "sessions",
    "strays",
    "readable",
    "sources",
    "unknown sources",
    "contexts",
    "accesses",
    "vitals",
    "graph",
    "vectors",
    "leftovers",
    "permissions",
)
"""In which mends are done: what others are made from comes first."""


@dataclass(frozen=True, slots=True)
class Mend:
    """Something that can be done.

    Attributes:
        plan: What it would do, one sentence.
        do: Does it, and says what was done; empty when there was nothing to do any more.
    """

    plan: str
    do: Callable[[], str]


@dataclass(slots=True)
class Found:
    """Findings, the mends for them, and how much was looked at."""

    findings: list[Finding] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    _mends: dict[str, Mend] = field(default_factory=dict)

    def add(self, kind: str, ids: Iterable[str], fix: str, detail: str = "", *, report: bool = False) -> bool:
        """Notes a finding, if there are any ids.

        Returns:
            Whether there were.
        """
        listed = list(ids)
        if listed:
            self.add_whole(kind, fix, detail, listed, report=report)
        return bool(listed)

    def add_whole(
        self, kind: str, fix: str, detail: str = "", ids: Iterable[str] = (), *, report: bool = False
    ) -> None:
        """Notes a finding that needs no ids."""
        listed = list(ids)
        more = f"{len(listed)} in all" if len(listed) > _SHOWN else ""
        said = "; ".join(part for part in (detail, more) if part)
        self.findings.append(Finding(kind=kind, ids=listed[:_SHOWN], fix=fix, detail=said, report=report))

    def can(self, what: str, plan: str, do: Callable[[], str]) -> None:
        """Notes what would mend something; what is one mend for several findings is noted once.

        Args:
            what: One of `_ORDER`.
        """
        assert what in _ORDER, what
        self._mends.setdefault(what, Mend(plan, do))

    def mends(self) -> Iterator[Mend]:
        """What can be done, in the order in which it is to be done."""
        return (self._mends[what] for what in _ORDER if what in self._mends)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; what is only told does not count."""
        return all(finding.report for finding in self.findings)


def listed(names: Sequence[str]) -> str:
    """`a, b, c and 4 more`."""
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def counted_are(number: int, noun: str) -> str:
    """`1 card is`, `2 cards are`."""
    return f"{counted(number, noun)} {'is' if number == 1 else 'are'}"


def rebuild_mend(workspace: Workspace, found: Found) -> None:
    """Notes that the graph can be built anew."""

    def rebuild() -> str:
        said = workspace.graph.rebuild(without_lost=True)
        return f"built the graph anew from the ledger; {said}" if said else "built the graph anew from the ledger"

    found.can("graph", "the graph is built anew from the ledger", rebuild)
