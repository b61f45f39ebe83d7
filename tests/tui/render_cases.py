"""Answers to lay out: ordinary ones, and ones whose every text is hostile."""

from __future__ import annotations

from typing import Any

from alaya_core.models.answers import (
    CardAnswer,
    CardList,
    CardRow,
    CardView,
    CommitView,
    ConfigAnswer,
    ConfigRow,
    DistilledCard,
    DistilledLink,
    DistillOutcome,
    DistillReport,
    Filtered,
    Finding,
    GraphStatus,
    HistoryAnswer,
    IngestReport,
    LinkAnswer,
    LinkView,
    PassageHit,
    PassedOver,
    RawStatus,
    RecallAnswer,
    RecallHit,
    Related,
    SessionOutcome,
    SkippedView,
    SourceView,
    StatusAnswer,
    TraceAnswer,
    TraceSession,
    TraceTurn,
    VectorStatus,
    VerifyAnswer,
)

NOW = 1_775_000_000_000  # 2026-03-31
DAY = 86_400_000
ID = "card-" + "1a2b3c4d" * 4
OTHER = "card-" + "ab" * 16
HOSTILE = "\x1b[31mred\x1b]52;c;QUFB\x07\x9b2J [/red] \u202eevil\u2066 a\rb\nc\td \ud800 中文"


def related(**fields: Any) -> Related:
    """A neighbour."""
    ordinary = {"card_id": OTHER, "title": "Gateway 重启前发通知的模式", "relation": "DEPENDS_ON", "direction": "out"}
    return Related(**{**ordinary, "score": 0.85, **fields})


def hit(**fields: Any) -> RecallHit:
    """A card that was found."""
    ordinary = {
        "card_id": ID,
        "title": "Telegram 消息通知机制",
        "content": "Gateway 的消息通知依赖 plugins.allow 配置",
        "score": 0.92,
        "type": "concept",
        "tags": ["telegram"],
        "related": [related()],
        "source_sessions": ["session-20260331-062900"],
        "tier": "HOT",
        "temperature": 0.81,
        "importance": 0.8,
        "origin": "rules",
        "scope": "global",
        "state": "active",
        "why": {"words": 0.61, "vector": {"cosine": 0.7}, "standing": "core"},
    }
    return RecallHit(**{**ordinary, **fields})


def recall(**fields: Any) -> RecallAnswer:
    """What a recall found."""
    ordinary = {
        "query": "Telegram 消息通知",
        "results": [hit()],
        "passages": [passage()],
        "filtered": Filtered(below_floor=4, best=0.31),
        "degraded": [],
        "stale": False,
        "took_ms": 45,
    }
    return RecallAnswer(**{**ordinary, **fields})


def passage(**fields: Any) -> PassageHit:
    """A turn that was found."""
    ordinary = {"session_id": "session-1", "turn": 3, "role": "user", "text": "为什么没收到通知？", "timestamp": NOW}
    return PassageHit(**{**ordinary, "score": 0.83, "cards": [ID], "why": {"words": 0.2}, **fields})


def card(**fields: Any) -> CardView:
    """A card in full."""
    ordinary = {
        "card_id": ID,
        "title": "Telegram 消息通知机制",
        "content": "Gateway 的消息通知依赖 plugins.allow 配置",
        "type": "concept",
        "tags": ["telegram"],
        "entities": ["Gateway"],
        "importance": 0.8,
        "importance_by": "human",
        "confidence": 0.9,
        "scope": "global",
        "origin": "rules",
        "state": "active",
        "pinned": False,
        "rev": 2,
        "created_at": NOW - 9 * DAY,
        "added_at": NOW - 9 * DAY,
        "updated_at": NOW - DAY,
        "source_sessions": ["session-1"],
        "standing": "core",
        "tier": "HOT",
        "temperature": 0.81,
        "access_count": 14.0,
        "last_access": NOW - DAY,
    }
    return CardView(**{**ordinary, **fields})


def card_answer(**fields: Any) -> CardAnswer:
    """What `show` answers."""
    ordinary = {
        "card": card(),
        "related": [related(reason="需要先连上"), related(direction="in"), related(direction="both")],
        "related_total": 7,
        "sources": [SourceView(session_id="session-1", turns=[3, 4, 9])],
    }
    return CardAnswer(**{**ordinary, **fields})


def row(**fields: Any) -> CardRow:
    """A card in a list."""
    taken = card().model_dump(include=set(CardRow.model_fields))
    return CardRow(**{**taken, "links": 3, **fields})


