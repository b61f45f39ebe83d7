"""Whatever people, scripts and stored texts bring: an answer or an error, never a traceback, never a raw escape."""

from __future__ import annotations

import re

from tests.contracts.cli_runner import alaya, batch

BAD_IDS = [
    "../../x",
    "O'Brien",
    "x' OR 1=1 --",
    "y" * 300,
    "card-",
    "card-1234567",
    "%",
    "*",
    "",
    "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape"),
]
QUERIES = ["", "   ", "词" * 10_000, '"unclosed', "AND", "C++", "*", "NOT (", "--", "a\nb", "\x1b[31m", "' OR 1=1 --"]
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_bad_ids_are_not_found(filled):
    commands = [[verb, "--json", "--", name] for verb in ("show", "trace", "pin", "history") for name in BAD_IDS]
    commands += [[verb, "x' OR 1=1 --", "--json"] for verb in ("forget", "archive", "restore", "unpin")]
    for words, done in zip(commands, batch(commands, filled.path), strict=True):
        assert done.status in (2, 3), (words, done)
        assert done.error["code"] in ("not_found", "usage"), words
        assert len(done.error["message"]) < 500, words


def test_link_to_nobody_and_to_itself(filled):
    nobody = alaya("link", filled.plain, "card-00000000", "--json", home=filled.path)
    assert (nobody.status, nobody.error["code"]) == (3, "not_found")
    itself = alaya("link", filled.plain, filled.plain, "--json", home=filled.path)
    assert (itself.status, itself.error["code"]) == (2, "usage")


def test_odd_queries_are_answered(filled):
    for query, done in zip(
        QUERIES, batch([["recall", "--json", "--", query] for query in QUERIES], filled.path), strict=True
    ):
        assert "Traceback" not in done.told
        if done.status == 0:
            assert isinstance(done.data["results"], list), query
        else:
            assert (done.status, done.error["code"]) == (2, "usage"), query


def test_stored_escapes_are_shown_and_never_act(filled):
    commands = [
        ["show", filled.hostile],
        ["show", filled.plain],
        ["list"],
        ["history"],
        ["trace", filled.hostile],
        ["pin", filled.hostile],
        ["unpin", filled.hostile],
    ]
    outputs = [done.text for done in batch(commands, filled.path)]
    for text in outputs:
        assert not ACTS.search(text)
    assert "\u241b]52;c;QUFB\u2407" in outputs[0]
    assert "[/red]" in outputs[0]


def test_recalled_escapes_never_act(filled):
    text, context = batch(
        [["recall", "mark-ZEBRA", "--format", "text", "--explain"], ["recall", "mark-ZEBRA", "--format", "context"]],
        filled.path,
    )
    for done in (text, context):
        assert "ZEBRA" in done.text
        assert not ACTS.search(done.text)


def test_json_keeps_hostile_text_as_data(filled):
    done = alaya("show", filled.hostile, "--json", home=filled.path)
    assert "\x1b" not in done.text
    assert "\x1b]52;c;QUFB\x07" in done.data["card"]["content"]
