"""Faults to plant behind the back of a memory, and what `verify` is to make of each."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from alaya_core.memory import Memory
from alaya_core.models.requests import Filters
from alaya_core.stores.graph_engine import open_graph
from alaya_core.stores.graph_rows import CARD_COLUMNS
from alaya_core.stores.ledger_lines import encode_line
from alaya_core.stores.sources import SourceStore
from alaya_core.stores.vectors import VectorStore
from tests.conftest import NOON
from tests.core.homes import flip_byte, ledger_lines, segments, session, write

Plant = Callable[[Path], object]
PAGE = 4096
SESSION = "raw/sessions/2026-11/talk-1.json"
TABS = "MATCH (c:Card {title: 'Tabs in Go'})"
LINK = "MATCH ()-[r:LINK {relation: 'DEPENDS_ON'}]->()"
MADE_UP = f"{TABS} CREATE (:Card {{id: 'x', {', '.join(f'{name}: c.{name}' for name in CARD_COLUMNS)}}})"
TWICE = (
    "MATCH (a:Card)-[r:LINK {relation: 'DEPENDS_ON'}]->(b:Card) CREATE (a)-[:LINK {relation: r.relation, "
    "weight: r.weight, reason: r.reason, origin: r.origin, created_at: r.created_at}]->(b)"
)


@dataclass(frozen=True)
class Fault:
    """Attributes:
    plant: Does the damage to a home.
    kind: What is found. ids: A part of an id that the finding names, or the name of a card of `Learned`.
    outcome: `mended` by `--fix --yes`, only `told` of, or it `stays` whatever is done.
    """

    plant: Plant
    kind: str
    ids: str = ""
    outcome: Literal["mended", "told", "stays"] = "mended"


def digest(home: Path) -> str:
    """Over every file of a home but locks, logs and what is derived from the file beside it."""
    running = hashlib.sha256()
    for path in sorted(home.rglob("*")):
        if path.is_file() and path.suffix not in (".idx", ".lock", ".label"):
            running.update(f"{path.relative_to(home)} {path.stat().st_mode}".encode() + path.read_bytes())
    return running.hexdigest()


def seen(memory: Memory) -> str:
    """All that a person can see of the cards of a memory, and of where they came from."""
    rows = memory.list_cards(Filters(archived=True), limit=1000, sort="title").cards
    cards = [memory.show(row.card_id).model_dump(mode="json") for row in rows]
    traces = [memory.trace(row.card_id).model_dump(mode="json") for row in rows]
    return json.dumps([cards, traces], sort_keys=True, ensure_ascii=False)


def in_graph(statement: str) -> Plant:
    """Behind the ledger's back."""

    def run(home: Path) -> None:
        [path] = (home / "kuzu").glob("gen-*.kuzu")
        with open_graph(path, write=True) as graph:
            graph.run(statement)

    return run


def garbled_graph(home: Path) -> None:
    [path] = (home / "kuzu").glob("gen-*.kuzu")
    path.write_bytes(b"no graph at all" * 1000)


