"""The cache of vectors: what it keeps, and that no fault of its file ever reaches the work."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from alaya_core.stores.embedding_cache import EmbeddingCache, content_hash


def unit(seed: int, dim: int = 16) -> np.ndarray:
    vector = np.random.default_rng(seed).normal(size=dim).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


H = [content_hash(f"text {i}") for i in range(2000)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "embeddings.sqlite"


@pytest.fixture
def cache(path):
    made = EmbeddingCache(path)
    yield made
    made.close()


def test_what_was_put_is_there_also_tomorrow(cache, path):
    cache.put_many("m", {H[0]: unit(0), H[1]: unit(1)})
    found = cache.get_many("m", H[:3])
    assert set(found) == {H[0], H[1]}
    np.testing.assert_array_equal(found[H[0]], unit(0))
    assert found[H[0]].dtype == np.float32
    cache.close()
    other = EmbeddingCache(path)
    np.testing.assert_array_equal(other.get_many("m", [H[1]])[H[1]], unit(1))
    assert other.size() == 2
    other.close()
    assert cache.trouble == ""


def test_models_are_kept_apart(cache):
    cache.put_many("a", {H[0]: unit(0)})
    cache.put_many("b", {H[0]: unit(1, 32)})
    assert len(cache.get_many("a", [H[0]])[H[0]]) == 16
    assert len(cache.get_many("b", [H[0]])[H[0]]) == 32
    assert cache.get_many("c", [H[0]]) == {}
    assert cache.size() == 2


def test_many_at_once(cache):
    cache.put_many("m", {key: unit(i) for i, key in enumerate(H)})
    assert set(cache.get_many("m", H)) == set(H)


def test_putting_again_replaces(cache):
    cache.put_many("m", {H[0]: unit(0)})
    cache.put_many("m", {H[0]: unit(5)})
    np.testing.assert_array_equal(cache.get_many("m", [H[0]])[H[0]], unit(5))
    assert cache.size() == 1


def test_reading_makes_no_file(cache, path):
    assert cache.get_many("m", H[:2]) == {}
    assert cache.size() == 0
    assert cache.forget(H[:2])
    assert not path.exists()


def test_only_the_owner_may_read_it_whatever_the_umask(cache, path):
    old = os.umask(0)
    try:
        cache.put_many("m", {H[0]: unit(0)})
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_forget_leaves_no_byte(cache, path):
    cache.put_many("a", {key: unit(i) for i, key in enumerate(H[:50])})
    cache.put_many("b", {H[7]: unit(7)})
    aside = path.with_name(f"{path.name}.corrupt")
    aside.write_bytes(H[7])
    assert cache.forget([H[7]])
    assert cache.get_many("a", [H[7]]) == cache.get_many("b", [H[7]]) == {}
    assert cache.size() == 49
    assert not aside.exists()
    cache.close()
    data = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert H[7] not in data
    assert unit(7).tobytes() not in data
    assert H[8] in data


@pytest.mark.parametrize("content", [b"this is no database " * 400, b"SQLite format 3\x00" + b"\xff" * 8000])
def test_a_corrupt_file_is_set_aside_and_begun_again(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    cache = EmbeddingCache(path)
    assert cache.get_many("m", [H[0]]) == {}
    cache.put_many("m", {H[0]: unit(0)})
    assert set(cache.get_many("m", [H[0]])) == {H[0]}
    assert path.with_name(f"{path.name}.corrupt").read_bytes() == content
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert cache.trouble
    cache.close()


def test_a_file_that_breaks_in_the_middle(cache, path):
    cache.put_many("m", {key: unit(i, 256) for i, key in enumerate(H[:400])})
    cache.close()
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xaa" * (len(data) - 8192)
    path.write_bytes(data)
    cache.get_many("m", H[:400])
    cache.put_many("m", {H[0]: unit(0)})
    cache.put_many("m", {H[0]: unit(0)})
    assert set(cache.get_many("m", [H[0]])) == {H[0]}


def test_a_corrupt_file_is_not_set_aside_twice(path):
    """Another process replaced it by a good one meanwhile: the good one stays."""
    path.parent.mkdir()
    path.write_bytes(b"this is no database " * 400)
    late = EmbeddingCache(path)
    late._inode = -1
    assert late._set_aside()
    assert path.exists()
    assert not path.with_name(f"{path.name}.corrupt").exists()


@pytest.mark.parametrize("blob", [b"", b"abc", b"\x00" * 64, b"\xff" * 64])
def test_a_value_that_is_no_unit_vector_is_passed_over(cache, path, blob):
    cache.put_many("m", {H[0]: unit(0), H[1]: unit(1)})
    with sqlite3.connect(path) as db:
        db.execute("UPDATE vectors SET vector = ? WHERE hash = ?", [blob, H[0]])
    db.close()
    assert set(cache.get_many("m", H[:2])) == {H[1]}


def test_a_file_of_a_newer_version_is_left_alone(cache, path):
    cache.put_many("m", {H[0]: unit(0)})
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    before = path.read_bytes()
    cache.close()
    cache.put_many("m", {H[1]: unit(1)})
    assert cache.get_many("m", [H[0]]) == {}
    assert "newer version" in cache.trouble
    assert path.read_bytes() == before


def test_asked_to_be_read_only_it_reads_and_never_writes(cache, path):
    cache.put_many("m", {H[0]: unit(0)})
    cache.close()
    before = path.read_bytes()
    reader = EmbeddingCache(path, read_only=True)
    assert set(reader.get_many("m", [H[0]])) == {H[0]}
    reader.put_many("m", {H[1]: unit(1)})
    assert not reader.forget([H[0]])
    assert path.read_bytes() == before
    reader.close()


def test_a_place_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = EmbeddingCache(tmp_path / "file" / "embeddings.sqlite")
    cache.put_many("m", {H[0]: unit(0)})
    assert cache.get_many("m", [H[0]]) == {}
    assert cache.size() == 0
    assert cache.trouble


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="becomes another user, which root alone may"
)
@pytest.mark.parametrize("there", [True, False])
def test_a_home_of_somebody_else_is_read_and_not_written(there):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "embeddings.sqlite"
        if there:
            writer = EmbeddingCache(path)
            writer.put_many("m", {H[0]: unit(0)})
            writer.close()
            path.chmod(0o644)
        Path(folder).chmod(0o755)
        cache = EmbeddingCache(path)
        os.seteuid(65534)
        try:
            cache.put_many("m", {H[1]: unit(1)})
            assert set(cache.get_many("m", H[:2])) == ({H[0]} if there else set())
        finally:
            os.seteuid(0)
            cache.close()
        assert path.exists() == there


def test_several_processes_and_threads_write_at_once(path):
    code = (
        "import sys, numpy as np\nfrom pathlib import Path\n"
        "from alaya_core.stores.embedding_cache import EmbeddingCache, content_hash\n"
        "c = EmbeddingCache(Path(sys.argv[1])); v = np.eye(1, 16, dtype=np.float32)[0]\n"
        "for i in range(40): c.put_many('m', {content_hash(f'{sys.argv[2]}-{i}'): v})\n"
        "print(c.trouble, end='')"
    )
    path.parent.mkdir()
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(path), str(n)], stdout=subprocess.PIPE) for n in range(2)
    ]
    cache = EmbeddingCache(path)

    def put(keys: list[bytes]) -> None:
        for key in keys:
            cache.put_many("m", {key: unit(0)})

    threads = [threading.Thread(target=put, args=[H[at : at + 20]]) for at in (0, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.communicate()[0] for process in running] == [b"", b""]
    assert cache.size() == 120
    assert cache.trouble == ""
    cache.close()


def test_a_locked_file_is_waited_for_and_then_done_without(cache, path, monkeypatch):
    monkeypatch.setattr("alaya_core.stores.embedding_cache._BUSY_S", 0.05)
    cache.put_many("m", {H[0]: unit(0)})
    cache.close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    cache.put_many("m", {H[1]: unit(1)})
    assert "locked" in cache.trouble
    other.execute("ROLLBACK")
    other.close()
    assert set(cache.get_many("m", H[:2])) == {H[0]}


def test_the_hash_of_a_text():
    assert len(content_hash("a")) == 32
    assert content_hash("a") != content_hash("a ")
    assert content_hash("\ud800")
