"""What scripts read: the shape of every answer, the exit statuses, and the text that people get."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.contracts.cli_runner import alaya, batch

HIT = ["card_id", "title", "content", "score", "type", "tags", "related", "source_sessions"]


def test_list(filled):
    done = alaya("list", "--json", "--limit", "2", "--sort", "title", home=filled.path)
    assert done.status == 0
    assert set(done.data) == {"cards", "total", "sort"}
    assert len(done.data["cards"]) == 2 < done.data["total"]
    rest = alaya("list", "--json", "--limit", "1000", "--offset", "2", "--sort", "title", home=filled.path)
    assert len(rest.data["cards"]) == done.data["total"] - 2
    assert done.data["cards"][0]["card_id"] not in {card["card_id"] for card in rest.data["cards"]}


def test_list_filters(filled):
    done = alaya("list", "--json", "--origin", "human", "--type", "FACT", "--since", "1d", home=filled.path)
    assert {card["card_id"] for card in done.data["cards"]} >= {filled.plain, filled.other, filled.hostile}
    none = alaya("list", "--tag", "no-such-tag", home=filled.path)
    assert (none.status, none.text.splitlines()[0]) == (0, "0 of 0 cards")


def test_show_by_id_and_by_prefix(filled):
    done = alaya("show", filled.plain, "--json", home=filled.path)
    assert {"card", "related"} <= set(done.data)
    assert done.data["card"]["title"] == "plugins.allow first"
    assert done.data["related"][0]["relation"] == "DEPENDS_ON"
    text = alaya("show", filled.plain[:13], home=filled.path).text
    assert text.splitlines()[:2] == ["plugins.allow first", filled.plain]
    assert "Related (1)" in text


def test_trace(filled):
    done = alaya("trace", filled.distilled, "--json", home=filled.path)
    assert {"card_id", "title", "sessions"} <= set(done.data)
    session = done.data["sessions"][0]
    assert {"session_id", "path", "timestamp", "turns"} <= set(session)
    assert {"turn", "role", "content", "relevant"} <= set(session["turns"][0])
    assert any(turn["relevant"] for turn in session["turns"])
    text = alaya("trace", filled.distilled, home=filled.path).text
    assert text.startswith("🔬 Tracing card-")
    assert "[Turn " in text
    assert "comes from no session" in alaya("trace", filled.plain, home=filled.path).text


def test_a_card_through_its_whole_life(filled):
    made = alaya(
        "capture", "-", "--type", "decision", "--tag", "a", "--json", home=filled.path, stdin="用 Kuzu".encode()
    )
    assert made.status == 0
    card = made.data["card"]
    assert (card["content"], card["type"], card["tags"]) == ("用 Kuzu", "decision", ["a"])
    name = card["card_id"]
    changed, stale, pinned, unpinned, archived, without, with_it, restored, forgotten, history = batch(
        [
            ["edit", name, "--title", "New", "--tag", "", "--importance", ".9", "--json"],
            ["edit", name, "--title", "Newer", "--rev", str(card["rev"]), "--json"],
            ["pin", name],
            ["unpin", name, "--json"],
            ["archive", name, "--json"],
            ["list", "--json", "--limit", "1000"],
            ["list", "--json", "--limit", "1000", "--archived"],
            ["restore", name, "--json"],
            ["forget", name],
            ["history", name, "--json"],
        ],
        filled.path,
    )
    assert (changed.data["card"]["title"], changed.data["card"]["tags"]) == ("New", [])
    assert changed.data["card"]["content"] == "用 Kuzu"
    assert stale.status != 0
    assert stale.error["message"]
    assert f"undo with: alaya --home {filled.path} unpin {name[:13]}" in pinned.text
    assert unpinned.data["card"]["pinned"] is False
    assert archived.data["card"]["state"] == "archived"
    assert name not in without.text
    assert name in with_it.text
    assert restored.data["card"]["state"] == "active"
    assert "restore card-" in forgotten.text
    assert set(history.data) == {"commits", "total"}
    assert len(history.data["commits"]) >= 6
    assert history.data["commits"][0]["seq"] > history.data["commits"][-1]["seq"]


def test_link_and_unlink(filled):
    pair = (filled.plain, filled.other)
    made = alaya("link", *pair, "--rel", "caused-by", "--weight", ".8", "--reason", "tried", "--json", home=filled.path)
    assert made.data["link"]["relation"] == "CAUSED_BY"
    assert made.data["link"]["weight"] == 0.8
    again = alaya("link", *pair, "--rel", "CAUSED_BY", "--weight", ".8", "--reason", "tried", home=filled.path)
    assert again.status == 0
    gone = alaya("unlink", *pair, "--json", home=filled.path)
    assert [link["relation"] for link in gone.data["removed"]] == ["CAUSED_BY"]


def test_status_verify_config_doctor(filled):
    status = alaya("status", "--json", home=filled.path)
    assert {"raw", "graph", "vectors", "tiers", "temperature", "health"} <= set(status.data)
    assert alaya("status", home=filled.path).text.startswith("📊 Alaya Status")
    config = alaya("config", "recall", "--json", home=filled.path)
    assert {row["key"].split(".")[0] for row in config.data["settings"]} == {"recall"}
    assert all(row["meaning"] for row in config.data["settings"])
    assert alaya("config", "no.such", home=filled.path).status == 3
    verify, doctor = batch([["verify", "--json"], ["doctor", "--json"]], filled.path)
    assert set(verify.data) >= {"ok", "findings"}
    assert verify.status == (0 if verify.data["ok"] else 1)
    assert verify.data["ok"], verify.data
    assert {"name", "status", "detail"} <= set(doctor.data["checks"][0])
    assert doctor.status == (0 if doctor.data["ok"] else 1)


def test_ingest_tells_what_it_read_and_fails_for_what_was_named(filled, tmp_path):
    good = tmp_path / "talk.jsonl"
    turns = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    good.write_text(json.dumps({"id": "session-cli", "timestamp": 1743403740000, "turns": turns}))
    done = alaya("ingest", good, "--json", home=filled.path)
    assert done.status == 0, done
    assert done.data["sessions"][0]["status"] == "new"
    assert alaya("ingest", good, "--json", home=filled.path).data["sessions"][0]["status"] == "unchanged"
    missing = alaya("ingest", tmp_path / "absent.json", "--json", home=filled.path)
    assert missing.status != 0
    assert "absent.json" in missing.text


def test_recall_shapes(filled):
    plain, explained, text, context, implied = batch(
        [
            ["recall", "plugins.allow", "--json", "-n", "3"],
            ["recall", "plugins.allow", "--format", "text", "--explain"],
            ["search", "plugins.allow", "--format", "text", "--in", "cards"],
            ["recall", "plugins.allow", "--format", "context"],
            ["recall", "plugins.allow", "--no-sessions", "--context"],
        ],
        filled.path,
    )
    assert plain.status == 0
    assert set(plain.data) >= {
        "schema_version",
        "query",
        "results",
        "passages",
        "filtered",
        "degraded",
        "stale",
        "took_ms",
    }
    hit = plain.data["results"][0]
    assert list(hit)[:8] == HIT
    assert {"tier", "temperature", "importance", "origin", "scope", "state", "why"} <= set(hit)
    assert "context" not in hit
    assert len(plain.data["results"]) <= 3
    assert filled.plain in {each["card_id"] for each in plain.data["results"]}
    assert text.text.startswith('🔍 Recalling: "plugins.allow"')
    assert "In sessions:" not in text.text
    assert f"open with: alaya --home {filled.path} show card-" in text.text
    assert " why " in explained.text
    assert "plugins.allow" in context.text
    assert implied.data["passages"] == []
    assert "context" in implied.data["results"][0]


@pytest.mark.slow
def test_demo_fills_a_home_of_its_own_and_refuses_one_in_use(filled, tmp_path):
    done = alaya("demo", "--json", home=tmp_path / "demo")
    assert done.status == 0
    assert set(done.data) == {"home", "ingest", "recall", "next"}
    assert done.data["ingest"]["sessions"]
    refused = alaya("demo", "--json", home=filled.path)
    assert (refused.status, refused.error["code"]) == (2, "usage")


@pytest.mark.slow
def test_rebuild_finds_the_same_cards(filled, tmp_path):
    home = tmp_path / "copy"
    shutil.copytree(filled.path, home)
    done = alaya("rebuild", "--json", home=home)
    assert done.status == 0
    assert alaya("list", "--json", "--limit", "1", home=home).data["total"] == done.data["cards"] or done.data["cards"]
