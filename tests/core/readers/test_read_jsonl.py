"""Walking lines: what is bad costs a line, what is long costs no memory, what branches is remembered cheaply."""

from __future__ import annotations

import io
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.models.session import SessionHeader, SessionStream
from alaya_core.readers.fields import human_size, to_ms
from alaya_core.readers.jsonl import lines, look_ahead, records
from alaya_core.readers.tree import CompactMap, Tree


def walk(data: bytes) -> tuple[list[tuple[int, dict[str, Any]]], list[tuple[int | None, str]]]:
    stream = SessionStream(SessionHeader(""), iter(()))
    found = [(number, dict(value)) for number, value in records(io.BytesIO(data), stream)]
    return found, [(skipped.line, skipped.reason) for skipped in stream.skipped]


def test_each_bad_line_costs_itself_and_says_why() -> None:
    found, skipped = walk(
        b'\xef\xbb\xbf{"a":1}\r\nundefined\n[1]\n42\nnull\n"x"\n\n   \n{"b":"tab\there"}\n'
        b'{"c":"\xff"}\n{"d":\xff}\n' + b"[" * 100_000 + b'\n{"e":"half'
    )
    assert found == [(1, {"a": 1}), (9, {"b": "tab\there"}), (10, {"c": "\ufffd"})]
    assert skipped == [
        (2, "not JSON"),
        (3, "not a JSON object"),
        (4, "not a JSON object"),
        (5, "not a JSON object"),
        (6, "not a JSON object"),
        (10, "invalid UTF-8: the bad bytes replaced, the rest kept"),
        (11, "invalid UTF-8, not JSON"),
        (12, "nested too deeply"),
        (13, "cut short at the end of the file"),
    ]


def test_only_newlines_end_lines() -> None:
    found, skipped = walk('{"a":"\u2028\u2029\x85\x0b\x0c\x1c"}\n'.encode())
    assert found == [(1, {"a": "\u2028\u2029\x85\x0b\x0c\x1c"})]
    assert not skipped


def test_a_last_line_without_newline_that_parses_is_kept() -> None:
    assert walk(b'{"a":1}\n{"b":2}')[0] == [(1, {"a": 1}), (2, {"b": 2})]
    assert walk(b'{"a":1}\n42')[1] == [(2, "not a JSON object")]


class _Long(io.RawIOBase):
    """A line of 100 MB, then a short one, made up as it is read."""

    def __init__(self) -> None:
        self.left = 100

    def readable(self) -> bool:
        return True

    def readline(self, size: int | None = -1) -> bytes:
        self.left -= 1
        return (
            b"x" * 1_048_576 if self.left >= 0 else b"\n" if self.left == -1 else b'{"a":1}' if self.left == -2 else b""
        )


def test_a_line_too_long_is_skipped_without_being_loaded() -> None:
    tracemalloc.start()
    found = [(line.number, line.data) for line in lines(_Long(), max_line=4_194_304)]  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [(1, None), (2, b'{"a":1}')]
    assert peak < 12_000_000


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line), max_size=8), st.integers(0, 12))
def test_lines_are_those_of_split(parts: list[bytes], limit: int) -> None:
    data = b"\n".join(parts)
    expected = data.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    found = [line.data for line in lines(io.BytesIO(data), max_line=limit)]
    assert found == [part if len(part) <= limit else None for part in expected]


def test_looking_ahead_loses_nothing() -> None:
    items = [(n, {"n": n}) for n in range(20)]
    answer, rest = look_ahead(iter(items), lambda item: item["n"] if item["n"] == 5 else None)
    assert (answer, list(rest)) == (5, items)
    nothing, rest = look_ahead(iter(items), lambda item: None, limit=3)
    assert (nothing, list(rest)) == (None, items)


def tree(*entries: tuple[str, str | None]) -> list[list[int]]:
    grown = Tree()
    for number, (key, parent) in enumerate(entries):
        grown.add(key, parent, number, 1, root=parent is None)
    return grown.abandoned()


def test_abandoned_branches_are_ranges_of_turns() -> None:
    assert tree(("a", None), ("b", "a"), ("c", "b")) == []
    assert tree(("a", None), ("b", "a"), ("c", "b"), ("d", "a")) == [[1, 2]]
    assert tree(("a", None), ("b", "a"), ("x", "a"), ("c", "b"), ("y", "x"), ("d", "c")) == [[2, 2], [4, 4]]
    assert tree(("a", None), ("b", None)) == [[0, 0]]


def test_lost_parents_and_cycles_do_not_hang_or_abandon() -> None:
    assert tree(("a", "lost"), ("b", "also lost"), ("c", "c"), ("d", "e"), ("e", "d")) == []
    assert tree(("", None), ("a", None), ("", None)) == []


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from([*"abcdef", None])), max_size=30))
def test_any_tree_has_an_end(entries: list[tuple[str, str | None]]) -> None:
    for first, last in tree(*entries):
        assert 0 <= first <= last < len(entries)


@given(st.dictionaries(st.integers(1, 2**64 - 1), st.integers(0, 2**32 - 1), max_size=3_000))
def test_the_compact_map_is_a_map(items: dict[int, int]) -> None:
    compact = CompactMap()
    for key, value in items.items():
        compact.put(key, value ^ 1)
        compact.put(key, value)
    assert all(compact.get(key) == value for key, value in items.items())
    assert compact.get(next(n for n in range(1, 9_999) if n not in items)) is None


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        (1774938540, 1774938540000),
        (1774938540.5, 1774938540500),
        (1774938540000, 1774938540000),
        (1774938540000000, 1774938540000),
        ("1774938540", 1774938540000),
        ("1774938540000", 1774938540000),
        ("2026-03-31T06:29:00.000Z", 1774938540000),
        ("2026-03-31T06:29:00", 1774938540000),
        ("2026-03-31T14:29:00+08:00", 1774938540000),
        ("2026-03-31", 1774915200000),
        (0, 0),
        (-1, -1000),
        (None, None),
        (True, None),
        ("", None),
        ("soon", None),
        ([], None),
        (float("nan"), None),
        (float("inf"), None),
        ("1e400", None),
        (10**400, None),
        ("9" * 39, None),
    ],
)
def test_times_of_every_spelling(value: object, ms: int | None) -> None:
    assert to_ms(value) == ms


def test_a_time_without_zone_is_utc_wherever_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Shanghai")
        time.tzset()
        assert to_ms("2026-03-31T06:29:00") == 1774938540000
    time.tzset()


def test_sizes_for_people() -> None:
    assert [human_size(n) for n in (8, 12_345, 1_234_567)] == ["8 B", "12 KB", "1.2 MB"]
