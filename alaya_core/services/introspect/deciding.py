"""A person decides what tidying only proposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from alaya_core.errors import AmbiguousIdError, ConflictError, NotFoundError
from alaya_core.models.answers import ReviewAnswer, ReviewItem
from alaya_core.models.card import LIVING, Card, CardState
from alaya_core.models.commit import proposal_judged
from alaya_core.models.plan import Decision
from alaya_core.services.carry_out import carry_out
from alaya_core.services.proposal_key import proposal_key
from alaya_core.services.proposals import Proposal, read_proposals
from alaya_core.services.workspace import Workspace
from alaya_core.text import safe_line

_LEAST = 4
_ALL = "all"


def review(workspace: Workspace) -> ReviewAnswer:
    """What waits; proposals about cards that changed since are left out, they will be made again if they still hold."""
    known = read_proposals(workspace).open
    return ReviewAnswer(items=[_item(proposal, cards) for proposal, cards in _standing(workspace, known)])


def decide(workspace: Workspace, key: str, *, accept: bool) -> ReviewAnswer:
    """Carries out proposals, or rejects them, in one run that one undo takes back.

    Args:
        key: A proposal's key, at least 4 characters of its beginning, or `all`.

    Raises:
        NotFoundError, AmbiguousIdError: No such proposal.
        ConflictError: Its cards changed meanwhile.
    """
    workspace.require_writable()
    standing = _standing(workspace, read_proposals(workspace).open)
    chosen = _chosen(standing, key)
    run = workspace.new_run()
    keys = {proposal.key for proposal, _ in chosen}
    if accept:
        decisions = [_decision(proposal, cards) for proposal, cards in chosen]
        out = carry_out(workspace, decisions, verb="review", run=run, actor=workspace.actor)
        if out.skipped and not out.done:
            raise ConflictError(f"not done: {out.skipped[0][1]}", "the next introspect proposes it again")
        keys = {decision.key for decision in out.done}
    verdict = "accepted" if accept else "rejected"
    judged = [proposal_judged(key, verdict, workspace.actor) for key in sorted(keys)]
    workspace.commit("review", lambda _: judged, run=run)
    done = [_item(proposal, cards) for proposal, cards in chosen if proposal.key in keys]
    answer = review(workspace)
    answer.decided, answer.verdict = done, verdict
    if len(done) < len(chosen):
        answer.note = f"{len(chosen) - len(done)} were left: their cards changed meanwhile"
    return answer


_Standing = list[tuple[Proposal, list[Card]]]


def _standing(workspace: Workspace, known: Mapping[str, Proposal]) -> _Standing:
    """Proposals whose cards are as they were when they were made, and may be seen by whoever asks."""
    scopes = workspace.visible_scopes()
    with workspace.graph.reading() as reader:
        cards = reader.cards({card for proposal in known.values() for card in proposal.cards})
    found = []
    for proposal in known.values():
        own = [cards[card] for card in proposal.cards if card in cards and cards[card].state in LIVING]
        seen = scopes is None or all(card.scope in scopes for card in own)
        if len(own) == len(proposal.cards) and seen and proposal_key(proposal.verb, own) == proposal.key:
            found.append((proposal, own))
    return found


def _chosen(standing: _Standing, key: str) -> _Standing:
    found = standing if key == _ALL else [each for each in standing if each[0].key == key]
    if not found and len(key) >= _LEAST:
        found = [each for each in standing if each[0].key.startswith(key)]
        if len(found) > 1:
            raise AmbiguousIdError(f"'{safe_line(key)[:40]}' fits {len(found)} proposals", "give more of the key")
    if not found:
        raise NotFoundError(f"no proposal '{safe_line(key)[:40]}' waits", "alaya review lists them")
    return found


def _decision(proposal: Proposal, cards: list[Card]) -> Decision:
    return replace(_MAKES[proposal.verb](proposal, cards), key=proposal.key)


def _merge(proposal: Proposal, cards: list[Card]) -> Decision:
    keep, other = cards
    return Decision("merge", (keep, other), absorbed=other.id, score=proposal.score, why=proposal.why)


def _supersede(proposal: Proposal, cards: list[Card]) -> Decision:
    newer, older = cards
    after = replace(older, state=CardState.SUPERSEDED, successor=newer.id)
    return Decision(proposal.verb, (newer, older), changed=(after,), score=proposal.score, why=proposal.why)


def _forget(proposal: Proposal, cards: list[Card]) -> Decision:
    return Decision("forget", (cards[0],), changed=(replace(cards[0], state=CardState.FORGOTTEN),), why=proposal.why)


_MAKES: Mapping[str, Callable[[Proposal, list[Card]], Decision]] = {
    "merge": _merge,
    "supersede": _supersede,
    "contradict": _supersede,
    "forget": _forget,
}
"""How each kind of proposal is carried out."""


def _item(proposal: Proposal, cards: list[Card]) -> ReviewItem:
    return ReviewItem(
        key=proposal.key,
        verb=proposal.verb,
        cards=list(proposal.cards),
        titles=[card.title for card in cards],
        score=proposal.score,
        why=proposal.why,
        at=proposal.at,
    )
