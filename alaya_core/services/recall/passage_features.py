"""What is known of each passage that a query may mean: its words and meaning, those of the turns around it and of its
session, who speaks. Arrays in, arrays out; no I/O but the records mapped into memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alaya_core import words
from alaya_core.services.recall.weighing import token_weights
from alaya_core.stores.passage_columns import ASKS, HAN, SAID, TIMED, PassageColumns, token_code

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]
Rescale = Callable[[Floats, NDArray[np.bool_]], Floats]
"""Cosines, and whether each text is Chinese, to similarities on the scale of all thresholds."""

AROUND = 3
"""Turns before and after one that count as what stands around it."""
_STEPS = 6
"""Passages that are looked at in either direction for these turns: a long turn is several."""
_LONG = 64
_WHEN = re.compile(
    r"\b(?:when|what (?:date|day|month|year|time)|which (?:day|month|year)|how (?:long|often|recently))\b"
    r"|什么时候|何时|哪[天年月日]|哪一[天年月日]|几[号月点年]|多久|多长时间|日期",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as the passages are asked.

    Attributes:
        tokens: What it asks for.
        exact: Of each of its identifiers the tokens that are the identifier.
        when: Whether it asks for a time.
        vector: Of the query, of length 1; None = meaning is not asked.
    """

    tokens: tuple[str, ...]
    exact: tuple[tuple[str, ...], ...] = ()
    when: bool = False
    vector: Floats | None = None


def asked(query: str, vector: Floats | None) -> Asked:
    """Takes a query apart."""
    tokens = words.query_words(query)
    exact = []
    for term in words.identifiers(query):
        parts = tuple(words.tokens(term))
        whole = tuple(token for token in parts if token.startswith(("qxw", "qxh")))
        exact.append(whole[:1] or parts)
    return Asked(tokens, tuple(exact), _WHEN.search(query) is not None, vector)


@dataclass(frozen=True, slots=True)
class Features:
    """Of each row (n,), each a share of 1 unless said otherwise.

    Attributes:
        rows: The rows.
        words, words_near, words_around, words_session: Share of what was asked, by what it tells, that the passage
            has; it and the turns next to it; it and those up to `AROUND` away; the passages found of its session.
        answers: Share of what was asked that the turn said right before it has, where that is a question.
        meaning, meaning_around: Rescaled similarity of the passage, and the mean of it and the turns around it.
        speaker: 1 where the query names who speaks.
        length: Logarithm of its number of tokens, up to a limit.
        asks: 1 where it is a question.
        timed: 1 where it tells a time and the query asks for one.
        exact: Share of the query's identifiers that it has as they stand.
        tool: Whether a tool printed it.
    """

    rows: Rows
    words: Floats
    words_near: Floats
    words_around: Floats
    words_session: Floats
    answers: Floats
    meaning: Floats
    meaning_around: Floats
    speaker: Floats
    length: Floats
    asks: Floats
    timed: Floats
    exact: Floats
    tool: NDArray[np.bool_]


def passage_features(
    columns: PassageColumns, question: Asked, rows: Rows, found: Rows, rescale: Rescale | None
) -> Features:
    """The features of some rows.

    Args:
        rows: To be judged, each once.
        found: Those that the words leg brought: by them it is judged how much a word tells.
        rescale: None = meaning is not asked.
    """
    around, distance = _surroundings(columns, rows)
    every, place = np.unique(np.concatenate((around.ravel(), rows, found)), return_inverse=True)
    present = every >= 0
    own = place[around.size : around.size + len(rows)]
    hits = place[around.size + len(rows) :]
    place = place[: around.size].reshape(around.shape)
    codes = [token_code(token) for token in question.tokens]
    held = np.zeros((len(every), len(codes)), bool)
    held[present] = columns.holding(every[present], codes)
    having = held[hits].sum(axis=0).tolist()
    weights = np.array(token_weights(question.tokens, having, int(held[hits].any(axis=1).sum())), np.float32)
    within = {reach: (distance <= reach) & (around >= 0) for reach in (1, AROUND)}
    # Its own words stand in all of them.
    mine = held[own]
    near, wide = (mine | (held[place] & within[reach][:, :, None]).any(axis=1) for reach in (1, AROUND))
    records = columns.records[rows]
    sessions = records["session"]
    meaning, meaning_around = _meaning(columns, question, every, place, own, within[AROUND], rescale)
    return Features(
        rows=rows,
        words=_share(mine, weights),
        words_near=_share(near, weights),
        words_around=_share(wide, weights),
        answers=_share(_questions(columns, around, distance, held[place], records), weights),
        words_session=_share(_of_sessions(columns.records["session"][found], held[hits], sessions), weights),
        meaning=meaning,
        meaning_around=meaning_around,
        speaker=_named(columns, question.tokens, records["name"]),
        length=np.log1p(np.minimum(records["tokens"], _LONG)).astype(np.float32),
        asks=(records["flags"] & ASKS > 0).astype(np.float32),
        timed=((records["flags"] & TIMED > 0) & question.when).astype(np.float32),
        exact=_exact(columns, question, rows),
        tool=records["flags"] & SAID == 0,
    )


