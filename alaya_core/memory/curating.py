"""Curating: what a person does to cards and links by hand, and how it is taken back."""

from __future__ import annotations

from collections.abc import Sequence

from alaya_core.memory.base import UseCases
from alaya_core.models.answers import CardAnswer, EraseAnswer, LinkAnswer, UndoAnswer
from alaya_core.models.requests import CardChanges
from alaya_core.progress import CancelToken, ProgressSink, silent


class Curating(UseCases):
    """What changes cards and links by hand."""

    def capture(
        self,
        content: str,
        *,
        title: str | None = None,
        type: str = "fact",
        importance: float | None = None,
        confidence: float = 0.9,
        tags: Sequence[str] = (),
        entities: Sequence[str] = (),
        scope: str | None = None,
    ) -> CardAnswer:
        """A new card by hand.

        Raises:
            UsageError: No text, or a value that cannot be.
        """
        from alaya_core.services.curate import capture

        return capture(
            self._work,
            content,
            title=title,
            type=type,
            importance=importance,
            confidence=confidence,
            tags=tags,
            entities=entities,
            scope=scope,
        )

    def edit(self, card: str, changes: CardChanges, *, rev: int | None = None) -> CardAnswer:
        """Changes fields of a card.

        Args:
            rev: The revision the caller has seen; another one now is an error.

        Raises:
            NotFoundError, AmbiguousIdError, UsageError, AlayaError: No such card, a value that cannot be, or changed.
        """
        from alaya_core.services.curate import edit

        return edit(self._work, card, changes, rev)

    def pin(self, card: str) -> CardAnswer:
        """Keeps a card HOT and safe from forgetting."""
        return self._pinned(card, True)

    def unpin(self, card: str) -> CardAnswer:
        """Takes the pin out."""
        return self._pinned(card, False)

    def archive(self, card: str) -> CardAnswer:
        """Puts a card where only `--archived` finds it."""
        return self._state(card, "archive")

    def forget(self, card: str) -> CardAnswer:
        """Takes a card out of sight; `restore` brings it back."""
        return self._state(card, "forget")

    def restore(self, card: str) -> CardAnswer:
        """Makes an archived, superseded or forgotten card active again."""
        return self._state(card, "restore")

    def link(
        self, a: str, b: str, *, relation: str = "RELATES_TO", weight: float = 0.5, reason: str = ""
    ) -> LinkAnswer:
        """Links two cards.

        Raises:
            NotFoundError, AmbiguousIdError, UsageError: No such card, or a value that cannot be.
        """
        from alaya_core.services.curate import link

        return link(self._work, a, b, relation=relation, weight=weight, reason=reason)

    def unlink(self, a: str, b: str, *, relation: str | None = None) -> LinkAnswer:
        """Takes away the links between two cards (of one relation, or all)."""
        from alaya_core.services.curate import unlink

        return unlink(self._work, a, b, relation=relation)

    def merge(self, keep: str, other: str, *, why: str = "") -> CardAnswer:
        """Makes one card of two: the first keeps its id, and the other's id names it from now on.

        Args:
            keep: The card that stays; it gains the other's text (unless it says it already), links, tags and sources.
            other: The card that goes into it.
            why: The reason, for the history.

        Raises:
            NotFoundError, AmbiguousIdError, UsageError: No such card, or the same one twice.
        """
        from alaya_core.services.merge import merge

        return merge(self._work, keep, other, why)

    def undo(self, *, run: str | None = None, cascade: bool = False) -> UndoAnswer:
        """Takes back the last change of whoever asks, or a whole run.

        Args:
            run: The run to undo; None = the last change by hand that stands.
            cascade: Whether to undo first what touched the same things since.

        Raises:
            NotFoundError: There is nothing to undo.
            ConflictError: Something changed since; the message lists it.
        """
        from alaya_core.services.undo import undo

        return undo(self._work, run=run, cascade=cascade)

    def redo(self, *, run: str | None = None, cascade: bool = False) -> UndoAnswer:
        """Does again what was undone last, or a whole undone run.

        Raises:
            NotFoundError, ConflictError: As for `undo`.
        """
        from alaya_core.services.undo import redo

        return redo(self._work, run=run, cascade=cascade)

    def erase(
        self,
        target: str,
        *,
        turn: int | None = None,
        yes: bool = False,
        progress: ProgressSink = silent,
        cancel: CancelToken | None = None,
    ) -> EraseAnswer:
        """Takes a card, a session or one of its turns out of the home for good: not a byte of it stays.

        Args:
            target: A card (id, or a prefix of it), or the id of a session.
            turn: Only this turn of the session.
            yes: Whether to do it; otherwise the answer is a preview and nothing changes.

        Raises:
            NotFoundError, AmbiguousIdError, UsageError: No such thing, or a turn of a card.
            ConflictError: An agent asks; only a person erases.
        """
        from alaya_core.services.erase import erase

        return erase(self._work, target, turn=turn, yes=yes, progress=progress, cancel=cancel)

    def _pinned(self, card: str, pinned: bool) -> CardAnswer:
        from alaya_core.services.curate import set_pinned

        return set_pinned(self._work, card, pinned)

    def _state(self, card: str, verb: str) -> CardAnswer:
        from alaya_core.services.curate import set_state

        return set_state(self._work, card, verb)
