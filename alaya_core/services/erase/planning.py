"""Finds out all that goes with a card, a session or a turn. Reads only."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from alaya_core import secrets
from alaya_core.models.card import RULES_SUMMARY, SourceRef
from alaya_core.models.commit import Event, card_to_json, erased
from alaya_core.models.session import SessionHeader, SessionInfo
from alaya_core.services.erase.logs import logs_after
from alaya_core.services.erase.needles import Needles
from alaya_core.services.erase.past import CardPast, states_of, survivors
from alaya_core.services.erase.plan import ErasePlan
from alaya_core.services.erase.redaction import Redaction
from alaya_core.services.erase.scrubbing import scrubbed_value, turn_texts
from alaya_core.services.erase.shared import Division, divided, with_absorbed
from alaya_core.services.erase.target import Target
from alaya_core.services.erase.tombstones import tombstone
from alaya_core.services.passages import cut, searched_text
from alaya_core.services.session_text import Summary
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader
from alaya_core.stores.ledger_redaction import count_redacted
from alaya_core.text import clip, safe_line

_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What an erase will do.

    Attributes:
        cards: What goes with it of the cards, and what stays.
        lines: How many lines of the ledger it changes.
    """

    plan: ErasePlan
    cards: Division
    lines: int


def plan_of(workspace: Workspace, reader: GraphReader, target: Target, *, scrub: bool) -> Foreseen:
    """The plan of an erase.

    Args:
        scrub: Whether to write the logs that take the place of others; until the plan is carried out nobody names them.
    """
    if target.card is not None:
        plan = ErasePlan("card", target.card.id, target.card.title)
        cards = Division(with_absorbed(workspace, {target.card.id}), {})
    else:
        assert target.session is not None
        plan = _session_plan(workspace, target.session, target.turn)
        plan.sources = logs_after(workspace, reader, plan, scrub=scrub)
        cards = divided(workspace, reader, plan)
    made_of = _summaries_of(reader, cards.goes)
    if made_of:
        past = with_absorbed(workspace, made_of)
        cards = Division({**cards.goes, **past}, {key: one for key, one in cards.stays.items() if key not in past})
    _add_cards(plan, cards.goes, made_of)
    _add_absorbers(workspace, reader, plan, cards.goes)
    redaction = Redaction(plan)
    lines = count_redacted(workspace.ledger, plan.touches, redaction)
    plan.changed, plan.rehashed = sorted(redaction.changed), redaction.rehashed
    return Foreseen(plan, cards, lines)


def clean_header(workspace: Workspace, path: str, needles: Needles) -> SessionHeader:
    """What a session file says of itself, without what the needles find."""
    header = SessionHeader(**workspace.sessions.header(path))
    header.metadata = scrubbed_value(header.metadata, needles)
    return header


def _session_plan(workspace: Workspace, info: SessionInfo, turn: int | None) -> ErasePlan:
    plan = ErasePlan("session" if turn is None else "turn", info.id, session=info.id, turn=turn, path=info.path)
    plan.title = info.summary if turn is None else ""
    plan.events = [erased("session" if turn is None else "turns", info.id, turns=() if turn is None else (turn,))]
    if not workspace.sessions.holds(info.path):
        return plan
    texts: dict[str, None] = {}
    embedded: dict[str, None] = {}
    first = turn or 0
    last = info.turns if turn is None else turn + 1
    for one in workspace.sessions.turns(info.path, first, last):
        plan.title = plan.title or clip(safe_line(secrets.mask(one.text or one.content)), _SHOWN)
        texts.update(dict.fromkeys(text for text in turn_texts(one) if text))
        passages = cut(searched_text(one, workspace.config.passages.tool_characters))
        embedded.update(dict.fromkeys(_embedded(part) for part in passages))
    plan.texts, plan.embedded = list(texts), list(embedded)
    if turn is not None:
        plan.states = _states_without(workspace, plan)
    return plan


def _states_without(workspace: Workspace, plan: ErasePlan) -> dict[str, tuple[str, str]]:
    """Running hash and summary of every state that the session ever had, as they are without the turn."""
    wanted = {state.turns for state, _ in states_of(workspace.ledger.commits(), plan.session)}
    header = clean_header(workspace, plan.path, Needles(plan.texts))
    states: dict[str, tuple[str, str]] = {}
    spool, summary = workspace.sessions.spool(), Summary()
    with spool.body:
        for number, turn in enumerate(workspace.sessions.turns(plan.path)):
            kept = tombstone(turn) if number == plan.turn else turn
            spool.add(kept)
            summary.add(kept)
            if spool.count in wanted:
                states[str(spool.count)] = (spool.chain.hex(), summary.text(header))
    return states


def _embedded(text: str) -> str:
    """By what the cache of vectors knows a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _summaries_of(reader: GraphReader, goes: Mapping[str, CardPast]) -> set[str]:
    """Summaries made by rules of cards that go: they quote them, and are made anew of those that stay."""
    around = reader.neighbours(sorted(goes)) if goes else {}
    near = {neighbour.card_id for found in around.values() for neighbour in found} - goes.keys()
    return {key for key, card in reader.cards(near).items() if card.distilled_by == RULES_SUMMARY}


def _add_cards(plan: ErasePlan, goes: Mapping[str, CardPast], made_of: Collection[str]) -> None:
    """What is known of the cards that go, and what the ledger says of them from now on.

    Args:
        made_of: Summaries among them: their lines are also those of cards that stay, and are looked for nowhere else.
    """
    plan.cards = sorted(goes)
    for key in plan.cards:
        past = goes[key]
        plan.texts += sorted(past.texts - set(plan.texts)) if key not in made_of else []
        plan.embedded += sorted({_embedded(text) for text in past.embedded} - set(plan.embedded))
        plan.events += _said_of(key, past, plan)
    own = [past for key, past in goes.items() if key not in made_of]
    plan.labels = sorted({label for past in own for label in past.labels})
    plan.reasons = sorted({reason for past in own for reason in past.reasons})


def _said_of(card_id: str, past: CardPast, plan: ErasePlan) -> list[Event]:
    """One event for the card, and one more for every other set of turns from which it would be made again."""
    whole = plan.session if plan.turn is None else ""
    versions: list[tuple[SourceRef, ...]] = []
    before: dict[str, set[int]] = {}
    for version in past.sources:
        fresh = [
            SourceRef(source.session_id, tuple(turn for turn in source.turns if turn not in known))
            for source in version
            if (known := before.get(source.session_id, set())) is not None
        ]
        before = {source.session_id: set(source.turns) for source in version}
        for refs in (version, [source for source in fresh if source.turns]):
            kept = tuple(source for source in refs if source.session_id != whole)
            if kept and kept not in versions:
                versions.append(kept)
    first, *others = versions or [()]
    return [
        erased("card", card_id, sources=first),
        *(erased("card", f"{card_id} {number}", sources=refs) for number, refs in enumerate(others, 1)),
    ]


def _add_absorbers(workspace: Workspace, reader: GraphReader, plan: ErasePlan, goes: Mapping[str, CardPast]) -> None:
    """Cards that had taken in one that goes, and gave it back: their past still says what it said."""
    if not plan.cards:
        return
    merged = survivors(workspace.ledger.commits(), plan.cards) - set(goes)
    for card_id, card in reader.cards(merged).items():
        raw = card_to_json(card)
        around = reader.neighbours([card_id])[card_id]
        plan.absorbers[card_id] = {name: raw[name] for name in ("title", "overview", "content", "tags", "entities")}
        plan.absorbers[card_id]["reasons"] = sorted({near.link.reason for near in around})
