"""What still holds something that is erased, or may: named, never touched."""

from __future__ import annotations

from collections.abc import Iterator

from alaya_core.models.answers import Left
from alaya_core.services.erase.needles import Needles
from alaya_core.services.erase.past import texts_by_card
from alaya_core.services.erase.plan import ErasePlan
from alaya_core.services.erase.scrubbing import turn_texts
from alaya_core.services.workspace import Workspace
from alaya_core.stores.erasing import holders
from alaya_core.stores.graph_read import GraphReader


def still_held(workspace: Workspace, reader: GraphReader, plan: ErasePlan) -> list[Left]:
    """Everything that whoever asks may see and that holds some of it after the erase."""
    needles = Needles(plan.texts)
    turns = _turns_of_card(workspace, reader, plan) if plan.what == "card" else _other_turns(workspace, plan)
    return [
        *turns,
        *_sessions(workspace, reader, plan),
        *_cards(workspace, reader, plan, needles),
        *_files(workspace, Needles(plan.texts, names=plan.names)),
    ]


def _turns_of_card(workspace: Workspace, reader: GraphReader, plan: ErasePlan) -> Iterator[Left]:
    sources = {
        (source["session_id"], turn) for event in plan.events for source in event["sources"] for turn in source["turns"]
    }
    for session_id, turn in sorted(sources):
        info, erased = reader.session(session_id), reader.erased(session_id)
        if info is None or turn >= info.turns or (erased is not None and turn in erased.turns):
            continue
        if workspace.agent in (None, info.agent):
            why = f"it was made from this turn, which stays: alaya erase {session_id} --turn {turn}"
            yield Left(kind="turn", name=f"{session_id}#{turn}", why=why)


def _other_turns(workspace: Workspace, plan: ErasePlan) -> Iterator[Left]:
    """Turns of the same session that say some of what the erased one says."""
    if plan.turn is None or not workspace.sessions.holds(plan.path):
        return
    [erased] = workspace.sessions.turns(plan.path, plan.turn, plan.turn + 1)
    needles = Needles(turn_texts(erased))
    for number, turn in enumerate(workspace.sessions.turns(plan.path)):
        if number != plan.turn and any(needles.found_in(text) for text in turn_texts(turn)):
            why = f"it says some of it too: alaya erase {plan.session} --turn {number}"
            yield Left(kind="turn", name=f"{plan.session}#{number}", why=why)


def _sessions(workspace: Workspace, reader: GraphReader, plan: ErasePlan) -> Iterator[Left]:
    """Sessions of the same id that were kept apart: they share turns from their start."""
    if not plan.session:
        return
    first = plan.session.split("~")[0]
    for info in reader.sessions():
        kin = info.id == first or info.id.startswith(f"{first}~")
        if kin and info.id != plan.session and workspace.agent in (None, info.agent):
            why = f"another state of the same session, with turns in common: alaya erase {info.id}"
            yield Left(kind="session", name=info.id, why=why)


def _cards(workspace: Workspace, reader: GraphReader, plan: ErasePlan, needles: Needles) -> Iterator[Left]:
    gone = set(plan.cards)
    quoting: dict[str, None] = {}
    for card_id, text in texts_by_card(workspace.ledger.commits()):
        if card_id not in gone and card_id not in plan.absorbers and needles.found_in(text):
            quoting[card_id] = None
    for card_id, own in plan.absorbers.items():
        if needles.found_in("\n".join((own["title"], own["overview"], own["content"]))):
            quoting[card_id] = None
    scopes = workspace.visible_scopes()
    found = reader.cards(quoting)
    for card_id in quoting:
        card = found.get(card_id)
        if scopes is None or (card is not None and card.scope in scopes):
            now = card is not None and needles.found_in(card.text_to_embed())
            what = "it quotes it" if now else "an earlier version of it quotes it"
            yield Left(kind="card", name=card_id, why=f"{what}: alaya erase {card_id}")


def _files(workspace: Workspace, needles: Needles) -> Iterator[Left]:
    root = workspace.home.root
    for kind in ("backup", "export"):
        for path, known in holders(root / kind, needles.found_in):
            why = "it holds it: remove or rewrite it yourself" if known else "it cannot be looked into: it may hold it"
            yield Left(kind=kind, name=path.relative_to(root).as_posix(), why=why)
