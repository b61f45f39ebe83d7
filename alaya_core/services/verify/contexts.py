"""The contexts of cards: the turns they came from, kept apart, compared with cards and sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from alaya_core import secrets
from alaya_core.errors import AlayaError
from alaya_core.models.card import Card
from alaya_core.models.session import SessionInfo, Turn
from alaya_core.services.verify.found import FIX, NOTHING, Found, counted_are
from alaya_core.services.workspace import Workspace
from alaya_core.stores.contexts import ContextTurn, content_digest, context_turn
from alaya_core.stores.files import set_aside
from alaya_core.stores.folding import Folded
from alaya_core.text import counted

_NEARBY = 200
"""How far from its place a turn is looked for when its log was repaired."""
_MASKED = "[secret:"
_Fits = Callable[[Turn], bool]


def context_findings(workspace: Workspace, truth: Folded, found: Found) -> None:
    """Looks at every context."""
    desk = _Desk(workspace, truth.sessions)
    kept = workspace.contexts.known()
    wanted = [card for card in truth.cards.values() if card.sources]
    missing = [card for card in wanted if not any(desk.name(key) in kept for key in (card.id, *card.merged_from))]
    found.add("context_missing", [card.id for card in missing], FIX, "trace still reads the sessions themselves")
    spoilt = [card for card in wanted if desk.name(card.id) in kept and desk.is_spoilt(card)]
    curable = [card for card in spoilt if desk.remade(card) is not None]
    found.add("context_differs", [card.id for card in curable], FIX, "its text is not that of its hash")
    hopeless = [card.id for card in spoilt if card not in curable]
    detail = "its text is not that of its hash, and no session has the turn"
    found.add("context_differs", hopeless, NOTHING, detail, report=True)
    own = {desk.name(key) for key in (*truth.cards, *truth.removed)}
    coming = {workspace.contexts.path(staged.id).name for staged in workspace.staging.files()}
    stray = sorted(kept - own - coming)
    found.add("context_unknown", stray, FIX, "of no card")
    if makable := [*missing, *curable]:
        plan = f"{counted_are(len(makable), 'context')} made anew from the sessions"
        found.can("contexts", _and_strays(plan, stray), lambda: _mend(desk, makable, stray))
    elif stray:
        found.can("contexts", _and_strays("", stray), lambda: _mend(desk, (), stray))


def _and_strays(plan: str, stray: Sequence[str]) -> str:
    said = f"{counted(len(stray), 'context')} of no card: removed, or moved to raw/set-aside where no session has it"
    return "; ".join(part for part in (plan, said if stray else "") if part)


def _mend(desk: _Desk, cards: Iterable[Card], stray: Iterable[str]) -> str:
    made = removed = moved = 0
    work = desk.work
    aside = work.home.raw / "set-aside" / "contexts"
    with work.locks.writing("verify"):
        for card in cards:
            turns = desk.remade(card)
            if turns:
                path = work.contexts.path(card.id)
                if path.exists() and not work.contexts.read(card.id):
                    set_aside(path, aside)
                work.contexts.write(card.id, turns)
                made += 1
        for name in stray:
            own = work.contexts.read_file(name)
            if own and all(desk.turn_of(turn) is not None for turn in own):
                work.contexts.remove_file(name)
                removed += 1
            elif name in work.contexts.known():
                set_aside(work.home.contexts / name, aside)
                moved += 1
    parts = [
        f"made {counted(made, 'context')} anew" if made else "",
        f"removed {counted(removed, 'context')} of no card" if removed else "",
        f"moved {counted(moved, 'context')} of no card to raw/set-aside" if moved else "",
    ]
    return ", ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where contexts and sessions are laid side by side."""

    work: Workspace
    sessions: Mapping[str, SessionInfo]

    def name(self, card_id: str) -> str:
        return self.work.contexts.path(card_id).name

    def is_spoilt(self, card: Card) -> bool:
        """Whether a context cannot be read, or a text in it is not that of its hash."""
        kept = self.work.contexts.read(card.id)
        return not all(map(self._is_right, kept)) if kept else not self.work.contexts.is_whole(card.id)

    def remade(self, card: Card) -> list[ContextTurn] | None:
        """The context of a card as it should be; None where a turn of it is nowhere to be found."""
        kept = self.work.contexts.read(card.id)
        if not kept:
            turns = list(self._from_sessions(card))
            return turns or None
        made: list[ContextTurn] = []
        for turn in kept:
            good = turn if self._is_right(turn) else self._repaired(turn)
            if good is None:
                return None
            made.append(good)
        return made

    def turn_of(self, kept: ContextTurn) -> Turn | None:
        """The turn of a session that a kept one is, by its hash: at its number, or nearby."""
        return self._found(kept, lambda turn: content_digest(turn.content) == kept.hash)

    def _is_right(self, kept: ContextTurn) -> bool:
        if content_digest(kept.content) == kept.hash:
            return True
        turn = self.turn_of(kept)  # the hash is over the text before its secrets were masked
        return secrets.mask(turn.content) == kept.content if turn is not None else _MASKED in kept.content

    def _repaired(self, kept: ContextTurn) -> ContextTurn | None:
        turn = self.turn_of(kept)
        if turn is None:  # it may be the hash that is wrong
            turn = self._found(kept, lambda turn: secrets.mask(turn.content) == kept.content)
        return replace(kept, content=secrets.mask(turn.content), hash=content_digest(turn.content)) if turn else None

    def _found(self, kept: ContextTurn, fits: _Fits) -> Turn | None:
        info = self.sessions.get(kept.session_id)
        if info is None:
            return None
        start = max(0, kept.turn - _NEARBY)
        try:
            here = next(self.work.sessions.turns(info.path, kept.turn, kept.turn + 1), None)
            if here is not None and fits(here):
                return here
            near = enumerate(self.work.sessions.turns(info.path, start, kept.turn + _NEARBY), start)
            fitting = [(abs(number - kept.turn), number, turn) for number, turn in near if fits(turn)]
        except AlayaError:
            return None
        return min(fitting, key=lambda one: one[:2])[2] if fitting else None

    def _from_sessions(self, card: Card) -> Iterator[ContextTurn]:
        for source in card.sources:
            info = self.sessions.get(source.session_id)
            for number in source.turns:
                try:
                    turns = list(self.work.sessions.turns(info.path, number, number + 1)) if info else []
                except AlayaError:
                    continue
                for turn in turns:
                    yield context_turn(source.session_id, number, turn, secrets.mask(turn.content))
