"""What people read: the form of the answers, and that nothing stored can act on their terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from alaya_core.models.answers import (
    CardList,
    Check,
    DoctorAnswer,
    HistoryAnswer,
    IngestReport,
    InitReport,
    LinkAnswer,
    PassedOver,
    SkippedView,
    TraceAnswer,
    TraceSession,
    TraceTurn,
    VerifyAnswer,
)
from alaya_core.text import cells
from alaya_tui.headless.render_cards import card_lines, changed_lines, link_lines, list_lines
from alaya_tui.headless.render_history import history_lines
from alaya_tui.headless.render_keep import config_lines, doctor_lines, init_lines, status_lines, verify_lines
from alaya_tui.headless.render_layout import Page
from alaya_tui.headless.render_raw import distill_lines, ingest_lines, trace_lines
from alaya_tui.headless.render_recall import recall_lines
from tests.tui import render_cases as cases

PIPE = Page(width=None, now=cases.NOW)
Lines = Callable[[Any, Page], Iterator[str]]
LAYOUTS: dict[str, Lines] = {
    "recall": lambda answer, page: recall_lines(answer, page, explain=True),
    "skipped": recall_lines,
    "card": card_lines,
    "list": list_lines,
    "link": link_lines,
    "history": history_lines,
    "ingest": ingest_lines,
    "distill": distill_lines,
    "trace": trace_lines,
    "status": status_lines,
    "verify": verify_lines,
    "config": config_lines,
}
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
STYLE = re.compile(r"\x1b\[(?:1|2|22)m")


def told(lines: Iterator[str]) -> str:
    return "\n".join(lines)


@pytest.mark.parametrize("width", [None, 30, 80])
@pytest.mark.parametrize("kind", LAYOUTS)
def test_hostile_text_is_shown_and_never_acts(kind, width):
    page = Page(width=width, colour=width is not None, now=cases.NOW)
    text = told(LAYOUTS[kind](cases.hostile_answers()[kind], page))
    assert "[/red]" in text or width == 30
    assert not ACTS.search(STYLE.sub("", text))


@pytest.mark.parametrize("width", [44, 60, 120])
@pytest.mark.parametrize("kind", ["recall", "card", "list", "status", "ingest", "distill"])
def test_lines_fit_the_terminal(kind, width):
    answers = {
        "recall": cases.recall(results=[cases.hit(content="word " * 200)], passages=[cases.passage(text="通知" * 300)]),
        "card": cases.card_answer(card=cases.card(content="word " * 200, title="标题" * 60)),
        "list": CardList(cards=[cases.row(title="标题" * 60)], total=400, sort="recent"),
        "status": cases.status(health=["a sentence " * 20]),
        "ingest": IngestReport(sessions=[cases.outcome(reason="why " * 50)], passed_over=[], counts={}),
        "distill": cases.distilled("标题" * 60),
    }
    lines = list(LAYOUTS[kind](answers[kind], Page(width=width, now=cases.NOW)))
    assert max(map(cells, lines)) <= width, [line for line in lines if cells(line) > width]


def test_recall_reads_like_the_specification():
    lines = list(recall_lines(cases.recall(), PIPE, floor=0.35))
    assert lines[0] == '🔍 Recalling: "Telegram 消息通知"'
    assert lines[2] == "[1] Telegram 消息通知机制 (0.92) #concept"
    assert "    Related: Gateway 重启前发通知的模式 (DEPENDS_ON, 0.85)" in lines
    assert "    Source: session-20260331-062900" in lines
    assert "Found 1 card and 1 passage in 45ms" in lines
    assert "4 more below .35 (best .31)" in lines
    assert lines[-1] == "open with: alaya show card-1a2b3c4d"


def test_recall_says_what_did_not_answer():
    text = told(recall_lines(cases.recall(degraded=["graph busy"], stale=True), PIPE))
    assert "graph busy" in text
    assert "newer changes" in text


def test_recall_that_finds_nothing_says_what_to_do():
    text = told(recall_lines(cases.recall(results=[], passages=[]), PIPE))
    assert "Found 0 cards in 45ms" in text
    assert "alaya list" in text


def test_explain_tells_every_stage():
    text = told(recall_lines(cases.recall(), PIPE, explain=True))
    assert re.search(r"why words +0\.610", text)
    assert "vector.cosine" in text
    assert "why" not in told(recall_lines(cases.recall(), PIPE))


def test_a_link_that_leads_to_the_hit_reads_the_other_way():
    hit = cases.hit(related=[cases.related(direction="in")])
    assert "(DEPENDS_ON this, 0.85)" in told(recall_lines(cases.recall(results=[hit]), PIPE))


def test_a_card_shows_neighbours_sources_and_the_way_on():
    text = told(card_lines(cases.card_answer(), PIPE))
    assert "Related (7)" in text
    assert '.85 DEPENDS_ON ->  Gateway 重启前发通知的模式  card-abababab  "需要先连上"' in text
    assert "and 4 more" in text
    assert "from session-1  turns 3-4, 9" in text
    assert "alaya trace card-1a2b3c4d" in text
    assert "used 14 times, last 1d ago" in text


@pytest.mark.parametrize(("verb", "back"), [("forget", "restore"), ("archive", "restore"), ("pin", "unpin")])
def test_a_change_says_how_to_undo_it(verb, back):
    answer = cases.card_answer(changed=True)
    assert f"undo with: alaya {back} card-1a2b3c4d" in told(changed_lines(verb, answer, PIPE))
    assert "undo" not in told(changed_lines(verb, cases.card_answer(changed=False), PIPE))


def test_a_list_names_the_next_page_only_when_there_is_one():
    rows = [cases.row(), cases.row(state="archived", pinned=True)]
    text = told(list_lines(CardList(cards=rows, total=9, sort="hottest"), PIPE, offset=4))
    assert "2 of 9 cards, hottest first" in text
    assert "next: --offset 6" in text
    assert "[pinned]  [archived]" in text
    assert "next" not in told(list_lines(CardList(cards=rows, total=6, sort="recent"), PIPE, offset=4))
    nothing = CardList(cards=[], total=0, sort="recent")
    assert "alaya ingest" in told(list_lines(nothing, PIPE))
    assert "filters" in told(list_lines(nothing, PIPE, filtered=True))


def test_ingest_tells_skipped_lines_with_number_and_reason():
    skipped = [SkippedView(line=line, reason="not JSON") for line in range(7, 14)]
    outcome = cases.outcome(duration_ms=12_000, tokens=2345, channel="telegram", skipped=skipped, skipped_count=99)
    report = IngestReport(sessions=[outcome], passed_over=[PassedOver(path="/a.png", reason="an image")], counts={})
    text = told(ingest_lines(report, PIPE))
    assert "📥 Ingesting session: session-1" in text
    assert "Duration: 12.0s | Tokens: 2345 | Channel: telegram" in text
    assert "✓ Saved to /h/s.json" in text
    assert "! line 7 skipped: not JSON" in text
    assert "and 94 more lines skipped" in text
    assert "! not read: /a.png: an image" in text
    assert "1 session (1 new), 12 turns, 99 lines skipped" in text


def test_ingest_tells_what_failed_and_what_stands_beside_another():
    sessions = [
        cases.outcome(status="failed", source="/b.json", reason="not JSON", turns=0),
        cases.outcome(status="conflict", path="/h/s~2.json", reason="differs from turn 0 on"),
        cases.outcome(status="grown", new_turns=1),
        cases.outcome(status="unchanged"),
    ]
    text = told(ingest_lines(IngestReport(sessions=sessions, passed_over=[], counts={}), PIPE))
    assert "✗ /b.json: not JSON" in text
    assert "! Kept beside another session of the same id: /h/s~2.json (differs from turn 0 on)" in text
    assert "✓ 1 new turn added to /h/s.json" in text
    assert "= Unchanged since it was read before" in text


def test_many_sessions_take_a_line_each():
    sessions = [cases.outcome(session_id=f"s-{number}") for number in range(30)]
    lines = list(ingest_lines(IngestReport(sessions=sessions, passed_over=[], counts={}), PIPE))
    assert lines[0] == "✓ s-0  12 turns  new"
    assert len(lines) < 35


def test_distill_reads_like_the_specification():
    lines = list(distill_lines(cases.distilled(), PIPE))
    assert lines[:5] == [
        "🧠 Distilling T",
        "   Found 1 card:",
        "     ✓ Card: T [gotcha]  card-1a2b3c4d",
        "   Created 1 link:",
        '     ✓ "T" DEPENDS_ON "T"',
    ]
    assert "= 1 session skipped: T" in lines
    assert "! 1 card and 1 link from 1 session, by T" in lines


def test_trace_marks_the_turns_and_counts_the_gaps():
    turns = [
        TraceTurn(turn=3, role="user", content="为什么没收到通知？", relevant=True),
        TraceTurn(turn=9, role="tool", content="one\ntwo", relevant=False, kind="tool", name="exec"),
    ]
    session = TraceSession(
        session_id="s-1", path="/h/s.json", timestamp=cases.NOW, channel="cli", turns=turns, total=42
    )
    text = told(trace_lines(TraceAnswer(card_id=cases.ID, title="T", sessions=[session]), PIPE))
    assert '🔬 Tracing card-1a2b3c4d: "T"' in text
    assert "* [Turn 3] User: 为什么没收到通知？" in text
    assert "... 5 turns between" in text
    assert "  [Turn 9] Tool (exec): one\n    two" in text
    assert "[View at /h/s.json]" in text


def test_status_draws_the_temperatures():
    text = told(status_lines(cases.status(), PIPE))
    assert "Sessions: 1,234 (42.0 GB)" in text
    assert "0.7-1.0: ██████░░░░  57%" in text
    assert "0.0-0.3: █░░░░░░░░░   1%" in text
    assert "Nothing needs attention" in text
    assert "! cold" in told(status_lines(cases.status(health=["cold"]), PIPE))


def test_small_answers():
    assert "complete" in told(init_lines(InitReport(home="/h", created=[]), PIPE))
    assert "✓ Created /h/raw" in told(init_lines(InitReport(home="/h", created=["/h/raw"]), PIPE))
    assert "Nothing wrong; checked 4 cards" in told(
        verify_lines(VerifyAnswer(ok=True, findings=[], checked={"cards": 4}), PIPE)
    )
    assert "Already linked" in told(link_lines(LinkAnswer(link=cases.link(), changed=False), PIPE))
    assert "Removed link" in told(link_lines(LinkAnswer(removed=[cases.link()]), PIPE))
    assert "No link to remove" in told(link_lines(LinkAnswer(changed=False), PIPE))
    assert "0 of 0 changes" in told(history_lines(HistoryAnswer(commits=[], total=0), PIPE))
    checks = [Check(name="locks", status="warn", detail="nfs", hint="move it")]
    assert "hint: move it" in told(doctor_lines(DoctorAnswer(ok=True, checks=checks), PIPE))
