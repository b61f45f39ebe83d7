"""The only importer of the graph engines: opens a database for a unit of work, runs Cypher with parameters, closes.

Kuzu and its fork ladybug speak the same Cypher through the same calls; their files differ, and the ending of a file's
name says whose it is. A process can load one of them only: both register the same types, and the second crashes it.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from alaya_core.errors import AlayaError, BusyError, ConfigError, DamagedError, DiskFullError
from alaya_core.stores.clean_memory import clean_memory
from alaya_core.stores.files import FILE_MODE, require_room, says_disk_full
from alaya_core.text import storable

ENGINES = ("kuzu", "ladybug")

ROOM = 32 << 20
"""Bytes that must be free to write: Kuzu ends the whole process where it finds no room."""
_READ_POOL = 64 << 20
_WRITE_POOL = 512 << 20
_ADDRESS_SPACE = 1 << 36
_UNFINISHED = ("replay shadow pages under read-only", "checkpoint recovery is pending")
_LACKING = (
    "permission denied",
    "operation not permitted",
    "no space left",
    "quota exceeded",
    "too many open files",
    "mmap for size",
    "buffer manager",
    "buffer pool",
    "cannot allocate",
    "max_db_size",
)
_DAMAGED = (
    "corrupt",
    "not a valid",
    "checksum",
    "storage version",
    "invalid db",
    "trying to read",
    "reading past",
    "cannot read checkpoint",
    "does not exist",
)
_PARAMETER = re.compile(r"\$([a-z_]+)")

Row = list[Any]


class GraphConnection:
    """An open database; made by `open_graph` only."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def run(self, query: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Runs one statement.

        Args:
            query: Cypher; every value is a `$parameter`.
            parameters: Exactly the parameters it names.

        Raises:
            AssertionError: Parameters and query do not match (the engine would answer nothing, silently).
            DamagedError, BusyError, AlayaError: What the engine said, classified.
        """
        given = {name: _cleaned(value) for name, value in (parameters or {}).items()}
        named = set(_PARAMETER.findall(query))
        assert named == set(given), f"parameters {sorted(given)} for a query that names {sorted(named)}"
        try:
            result = self._connection.execute(query, given) if given else self._connection.execute(query)
        except RuntimeError as error:
            raise classified(error) from error
        try:
            return list(result.get_all())
        finally:
            result.close()

    def table(self, query: str) -> Any:
        """The answer of a statement without parameters as an Arrow table, each column in one piece."""
        try:
            with contextlib.closing(self._connection.execute(query)) as result:
                return result.get_as_arrow().combine_chunks()
        except RuntimeError as error:
            raise classified(error) from error

    def load(self, query: str, columns: Mapping[str, Sequence[Any]], schema: Mapping[str, str]) -> None:
        """Runs a statement over many rows at once.

        Args:
            query: Cypher with `$rows` where the table belongs (`LOAD FROM $rows ...`, `COPY X FROM $rows`).
            columns: Values by column; no columns of length 0.
            schema: Type of each column: `string`, `int`, `float`, `bool`, `strings`, `ints`.
        """
        import pyarrow as pa

        types = {
            "string": pa.string(),
            "int": pa.int64(),
            "float": pa.float64(),
            "bool": pa.bool_(),
            "strings": pa.list_(pa.string()),
            "ints": pa.list_(pa.int64()),
        }
        arrays = {name: pa.array(columns[name], types[kind]) for name, kind in schema.items()}
        try:
            self._connection.execute(query, {"rows": pa.table(arrays)}).close()
        except RuntimeError as error:
            raise classified(error) from error


class UnfinishedGraphError(DamagedError):
    """Its last writer was killed while it closed the file: whoever opens it to write next finishes that work."""


class OlderGraphError(DamagedError):
    """It was made by a version that laid it out otherwise."""


class LaterConnection(GraphConnection):
    """A database that is opened when the first question comes, and not at all when none does.

    Args:
        opening: Opens it.
    """

    def __init__(self, opening: Callable[[], GraphConnection]) -> None:
        self._opening = opening

    @cached_property
    def _connection(self) -> Any:
        return self._opening()._connection


def _cleaned(value: Any) -> Any:
    """A value that the engine can hold: it takes a lone surrogate for damage."""
    if isinstance(value, str):
        return storable(value)
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


def engine_of(path: Path) -> str:
    """Which engine a graph file belongs to, by its name."""
    return path.suffix[1:]


def installed(engine: str) -> bool:
    """Whether an engine is installed; loads nothing."""
    return importlib.util.find_spec(engine) is not None


def version_of(engine: str) -> str:
    """An engine's name and version."""
    try:
        return f"{engine} {importlib.metadata.version(engine)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{engine}, not installed"