def link(**fields: Any) -> LinkView:
    """A link."""
    ordinary = {"from_id": ID, "to_id": OTHER, "from_title": "A", "to_title": "B", "relation": "DEPENDS_ON"}
    rest = {"weight": 0.5, "reason": "", "origin": "human", "created_at": NOW, "both_ways": False}
    return LinkView(**{**ordinary, **rest, **fields})


def outcome(**fields: Any) -> SessionOutcome:
    """A session that was ingested."""
    return SessionOutcome(**{"session_id": "session-1", "status": "new", "turns": 12, "path": "/h/s.json", **fields})


def status(**fields: Any) -> StatusAnswer:
    """What `status` answers."""
    ordinary = {
        "home": "/h",
        "raw": RawStatus(
            sessions=1234, turns=9, bytes=42 * 10**9, oldest=NOW, newest=NOW, undistilled=2, channels={"cli": 4}
        ),
        "graph": GraphStatus(
            cards=8512,
            by_type={"concept": 3241},
            by_state={"archived": 3},
            links=44,
            by_relation={},
            bytes=1,
            engine="k",
        ),
        "vectors": VectorStatus(
            total=8512,
            hot=4823,
            warm=3567,
            cold=122,
            pending=0,
            passages=9,
            bytes=89_000_000,
            model="USE",
            dimensions=512,
        ),
        "tiers": {},
        "standings": {},
        "temperature": {"0.7-1.0": 57, "0.3-0.7": 42, "0.0-0.3": 1},
        "ledger": {},
        "health": [],
        "distiller": "rules/1",
    }
    return StatusAnswer(**{**ordinary, **fields})


def hostile_answers() -> dict[str, Any]:
    """One answer of each kind, hostile text in every field that a file or a model may have written."""
    bad = HOSTILE
    near = related(title=bad, reason=bad, card_id=bad, state=bad)
    turn = TraceTurn(
        turn=1,
        role=bad,
        content=bad,
        relevant=True,
        kind=bad,
        name=bad,
        tool_calls=[{"name": bad, "arguments": {bad: bad}}],
    )
    found = hit(
        title=bad, content=bad, tags=[bad], source_sessions=[bad], related=[near], context=[turn], why={bad: bad}
    )
    session = TraceSession(session_id=bad, path=bad, timestamp=NOW, channel=bad, agent=bad, turns=[turn], missing=True)
    full = card(title=bad, overview=bad, content=bad, tags=[bad], entities=[bad], scope=bad, card_id=bad, successor=bad)
    return {
        "recall": recall(
            query=bad, results=[found], passages=[passage(text=bad, role=bad, session_id=bad, cards=[bad])]
        ),
        "skipped": recall(query=bad, skipped=bad, degraded=[bad]),
        "card": card_answer(card=full, related=[near], sources=[SourceView(session_id=bad, turns=[1])], note=bad),
        "list": CardList(cards=[row(title=bad, type=bad, card_id=bad)], total=1, sort=bad),
        "link": LinkAnswer(link=link(from_title=bad, to_title=bad, reason=bad, from_id=bad), note=bad),
        "history": HistoryAnswer(commits=[CommitView(seq=1, id=bad, at=NOW, actor=bad, run=bad, what=[bad])], total=1),
        "ingest": IngestReport(
            sessions=[outcome(session_id=bad, channel=bad, reason=bad, skipped=[SkippedView(line=7, reason=bad)])],
            passed_over=[PassedOver(path=bad, reason=bad)],
            counts={},
        ),
        "distill": distilled(bad),
        "trace": TraceAnswer(card_id=bad, title=bad, sessions=[session]),
        "status": status(home=bad, health=[bad], distiller=bad, sends_text_to=[bad], temperature={bad: 1}),
        "verify": VerifyAnswer(
            ok=False, findings=[Finding(kind=bad, ids=[bad], fix=bad, detail=bad)], checked={bad: 1}, fixed=[bad]
        ),
        "config": ConfigAnswer(
            path=bad,
            settings=[ConfigRow(key=bad, value=bad, default=bad, origin="file", meaning=bad)],
            warnings=[bad],
        ),
    }


def distilled(text: str = "T") -> DistillReport:
    """What a distillation made: one session done, one skipped, one to be tried again."""
    made = DistillOutcome(
        session_id=text,
        status="done",
        cards=[DistilledCard(card_id=ID, title=text, type="gotcha")],
        links=[DistilledLink(from_title=text, relation="DEPENDS_ON", to_title=text)],
    )
    skipped = DistillOutcome(session_id="b", status="skipped", reason=text)
    again = DistillOutcome(session_id="c", status="retry", reason=text)
    return DistillReport(sessions=[made, skipped, again], counts={}, distiller=text, vectors_pending=3)
