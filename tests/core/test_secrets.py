"""Secrets are masked, what only looks like one stays, and hostile text costs linear time."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.secrets import find, mask
from tests.core.secrets_cases import FALSE, TRUE


def test_true_cases_are_caught() -> None:
    missed = [text for text, value in TRUE if value in mask(text) or not find(text)]
    assert len(missed) <= 2, missed


def test_false_cases_stay() -> None:
    wrong = [(text[:80], mask(text)[:120]) for text in FALSE if find(text)]
    assert len(wrong) <= 1, wrong


def test_only_the_value_is_replaced() -> None:
    word = "Winter" + "Moon!84"
    assert mask(f"login with password={word}, then go") == "login with password=[secret:password], then go"
    assert mask(f"密码：{word}。好的") == "密码：[secret:password]。好的"
    assert mask(f"postgres://app:{word}@db/x") == "postgres://app:[secret:url-password]@db/x"
    assert mask('{"apiKey": "' + "0f" * 3 + "9c1b27d4" * 3 + '"}') == '{"apiKey": "[secret:key]"}'


@pytest.mark.parametrize("case", range(len(TRUE)))
def test_masking_twice_changes_nothing_more(case: int) -> None:
    once = mask(TRUE[case][0])
    assert mask(once) == once


@pytest.mark.parametrize(
    "piece",
    [
        *("a", "password=", "password: ", "password for a ", "sk-", "eyJaaaaaaaaa.", "a://", "a://b:", "://:@"),
        *("-----BEGIN " + "PRIVATE KEY-----", "mysql ", "curl x -u a:", "token is ", "1234567:", "data:a/b;"),
        *("密码是", "\"'", "A" * 700 + " ", "Bearer ", "cookie:a="),
    ],
)
def test_a_megabyte_line_takes_linear_time(piece: str) -> None:
    small, large = piece * (131_072 // len(piece)), piece * (1_048_576 // len(piece))
    begin = time.perf_counter()
    find(small)
    middle = time.perf_counter()
    find(large)
    end = time.perf_counter()
    assert end - middle < max(20 * (middle - begin), 2.0)
    assert end - middle < 15


@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    found = find(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= two.start for one, two in pairwise(found))
    assert mask(text) == mask(text)
