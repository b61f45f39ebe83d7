"""What becomes of the logs that an erased session, or a session with an erased turn, came from."""

from __future__ import annotations

from collections.abc import Iterator

from alaya_core.models.session import SessionInfo
from alaya_core.services.erase.needles import Needles
from alaya_core.services.erase.past import sources_named, states_of
from alaya_core.services.erase.plan import ErasePlan
from alaya_core.services.erase.scrubbing import LARGEST, scrubbed, strings, turn_texts
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader


def logs_after(workspace: Workspace, reader: GraphReader, plan: ErasePlan, *, scrub: bool) -> dict[str, str]:
    """Per sha256 of a log that is kept and goes, or may: what takes its place; empty = nothing.

    A log that no other session came from goes with its session. What others share, or a session of which a turn goes,
    loses only what was said there; where that cannot be made sure of it goes as a whole.

    Args:
        plan: With the texts of the session or turn, and no others yet.
        scrub: Whether to write what takes their place; otherwise all of them are told to go.
    """
    states = states_of(workspace.ledger.commits(), plan.session)
    longest: dict[str, int] = {}
    for state, replaced in states:
        for digest in filter(None, (state.source, replaced)):
            longest[digest] = max(longest.get(digest, 0), state.turns if digest == state.source else 0)
    kept = {digest: turns for digest, turns in longest.items() if workspace.sources.path(digest).exists()}
    if not scrub:
        return dict.fromkeys(kept, "")
    others = sources_named(workspace.ledger.commits(), but=plan.session)
    after: dict[str, str] = {}
    for digest, turns in kept.items():
        sharers = [info for key in sorted(others.get(digest, ())) if (info := reader.session(key)) is not None]
        if plan.turn is None and not sharers:
            after[digest] = ""
        elif (new := _scrubbed(workspace, plan, digest, turns, sharers)) != digest:
            after[digest] = new
    return after


def _scrubbed(workspace: Workspace, plan: ErasePlan, digest: str, turns: int, sharers: list[SessionInfo]) -> str:
    """sha256 of a log without what goes: its own where there was nothing of it, empty where it must go."""
    names = [plan.session] if plan.turn is None else []
    needles = Needles(plan.texts, kept=_said_elsewhere(workspace, plan, sharers), names=names)
    data = workspace.sources.read(digest, LARGEST)
    if data is None or not workspace.sessions.holds(plan.path):
        return ""
    if not needles:
        return digest
    clean = scrubbed(data, needles, names[0] if names else "")
    if clean is None:
        return ""
    if clean == data:
        # An older state may end before the turn; where it should stand and is not found, it stands in another form.
        return "" if plan.turn is None or turns > plan.turn else digest
    return workspace.sources.keep_bytes(clean)


def _said_elsewhere(workspace: Workspace, plan: ErasePlan, sharers: list[SessionInfo]) -> Iterator[str]:
    """What other turns of the same log say: it stays, also where the erased ones say it too."""
    for info in sharers:
        if workspace.sessions.holds(info.path):
            for turn in workspace.sessions.turns(info.path):
                yield from turn_texts(turn)
    if plan.turn is None:
        return
    for number, turn in enumerate(workspace.sessions.turns(plan.path)):
        if number != plan.turn:
            yield from turn_texts(turn)
    # Paths and names of programs stand in the arguments of tools and at the head of the log.
    metadata = workspace.sessions.header(plan.path)["metadata"]
    yield from (text for text in strings(metadata) if text.isascii() and not any(map(str.isspace, text)))