def require_engine(engine: str) -> None:
    """Makes sure that this process can use an engine; loads nothing.

    Raises:
        ConfigError: It is not installed, or the other one is loaded already.
    """
    other = next(name for name in ENGINES if name != engine)
    if not installed(engine):
        choice = f"set graph.engine to {other} and run `alaya rebuild l2`"
        hint = choice if engine == "kuzu" else f"pip install 'alaya-tui[{engine}]', or {choice}"
        raise ConfigError(f"the graph engine {engine} is not installed", hint)
    if sys.modules.get(other) is not None:
        raise ConfigError(
            f"the graph engine {engine} is wanted, but this process works with {other} already",
            "start it anew; to change the graph's engine, run `alaya rebuild l2`",
        )


def _driver(engine: str) -> Any:
    require_engine(engine)
    if engine == "ladybug":
        import ladybug

        return ladybug
    import kuzu

    return kuzu


@contextlib.contextmanager
def open_graph(path: Path, *, write: bool) -> Iterator[GraphConnection]:
    """Opens a graph file for one unit of work; the caller holds the matching lock.

    A written block is one transaction: whole when the block ends well, absent otherwise.

    Raises:
        ConfigError: Its engine cannot be used here.
        DiskFullError: There is too little room to write.
        BusyError, DamagedError, UnfinishedGraphError, AlayaError: What the engine said, classified.
    """
    driver = _driver(engine_of(path))
    if write:
        require_room(path.parent, ROOM)
    with clean_memory() if write else contextlib.nullcontext(), _opened(driver, path, write) as graph:
        yield graph


@contextlib.contextmanager
def _opened(driver: Any, path: Path, write: bool) -> Iterator[GraphConnection]:
    try:
        database = driver.Database(
            str(path),
            read_only=not write,
            buffer_pool_size=_WRITE_POOL if write else _READ_POOL,
            max_db_size=_ADDRESS_SPACE,
        )
    except (RuntimeError, IndexError, ValueError, MemoryError) as error:
        raise classified(error, opening=True) from error
    with contextlib.closing(database), contextlib.closing(driver.Connection(database, num_threads=2)) as connection:
        graph = GraphConnection(connection)
        if not write:
            yield graph
            return
        path.chmod(FILE_MODE)
        graph.run("BEGIN TRANSACTION")
        try:
            yield graph
        except BaseException:
            with contextlib.suppress(AlayaError):
                graph.run("ROLLBACK")
            raise
        graph.run("COMMIT")


def lacks_means(text: str) -> bool:
    """Whether an engine's words say that the machine lacks what it takes (rights, memory, room)."""
    lowered = text.lower()
    return any(word in lowered for word in _LACKING)


def classified(error: Exception, *, opening: bool = False) -> AlayaError:
    """The engines know only one kind of error; this reads its words.

    Args:
        opening: Whether the file was being opened: it is damaged then, unless it is locked, or the machine lacks
            what it takes.
    """
    text = str(error)
    lowered = text.lower()
    if says_disk_full(text):
        return DiskFullError("the graph was not written")
    if "lock" in lowered and ("could not set" in lowered or "concurrency" in lowered):
        return BusyError("the graph is open in another process", "wait a moment and repeat")
    if any(word in lowered for word in _UNFINISHED):
        return UnfinishedGraphError("the graph's last writer was killed", "repeat the command")
    damaged = not lacks_means(text) if opening else any(word in lowered for word in _DAMAGED)
    if damaged or isinstance(error, IndexError | ValueError):
        return DamagedError(f"the graph file cannot be read: {text[:200]}", "run `alaya rebuild l2`")
    return AlayaError(f"the graph engine failed: {text[:300]}", "run `alaya verify`; `alaya rebuild l2` makes it anew")