def spoilt_pages(home: Path) -> None:
    """Pages that make the engine end the process which reads them."""
    [path] = (home / "kuzu").glob("gen-*.kuzu")
    data, chance = bytearray(path.read_bytes()), random.Random(5)
    for page in chance.sample(range(1, len(data) // PAGE), 40):
        data[page * PAGE : (page + 1) * PAGE] = chance.randbytes(PAGE)
    path.write_bytes(data)


def folder_for_session(home: Path) -> None:
    (home / SESSION).unlink()
    (home / SESSION).mkdir(mode=0o700)


def tables(home: Path) -> VectorStore:
    return VectorStore(home / "lancedb")


def card_row(**fields: Any) -> Plant:
    """Changes a row of the cards' table."""

    def run(home: Path) -> None:
        store = tables(home)
        [row] = store.cards.rows("title = 'Tabs in Go'")
        store.cards.remove("title = 'Tabs in Go'")
        store.cards.add([row | fields])

    return run


def longer_vector(home: Path) -> None:
    [row] = tables(home).cards.rows("title = 'Tabs in Go'")
    card_row(vector=np.asarray(row["vector"], np.float32) * 3)(home)


def double_row(home: Path) -> None:
    store = tables(home)
    store.cards.add(store.cards.rows("title = 'Tabs in Go'"))


def unknown_row(home: Path) -> None:
    store = tables(home)
    [row] = store.cards.rows("title = 'Tabs in Go'")
    store.cards.add([row | {"id": "card-nobody"}])


def passage(**fields: Any) -> Plant:
    """One more row in the passages' table."""

    def run(home: Path) -> None:
        store = tables(home)
        store.passages.add([store.passages.rows("turn = 1")[0] | fields])

    return run


def mark(**fields: Any) -> Plant:
    """Changes the mark of the vector tables."""

    def run(home: Path) -> None:
        [path] = (home / "lancedb").glob("gen-*/mark.json")
        write(path, json.loads(path.read_bytes()) | fields)

    return run


def replaced(path: str, old: bytes, new: bytes) -> Plant:
    def run(home: Path) -> None:
        data = (home / path).read_bytes()
        assert old in data
        (home / path).write_bytes(data.replace(old, new))

    return run


def cut(path: str, length: int) -> Plant:
    return lambda home: (home / path).write_bytes((home / path).read_bytes()[:length])


def remove(pattern: str) -> Plant:
    def run(home: Path) -> None:
        for path in list(home.glob(pattern)):
            path.unlink()

    return run


def stray_copy(home: Path) -> None:
    shutil.copy(home / SESSION, (home / SESSION).with_name("x.json"))


def stray_session(home: Path) -> None:
    write((home / SESSION).with_name("other.json"), session("other", ["What a nice day.", "It is."]))


def renamed_session(home: Path) -> None:
    (home / SESSION).rename((home / SESSION).with_name("y.json"))
    remove("raw/sources/*")(home)


def first_context(home: Path) -> Path:
    return sorted((home / "raw/contexts").iterdir())[0]


def stray_context(home: Path) -> None:
    shutil.copy(first_context(home), home / "raw/contexts/card-nobody-context.json")


def stray_context_of_nothing(home: Path) -> None:
    write(home / "raw/contexts/card-nobody-context.json", {"card_id": "card-nobody", "turns": []})


def in_context(**fields: Any) -> Plant:
    """Changes the first turn of a context."""

    def run(home: Path) -> None:
        path = first_context(home)
        raw = json.loads(path.read_bytes())
        raw["turns"][0] |= fields
        write(path, raw)

    return run


def lost_context(home: Path) -> None:
    in_context(content="something else", session_id="nobody")(home)


def source_of_nobody(home: Path) -> None:
    SourceStore(home / "raw/sources").keep_bytes(b"what no session came from")


def spoilt_source(home: Path) -> None:
    [path] = (home / "raw/sources").iterdir()
    flip_byte(path, path.stat().st_size // 2)


def leftover(home: Path) -> None:
    path = home / "raw/sessions/2026-11/.new-abc"
    path.write_bytes(b"half a session")
    os.utime(path, (NOON / 1000 - 7200, NOON / 1000 - 7200))


def access_log(home: Path) -> Path:
    [path] = (home / "raw/accesses").glob("*.jsonl")
    return path


def torn_access(home: Path) -> None:
    with access_log(home).open("ab") as file:
        file.write(b'{"at":1796040000000,"age')


def torn_access_and_more(home: Path) -> None:
    whole = access_log(home).read_bytes().splitlines(keepends=True)[0]
    with access_log(home).open("ab") as file:
        file.write(b'{"at":1796040000000,"age' + whole)


def broken_fold(home: Path) -> None:
    (home / "raw/vitals.jsonl").write_bytes(b'{"marks":{}}\n{"id":"card-x","n":3,"la\n')


def append(*events: dict[str, Any], **fields: Any) -> Plant:
    """A line of these events at the end of the ledger."""

    def run(home: Path) -> None:
        last = ledger_lines(home)[-1]
        body = {**last, "seq": last["seq"] + 1, "id": "f" * 26, "events": list(events), **fields}
        del body["crc"]
        with segments(home)[-1].open("ab") as file:
            file.write(encode_line(body))

    return run


def made_again(home: Path) -> None:
    [event] = [
        e for line in ledger_lines(home) for e in line["events"] if e.get("card", {}).get("title") == "Tabs in Go"
    ]
    append(event)(home)


def same_id(home: Path) -> None:
    append(id=ledger_lines(home)[0]["id"])(home)


def a_card(home: Path) -> dict[str, Any]:
    card: dict[str, Any] = ledger_lines(home)[0]["events"][0]["card"]
    return card


def dangling(home: Path) -> None:
    link = {"from_id": a_card(home)["id"], "to_id": "card-nobody", "relation": "RELATES_TO", "weight": 0.5}
    append({"kind": "link.created", "v": 1, "link": {**link, "reason": "", "origin": "human", "created_at": 1}})(home)


STRANGER = {"kind": "card.changed", "v": 2, "id": "card-nobody", "rev": 2, "verb": "pin", "after": {}, "before": {}}


def lines(change: Callable[[list[bytes]], list[bytes]]) -> Plant:
    """Changes the lines of the ledger."""

    def run(home: Path) -> None:
        [path] = segments(home)
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))

    return run


def garbled(line: bytes) -> bytes:
    """A line of which more than one byte is wrong."""
    return line[:20] + b"#" * 30 + line[50:]


SENSELESS = encode_line({"v": 1, "seq": 3, "id": "?", "events": [{"kind": "card.created", "v": 1}]})

FAULTS: dict[str, Fault] = {
    "card gone from the graph": Fault(in_graph(f"{TABS} DETACH DELETE c"), "graph_card_missing", "tabs"),
    "card made up in the graph": Fault(in_graph(MADE_UP), "graph_card_unknown", "x"),
    "card changed in the graph": Fault(in_graph(f"{TABS} SET c.importance = 0.123"), "graph_card_differs", "tabs"),
    "link gone": Fault(in_graph(f"{LINK} DELETE r"), "graph_link_missing", "link-"),
    "link twice as heavy": Fault(in_graph(f"{LINK} SET r.weight = 1.0"), "graph_link_differs", "link-"),
    "link twice": Fault(in_graph(TWICE), "graph_link_twice", "link-"),
    "session gone from the graph": Fault(in_graph("MATCH (s:Session) DETACH DELETE s"), "graph_session_missing"),
    "session longer in the graph": Fault(in_graph("MATCH (s:Session) SET s.turns = 99"), "graph_session_differs"),
    "graph ahead of nothing": Fault(in_graph("MATCH (m:Meta {id: 'seq'}) SET m.value = '99'"), "graph_ahead"),
    "graph that will not open": Fault(garbled_graph, "graph_unreadable"),
    "graph with spoilt pages": Fault(spoilt_pages, "graph_unreadable"),
    "row gone": Fault(lambda h: tables(h).cards.remove("title = 'Tabs in Go'"), "row_missing", "tabs"),
    "row twice": Fault(double_row, "row_duplicate", "tabs"),
    "row of nobody": Fault(unknown_row, "row_unknown", "card-nobody"),
    "row of another text": Fault(card_row(content_hash="0" * 64), "row_differs", "tabs"),
    "vector gone": Fault(card_row(vector=None), "vector_missing", "tabs"),
    "vector of zeros": Fault(card_row(vector=np.zeros(512, np.float32)), "vector_bad", "tabs"),
    "vector of another length": Fault(longer_vector, "vector_bad", "tabs"),
    "vectors of other dimensions": Fault(mark(dimensions=256), "vector_dimensions"),
    "vectors ahead of the ledger": Fault(mark(seq=99), "vectors_ahead"),
    "passage twice": Fault(passage(), "passage_duplicate"),
    "passage of nobody": Fault(passage(id="p", session_id="nobody"), "passage_unknown", "nobody"),
    "passages gone": Fault(lambda h: tables(h).passages.remove("turn = 2"), "passage_count"),
    "vector tables gone": Fault(lambda h: shutil.rmtree(h / "lancedb"), "no_vectors"),
    "one table gone": Fault(lambda h: shutil.rmtree(h / "lancedb/gen-1/passages.lance"), "vectors_unreadable"),
    "torn last line": Fault(lambda h: lines(lambda x: [*x, b'{"v":1,"seq":99'])(h), "torn_line", ".jsonl:"),
    "flipped letter": Fault(lines(lambda x: [*x[:1], x[1].replace(b"gofmt", b"gofmd"), *x[2:]]), "ledger_checksum"),
    "garbled line": Fault(lines(lambda x: [*x[:1], garbled(x[1]), *x[2:]]), "ledger_checksum", ":2"),
    "senseless line": Fault(lines(lambda x: [*x[:2], SENSELESS, *x[3:]]), "ledger_json", ":3"),
    "line gone": Fault(lines(lambda x: [*x[:2], *x[3:]]), "ledger_gap", "seq 3"),
    "last line gone": Fault(lines(lambda x: x[:-1]), "graph_ahead", "seq "),
    "ledger gone": Fault(lambda h: shutil.rmtree(h / "raw/ledger"), "graph_ahead", "seq "),
    "folder in the ledger": Fault(lambda h: (h / "raw/ledger/0099.jsonl").mkdir(0o700), "not_a_file", "99.jsonl"),
    "line twice": Fault(lines(lambda x: [*x[:3], *x[2:]]), "ledger_repeated", ":4"),
    "line of rubbish": Fault(lines(lambda x: [*x[:3], b"rubbish\n", *x[3:]]), "ledger_checksum", ":4"),
    "commit id twice": Fault(same_id, "ledger_commit_twice", "0"),
    "card made twice": Fault(made_again, "ledger_card_twice", "tabs"),
    "link to nobody": Fault(dangling, "dangling_link", "link-"),
    "change of nobody": Fault(append({**STRANGER, "why": ""}), "ledger_unknown_card", "card-nobody", "told"),
    "session file gone": Fault(remove(SESSION), "session_missing", "talk-1"),
    "folder for a session file": Fault(folder_for_session, "not_a_file", "talk-1"),
    "turn changed": Fault(replaced(SESSION, b"host db-7", b"host db-8"), "session_differs", "talk-1"),
    "session cut": Fault(cut(SESSION, 300), "session_differs", "talk-1"),
    "first line of a session changed": Fault(replaced(SESSION, b'"talk-1"', b'"talk-2"'), "session_differs"),
    "last line of a session gone": Fault(replaced(SESSION, b'"metadata"', b'"metad'), "session_differs", "talk-1"),
    "copy of a session": Fault(stray_copy, "session_unknown", "x.json"),
    "session of nobody": Fault(stray_session, "session_unknown", "other.json"),
    "session under another name": Fault(renamed_session, "session_unknown", "y.json"),
    "source gone": Fault(remove("raw/sources/*"), "source_missing", "talk-1"),
    "source of nobody": Fault(source_of_nobody, "source_unknown"),
    "source spoilt": Fault(spoilt_source, "source_differs"),
    "context gone": Fault(remove("raw/contexts/*"), "context_missing", "card-"),
    "context of nobody": Fault(stray_context, "context_unknown", "card-nobody"),
    "context of nothing": Fault(stray_context_of_nothing, "context_unknown", "card-nobody"),
    "context of another text": Fault(in_context(content="something else"), "context_differs", "card-"),
    "context of another hash": Fault(in_context(hash="0" * 64), "context_differs", "card-"),
    "context garbled": Fault(lambda h: first_context(h).write_bytes(b"{garbled"), "context_differs", "card-"),
    "context nobody can mend": Fault(lost_context, "context_differs", "card-", "told"),
    "torn access": Fault(torn_access, "access_torn", ".jsonl:"),
    "torn access before a whole one": Fault(torn_access_and_more, "access_torn", ".jsonl:"),
    "fold of the vitals broken": Fault(broken_fold, "vitals_broken", "vitals"),
    "left-over file": Fault(leftover, "leftover", ".new-abc"),
    "open to others": Fault(lambda h: (h / "raw/ledger").chmod(0o755), "permissions", "raw/ledger"),
    "a file open to others": Fault(lambda h: (h / "config.json").chmod(0o644), "permissions", "config.json"),
}  # fmt: skip
