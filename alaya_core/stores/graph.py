"""The graph of a home: opened for a unit of work under its lock, brought up to the ledger, closed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from alaya_core.errors import BusyError, DamagedError, NewerHomeError, ReadOnlyHomeError
from alaya_core.models.commit import Commit
from alaya_core.stores.files import make_directory
from alaya_core.stores.generations import Generations
from alaya_core.stores.graph_apply import apply_commits
from alaya_core.stores.graph_engine import (
    GraphConnection,
    LaterConnection,
    OlderGraphError,
    UnfinishedGraphError,
    open_graph,
)
from alaya_core.stores.graph_read import GraphReader, read_mark
from alaya_core.stores.graph_rows import SCHEMA
from alaya_core.stores.ledger import Ledger, LedgerMark
from alaya_core.stores.locking import HomeLocks

if TYPE_CHECKING:
    from alaya_core.stores.link_index import LinkIndex

_CHUNK = 2_000
"""Events a transaction: what keeps a write below the time that others wait for."""
_OFTEN = 3
"""Recalls without a change between them that make it worth having all links in memory."""


class GraphStore:
    """Cards, links and sessions in the graph engine: a view of the ledger.

    Args:
        folder: `kuzu/` of a home.
        locks: The home's locks.
        ledger: The truth it follows.
    """

    def __init__(self, folder: Path, locks: HomeLocks, ledger: Ledger) -> None:
        self._folder = folder
        self._locks = locks
        self._ledger = ledger
        self._generations = Generations(folder, ".kuzu")
        self._links: LinkIndex | None = None
        self._looks = (0, 0)  # the last commit of the graph whose links were asked for, and how often
        self.notices: list[str] = []

    @property
    def path(self) -> Path:
        """The living graph file."""
        return self._generations.current

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
                except (BusyError, ReadOnlyHomeError, DamagedError, NewerHomeError):
                    if reader is None:
                        raise
                    reader = self._open(stack, timeout_s)
            if reader is None:
                raise BusyError("the graph is being built", "wait a moment and repeat")
            yield reader

    @contextlib.contextmanager
    def reading_to_write(self) -> Iterator[GraphReader]:
        """The same for somebody who holds the writer lock: what it reads is the memory as it is."""
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
        try:
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
        """Whether the ledger holds more, or less because it was restored; one that cannot be trusted does."""
        try:
            return seq != self._ledger.last_seq()
        except DamagedError:
            return True

    def catch_up(self) -> None:
        """Applies what the ledger holds beyond the graph; the caller holds the writer lock.

        A graph file that will not open is set aside and made anew from the ledger, and a notice says so.
        """
        if not self.path.exists():
            self.rebuild()
            return
        try:
            mark = self._mark()
        except OlderGraphError:
            self.rebuild()
            return
        except DamagedError as error:
            aside = self._generations.set_aside(self.path)
            said = f"the graph would not open ({error.message}); it lies in {aside.name}, a new one was made"
            self.notices.append(said)
            self.rebuild()
            return
        if mark.seq > self._ledger.last_seq():
            self.notices.append("the graph held changes that the ledger lost; a new one was made from the ledger")
            self.rebuild()
            return
        for chunk in _chunks(self._ledger.commits(mark)):
            self.apply(chunk)

    def _mark(self) -> LedgerMark:
        """How far the graph has read the ledger, after finishing what a killed writer left."""
        try:
            with self._locks.graph_reading(), open_graph(self.path, write=False) as graph:
                return read_mark(graph)
        except UnfinishedGraphError:
            with self._locks.graph_writing(), open_graph(self.path, write=True) as graph:
                return read_mark(graph)

    def apply(self, commits: list[Commit]) -> None:
        """Applies commits that follow the graph's mark, in one transaction; the caller holds the writer lock."""
        with self._locks.graph_writing(), open_graph(self.path, write=True) as graph:
            mark = read_mark(graph)
            fresh = [commit for commit in commits if commit.seq > mark.seq]
            if fresh:
                apply_commits(graph, fresh)

    def rebuild(self, on_commits: Callable[[int], None] = lambda _: None) -> None:
        """Builds a new generation from the whole ledger and switches to it; the caller holds the writer lock.

        Args:
            on_commits: Told how many commits have been applied.
        """
        make_directory(self._folder)
        fresh = self._generations.next() if self.path.exists() else self.path
        with open_graph(fresh, write=True) as graph:
            for statement in SCHEMA:
                graph.run(statement)
        done = 0
        for chunk in _chunks(self._ledger.commits(), _CHUNK * 10):
            with open_graph(fresh, write=True) as graph:
                apply_commits(graph, chunk)
            done += len(chunk)
            on_commits(done)
        with self._locks.graph_writing():
            self._generations.switch(fresh)
            self._generations.remove_others()


def _chunks(commits: Iterator[Commit], size: int = _CHUNK) -> Iterator[list[Commit]]:
    """Commits in lists of about `size` events; a commit is never cut."""
    chunk: list[Commit] = []
    events = 0
    while commit := next(islice(commits, 1), None):
        chunk.append(commit)
        events += len(commit.events)
        if events >= size:
            yield chunk
            chunk, events = [], 0
    if chunk:
        yield chunk
