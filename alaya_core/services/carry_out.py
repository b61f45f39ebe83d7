"""Carries out what tidying decided: in small commits, each decision looked at again on the memory as it is then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from alaya_core.models.card import Card, CardState, Link
from alaya_core.models.commit import (
    Event,
    card_changed,
    card_created,
    link_created,
    proposal_made,
)
from alaya_core.models.plan import Decision
from alaya_core.progress import CancelToken
from alaya_core.services.merging import merged
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_links import links_from
from alaya_core.stores.graph_read import GraphReader

_WEIGHT = 400
"""Of decisions in one commit, so that it holds the graph a fraction of a second (`_weight`)."""
_MERGED_BEFORE = "one of them is not there any more"
_CHANGED = "a card changed meanwhile"


@dataclass(slots=True)
class CarriedOut:
    """What became of decisions; a skipped one comes with the reason."""

    done: list[Decision] = field(default_factory=list)
    skipped: list[tuple[Decision, str]] = field(default_factory=list)


def carry_out(
    workspace: Workspace,
    decisions: Sequence[Decision],
    *,
    verb: str,
    run: str,
    actor: str,
    cancel: CancelToken | None = None,
    told: Callable[[CarriedOut], None] = lambda _: None,
) -> CarriedOut:
    """Does what was decided, in the given order.

    A decision is skipped when a card it rests on was changed since by somebody else; it will be planned again. One that
    only a person may take (`review`) becomes a proposal in the ledger.

    Args:
        verb: For the label of the lock.
        run: The run that all of it belongs to.
        actor: Who decided.
        told: Called after each commit with all that became of the decisions so far.

    Raises:
        CancelledError: It was told to stop; what was committed stays.
        BusyError, ReadOnlyHomeError, DamagedError: The home takes no changes.
    """
    out = CarriedOut()
    ours: dict[str, int] = {}
    for piece in _pieces(decisions):
        if cancel is not None:
            cancel.check()
        desk: list[_Desk] = []

        def plan(reader: GraphReader, piece: Sequence[Decision] = piece, desk: list[_Desk] = desk) -> list[Event]:
            desk[:] = [_Desk(workspace, reader, piece, ours)]
            return [event for decision in piece for event in desk[0].events(decision)]

        workspace.commit(verb, plan, run=run, actor=actor)
        ours.update(desk[0].ours)
        out.done += desk[0].done
        out.skipped += desk[0].skipped
        told(out)
    return out


class _Desk:
    """The touched cards and links while one decision after the other is turned into events."""

    def __init__(
        self, workspace: Workspace, reader: GraphReader, piece: Sequence[Decision], ours: dict[str, int]
    ) -> None:
        self._work = workspace
        self._now = workspace.clock()
        self._cards = reader.cards({card.id for decision in piece for card in decision.seen})
        # Who merges must know all links of its cards; who only adds links, those that start from the same.
        merging = {card.id for decision in piece if decision.absorbed for card in decision.seen}
        near = reader.neighbours(sorted(merging)).values() if merging else ()
        self._links = {neighbour.link.id: neighbour.link for found in near for neighbour in found}
        starts = {link.from_id for decision in piece for link in decision.links}
        self._links.update((link.id, link) for link in links_from(reader, starts))
        self._before = ours
        self.ours: dict[str, int] = {}
        self.done: list[Decision] = []
        self.skipped: list[tuple[Decision, str]] = []

    def events(self, decision: Decision) -> list[Event]:
        """The events of one decision; none if it is skipped."""
        reason = self._stands_against(decision)
        if reason:
            self.skipped.append((decision, reason))
            return []
        if decision.review:
            keys = [card.id for card in decision.seen]
            made: list[Event] = [
                proposal_made(decision.key, decision.verb, keys, score=decision.score, why=decision.why)
            ]
        elif decision.absorbed:
            made = self._merge(decision)
        else:
            made = [event for card in decision.changed for event in self._change(card, decision)]
            made += [self._make(card, decision.seen) for card in decision.made]
            made += [self._link(link) for link in decision.links if link.id not in self._links]
        self.done.append(decision)
        return made

    def _stands_against(self, decision: Decision) -> str:
        changing = {card.id for card in decision.changed}
        for seen in decision.seen:
            card = self._cards.get(seen.id)
            if card is None or (card.state is CardState.MERGED and seen.state is not CardState.MERGED):
                return _MERGED_BEFORE
            own = self.ours.get(seen.id, self._before.get(seen.id))
            # What this very call did to a card is no reason to leave it, but where it would be overwritten.
            if card.rev != seen.rev and (card.rev != own or seen.id in changing):
                return _CHANGED
        return ""

    def _change(self, after: Card, decision: Decision) -> list[Event]:
        before = self._cards[after.id]
        return [self._put(before, after, decision)]

    def _put(self, before: Card, after: Card, decision: Decision) -> Event:
        after = replace(after, rev=before.rev + 1)
        self._hold(after)
        return card_changed(before, after, decision.verb, why=decision.why)

    def _make(self, card: Card, of: Sequence[Card]) -> Event:
        """A new card, with the turns that the cards it was made of came from."""
        turns = {(turn.session_id, turn.turn): turn for one in of for turn in self._work.contexts.read(one.id)}
        if card.sources and turns:
            self._work.staging.add("card", card.id, "")
            self._work.contexts.write(card.id, [turns[key] for key in sorted(turns)])
        self._hold(card)
        return card_created(card)

    def _link(self, link: Link) -> Event:
        self._links[link.id] = link
        return link_created(link)

    def _merge(self, decision: Decision) -> list[Event]:
        keep, other = self._cards[decision.seen[0].id], self._cards[decision.absorbed]
        one = merged(keep, other, self._around(keep.id), self._around(other.id), now=self._now, why=decision.why)
        for link in one.removed:
            self._links.pop(link.id, None)
        self._links.update((link.id, link) for link in one.made)
        for card in (one.alias, one.whole):
            self._hold(card)
        return one.events

    def _hold(self, card: Card) -> None:
        self._cards[card.id] = card
        self.ours[card.id] = card.rev

    def _around(self, card_id: str) -> list[Link]:
        return [link for link in self._links.values() if card_id in (link.from_id, link.to_id)]


def _pieces(decisions: Sequence[Decision]) -> Iterator[list[Decision]]:
    piece: list[Decision] = []
    weight = 0
    for decision in decisions:
        piece.append(decision)
        weight += _weight(decision)
        if weight >= _WEIGHT:
            yield piece
            piece, weight = [], 0
    if piece:
        yield piece


def _weight(decision: Decision) -> int:
    """How long it takes, in changes of one card's figures: links and texts cost most."""
    return 1 + 20 * bool(decision.absorbed) + 10 * len(decision.made) + 2 * len(decision.links)


__all__ = ["CarriedOut", "carry_out"]
