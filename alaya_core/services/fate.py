"""Fate: what will become of a card, when, and why."""

from __future__ import annotations

from collections.abc import Sequence

from alaya_core.clock import DAY_MS
from alaya_core.models.answers import FateAnswer, FateStep
from alaya_core.models.card import LIVING, Card, CardState, Relation
from alaya_core.services.lifecycle.fate import HORIZON_DAYS, Surroundings, foretell, never
from alaya_core.services.lifecycle.tiers import top_fifth
from alaya_core.services.lookup import find_card
from alaya_core.services.proposal_key import proposal_key
from alaya_core.services.proposals import read_proposals
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader


def fate(workspace: Workspace, reference: str) -> FateAnswer:
    """What will become of a card that nobody uses or changes; see `Memory.fate`.

    Raises:
        NotFoundError, AmbiguousIdError: No such card.
    """
    with workspace.graph.reading() as reader:
        card = find_card(reader, reference, workspace.visible_scopes(), forgotten=True)
        refused = proposal_key("forget", (card,)) in read_proposals(workspace).rejected
        around = _surroundings(reader, card, refused)
        living = sum(reader.counts()["state"][state] for state in LIVING)
    now = workspace.now()
    found = foretell(card, now, around) if card.state in (*LIVING, CardState.ARCHIVED) else []
    kept = never(card, now, around, found)
    steps = [
        FateStep(at=now.at + step.day * DAY_MS, days=step.day, what=step.what, to=step.to, why=step.why)
        for step in found
    ]
    most = now.config.temperature.warm_limit
    if steps and living > most:
        kept.append(f"not foretold: what more than {most:,} WARM cards bring down sooner")
    return FateAnswer(
        card_id=card.id,
        title=card.title,
        model=now.config.lifecycle.model,
        temperature=round(now.temperature(card), 4),
        tier=str(now.tier(card)),
        standing=str(card.standing),
        state=str(card.state),
        steps=steps,
        never=kept,
        sentence=_sentence(card, steps, kept),
        horizon_days=HORIZON_DAYS,
    )


def _surroundings(reader: GraphReader, card: Card, refused: bool) -> Surroundings:
    links = [near.link for near in reader.neighbours([card.id])[card.id]]
    wanting = {link.from_id for link in links if link.relation is Relation.DEPENDS_ON and link.to_id == card.id}
    dependants = sum(other.state in LIVING for other in reader.cards(wanting).values())
    if card.importance_by != "llm":
        return Surroundings(dependants, refused=refused)
    given = (other.importance for other in reader.all_cards() if other.importance_by == "llm")
    return Surroundings(dependants, top_fifth(given), refused)


def _sentence(card: Card, steps: Sequence[FateStep], kept: Sequence[str]) -> str:
    if card.state is CardState.FORGOTTEN:
        return "it is forgotten; `alaya restore` brings it back"
    if card.state is CardState.ARCHIVED and not steps:
        return "it is archived, and stays so until somebody restores it"
    said = ", ".join(step.said for step in steps)
    return "; ".join([said, *kept] if said else kept) or "nothing will happen to it within ten years"
