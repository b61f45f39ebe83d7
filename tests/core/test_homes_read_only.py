"""A home that cannot be written, or that a newer version wrote: every question is answered, every change refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from alaya_core.stores.ledger_lines import encode_line
from tests.core.fault_cli import UNPRIVILEGED, Known, alaya, batch, make_known, may_run
from tests.core.homes import ledger_lines, segments

READS: dict[str, Callable[[Known], tuple[str, ...]]] = {
    "recall": lambda known: ("recall", "gofmt tabs"),
    "list": lambda known: ("list",),
    "show": lambda known: ("show", known.cards[0]),
    "trace": lambda known: ("trace", known.cards[-1]),
    "history": lambda known: ("history",),
    "status": lambda known: ("status",),
    "verify": lambda known: ("verify",),
    "config": lambda known: ("config",),
}
WRITES: dict[str, Callable[[Known], tuple[str, ...]]] = {
    "capture": lambda known: ("capture", "one more"),
    "edit": lambda known: ("edit", known.cards[0], "--title", "another"),
    "pin": lambda known: ("pin", known.cards[0]),
    "forget": lambda known: ("forget", known.cards[0]),
    "link": lambda known: ("link", known.cards[0], known.cards[2]),
    "unlink": lambda known: ("unlink", *known.cards[:2]),
    "merge": lambda known: ("merge", *known.cards[:2]),
    "undo": lambda known: ("undo",),
    "erase": lambda known: ("erase", known.cards[0], "--yes"),
    "ingest": lambda known: ("ingest", str(known.more)),
    "distill": lambda known: ("distill", "--redo"),
    "rebuild": lambda known: ("rebuild",),
    "upkeep": lambda known: ("upkeep",),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Known:
    return make_known(tmp_path_factory.mktemp("known"))


@pytest.fixture
def known(template: Known, home: Path) -> Iterator[Known]:
    yield template.copy(home)
    for path in [home, *sorted(home.rglob("*"))]:
        path.chmod(0o700 if path.is_dir() else 0o600)


def state(home: Path) -> dict[str, tuple[int, int]]:
    """Every file and folder, with its time and size."""
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in (home, *home.rglob("*"))}


def answers_and_refuses(
    known: Known, prefix: tuple[str, ...], status: int, code: str, usual: dict[str, int] | None = None
) -> None:
    """Every question gets its answer, and every change is refused, plainly.

    Args:
        prefix: What the processes are started by.
        status, code: Of the refusals.
        usual: The exit statuses of questions where they are not 0.
    """
    names = [*READS, *WRITES]
    commands = [words(known) for words in (*READS.values(), *WRITES.values())]
    for name, said in zip(names, batch(known.home, commands, prefix), strict=True):
        if name in WRITES:
            assert (said.status, said.document.get("error", {}).get("code")) == (status, code), f"{name}: {said}"
            continue
        assert said.status == (usual or {}).get(name, 0), said
        if name == "recall":
            assert said.document["results"][0]["card_id"] == known.cards[0]
        if name == "list":
            assert said.cards == set(known.cards)
        if name == "status":
            told = " ".join(said.document["health"])
            assert any(word in told for word in ("read-only", "newer", "behind the ledger")), told
    alone = alaya(known.home, "capture", "one more", prefix=prefix)
    assert (alone.status, alone.code) == (status, code)
    assert alaya(known.home, "list", prefix=prefix).cards == set(known.cards)


@pytest.mark.slow
def test_files_without_the_right_to_write(known: Known) -> None:
    if not may_run(UNPRIVILEGED):
        pytest.skip("nothing is forbidden to this user here")
    for path in [*known.home.rglob("*"), known.home]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    before = state(known.home)
    answers_and_refuses(known, UNPRIVILEGED, 1, "read_only")
    assert state(known.home) == before, "nothing was logged"


MOUNT = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


@pytest.mark.slow
def test_a_disk_that_is_mounted_to_read(known: Known) -> None:
    prefix = ("unshare", "-rm", "sh", "-c", MOUNT, str(known.home))
    if not may_run(prefix):
        pytest.skip("nothing can be mounted here")
    before = state(known.home)
    answers_and_refuses(known, prefix, 1, "read_only")
    assert state(known.home) == before, "nothing was logged"


@pytest.mark.slow
def test_a_home_of_a_newer_version(known: Known) -> None:
    (known.home / "raw/FORMAT").write_text("99\n")
    ledger = segments(known.home)[0].read_bytes()
    answers_and_refuses(known, (), 6, "newer_home")
    assert segments(known.home)[0].read_bytes() == ledger


@pytest.mark.slow
@pytest.mark.parametrize("event", [{"kind": "card.dreamt", "v": 1}, {"kind": "card.created", "v": 9, "card": {}}])
def test_changes_of_a_newer_version(known: Known, event: dict[str, object]) -> None:
    seq = ledger_lines(known.home)[-1]["seq"] + 1
    body = {"v": 1, "seq": seq, "id": "n", "at": 1, "actor": "human", "run": "", "device": "", "events": [event]}
    with segments(known.home)[0].open("ab") as file:
        file.write(encode_line(body))
    ledger = segments(known.home)[0].read_bytes()
    answers_and_refuses(known, (), 6, "newer_home", {"verify": 6, "history": 6})
    assert json.loads(segments(known.home)[0].read_bytes().splitlines()[-1])["events"] == [event]
    assert segments(known.home)[0].read_bytes() == ledger
