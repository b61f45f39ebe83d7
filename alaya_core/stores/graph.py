"""The graph of a home: opened for a unit of work under its lock, brought up to the ledger, closed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from alaya_core.errors import (
    BusyError,
    DamagedError,
    DiskFullError,
    NewerHomeError,
    ReadOnlyHomeError,
)
from alaya_core.models.commit import Commit
from alaya_core.stores.files import require_room
from alaya_core.stores.generations import Generations
from alaya_core.stores.graph_apply import apply_commits
from alaya_core.stores.graph_build import Told, chunks
from alaya_core.stores.graph_engine import (
    ENGINES,
    ROOM,
    GraphConnection,
    LaterConnection,
    OlderGraphError,
    UnfinishedGraphError,
    engine_of,
    open_graph,
    require_engine,
    version_of,
)
from alaya_core.stores.graph_probe import Trust, mark_in_child
from alaya_core.stores.graph_read import GraphReader, read_mark
from alaya_core.stores.graph_rebuild import GraphRebuild
from alaya_core.stores.ledger import Ledger, LedgerMark
from alaya_core.stores.locking import HomeLocks

if TYPE_CHECKING:
    from alaya_core.stores.link_index import LinkIndex

_CHUNK = 2_000
"""Events a transaction: what keeps a write below the time that others wait for."""
_OFTEN = 3
"""Recalls without a change between them that make it worth having all links in memory."""
_TRIES = 3
"""How often a rebuild begins anew beside the living graph before it takes the pen for all of it."""


class GraphStore:
    """Cards, links and sessions in the graph engine: a view of the ledger.

    Args:
        folder: `kuzu/` of a home.
        locks: The home's locks.
        ledger: The truth it follows.
        engine: With which a new generation is built, `kuzu` or `ladybug`; the living one keeps its own.
    """

    def __init__(self, folder: Path, locks: HomeLocks, ledger: Ledger, engine: str = "kuzu") -> None:
        self._folder = folder
        self._locks = locks
        self._ledger = ledger
        self._configured = engine
        self._generations = Generations(folder, *(f".{name}" for name in sorted(ENGINES, key=engine.__ne__)))
        self._links: LinkIndex | None = None
        self._looks = (0, 0)  # the last commit of the graph whose links were asked for, and how often
        self._happened: list[str] = []
        self._trust = Trust(folder)
        self._rebuilding = GraphRebuild(folder, self._generations, locks, ledger, self._trust, engine)

    @property
    def path(self) -> Path:
        """The living graph file."""
        return self._generations.current

    @property
    def engine(self) -> str:
        """The living graph's engine."""
        return engine_of(self.path)

    @property
    def engine_version(self) -> str:
        """The living graph's engine and its version."""
        return version_of(self.engine)

    @property
    def other_engine(self) -> str:
        """What to say of a living graph that is not the configured engine's; empty where it is."""
        if self.engine == self._configured or not self.path.exists():
            return ""
        return f"graph.engine is {self._configured}, but the graph is {self.engine}'s: run `alaya rebuild l2`"

    @property
    def notices(self) -> list[str]:
        """What a person should know of the graph, in sentences."""
        return [*self._happened, *filter(None, [self.other_engine])]

    def doubt(self) -> None:
        """Makes the next opening read the whole file in a child first: pages can spoil while size and time stay."""
        self._trust.doubt()

    @contextlib.contextmanager
    def reading(self, *, timeout_s: float | None = None) -> Iterator[GraphReader]:
        """Opens the graph to read, brought up to the ledger where that needs no waiting.

        Args:
            timeout_s: How long to wait for a writer; None = the home's own patience.

        Raises:
            BusyError: A writer held it all that time, or another process has the only pen and there is no graph yet.
        """
        with contextlib.ExitStack() as stack:
            if self._links is not None and self._links.path == self.path and not self._is_apart(self._links.seq):
                later = LaterConnection(lambda: self._opened(stack, timeout_s))
                yield GraphReader(later, links=self._links)
                return
            reader = self._open(stack, timeout_s)
            if reader is None or reader.stale:
                try:
                    stack.close()
                    with self._locks.writing("catch up", timeout_s=0 if reader else timeout_s):
                        self.catch_up()
                    reader = self._open(stack, timeout_s)
                except (BusyError, ReadOnlyHomeError, DamagedError, NewerHomeError, DiskFullError):
                    if reader is None:
                        raise
                    reader = self._open(stack, timeout_s)
            if reader is None:
                raise BusyError("the graph is being built", "wait a moment and repeat")
            yield reader

    @contextlib.contextmanager
    def as_it_stands(self) -> Iterator[GraphReader | None]:
        """Opens the living graph and leaves it as it is, whatever the ledger holds; None where there is none.

        Raises:
            DamagedError: It will not open.
            BusyError: A writer held it too long.
        """
        with self._locks.graph_reading():
            if not self.path.exists():
                yield None
                return
            self._trust.require(self.path)
            with open_graph(self.path, write=False) as graph:
                yield GraphReader(graph, self._is_apart(read_mark(graph).seq))

    @contextlib.contextmanager
    def reading_to_write(self) -> Iterator[GraphReader]:
        """The same for somebody who holds the writer lock: what it reads is the memory as it is.

        Raises:
            DamagedError: The ledger cannot be trusted, or lost its end.
        """
        with contextlib.ExitStack() as stack:
            reader = self._open(stack, None)
            if reader is None or reader.stale:
                stack.close()
                self.catch_up()
                reader = self._open(stack, None)
            assert reader is not None
            yield reader

    def _open(self, stack: contextlib.ExitStack, timeout_s: float | None) -> GraphReader | None:
        """Opens the living generation on the stack; None where there is none that opens."""
        stack.enter_context(self._locks.graph_reading(timeout_s=timeout_s))
        if not self.path.exists():
            return None
        require_engine(self.engine)
        try:
            self._trust.require(self.path)
            graph = stack.enter_context(open_graph(self.path, write=False))
            seq = read_mark(graph).seq
            return GraphReader(graph, self._is_apart(seq), on_links=lambda reader: self._looked_at(reader, seq))
        except DamagedError:
            return None

    def _opened(self, stack: contextlib.ExitStack, timeout_s: float | None) -> GraphConnection:
        reader = self._open(stack, timeout_s)
        if reader is None:
            raise BusyError("the graph is being built", "wait a moment and repeat")
        return reader.graph

    def _looked_at(self, reader: GraphReader, seq: int) -> None:
        """Takes all links into memory when this process has looked at some of this state often enough."""
        self._looks = (seq, self._looks[1] + 1 if self._looks[0] == seq else 1)
        if self._looks[1] == _OFTEN:
            from alaya_core.stores.link_index import LinkIndex

            self._links = LinkIndex(reader.graph, self.path, seq)

    def _is_apart(self, seq: int) -> bool:
        """Whether the ledger holds more, or less because it lost its end; one that cannot be trusted does."""
        try:
            return seq != self._ledger.last_seq()
        except DamagedError:
            return True

    def catch_up(self) -> None:
        """Applies what the ledger holds beyond the graph; the caller holds the writer lock.

        A graph file that will not open is set aside and made anew from the ledger, and a notice says so. One that
        knows more than the ledger stays as it is: what the ledger lost can be written back from it.

        Raises:
            DamagedError: The ledger cannot be trusted, or lost its end.
        """
        if not self.path.exists():
            self.rebuild_held()
            return
        try:
            mark = self._mark()
        except OlderGraphError:
            self.rebuild_held()
            return
        except DamagedError as error:
            aside = self._generations.set_aside(self.path)
            said = f"the graph would not open ({error.message}); it lies in {aside.name}, a new one was made"
            self._happened.append(said)
            self.rebuild_held()
            return
        if lost := max(0, mark.seq - self._ledger.last_seq()):
            raise _end_lost(lost)
        for chunk in chunks(self._ledger.commits(mark), _CHUNK):
            self.apply(chunk)

    def _mark(self) -> LedgerMark:
        """How far the graph has read the ledger, after finishing what a killed writer left."""
        try:
            with self._locks.graph_reading():
                return self._mark_as_it_is()
        except UnfinishedGraphError:
            with self._locks.graph_writing(), open_graph(self.path, write=True) as graph:
                return read_mark(graph)

    def _mark_as_it_is(self) -> LedgerMark:
        self._trust.require(self.path)
        with open_graph(self.path, write=False) as graph:
            return read_mark(graph)

    def apply(self, commits: list[Commit]) -> None:
        """Applies commits that follow the graph's mark, in one transaction; the caller holds the writer lock."""
        with self._locks.graph_writing():
            self._trust.require(self.path)
            with open_graph(self.path, write=True) as graph:
                mark = read_mark(graph)
                fresh = [commit for commit in commits if commit.seq > mark.seq]
                if fresh:
                    apply_commits(graph, fresh)
            self._trust.remember(self.path)

    def require_room(self) -> None:
        """Raises DiskFullError if there is too little room to write: looked at before the ledger says what the graph
        cannot follow."""
        require_room(self._folder, ROOM)

    def require_configured_engine(self) -> None:
        """Raises ConfigError if this process cannot build a graph of the configured engine."""
        require_engine(self._configured)

    def rebuild(self, on_commits: Told = lambda _: None, *, without_lost: bool = False) -> str:
        """Builds a new generation and switches to it; takes its locks itself.

        It is the configured engine's; where that one cannot be used the graph stays with the engine that it has.
        Readers and writers go on meanwhile; writers wait only while the last changes are added.

        Args:
            without_lost: Whether to go on without what the ledger lost and only the living graph still knows: that
                graph is kept beside the new one.

        Returns:
            What a person should know of it, a sentence; usually empty.

        Raises:
            ConfigError: Neither engine can be used here.
            BusyError: Another process rebuilds it, or holds the home too long.
            DamagedError: The ledger cannot be trusted, or lost its end.
        """
        engine = self._rebuilding.engine()
        self._trust.doubt()
        with self._locks.rebuilding():
            lost = self._lost(engine)
            if lost and not without_lost:
                raise _end_lost(lost)
            for _ in range(0 if lost else _TRIES):
                if self.path.exists() and self._rebuilding.beside(engine, on_commits):
                    return ""
            with self._locks.writing("rebuild l2"):
                if lost:
                    aside = self._rebuilding.without_living(engine, on_commits)
                    left_out = "is left out" if lost == 1 else "are left out"
                    return f"{_changes(lost)} that the ledger does not hold {left_out}: {aside} keeps what they made"
                self._rebuilding.build(engine, on_commits)
                return ""

    def _lost(self, engine: str) -> int:
        """How many changes only the graph knows of, because the ledger lost its end; 0 where it cannot be read.

        Args:
            engine: What is to be built with: no other may be loaded for it.
        """
        if not self.path.exists():
            return 0
        try:
            with self._locks.graph_reading():
                held = self._mark_as_it_is().seq if self.engine == engine else mark_in_child(self.path)
                return max(0, held - self._ledger.last_seq())
        except DamagedError:
            return 0

    def rebuild_held(self, on_commits: Told = lambda _: None) -> None:
        """The same for somebody who holds the writer lock."""
        self._rebuilding.build(self._rebuilding.engine(), on_commits)


def _changes(count: int) -> str:
    return "1 change" if count == 1 else f"{count:,} changes"


def _end_lost(count: int) -> DamagedError:
    return DamagedError(
        f"the ledger lost its end: the graph knows of {_changes(count)} that it does not hold",
        "`alaya verify --fix` writes them back; `alaya rebuild l2` goes on without them",
    )
