"""Status: what each layer holds, and what needs a person's attention. Opens no vector engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from alaya_core.errors import ConfigError, DamagedError, NewerHomeError
from alaya_core.models.answers import GraphStatus, RawStatus, StatusAnswer, VectorStatus
from alaya_core.models.card import LIVING, Card, Standing, Tier
from alaya_core.models.session import SessionInfo
from alaya_core.services.card_views import Now
from alaya_core.services.distill.rules import RULES_VERSION
from alaya_core.services.embedding_choice import host_of, made_by, mismatch
from alaya_core.services.introspect.deciding import review
from alaya_core.services.introspect.watching import last_whole_run
from alaya_core.services.stats import overdue
from alaya_core.services.upkeep import backlog, overgrown
from alaya_core.services.workspace import Workspace
from alaya_core.stores.files import folder_bytes
from alaya_core.stores.vector_state import VectorMark
from alaya_core.text import counted

_OVERGROWN = 3.0
_MUCH = 64 << 20
BANDS = ((0.9, 1.01), (0.7, 0.9), (0.5, 0.7), (0.3, 0.5), (0.0, 0.3))


def status(workspace: Workspace) -> StatusAnswer:
    """Counts, sizes and health of a home."""
    home = workspace.home
    with workspace.graph.reading() as reader:
        counts = reader.counts()
        sessions = reader.sessions()
        cards = [card for card in reader.all_cards() if card.state in LIVING]
        stale, seq = reader.stale, reader.mark().seq
    now = workspace.now()
    mark = workspace.vectors.mark()
    warmth = {card.id: now.temperature(card) for card in cards}
    tiers = Counter(map(str, now.tiers(cards, warmth).values()))
    last = workspace.ledger.last_seq()
    distiller, no_distiller = _distiller(workspace)
    return StatusAnswer(
        home=str(home.root),
        raw=_raw(sessions, folder_bytes(home.raw)),
        graph=GraphStatus(
            cards=sum(counts["type"].values()),
            by_type=dict(counts["type"].most_common()),
            by_state=dict(counts["state"]),
            links=sum(counts["relation"].values()),
            by_relation=dict(counts["relation"].most_common()),
            bytes=folder_bytes(home.graphs),
            engine=workspace.graph.engine_version,
        ),
        vectors=VectorStatus(
            total=len(cards) - tiers[Tier.COLD] - mark.pending,
            hot=tiers[Tier.HOT],
            warm=tiers[Tier.WARM],
            cold=tiers[Tier.COLD],
            pending=mark.pending,
            passages=mark.passages,
            bytes=folder_bytes(home.vectors),
            model=mark.model,
            dimensions=mark.dimensions or None,
            matrix_bytes=tiers[Tier.HOT] * mark.dimensions * 4,
            passage_vectors=mark.passage_vectors,
            passages_owing=mark.passages_owing,
        ),
        tiers={str(tier): tiers[tier] for tier in Tier},
        standings={str(kind): sum(card.standing is kind for card in cards) for kind in Standing},
        temperature={
            f"{low:.1f}-{min(high, 1.0):.1f}": sum(low <= value < high for value in warmth.values())
            for low, high in BANDS
        },
        upkeep=backlog(workspace),
        ledger={"commits": last, "bytes": folder_bytes(home.ledger), "unindexed": max(0, last - mark.seq)},
        health=_health(workspace, cards, now, warmth, mark, [_behind(workspace, seq) if stale else "", no_distiller]),
        distiller=distiller,
        sends_text_to=_hosts(workspace, mark),
    )


def _hosts(workspace: Workspace, mark: VectorMark) -> list[str]:
    """Who is sent text: the configured embedding, the one that made the vectors, which embeds the queries, the
    reranker, and the model that reads sessions."""
    stored = made_by(mark) if mismatch(workspace.config, mark) else None
    hosts = [
        workspace.embedding_host,
        host_of(stored) if stored else None,
        _rerank_host(workspace),
        _chat_host(workspace),
    ]
    return [host for host in dict.fromkeys(hosts) if host]


def _distiller(workspace: Workspace) -> tuple[str, str]:
    """Who makes cards of sessions, and why nobody can, where that is so."""
    try:
        return (workspace.chat.model if workspace.chat else RULES_VERSION), ""
    except ConfigError as error:
        return f"nobody: {error.message}", f"no session can be distilled: {error.message}"


def _chat_host(workspace: Workspace) -> str | None:
    try:
        return workspace.chat.name if workspace.chat else None
    except ConfigError:
        return None


def _rerank_host(workspace: Workspace) -> str | None:
    try:
        return workspace.reranker.name if workspace.reranker else None
    except ConfigError:  # it is sent nothing; `doctor` and every recall say what is wrong
        return None


def _raw(sessions: list[SessionInfo], size: int) -> RawStatus:
    times = [session.timestamp for session in sessions]
    return RawStatus(
        sessions=len(sessions),
        turns=sum(session.turns for session in sessions),
        bytes=size,
        oldest=min(times, default=None),
        newest=max(times, default=None),
        undistilled=sum(session.turns > session.distilled_turns for session in sessions),
        channels=dict(Counter(session.channel for session in sessions).most_common()),
    )


def _behind(workspace: Workspace, seq: int) -> str:
    """Why the graph, which stands at a seq, does not hold what the ledger does."""
    try:
        if seq > workspace.ledger.last_seq():
            return "the ledger lost its end, which the graph still knows: run `alaya verify --fix`"
        workspace.ledger.require_sound()
    except NewerHomeError:
        return "the ledger holds changes of a newer version, which are not shown: update alaya-tui"
    except DamagedError as error:
        return f"the graph cannot follow the ledger: {error.message}; run `alaya verify --fix`"
    return "the graph is behind the ledger; another process is writing"


def _health(
    workspace: Workspace,
    cards: list[Card],
    now: Now,
    warmth: Mapping[str, float],
    mark: VectorMark,
    troubles: list[str],
) -> list[str]:
    """What needs attention.

    Args:
        troubles: What was found out while the rest was counted; empty ones are none.
    """
    said = list(workspace.graph.notices)
    if workspace.read_only:
        said.append("this home is read-only: recall answers, nothing is logged or changed")
    if workspace.newer:
        said.append("this home was written by a newer version: update alaya-tui to change it")
    said += [trouble for trouble in troubles if trouble]
    if mark.pending:
        said.append(f"vectors still to be made: {mark.pending}; `alaya rebuild l1` makes them")
    if sentence := mismatch(workspace.config, mark):
        said.append(sentence)
    if overgrown(workspace, _OVERGROWN, _MUCH):
        said.append("the graph file has grown far beyond its content: run `alaya upkeep`")
    oldest = min((card.added_at for card in cards), default=None)
    if sentence := overdue(
        last_whole_run(workspace), oldest, workspace.clock(), workspace.config.introspect.overdue_hours
    ):
        said.append(sentence)
    if waiting := len(review(workspace).items):
        said.append(f"{counted(waiting, 'proposal')} for you to decide: `alaya review`")
    placed = now.placement(cards, warmth)
    if placed.over_warm:
        said.append(f"{placed.over_warm} WARM cards are over the limit and none of them may turn COLD yet")
    return [*said, *workspace.config.warnings]
