"""Every small file of a home of any bytes: each command still answers, or says plainly why not."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from alaya_core.errors import AlayaError, ConfigError
from alaya_core.memory import Memory
from alaya_core.models.requests import RecallOptions
from tests.conftest import Clock, counting_ids
from tests.core.fault_cli import Known, alaya, make_known
from tests.core.stores.test_store_locking import Holder

LONGEST_S = 30.0
SMALL = {
    "vitals": "raw/vitals.jsonl",
    "accesses": "raw/accesses/*.jsonl",
    "format": "raw/FORMAT",
    "session": "raw/sessions/*/*.json",
    "offsets": "raw/sessions/*/*.idx",
    "markdown": "raw/sessions/*/*.md",
    "context": "raw/contexts/*.json",
    "source": "raw/sources/*.zst",
    "graph's CURRENT": "kuzu/CURRENT",
    "vectors' CURRENT": "lancedb/CURRENT",
    "mark": "lancedb/gen-*/mark.json",
    "matrix": "lancedb/gen-*/matrix*.json",
    "label": "locks/writer.label",
    "embedding cache": "cache/*.sqlite",
}
"""Files that others may have damaged; the ledger and the databases have tests of their own."""

JUNK = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [b"", b"{}", b"[]", b"null", b"0", b"-1", b'"x"', b"\xff\xfe", b"gen-99", b"../../etc", b"gen-1\ngen-2\n"]
    ),
    st.builds(
        lambda value: json.dumps(value).encode(),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
            lambda inner: st.one_of(
                st.lists(inner, max_size=3),
                st.dictionaries(st.sampled_from(["seq", "marks", "id", "n", "last", "cards", "turns", "pid"]), inner),
            ),
            max_leaves=6,
        ),
    ),
)
SETTINGS = settings(
    max_examples=40, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Known:
    known = make_known(tmp_path_factory.mktemp("known"))
    with Memory.open(known.home, environ={}) as memory:
        memory.cool_down()
    return known


def uses(known: Known) -> dict[str, Callable[[Memory], object]]:
    """What people do with a home, changes behind questions."""
    card, talk = known.cards[0], known.cards[-1]
    return {
        "list": lambda memory: memory.list_cards(),
        "hottest": lambda memory: memory.list_cards(sort="hottest"),
        "show": lambda memory: memory.show(card),
        "trace": lambda memory: memory.trace(talk, full=True),
        "history": lambda memory: memory.history(),
        "recall": lambda memory: memory.recall("gofmt tabs", RecallOptions(vectors=False, context=True)),
        "status": lambda memory: memory.status(),
        "verify": lambda memory: memory.verify(),
        "doctor": lambda memory: memory.doctor(),
        "capture": lambda memory: memory.capture("one more"),
        "cool down": lambda memory: memory.cool_down(),
        "ingest": lambda memory: memory.ingest([known.more]),
        "distill": lambda memory: memory.distill(),
        "fix": lambda memory: memory.verify(fix=True, yes=True),
    }


def copied(known: Known, folder: str) -> Known:
    return known.copy(Path(folder) / "home")


def does_everything(known: Known) -> None:
    """Each command answers or fails plainly, in time; the truth is untouched by all of it."""
    ledger = b"".join(path.read_bytes() for path in sorted((known.home / "raw/ledger").glob("*.jsonl")))
    for name, use in uses(known).items():
        started = time.monotonic()
        try:
            with Memory.open(known.home, clock=Clock(), ids=counting_ids(900), environ={}) as memory:
                use(memory)
        except AlayaError:
            pass  # it said why not
        except Exception as error:
            error.add_note(f"in {name}")
            raise
        assert time.monotonic() - started < LONGEST_S, name
    after = b"".join(path.read_bytes() for path in sorted((known.home / "raw/ledger").glob("*.jsonl")))
    assert after.startswith(ledger)


ODD = [b"", b"\xff\x00junk", b"[]", b'{"seq": [], "marks": 3, "cards": [[1]], "id": {}}\n']


@pytest.mark.slow
@pytest.mark.parametrize(("which", "junk"), [(which, ODD[number % len(ODD)]) for number, which in enumerate(SMALL)])
def test_a_small_file_of_other_bytes(template: Known, which: str, junk: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        known = copied(template, folder)
        damage(known.home, which, junk)
        does_everything(known)


def damage(home: Path, which: str, junk: bytes) -> None:
    found = sorted(home.glob(SMALL[which]))
    for path in found or [home / SMALL[which].replace("*", "1")]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(junk)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@given(which=st.sampled_from(sorted(SMALL)), junk=JUNK)
@settings(SETTINGS, max_examples=300)
def test_small_files_of_any_bytes(template: Known, which: str, junk: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        known = copied(template, folder)
        damage(known.home, which, junk)
        does_everything(known)


VALUE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6), st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip
KEYS = (
    "embedding",
    "temperature",
    "recall",
    "home",
    "raw",
    "distill",
    "passages",
    "lifecycle",
    "graph",
    "version",
    "x",
)
NAMES = (
    "provider", "model", "dimensions", "base_url", "busy_timeout_s", "floor", "max_results", "hot_threshold",
    "cold_days", "keep_source", "engine", "timeout_s", "x",
)  # fmt: skip


@given(
    text=st.one_of(
        st.binary(max_size=40),
        st.builds(
            lambda value: json.dumps(value).encode(),
            st.dictionaries(
                st.sampled_from(KEYS), st.one_of(VALUE, st.dictionaries(st.sampled_from(NAMES), VALUE)), max_size=4
            ),
        ),
    )
)
@example(text=b'{"home": {"busy_timeout_s": NaN}}')
@example(text=b'{"embedding": {"timeout_s": Infinity}}')
@example(text=b"\xef\xbb\xbf{}")
@settings(SETTINGS, max_examples=400)
def test_a_config_of_any_bytes(template: Known, text: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        (home / "raw/ledger").mkdir(parents=True)
        shutil.copy(template.home / "raw/FORMAT", home / "raw/FORMAT")
        (home / "config.json").write_bytes(text)
        told = "config.json"
        try:
            with Memory.open(home, environ={}) as memory:
                assert len(memory.settings().settings) > 10
        except ConfigError as error:
            told = error.message
        assert "config.json" in told
        assert (home / "config.json").read_bytes() == text


@pytest.mark.slow
@pytest.mark.parametrize("which", ["vitals", "accesses", "context", "mark"])
def test_brackets_without_end(template: Known, which: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        known = copied(template, folder)
        damage(known.home, which, b"[" * 9_000)
        does_everything(known)


def test_a_config_of_brackets_without_end(home: Path) -> None:
    with Memory.open(home, environ={}, create=True):
        pass
    (home / "config.json").write_bytes(b"[" * 100_000)
    with pytest.raises(ConfigError):
        Memory.open(home, environ={})


@pytest.mark.parametrize(
    "label",
    [
        b"",
        b"\xff\x00",
        b"[]",
        b'{"pid": {}}',
        b'{"pid": "\\u001b[31m", "verb": 1, "since": 2}',
    ],
)
def test_a_label_of_any_bytes_only_says_less(home: Path, label: bytes) -> None:
    with Memory.open(home, environ={}, create=True):
        pass
    (home / "config.json").write_text('{"home": {"busy_timeout_s": 0.2}}')
    holder = Holder(home / "locks", "writing", "x")
    try:
        (home / "locks/writer.label").write_bytes(label)
        said = alaya(home, "capture", "not now")
        assert (said.status, said.code) == (5, "busy")
        assert "busy" in said.message
    finally:
        holder.kill()
    assert alaya(home, "capture", "now").status == 0
