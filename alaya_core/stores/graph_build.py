"""Builds a graph file from the ledger, while the living one goes on answering."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from alaya_core.models.commit import Commit
from alaya_core.stores.graph_apply import apply_commits
from alaya_core.stores.graph_engine import open_graph
from alaya_core.stores.graph_read import read_mark
from alaya_core.stores.graph_rows import SCHEMA
from alaya_core.stores.ledger import Ledger

_CHUNK = 20_000
"""Events a transaction, where nobody waits for its end."""

Told = Callable[[int], None]
"""Told how many commits the graph holds."""
LedgerShape = list[tuple[str, int, int]]


def build_graph(path: Path, ledger: Ledger, on_commits: Told = lambda _: None) -> None:
    """Makes a graph file of all that the ledger holds; nobody else may know of the file yet."""
    with open_graph(path, write=True) as graph:
        for statement in SCHEMA:
            graph.run(statement)
    extend_graph(path, ledger, on_commits)


def extend_graph(path: Path, ledger: Ledger, on_commits: Told = lambda _: None) -> None:
    """Brings a graph file that nobody else knows of up to the ledger."""
    with open_graph(path, write=False) as graph:
        mark = read_mark(graph)
    for chunk in chunks(ledger.commits(mark), _CHUNK):
        with open_graph(path, write=True) as graph:
            apply_commits(graph, chunk)
        on_commits(chunk[-1].seq)


def chunks(commits: Iterator[Commit], size: int) -> Iterator[list[Commit]]:
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


def ledger_shape(ledger: Ledger) -> LedgerShape:
    """By what it is seen later whether lines were rewritten: name, inode and size of each segment."""
    return [(path.name, stat.st_ino, stat.st_size) for path in ledger.segments() for stat in [path.stat()]]


def only_grew(before: LedgerShape, after: LedgerShape) -> bool:
    """Whether a ledger has at most got new lines since."""
    if len(after) < len(before) or before[:-1] != after[: max(0, len(before) - 1)]:
        return False
    if not before:
        return True
    (name, inode, size), (name_now, inode_now, size_now) = before[-1], after[len(before) - 1]
    return (name, inode) == (name_now, inode_now) and size <= size_now
