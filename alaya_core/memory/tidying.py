"""Tidying: how a memory looks after itself, and what it is at this moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from alaya_core.memory.base import UseCases
from alaya_core.models.answers import (
    BulkAnswer,
    EntitiesAnswer,
    FateAnswer,
    IntrospectReport,
    ReviewAnswer,
    RunEvent,
    RunsAnswer,
    SnapshotAnswer,
    StatsAnswer,
    TimelineAnswer,
)
from alaya_core.models.requests import IntrospectOptions
from alaya_core.progress import CancelToken, ProgressSink, silent

Agree = Callable[[str], bool]
"""Asks a person a question; False where there is none."""


class Tidying(UseCases):
    """What tidies the memory, and tells how it stands."""

    def introspect(
        self,
        options: IntrospectOptions | None = None,
        *,
        progress: ProgressSink = silent,
        cancel: CancelToken | None = None,
        on_event: Callable[[RunEvent], None] = lambda _: None,
        agree: Agree = lambda _: False,
    ) -> IntrospectReport:
        """Distils what is new, merges what is double, cools and forgets what nobody needs, looks after the index, and
        writes the working memory; goes on with a run that was cut off.

        Args:
            on_event: Told everything as it happens; the same lines stand in `runs/`.
            agree: Asked before unusually many cards are forgotten.

        Raises:
            BusyError: Another process is at it.
        """
        from alaya_core.services.introspect import introspect

        return introspect(
            self._work,
            options or IntrospectOptions(),
            progress=progress,
            cancel=cancel or CancelToken(),
            on_event=on_event,
            agree=agree,
        )

    def watch(self, run: str | None = None, *, cancel: CancelToken | None = None) -> Iterator[RunEvent]:
        """The events of a run, those to come too, until it ends.

        Args:
            run: None = the one that runs now, or the last.

        Raises:
            NotFoundError: There is no such run.
        """
        from alaya_core.services.introspect import watch

        return watch(self._work, run, cancel or CancelToken())

    def runs(self, *, limit: int = 20) -> RunsAnswer:
        """The last runs of introspect."""
        from alaya_core.services.introspect import list_runs

        return list_runs(self._work, limit)

    def review(self) -> ReviewAnswer:
        """What waits for a person's decision."""
        from alaya_core.services.introspect import review

        return review(self._work)

    def decide(self, key: str, *, accept: bool) -> ReviewAnswer:
        """Carries out a proposal, or rejects it: it is not made again unless a text changes.

        Args:
            key: The proposal's, its beginning, or `all`.

        Raises:
            NotFoundError, AmbiguousIdError: No such proposal.
        """
        from alaya_core.services.introspect import decide

        return decide(self._work, key, accept=accept)

    def fate(self, card: str) -> FateAnswer:
        """What will become of a card if nobody uses or changes it: when, and why.

        Raises:
            NotFoundError, AmbiguousIdError: No such card.
        """
        from alaya_core.services.fate import fate

        return fate(self._work, card)

    def snapshot(self, *, write: bool = True) -> SnapshotAnswer:
        """The working memory: who the user is, what holds, what matters most, what is new.

        Args:
            write: Whether `snapshot.md` is brought up to date.
        """
        from alaya_core.services.working_memory import snapshot

        return snapshot(self._work, write=write)

    def entities(self, name: str | None = None, *, limit: int = 50) -> EntitiesAnswer:
        """The things that cards are about, or everything about one of them.

        Raises:
            NotFoundError: No card is about it.
        """
        from alaya_core.services.working_memory import entities

        return entities(self._work, name, limit=limit)

    def timeline(self, *, since: int | None = None, until: int | None = None, limit: int = 100) -> TimelineAnswer:
        """What was true or happened when, newest day first.

        Args:
            since, until: ms, inclusive.
        """
        from alaya_core.services.working_memory import timeline

        return timeline(self._work, since=since, until=until, limit=limit)

    def stats(self) -> StatsAnswer:
        """The memory in numbers."""
        from alaya_core.services.stats import stats

        return stats(self._work)

    def delete_bulk(self, *, scope: str | None, before: int | None, done: bool = False) -> BulkAnswer:
        """Forgets all cards of a scope, or from before a time, in one run that one undo takes back.

        Args:
            scope, before: At least one of them; before in ms.
            done: Whether to do it; else it only says which.

        Raises:
            UsageError: Neither is given.
        """
        from alaya_core.services.bulk import delete_bulk

        return delete_bulk(self._work, scope=scope, before=before, done=done)
