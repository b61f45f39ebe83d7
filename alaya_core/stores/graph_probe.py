"""Whether a graph file can be read at all, found out in a process of its own.

Damaged pages make the engine end the process that reads them, without a word. So a file that changed behind our back is
read once from beginning to end by a child; one that is as we left it costs a look at its size and time.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from alaya_core.errors import AlayaError, BusyError, ConfigError, DamagedError
from alaya_core.safe_json import load_json
from alaya_core.stores.files import write_file
from alaya_core.stores.graph_engine import (
    GraphConnection,
    OlderGraphError,
    UnfinishedGraphError,
    lacks_means,
    open_graph,
)
from alaya_core.stores.graph_read import read_mark

_BAD = 3
"""How the child exits when it met damage that did not end it."""
_LOOKED_UP = 200
_LEAST_S, _BYTES_A_S = 60, 2_000_000
_INCONCLUSIVE = (9, 15, 2)
"""Signals that come from outside: SIGKILL, SIGTERM, SIGINT."""
_CHILD = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import main; main(sys.argv[2])"

Stamp = dict[str, list[int]]


class Trust:
    """Which state of a graph file is known to be readable.

    Args:
        folder: Where the graph files lie; what is known stands in `seen.json` there.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "seen.json"
        self._known: Stamp | None = None
        self._bad: tuple[Stamp, str] | None = None
        self._doubted = False

    def require(self, path: Path) -> None:
        """Makes sure that a file can be read; whoever calls it keeps writers out.

        Raises:
            DamagedError: Reading it fails, or ends the process that reads.
        """
        stamp = stamp_of(path)
        if self._bad is not None and self._bad[0] == stamp:
            raise _damaged(self._bad[1])
        if not self._doubted:
            if stamp == self._known:
                return
            if stamp == self._written():
                self._known = stamp
                return
        fault = probe(path)
        self._doubted = False
        if fault:
            self._bad = (stamp, fault)
            raise _damaged(fault)
        self._keep(stamp)

    def doubt(self) -> None:
        """Makes the next `require` read the file, whatever is known of it: pages can spoil without a trace."""
        self._doubted = True
        self._bad = None

    def remember(self, path: Path) -> None:
        """Notes the state in which this process left a file; whoever calls it keeps all others out."""
        self._keep(stamp_of(path))

    def _keep(self, stamp: Stamp) -> None:
        self._known = stamp
        if stamp != self._written():
            with contextlib.suppress(AlayaError, OSError):  # without it the next process reads the file once
                write_file(self._file, json.dumps(stamp).encode(), durable=False)

    def _written(self) -> Any:
        try:
            return load_json(self._file.read_bytes())
        except (OSError, ValueError):
            return None


def stamp_of(path: Path) -> Stamp:
    """By what it is seen that a graph file, or a log that belongs to it, was changed: size and time of each."""
    found = {}
    with os.scandir(path.parent) as entries:
        for entry in entries:
            if entry.name == path.name or entry.name.startswith(f"{path.name}."):
                with contextlib.suppress(FileNotFoundError):
                    stat = entry.stat()
                    found[entry.name] = [stat.st_size, stat.st_mtime_ns]
    return found


def _damaged(fault: str) -> DamagedError:
    return DamagedError(f"the graph file cannot be read: {fault}", "run `alaya rebuild l2`")


def probe(path: Path) -> str:
    """Reads all of a graph file in a child.

    Returns:
        Why it cannot be read; empty where it can, or where nobody can say.
    """
    try:
        done = _read_in_child(path)
    except subprocess.TimeoutExpired as expired:
        return f"reading it does not end within {expired.timeout:.0f} s"
    except OSError:
        return ""
    if done.returncode == _BAD:
        return done.stdout.decode("utf-8", "replace").strip() or "its content makes no sense"
    died = -done.returncode if os.name != "nt" else done.returncode & 0xC0000000
    if died > 0 and died not in _INCONCLUSIVE:
        return f"reading it ends the process (signal {died})" if os.name != "nt" else "reading it ends the process"
    return ""


def mark_in_child(path: Path) -> int:
    """The last commit that a graph file holds, read without loading its engine here; 0 where nobody can say."""
    with contextlib.suppress(subprocess.TimeoutExpired, OSError, ValueError):
        done = _read_in_child(path)
        if done.returncode == 0:
            return int(done.stdout)
    return 0


def _read_in_child(path: Path) -> subprocess.CompletedProcess[bytes]:
    if not sys.executable:
        raise OSError("nobody knows where Python is")
    command = [sys.executable, "-I", "-c", _CHILD.format(module=__name__), json.dumps(sys.path), str(path)]
    patience = _LEAST_S + path.stat().st_size // _BYTES_A_S
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=patience
    )


def main(path: str) -> None:
    """What the child does: reads everything and says which commit was the last, or exits with 3 where that shows
    damage."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open_graph(Path(path), write=False) as graph:
            _read_all(graph)
            sys.stdout.write(str(read_mark(graph).seq))
    except (BusyError, ConfigError, OlderGraphError, UnfinishedGraphError):
        return
    except AlayaError as error:
        if lacks_means(error.message):
            return
        _tell(error.message.removeprefix("the graph file cannot be read: "))
    except Exception as error:  # whatever else comes of bytes that are not what they should be; std::bad_alloc, too
        _tell(f"{type(error).__name__}: {error}")


def _tell(why: str) -> None:
    sys.stdout.write(why[:300])
    sys.exit(_BAD)


def _read_all(graph: GraphConnection) -> None:
    """Every column of every table, every link from both ends, and some rows by their key."""
    for name, kind in graph.run("CALL show_tables() RETURN name, type"):
        if kind == "NODE":
            graph.run(f"MATCH (n:`{name}`) RETURN n")
            keys = [row[0] for row in graph.run(f"MATCH (n:`{name}`) RETURN n.id")]
            for key in keys[:: max(1, len(keys) // _LOOKED_UP)]:
                graph.run(
                    f"MATCH (n:`{name}` {{id: $id}}) OPTIONAL MATCH (n)--(other) RETURN count(other)", {"id": key}
                )
        elif kind == "REL":
            graph.run(f"MATCH ()-[r:`{name}`]->() RETURN r")
            graph.run(f"MATCH ()<-[r:`{name}`]-() RETURN r")
