"""The passages' table and the records beside it: one is the other in another form, whatever came, grew and went."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alaya_core import words
from alaya_core.errors import DamagedError
from alaya_core.models.requests import Filters
from alaya_core.stores.passage_columns import MEANS, RECORDS, SESSIONS, STRETCHES, TOKENS, VECTORS, token_code
from alaya_core.stores.passage_table import PassageTable
from tests.core.stores.passage_worlds import DIMENSIONS, MINUTE_MS, Model, everything, live, opened, rows_of, units

TALK = ("Which port does the gateway use?", "It is 8443.", "> listening on 8443", "Thank you, I will note that.")
OTHER = ("The cat is called Miso.", "A lovely name for a cat.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "gen-1"


@pytest.fixture
def table(folder: Path) -> PassageTable:
    return opened(folder)


def put(table: PassageTable, model: Model, session: str, texts: tuple[str, ...]) -> list[int]:
    """Appends turns to a session, in the table and in its model; gives the row ids."""
    rows = rows_of(session, texts, model.turns(session), model.said(session))
    table.add(rows)
    model.add(rows)
    ids = table.table.row_ids()
    return [ids[row["id"]] for row in rows]


def embed(table: PassageTable, model: Model, seed: int = 0) -> None:
    """Gives a vector to all that was said and has none."""
    columns = table.columns()
    rows = [int(row) for row in columns.embeddable() if columns.records[row]["scale"] <= 0]
    vectors = units(len(rows), seed)
    table.put_vectors(rows, vectors)
    names = {row: key for key, row in table.table.row_ids().items()}
    model.vectors |= {names[row]: vector for row, vector in zip(rows, vectors, strict=True)}


def matched(
    table: PassageTable, query: str, filters: Filters | None = None, scopes: list[str] | None = None
) -> list[str]:
    rows, scores = table.match(words.match_query(query), filters or Filters(), scopes, 50)
    assert list(scores) == sorted(scores, reverse=True)
    found = table.rows([int(row) for row in rows])
    return [found[int(row)]["id"] for row in rows]


# what came


def test_passages_are_matched_by_their_words_and_told_as_they_are(table: PassageTable) -> None:
    model = Model()
    put(table, model, "a", TALK)
    put(table, model, "b'--", OTHER)
    table.table.index_words()
    assert matched(table, "which port gateway")[0] == "a#0.0"
    assert matched(table, "cat") == ["b'--#0.0", "b'--#1.0"] or set(matched(table, "cat")) == {"b'--#0.0", "b'--#1.0"}
    assert matched(table, "nothing of the kind: zebra") == []
    [row_id] = [row for key, row in table.table.row_ids().items() if key == "a#1.0"]
    [told] = table.rows([row_id, 99_999]).values()
    assert (told["text"], told["session_id"], told["turn"], told["name"]) == ("It is 8443.", "a", 1, "Ben")
    model.check(table)


def test_filters_and_scopes_hold_for_words(table: PassageTable) -> None:
    table.add(rows_of("a", TALK))
    table.add(rows_of("b", TALK, agent="other"))
    table.table.index_words()
    everywhere = {"a#0.0", "b#0.0"}
    assert set(matched(table, "which gateway")) == everywhere
    assert set(matched(table, "which gateway", Filters(session="a"))) == {"a#0.0"}
    assert set(matched(table, "which gateway", Filters(scope=("agent:other",)))) == {"b#0.0"}
    assert set(matched(table, "which gateway", scopes=["agent:main"])) == {"a#0.0"}
    assert set(matched(table, "which gateway", Filters(since=1))) == set()
    assert {key[0] for key in matched(table, "8443", Filters(until=MINUTE_MS))} == {"a", "b"}
    assert {key[2] for key in matched(table, "8443", Filters(until=MINUTE_MS))} == {"1"}
    columns = table.columns()
    every = np.arange(len(columns))
    for filters, scopes, sessions in (
        (Filters(session="a"), None, {"a"}),
        (Filters(scope=("agent:other",)), None, {"b"}),
        (Filters(), ["agent:main"], {"a"}),
        (Filters(scope=("agent:other",)), ["agent:main"], set()),
        (Filters(session="unknown"), None, set()),
    ):
        seen = columns.visible(filters, scopes)
        passed = columns.passing(every, filters, seen)
        assert {columns.key(int(row))[0] for row in passed} == sessions
        assert columns.searched(seen) == len(passed)
    between = columns.passing(every, Filters(since=MINUTE_MS, until=2 * MINUTE_MS), None)
    assert {columns.key(int(row))[1] for row in between} == {1, 2}


def test_a_turn_without_a_time_passes_no_filter_of_time(table: PassageTable) -> None:
    table.add([row | {"timestamp": None} for row in rows_of("a", OTHER)])
    rows = np.arange(2)
    assert len(table.columns().passing(rows, Filters(), None)) == 2
    assert not len(table.columns().passing(rows, Filters(since=-(2**63) + 1), None))
    assert not len(table.columns().passing(rows, Filters(until=2**62), None))


def test_a_long_turn_is_several_passages_in_one_chain(table: PassageTable) -> None:
    model = Model()
    rows = put(table, model, "a", ("Before.", "A sentence of this long turn. " * 120, "After."))
    assert len(rows) > 4
    model.check(table)
    assert table.said_before("a") == 3, "turns are counted, not passages"


def test_records_fit_their_rows_whatever_came_grew_and_went(folder: Path, table: PassageTable) -> None:
    model = Model()
    put(table, model, "a", TALK)
    put(table, model, "b", OTHER)
    put(table, model, "a", ("One more thing.", "> done", "And another."))
    put(table, model, "b", ("Cats again.",))
    embed(table, model)
    model.check(table)
    table.remove("a", 3)
    model.remove("a", 3)
    model.check(table)
    put(table, model, "a", ("Instead of what was there.", "Yes."))
    table.table.index_words()
    table.table.compact(0.0)
    model.check(table)
    put(table, model, "c", TALK)
    embed(table, model, 1)
    model.check(opened(folder))
    assert set(matched(opened(folder), "instead")) == {"a#3.0"}


def test_another_reader_sees_what_is_written_at_once(folder: Path, table: PassageTable) -> None:
    reader, model = opened(folder), Model()
    put(table, model, "a", TALK)
    model.check(reader)
    embed(table, model)
    model.check(reader)
    assert reader.columns().searched(None) == 4
    table.remove("a", 2)
    model.remove("a", 2)
    model.check(reader)
    assert reader.columns().searched(None) == 2


def test_removing_what_is_not_there_changes_nothing(table: PassageTable) -> None:
    model = Model()
    table.remove("a", 0)
    put(table, model, "a", TALK)
    table.remove("a", 9)
    table.remove("b", 0)
    model.check(table)
    table.remove("a", 0)
    model.remove("a", 0)
    model.check(table)
    assert table.match(words.match_query("port"), Filters(), None, 5)[0].tolist() == []


# what went


def test_of_what_is_removed_no_byte_is_left(folder: Path, table: PassageTable) -> None:
    model = Model()
    put(table, model, "a", ("Kept words of the beginning.", "Also kept.", "Not forever.", "Nor this."))
    put(table, model, "b", OTHER)
    put(table, model, "a", ("The xylophone password.", "Quixotic zeppelin."))
    embed(table, model)
    columns = table.columns()
    gone = [row for row in live(columns) if columns.key(row)[0] == "a" and columns.key(row)[1] >= 2]
    traces = [columns.vectors[row].tobytes() for row in gone if columns.records[row]["scale"] > 0]
    traces += [mean.tobytes() for mean in columns.means if not np.allclose(mean, _mean_of(columns, "b"))]
    traces += [record["text"].tobytes() for record in columns.records[gone]]
    assert len(traces) == 4 + 2 + 4
    before = everything(folder)
    assert all(trace in before for trace in traces)
    codes = {token_code(token) for token in words.tokens("xylophone password quixotic zeppelin forever")}
    assert codes <= set(columns.tokens.tolist())
    table.remove("a", 2)
    after = everything(folder)
    assert not [trace for trace in traces if trace in after]
    assert not codes & set(table.columns().tokens.tolist())
    assert not table.columns().vectors[gone].any()
    assert len(after) == len(before)
    model.remove("a", 2)
    model.check(table)


def _mean_of(columns, session: str) -> np.ndarray:
    [place] = [at for at, one in enumerate(columns.stretches) if columns.sessions[one["session"]] == session]
    return np.array(columns.means[place])


def test_a_vector_that_was_written_but_not_counted_goes_too(folder: Path, table: PassageTable) -> None:
    """A writer killed in between leaves a vector of a passage that is said to have none."""
    model = Model()
    [row, _] = put(table, model, "a", OTHER)
    vectors = folder / "passages" / VECTORS
    vectors.write_bytes(b"\x07" * 2 * DIMENSIONS)
    assert np.isnan(table.columns().cosines(np.array([row]), units(1)[0]))[0]
    table.remove("a", 0)
    assert not any(vectors.read_bytes())


# vectors


def test_cosines_are_those_of_the_exact_vectors(table: PassageTable) -> None:
    texts = tuple(f"Turn number {number}." for number in range(60))
    rows = put(table, Model(), "a", texts)
    vectors, queries = units(60), units(20, 1)
    table.put_vectors(rows[:50], vectors[:50])
    for query in queries:
        found = table.columns().cosines(np.array(rows), query)
        assert np.abs(found[:50] - vectors[:50] @ query).max() < 0.01
        assert np.isnan(found[50:]).all()
    np.testing.assert_allclose(table.columns().cosines(np.array([rows[7]]), vectors[7]), 1, atol=0.01)


@pytest.mark.parametrize("bad", [np.zeros(DIMENSIONS), np.full(DIMENSIONS, np.nan), np.full(DIMENSIONS, np.inf)])
def test_a_vector_that_is_none_is_not_kept(table: PassageTable, bad: np.ndarray) -> None:
    [row, other] = put(table, Model(), "a", OTHER)
    table.put_vectors([row, other], np.stack([bad, units(1)[0]]).astype(np.float32))
    found = table.columns().cosines(np.array([row, other]), units(1)[0])
    assert np.isnan(found[0])
    assert found[1] > 0.99
    assert table.columns().nearest_stretches(units(1)[0], 5, None).tolist() == [other]


def test_a_vector_for_what_went_meanwhile_is_not_kept(folder: Path, table: PassageTable) -> None:
    model = Model()
    rows = put(table, model, "a", OTHER)
    table.remove("a", 1)
    model.remove("a", 1)
    vectors = units(2)
    table.put_vectors([*rows, 500], np.concatenate([vectors, units(1, 5)]))
    model.vectors["a#0.0"] = vectors[0]
    model.check(table)
    assert not table.columns().vectors[1:].any()


def test_the_stretch_that_means_it_is_found(table: PassageTable) -> None:
    centres = units(40, 3)
    for number, centre in enumerate(centres):
        rows = put(table, Model(), f"s{number}", tuple(f"Turn {turn} of {number}." for turn in range(6)))
        near = centre + 0.15 * units(6, 100 + number)
        table.put_vectors(rows, near / np.linalg.norm(near, axis=1, keepdims=True))
    columns = table.columns()
    for number, centre in enumerate(centres):
        found = columns.nearest_stretches(centre, 1, None)
        assert {columns.key(int(row))[0] for row in found} == {f"s{number}"}
        assert len(found) == 6
    assert len(columns.nearest_stretches(centres[0], 500, None)) == 240
    assert len(columns.nearest_stretches(centres[0], 0, None)) == 0
    seen = columns.visible(Filters(session="s5"), None)
    found = columns.passing(columns.nearest_stretches(centres[0], 3, seen), Filters(), seen)
    assert {columns.key(int(row))[0] for row in found} == {"s5"}, "nearer ones are not seen and take no place"


def test_a_stretch_is_shortened_and_means_what_is_left(table: PassageTable) -> None:
    rows = put(table, Model(), "a", tuple(f"Turn {turn}." for turn in range(6)))
    vectors = np.eye(DIMENSIONS, dtype=np.float32)[:6]
    table.put_vectors(rows, vectors)
    table.remove("a", 2)
    columns = table.columns()
    assert columns.nearest_stretches(vectors[0], 5, None).tolist() == rows[:2]
    wanted = (vectors[0] + vectors[1]) / np.sqrt(2)
    np.testing.assert_allclose(columns.means[0], wanted, atol=0.02)
    table.remove("a", 0)
    assert not len(table.columns().nearest_stretches(vectors[0], 5, None))


def test_a_stretch_ends_where_another_session_came_in_between(table: PassageTable) -> None:
    """It is a span of rows: else a session that grew late would bring everything that came meanwhile."""
    model = Model()
    mine = put(table, model, "a", OTHER)
    put(table, model, "b", tuple(f"Turn {turn}." for turn in range(50)))
    mine += put(table, model, "a", OTHER)
    vectors = np.repeat(units(1), 4, axis=0)
    table.put_vectors(mine, vectors)
    assert sorted(table.columns().nearest_stretches(vectors[0], 10, None).tolist()) == mine


# another generation


def test_vectors_are_carried_where_the_text_is_the_same(tmp_path: Path, folder: Path, table: PassageTable) -> None:
    model = Model()
    put(table, model, "a", TALK)
    put(table, model, "b", OTHER)
    put(table, model, "a", ("Grown later.",))
    embed(table, model)
    table.remove("b", 1)
    other = opened(tmp_path / "gen-2")
    fresh = Model()
    put(other, fresh, "b", OTHER)
    put(other, fresh, "a", (*TALK[:3], "Said in other words.", "Grown later."))
    put(other, fresh, "c", ("Grown later.",))
    assert other.carry(table) == 4
    fresh.vectors = {key: model.vectors[key] for key in ("b#0.0", "a#0.0", "a#1.0", "a#4.0")}
    fresh.check(other)
    assert set(other.columns().nearest_stretches(model.vectors["a#0.0"], 1, None)) & set(live(other.columns()))


def test_a_generation_whose_vectors_were_cut_short_gives_what_it_has(tmp_path: Path, table: PassageTable) -> None:
    model = Model()
    put(table, model, "a", OTHER)
    embed(table, model)
    path = tmp_path / "gen-1/passages" / VECTORS
    path.write_bytes(path.read_bytes()[: DIMENSIONS + 3])
    other = opened(tmp_path / "gen-2")
    put(other, Model(), "a", OTHER)
    assert other.carry(opened(tmp_path / "gen-1")) == 1


# damage


def shrink(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("name", [RECORDS, TOKENS, SESSIONS, VECTORS, MEANS, ""])
def test_records_that_are_gone_or_cut_short_are_made_again(folder: Path, table: PassageTable, name: str) -> None:
    model = Model()
    put(table, model, "a", TALK)
    put(table, model, "b", OTHER)
    put(table, model, "a", ("Grown.",))
    table.remove("b", 1)
    model.remove("b", 1)
    embed(table, model)
    fields = ["turn", "piece", "said", "before", "after", "time", "length", "text", "flags"]
    records = np.array(table.columns().records[fields])
    if name:
        shrink(folder / "passages" / name)
    else:
        shutil.rmtree(folder / "passages")
    damaged = opened(folder)
    assert not damaged.whole()
    damaged.mend()
    model.vectors.clear()
    model.check(damaged)
    assert (damaged.columns().records[fields] == records).all()
    model.check(table)
    put(damaged, model, "b", ("After the mending.",))
    embed(damaged, model)
    model.check(damaged)


def test_rows_that_never_got_their_records_are_mended(folder: Path, table: PassageTable) -> None:
    """A writer killed between the table and the records."""
    model = Model()
    put(table, model, "a", TALK)
    lost = rows_of("b", OTHER)
    table.table.add(lost)
    assert not table.whole()
    table.table.index_words()
    assert matched(table, "cat") == [], "what has no record yet is not found"
    table.remove("b", 0)
    assert table.whole()
    put(table, model, "b", OTHER)
    model.check(table)
    assert set(matched(table, "cat")) == {"b#0.0", "b#1.0"}
    table.table.add(rows_of("c", OTHER))
    table.mend()
    model.add(rows_of("c", OTHER))
    model.check(table)


def test_records_of_other_passages_are_said_to_be_damaged(folder: Path, table: PassageTable) -> None:
    put(table, Model(), "a", OTHER)
    (folder / "passages" / SESSIONS).write_bytes(b'{"session": "z", "scope": "agent:main"}\n')
    with pytest.raises(DamagedError):
        opened(folder).rows([0])
    (folder / "passages" / SESSIONS).write_bytes(b"not json\n")
    with pytest.raises(DamagedError):
        opened(folder).rows([0])
    (folder / "passages" / SESSIONS).write_bytes(b"")
    with pytest.raises(DamagedError):
        opened(folder).rows([0])


# whatever happens

TEXTS = st.lists(st.sampled_from([*TALK, *OTHER, "> output", "A sentence. " * 90, "猫叫什么名字？"]), max_size=4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from("abc"), TEXTS),
        st.tuples(st.just("remove"), st.sampled_from("abc"), st.integers(0, 6)),
        st.tuples(st.just("embed"), st.just(""), st.integers(0, 9)),
        st.tuples(st.just("compact"), st.just(""), st.none()),
        st.tuples(st.just("reopen"), st.just(""), st.none()),
        st.tuples(st.just("mend"), st.just(""), st.none()),
    ),
    max_size=9,
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_table_and_records_stay_one(steps: list[tuple[str, str, object]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "gen"
        table, model = opened(folder), Model()
        for kind, session, what in steps:
            if kind == "add":
                put(table, model, session, tuple(what))  # type: ignore[arg-type]
            elif kind == "remove":
                table.remove(session, what)  # type: ignore[arg-type]
                model.remove(session, what)  # type: ignore[arg-type]
            elif kind == "embed":
                embed(table, model, what)  # type: ignore[arg-type]
            elif kind == "compact":
                table.table.compact(0.0)
            elif kind == "mend":
                table.mend()
                model.vectors.clear()
            else:
                table = opened(folder)
            model.check(table)
        assert (folder / "passages" / STRETCHES).exists() == bool(len(table.columns().stretches))
