"""Keeping: what comes in, and how the home is looked after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Literal

from alaya_core.errors import UsageError
from alaya_core.memory.base import UseCases
from alaya_core.models.answers import (
    ConfigAnswer,
    DistillReport,
    DoctorAnswer,
    IngestReport,
    PassageVectors,
    RebuildAnswer,
    ReembedAnswer,
    StatusAnswer,
    UpkeepAnswer,
    VerifyAnswer,
)
from alaya_core.progress import CancelToken, ProgressSink, silent


class Keeping(UseCases):
    """What brings knowledge in, and looks after the stores."""

    def ingest(
        self,
        paths: Sequence[Path | str],
        *,
        format: str | None = None,
        distill: bool = False,
        stdin: BinaryIO | None = None,
        progress: ProgressSink = silent,
        cancel: CancelToken | None = None,
        announce: Callable[[str], None] = lambda _: None,
    ) -> IngestReport:
        """Takes in sessions from files, folders and standard input (`-`), and makes their turns searchable.

        Args:
            format: The format of all of them; None = found out for each.
            distill: Whether to distill what came in at once.
            announce: Told who is sent text to distill, before the first of it.

        Raises:
            AlayaError: The home takes no changes. What a file does wrong is in the report.
        """
        from alaya_core.services.index import sync
        from alaya_core.services.ingest import ingest

        run = self._work.new_run()  # one run, so that one undo takes back all that this call did
        report = ingest(self._work, paths, format=format, stdin=stdin, progress=progress, cancel=cancel, run=run)
        if distill or self._work.config.distill.auto_distill:
            report.distilled = self._distill(
                None, redo=False, progress=progress, cancel=cancel, run=run, announce=announce
            )
        else:
            # Also when nothing is new: an earlier ingest may have been killed before its turns were indexed.
            sync(self._work, patient=True, progress=progress, cancel=cancel)
        if report.sessions:
            self.embed_passages(seconds=self._work.config.passages.embed_seconds, progress=progress, cancel=cancel)
        return report

    def embed_passages(
        self, *, seconds: float | None = None, progress: ProgressSink = silent, cancel: CancelToken | None = None
    ) -> PassageVectors:
        """Makes vectors of passages that have none, newest session first.

        Args:
            seconds: After how long to stop; None = when there is nothing left.
        """
        from alaya_core.services.index import embed_passages

        return embed_passages(self._work, seconds=seconds, progress=progress, cancel=cancel)

    def distill(
        self,
        *,
        session: str | None = None,
        redo: bool = False,
        upgrade: bool = False,
        progress: ProgressSink = silent,
        cancel: CancelToken | None = None,
        announce: Callable[[str], None] = lambda _: None,
    ) -> DistillReport:
        """Makes cards of the turns not distilled yet, by the model that is named, else by rules.

        Args:
            session: Only this session; None = all.
            redo: Read again what was distilled before.
            upgrade: Let the model read again what rules distilled; their cards are superseded where it has better ones,
                and nobody touched them.
            announce: Told who is sent text, before the first of it.

        Raises:
            NotFoundError: No such session.
            UsageError: `upgrade`, and no model is named.
            ConfigError: The model that is named cannot be used.
        """
        return self._distill(session, redo=redo, upgrade=upgrade, progress=progress, cancel=cancel, announce=announce)

    def _distill(
        self,
        session: str | None,
        *,
        redo: bool,
        upgrade: bool = False,
        progress: ProgressSink,
        cancel: CancelToken | None,
        run: str = "",
        announce: Callable[[str], None],
    ) -> DistillReport:
        from alaya_core.services.distill.run import distill
        from alaya_core.services.index import sync
        from alaya_core.services.settling import settle_new

        run = run or self._work.new_run()
        report = distill(
            self._work,
            session=session,
            redo=redo,
            upgrade=upgrade,
            progress=progress,
            cancel=cancel,
            run=run,
            announce=announce,
        )
        sync(self._work, patient=True, progress=progress, cancel=cancel)
        new = [card.card_id for outcome in report.sessions for card in outcome.cards]
        if new and (settled := settle_new(self._work, new, run=run)):
            report.settled = [f"{decision.verb}: {decision.why}" for decision in settled]
            sync(self._work, patient=True, progress=progress, cancel=cancel)
        report.vectors_pending = self._work.vectors.mark().pending
        return report

    def status(self) -> StatusAnswer:
        """What each layer holds, and what needs attention."""
        from alaya_core.services.status import status

        return status(self._work)

    def verify(self, *, fix: bool = False, yes: bool = False) -> VerifyAnswer:
        """Compares the layers with each other.

        Args:
            fix: Whether to say what would mend the findings.
            yes: Whether to do it.
        """
        from alaya_core.services.verify import verify

        return verify(self._work, fix=fix, yes=yes)

    def rebuild(
        self,
        what: Literal["all", "l1", "l2"] = "all",
        *,
        progress: ProgressSink = silent,
        cancel: CancelToken | None = None,
    ) -> RebuildAnswer:
        """Makes the views anew from `raw/`."""
        from alaya_core.services.rebuild import rebuild

        if what not in ("all", "l1", "l2"):
            raise UsageError(f"cannot rebuild '{what}'", "one of: all, l1, l2")
        return rebuild(self._work, what, progress, cancel)

    def reembed(
        self,
        *,
        dry_run: bool = False,
        progress: ProgressSink = silent,
        cancel: CancelToken | None = None,
        beforehand: Callable[[ReembedAnswer], None] = lambda _: None,
    ) -> ReembedAnswer:
        """Makes the vectors of all cards anew by the configured model; the old ones answer until it is done.

        Cut off, it goes on where it was when it is called again: what was embedded is not paid for twice.

        Args:
            dry_run: Whether only to say what it would take, as far as that is known without sending a word to anybody.
            beforehand: Told what it takes before the first text is sent.

        Raises:
            ProviderError: The service does not do its job; what it did so far is kept.
        """
        from alaya_core.services.reembed import reembed

        return reembed(self._work, dry_run=dry_run, progress=progress, cancel=cancel, beforehand=beforehand)

    def upkeep(self, *, progress: ProgressSink = silent) -> UpkeepAnswer:
        """Folds the access log and the words index, removes old versions of the tables, rolls nothing away."""
        from alaya_core.services.upkeep import upkeep

        return upkeep(self._work, progress=progress)

    def cool_down(self) -> tuple[int, int]:
        """Moves cards between the tiers.

        Returns:
            How many turned COLD, how many were reheated.
        """
        from alaya_core.services.cool_down import cool_down

        return cool_down(self._work)

    def doctor(
        self,
        *,
        calibrate: bool = False,
        announce: Callable[[str], None] = lambda _: None,
        cancel: CancelToken | None = None,
    ) -> DoctorAnswer:
        """Whether this machine and this home can do the work.

        Args:
            calibrate: Measure on the home's own cards what the embedding in use finds alike in unrelated texts, and
                use that from now on.
            announce: Told what is sent where before a calibration sends it.
        """
        from alaya_core.services.doctor import doctor

        return doctor(self._work, calibrating=calibrate, announce=announce, cancel=cancel)

    def settings(self) -> ConfigAnswer:
        """Every setting, where its value comes from, and what it means."""
        config = self._work.config
        return ConfigAnswer(path=str(self._work.home.config_file), settings=config.rows(), warnings=config.warnings)
