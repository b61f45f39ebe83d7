"""What the phases of a run share: the home, the run, whom they tell, and what a dry run would have changed so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from alaya_core.models.answers import ModelUsage, PhaseReport, PlannedChange
from alaya_core.models.card import Card
from alaya_core.models.plan import Decision
from alaya_core.models.requests import IntrospectOptions
from alaya_core.progress import CancelToken, Progress
from alaya_core.services.carry_out import CarriedOut, carry_out
from alaya_core.services.every_card import every_card
from alaya_core.services.introspect.journal import Journal
from alaya_core.services.workspace import Workspace

ACTOR = "introspect"
_SHOWN = 200
"""Changes of a phase that its report names; the counts have all of them, and so has the history."""
_TOLD = 1_000
"""Changes of a phase that are told one by one while it runs."""

Outcome = Literal["done", "planned", "review", "skipped"]


@dataclass(slots=True)
class Desk:
    """One run at work.

    Attributes:
        planned: Of a dry run, cards as they would be by now.
        agree: Asks a person; False where there is none.
    """

    workspace: Workspace
    options: IntrospectOptions
    journal: Journal
    cancel: CancelToken
    agree: Callable[[str], bool]
    planned: dict[str, Card] = field(default_factory=dict)
    usage: ModelUsage | None = None

    @property
    def dry(self) -> bool:
        """Whether nothing may change."""
        return self.options.dry_run

    def cards(self) -> list[Card]:
        """Every card as it is, or in a dry run as it would be by now; what changes meanwhile is seen when a decision is
        carried out."""
        return [self.planned.get(card.id, card) for card in every_card(self.workspace, self.cancel.check)]

    def add_usage(self, usage: ModelUsage) -> None:
        """Adds what a model was asked to what it was asked before."""
        if self.usage is None:
            self.usage = usage
            return
        known = self.usage
        self.usage = usage.model_copy(
            update={
                "calls": known.calls + usage.calls,
                "cached": known.cached + usage.cached,
                "input_tokens": known.input_tokens + usage.input_tokens,
                "output_tokens": known.output_tokens + usage.output_tokens,
                "estimated": known.estimated or usage.estimated,
                "cost": None if usage.cost is None else (known.cost or 0.0) + usage.cost,
            }
        )

    def carry_out(self, decisions: Sequence[Decision], report: PhaseReport) -> CarriedOut:
        """Does what was decided (or, in a dry run, says it), and puts it into the report."""
        titles = {card.id: card.title for decision in decisions for card in (*decision.seen, *decision.made)}
        if self.dry:
            out = CarriedOut(done=list(decisions))
            self.planned.update((card.id, card) for decision in decisions for card in decision.changed)
            self._note(report, out, 0, titles)
            return out
        noted = 0

        def told(out: CarriedOut) -> None:
            nonlocal noted
            self._note(report, out, noted, titles)
            noted = len(out.done)
            self.journal.step(Progress(report.phase, noted + len(out.skipped), len(decisions)))

        out = carry_out(
            self.workspace,
            decisions,
            verb=ACTOR,
            run=self.journal.run,
            actor=ACTOR,
            cancel=self.cancel,
            told=told,
        )
        for decision, reason in out.skipped:
            self._change(report, decision, "skipped", titles, reason)
        if out.skipped:
            report.counts["skipped"] = len(out.skipped)
        return out

    def _note(self, report: PhaseReport, out: CarriedOut, known: int, titles: Mapping[str, str]) -> None:
        fresh = out.done[known:]
        counts = Counter(_counted(decision) for decision in fresh)
        report.counts = dict(Counter(report.counts) + counts)
        for decision in fresh:
            outcome: Outcome = "review" if decision.review else "planned" if self.dry else "done"
            self._change(report, decision, outcome, titles, decision.why)

    def _change(
        self, report: PhaseReport, decision: Decision, outcome: Outcome, titles: Mapping[str, str], why: str
    ) -> None:
        ids = [card.id for card in (*decision.made, *decision.seen)]
        change = PlannedChange(
            verb=decision.verb,
            cards=ids,
            titles=[titles.get(key, "") for key in ids],
            why=why,
            score=decision.score,
            outcome=outcome,
        )
        if len(report.changes) < _SHOWN:
            report.changes.append(change)
        else:
            report.left_off += 1
        if sum(report.counts.values()) <= _TOLD:
            self.journal.tell("change", why, **change.model_dump(mode="json", exclude={"why"}))


def _counted(decision: Decision) -> str:
    return f"{decision.verb} for review" if decision.review else decision.verb
