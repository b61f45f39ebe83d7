"""The locks: one pen, many readers, nobody starves, and the dead hold nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from alaya_core.errors import BusyError
from alaya_core.stores.locking import HomeLocks

HOLD = """
import sys
from pathlib import Path
from alaya_core.stores.locking import HomeLocks
with getattr(HomeLocks(Path(sys.argv[1]), 5.0), sys.argv[2])(*sys.argv[3:]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def locks(tmp_path: Path) -> HomeLocks:
    return HomeLocks(tmp_path / "locks", 0.2)


class Holder:
    """Another process that holds a lock until it is told to go, or killed."""

    def __init__(self, folder: Path, *how: str) -> None:
        command = [sys.executable, "-c", HOLD, str(folder), *how]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"held\n"

    def end(self) -> None:
        self.process.communicate(b"\n", timeout=30)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate(timeout=30)


@pytest.fixture
def writer(tmp_path: Path, locks: HomeLocks) -> Iterator[Holder]:
    holder = Holder(tmp_path / "locks", "writing", "capture")
    yield holder
    holder.kill()


def test_a_second_writer_waits_and_is_told_who_holds_the_pen(locks: HomeLocks, writer: Holder) -> None:
    said = rf"process {writer.process.pid} \(capture, since 20..-"
    with pytest.raises(BusyError, match=said) as busy, locks.writing("x"):
        pass
    assert busy.value.retryable
    assert busy.value.exit_status == 5


def test_the_pen_of_a_killed_process_is_free(locks: HomeLocks, writer: Holder) -> None:
    writer.kill()
    with locks.writing("x", timeout_s=0):
        pass


def test_the_pen_comes_back_when_its_holder_is_done(locks: HomeLocks, writer: Holder) -> None:
    writer.end()
    with locks.writing("x", timeout_s=0):
        pass
    with locks.writing("x", timeout_s=0):
        pass


def test_readers_share_the_graph_and_keep_its_writer_out(tmp_path: Path, locks: HomeLocks) -> None:
    reader = Holder(tmp_path / "locks", "graph_reading")
    with locks.graph_reading(timeout_s=0):
        pass
    with pytest.raises(BusyError), locks.graph_writing(timeout_s=0):
        pass
    reader.end()
    with locks.graph_writing(timeout_s=0), pytest.raises(BusyError), locks.graph_reading(timeout_s=0):
        pass


def test_the_pen_does_not_keep_graph_readers_out(locks: HomeLocks, writer: Holder) -> None:
    with locks.graph_reading(timeout_s=0):
        pass


def test_indexing_is_one_at_a_time_beside_the_pen(locks: HomeLocks, writer: Holder) -> None:
    with locks.indexing(timeout_s=0), pytest.raises(BusyError), locks.indexing(timeout_s=0):
        pass


def busy(locks: HomeLocks, how: str, *arguments: str) -> str:
    """What whoever wants a lock that is held is told."""
    with pytest.raises(BusyError) as refused, getattr(locks, how)(*arguments, timeout_s=0):
        pass
    return refused.value.message


def test_it_is_said_who_holds_which_lock_now(tmp_path: Path, locks: HomeLocks, writer: Holder) -> None:
    graph = Holder(tmp_path / "locks", "graph_writing")
    index = Holder(tmp_path / "locks", "indexing")
    builder = Holder(tmp_path / "locks", "rebuilding")
    for how in ("graph_reading", "graph_writing"):
        assert f"process {graph.process.pid} (graph, since" in busy(locks, how)
    assert f"process {index.process.pid} (index, since" in busy(locks, "indexing")
    assert f"process {builder.process.pid} (rebuild l2, since" in busy(locks, "rebuilding")
    assert f"process {writer.process.pid} (capture, since" in busy(locks, "writing", "x")
    graph.kill()
    reader = Holder(tmp_path / "locks", "graph_reading")
    said = busy(locks, "graph_writing")
    assert said == "the home is busy (the graph is being read by another process)", "the dead are not named"
    for holder in (reader, index, builder):
        holder.kill()
    with locks.rebuilding(timeout_s=0), locks.indexing(timeout_s=0):
        pass


def test_whoever_comes_back_at_once_stands_behind_the_one_who_waits(tmp_path: Path) -> None:
    locks = HomeLocks(tmp_path / "locks", 20.0)
    took: list[str] = []
    waits = threading.Event()
    enough = threading.Event()

    def wait_for_it() -> None:
        waits.set()
        with locks.writing("wait"):
            took.append("waited")
        enough.set()

    waiter = threading.Thread(target=wait_for_it)
    with locks.writing("hold"):
        waiter.start()
        assert waits.wait(10)
        while not _is_held(tmp_path / "locks/writer-turn.lock"):
            pass
    while not enough.is_set():
        with locks.writing("again"):
            took.append("again")
    waiter.join()
    assert took[0] == "waited"


def _is_held(path: Path) -> bool:
    import portalocker

    if not path.exists():
        return False
    with path.open("r+b") as file:
        try:
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.exceptions.LockException:
            return True
        return False


GREEDY = """
import sys, time
from pathlib import Path
from alaya_core.stores.locking import HomeLocks
locks = HomeLocks(Path(sys.argv[1]), 30.0)
print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    began = time.monotonic()
    with locks.writing("loop"):
        print(time.monotonic() - began, flush=True)
        time.sleep(0.03)
"""


@pytest.mark.slow
def test_nobody_starves_among_writers_in_a_loop(tmp_path: Path) -> None:
    command = [sys.executable, "-c", GREEDY, str(tmp_path / "locks"), "5"]
    crowd = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(5)]
    for one in crowd:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in crowd:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    waited = [[float(line) for line in one.communicate(timeout=60)[0].split()] for one in crowd]
    turns = [len(waits) for waits in waited]
    assert min(turns) > max(turns) / 3, turns
    assert max(map(max, waited)) < 2.5, "half of the time that they fight for it"


def test_threads_keep_each_other_out_too(tmp_path: Path) -> None:
    locks = HomeLocks(tmp_path / "locks", 20.0)
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with locks.writing("work"):
                inside += 1
                most = max(most, inside)
                os.stat(tmp_path)  # noqa: PTH116 - lets another thread run
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (inside, most) == (0, 1)


def test_readers_in_a_loop_do_not_starve_a_writer(tmp_path: Path) -> None:
    locks = HomeLocks(tmp_path / "locks", 20.0)
    enough = threading.Event()
    reading = threading.Barrier(5)

    def read() -> None:
        reading.wait()
        while not enough.is_set():
            with locks.graph_reading():
                pass

    threads = [threading.Thread(target=read, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    reading.wait()
    try:
        for _ in range(5):
            with locks.graph_writing(timeout_s=10.0):
                pass
    finally:
        enough.set()
        for thread in threads:
            thread.join()


def test_its_files_are_for_the_owner_only(tmp_path: Path, umask: object) -> None:
    os.umask(0)
    locks = HomeLocks(tmp_path / "locks", 0.2)
    with locks.writing("x"), locks.graph_reading():
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "locks").iterdir()}
    assert set(modes.values()) == {0o600}
    assert (tmp_path / "locks").stat().st_mode & 0o777 == 0o700
