"""What is kept of a model's work: answers, and vectors of small talk; none of it is the truth."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from alaya_core.stores.noise_bank import NoiseBank
from alaya_core.stores.replies import ReplyCache, reply_key


def test_an_answer_is_found_by_all_it_was_an_answer_to(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "replies")
    key = reply_key("m", "system", "user \ud800")
    assert cache.get(key) is None
    cache.put(key, "text \ud800")
    assert cache.get(key) == "text \ud800"
    assert len({reply_key("m", "a", "b"), reply_key("m", "ab", ""), reply_key("ma", "", "b")}) == 3


def test_a_spoilt_answer_is_none(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path)
    key = reply_key("m")
    for spoilt in (b"", b"[]", b'{"text": 7}', b"\xff"):
        (tmp_path / f"{key}.json").write_bytes(spoilt)
        assert cache.get(key) is None


def test_the_oldest_answers_go(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path, most=3)
    for number in range(5):
        key = reply_key(str(number))
        cache.put(key, str(number))
        if (path := tmp_path / f"{key}.json").exists():
            os.utime(path, ns=(number, number))
    kept = [cache.get(reply_key(str(number))) for number in range(5)]
    assert [reply for reply in kept if reply is not None] == ["2", "3", "4"]
    cache.clear()
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_takes_nothing_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    ReplyCache(tmp_path / "file").put("k", "")
    NoiseBank(tmp_path / "file", "m").save(np.ones((1, 2), np.float32), np.array([True]))


def test_small_talk_is_kept_by_model(tmp_path: Path) -> None:
    vectors, chinese = np.eye(3, dtype=np.float32)[:2], np.array([True, False])
    bank = NoiseBank(tmp_path, "model a")
    assert len(bank.load(3)[0]) == 0
    bank.save(vectors, chinese)
    assert np.array_equal(bank.load(3)[0], vectors)
    assert np.array_equal(bank.load(3)[1], chinese)
    assert len(bank.load(4)[0]) == 0, "a model whose vectors have another length"
    assert len(NoiseBank(tmp_path, "model b").load(3)[0]) == 0
    [path] = list(tmp_path.iterdir())
    path.write_bytes(path.read_bytes()[:40])
    assert len(bank.load(3)[0]) == 0
