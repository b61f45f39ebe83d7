"""What still holds something that is erased, or may: named, never touched."""

from __future__ import annotations

from collections.abc import Iterator

from alaya_core.models.answers import Left
from alaya_core.services.erase.needles import Needles
from alaya_core.services.erase.past import session_paths, texts_by_card
from alaya_core.services.erase.plan import ErasePlan
from alaya_core.services.erase.scrubbing import turn_texts
from alaya_core.services.erase.shared import Division, turns_elsewhere
from alaya_core.services.workspace import Workspace
from alaya_core.stores.erasing import files_under, holders
from alaya_core.stores.foreign_files import foreign_files
from alaya_core.stores.graph_read import GraphReader


def still_held(workspace: Workspace, reader: GraphReader, plan: ErasePlan, cards: Division) -> list[Left]:
    """Everything that holds some of it after the erase, each thing once."""
    found = [
        *_turns_that_say_the_same(cards),
        *_turns_of_cards(reader, plan, cards),
        *_other_turns(workspace, plan),
        *_sessions(reader, plan),
        *_cards(workspace, reader, plan, cards),
        *_files(workspace, Needles(plan.texts, names=plan.names)),
    ]
    once: dict[tuple[str, str], Left] = {}
    for left in found:
        once.setdefault((left.kind, left.name), left)
    return list(once.values())


def _turns_that_say_the_same(cards: Division) -> Iterator[Left]:
    for session_id, turn in sorted({ref for refs in cards.stays.values() for ref in refs}):
        yield _turn(session_id, turn, "it says the same")


def _turns_of_cards(reader: GraphReader, plan: ErasePlan, cards: Division) -> Iterator[Left]:
    """Turns that cards that go were made from, and that stay."""
    for session_id, turn in turns_elsewhere(plan, cards.goes):
        info, erased = reader.session(session_id), reader.erased(session_id)
        if info is None or turn >= info.turns or (erased is not None and turn in erased.turns):
            continue
        what = "it" if plan.what == "card" else "a card that goes"
        yield _turn(session_id, turn, f"{what} was made from this turn, which stays")


def _other_turns(workspace: Workspace, plan: ErasePlan) -> Iterator[Left]:
    """Turns of the same session that say some of what the erased one says."""
    if plan.turn is None or not workspace.sessions.holds(plan.path):
        return
    [erased] = workspace.sessions.turns(plan.path, plan.turn, plan.turn + 1)
    needles = Needles(turn_texts(erased))
    for number, turn in enumerate(workspace.sessions.turns(plan.path)):
        if number != plan.turn and any(needles.found_in(text) for text in turn_texts(turn)):
            yield _turn(plan.session, number, "it says some of it too")


def _turn(session_id: str, turn: int, why: str) -> Left:
    return Left(kind="turn", name=f"{session_id}#{turn}", why=f"{why}: alaya erase {session_id} --turn {turn}")


def _sessions(reader: GraphReader, plan: ErasePlan) -> Iterator[Left]:
    """Sessions of the same id that were kept apart: they share turns from their start."""
    if not plan.session:
        return
    first = plan.session.split("~")[0]
    for info in reader.sessions():
        kin = info.id == first or info.id.startswith(f"{first}~")
        if kin and info.id != plan.session:
            why = f"another state of the same session, with turns in common: alaya erase {info.id}"
            yield Left(kind="session", name=info.id, why=why)


def _cards(workspace: Workspace, reader: GraphReader, plan: ErasePlan, cards: Division) -> Iterator[Left]:
    needles = Needles(plan.texts)
    quoting: dict[str, None] = {}
    for card_id, text in texts_by_card(workspace.ledger.commits()):
        if card_id not in cards.goes and card_id not in plan.absorbers and needles.found_in(text):
            quoting[card_id] = None
    for card_id, own in plan.absorbers.items():
        if needles.found_in("\n".join((own["title"], own["overview"], own["content"]))):
            quoting[card_id] = None
    found = reader.cards(quoting)
    for card_id in quoting:
        card = found.get(card_id)
        what = "it quotes it" if card is not None and needles.found_in(card.text_to_embed()) else "it quoted it once"
        if card_id in cards.stays:
            what = "it was made from turns that stay, too, which say the same"
        yield Left(kind="card", name=card_id, why=f"{what}: alaya erase {card_id}")


def _files(workspace: Workspace, needles: Needles) -> Iterator[Left]:
    home = workspace.home
    sessions = session_paths(workspace.ledger.commits())
    for kind, paths in (
        ("backup", files_under(home.root / "backup")),
        ("export", files_under(home.root / "export")),
        ("file", foreign_files(home, sessions.__contains__)),
    ):
        for path, known in holders(paths, needles.found_in):
            why = "it holds it: remove or rewrite it yourself" if known else "it cannot be looked into: it may hold it"
            yield Left(kind=kind, name=path.relative_to(home.root).as_posix(), why=why)