def neighbours_of(columns: PassageColumns, rows: Rows, steps: int) -> Rows:
    """Rows and what was said up to so many passages before and after them, each once; nothing that is not there."""
    reached = [rows]
    for field in ("before", "after"):
        step = rows
        for _ in range(steps):
            step = _next(columns, step, field)
            reached.append(step)
    every = np.unique(np.concatenate(reached))
    return every[every >= 0]


def _surroundings(columns: PassageColumns, rows: Rows) -> tuple[Rows, NDArray[np.int64]]:
    """(n, 2 * steps): what was said around each row, -1 = nothing; and how many turns away it is."""
    said = columns.records["said"][rows].astype(np.int64)
    reached, distances = [], []
    for field in ("before", "after"):
        step = rows
        for _ in range(_STEPS):
            step = _next(columns, step, field)
            away = np.abs(columns.records["said"][np.maximum(step, 0)] - said)
            step = np.where(away <= AROUND, step, -1)
            reached.append(step)
            distances.append(away)
    return np.stack(reached, axis=1), np.stack(distances, axis=1)


def _next(columns: PassageColumns, rows: Rows, field: str) -> Rows:
    if not len(rows):
        return rows
    following = columns.records[field][np.maximum(rows, 0)].astype(np.int64)
    return np.where((rows >= 0) & (following < len(columns)), following, -1)


def _share(held: NDArray[np.bool_], weights: Floats) -> Floats:
    total = float(weights.sum())
    return np.asarray(held @ weights / total if total > 0 else np.zeros(len(held)), np.float32)


def _of_sessions(
    found_in: NDArray[np.int32], held: NDArray[np.bool_], sessions: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """(n, tokens): what the passages found of each row's session have together."""
    result = np.zeros((len(sessions), held.shape[1]), bool)
    if not len(found_in) or not len(sessions):
        return result
    numbers, place = np.unique(found_in, return_inverse=True)
    together = np.zeros((len(numbers), held.shape[1]), bool)
    np.logical_or.at(together, place, held)
    at = np.clip(np.searchsorted(numbers, sessions), 0, len(numbers) - 1)
    same = numbers[at] == sessions
    result[same] = together[at[same]]
    return result


def _questions(
    columns: PassageColumns, around: Rows, distance: NDArray[np.int64], held: NDArray[np.bool_], records: Any
) -> NDArray[np.bool_]:
    """(n, tokens): what the turn said right before each row has, where it is a question and the row was said."""
    previous = (distance[:, :_STEPS] == 1) & (around[:, :_STEPS] >= 0)
    asking = columns.records["flags"][np.maximum(around[:, :_STEPS], 0)] & ASKS > 0
    answering = (previous & asking).any(axis=1) & (records["flags"] & SAID > 0)
    return np.asarray((held[:, :_STEPS] & previous[:, :, None]).any(axis=1) & answering[:, None])


def _meaning(
    columns: PassageColumns,
    question: Asked,
    every: Rows,
    place: NDArray[np.intp],
    own: NDArray[np.intp],
    within: NDArray[np.bool_],
    rescale: Rescale | None,
) -> tuple[Floats, Floats]:
    if question.vector is None or rescale is None:
        return np.zeros(len(own), np.float32), np.zeros(len(own), np.float32)
    cosines = np.full(len(every), np.nan, np.float32)
    present = every >= 0
    cosines[present] = columns.cosines(every[present], question.vector)
    known = ~np.isnan(cosines)
    similar = np.zeros(len(every), np.float32)
    han = columns.records["flags"][every[known]] & HAN > 0
    similar[known] = rescale(cosines[known], han)
    counted = within & known[place]
    total = (similar[place] * counted).sum(axis=1) + similar[own]
    return similar[own], np.asarray(total / (counted.sum(axis=1) + 1), np.float32)


def _named(columns: PassageColumns, tokens: Sequence[str], names: NDArray[np.int32]) -> Floats:
    """1 where a word of the query is one of the speaker's name."""
    asked_for = set(tokens)
    named = np.array([not asked_for.isdisjoint(name) for name in columns.name_tokens] or [False])
    return np.where(names >= 0, named[np.clip(names, 0, len(named) - 1)], False).astype(np.float32)


def _exact(columns: PassageColumns, question: Asked, rows: Rows) -> Floats:
    if not question.exact:
        return np.zeros(len(rows), np.float32)
    found = [columns.holding(rows, [token_code(one) for one in term]).all(axis=1) for term in question.exact]
    return np.asarray(np.mean(found, axis=0), np.float32)
