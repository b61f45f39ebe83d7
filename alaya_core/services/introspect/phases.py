"""The phases of a run, each a few words of what it does: what is decided, and by whom, stands elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from alaya_core.errors import ProviderError
from alaya_core.models.answers import DistillReport, PhaseReport
from alaya_core.models.card import LIVING, Relation
from alaya_core.models.plan import Decision
from alaya_core.services.introspect.consolidating import consolidate
from alaya_core.services.introspect.desk import Desk
from alaya_core.services.lifecycle.cooling import plan_cool_down, plan_forget
from alaya_core.services.lifecycle.tiers import top_fifth
from alaya_core.services.proposal_key import proposal_key
from alaya_core.services.proposals import read_proposals
from alaya_core.services.upkeep import backlog, upkeep
from alaya_core.text import counted

Phase = Callable[[Desk, PhaseReport], None]


def _distill(desk: Desk, report: PhaseReport) -> None:
    """Makes cards of what came in since."""
    from alaya_core.services.distill.run import distill
    from alaya_core.services.index import sync

    work = desk.workspace
    told = distill(
        work,
        session=None,
        redo=False,
        dry_run=desk.dry,
        progress=desk.journal.step,
        cancel=desk.cancel,
        run=desk.journal.run,
        announce=lambda text: desk.journal.tell("note", text),
    )
    if not desk.dry:
        sync(work, patient=True, progress=desk.journal.step, cancel=desk.cancel)
    if told.usage is not None:
        desk.add_usage(told.usage)
    report.counts = {name: count for name, count in told.counts.items() if count}
    report.lines = _distilled(told)
    again = sum(each.status == "retry" for each in told.sessions)
    if again and again == len(told.sessions):  # a part may pass, none at all is a failure
        report.status, report.code = "failed", ProviderError.code


def _distilled(told: DistillReport) -> list[str]:
    if not told.sessions:
        return ["no session has new turns"]
    counts = told.counts
    done = counts.get("done", 0) + counts.get("skipped", 0)
    lines = [f"{counted(done, 'session')} read, {counted(counts['cards'], 'card')}, {counted(counts['links'], 'link')}"]
    again = [each for each in told.sessions if each.status == "retry"]
    reasons = dict.fromkeys(each.reason for each in again if each.reason)
    if again:
        lines.append(f"{counted(len(again), 'session')} kept for the next run: {'; '.join(list(reasons)[:3])}")
    return lines


def _cool_down(desk: Desk, report: PhaseReport) -> None:
    """Moves cards between the standings and tiers."""
    work = desk.workspace
    cards = desk.cards()
    out = desk.carry_out(plan_cool_down(cards, work.now()), report)
    if not desk.dry:
        work.vitals.fold(work.clock(), lambda: work.locks.writing("cool-down"))
    report.lines = [_moved(out.done)] if out.done else ["every card is where it belongs"]


def _moved(done: Sequence[Decision]) -> str:
    told = {
        "cool": "turned COLD",
        "reheat": "were reheated",
        "rise": "rose in standing",
        "sink": "sank in standing",
        "archive": "were archived",
    }
    counts = {verb: sum(decision.verb == verb for decision in done) for verb in told}
    return ", ".join(f"{counted(counts[verb], 'card')} {words}" for verb, words in told.items() if counts[verb])


def _forget(desk: Desk, report: PhaseReport) -> None:
    """Forgets what nobody needs; more than usual only if a person agrees, else it is left for review."""
    work, settings = desk.workspace, desk.workspace.config.introspect
    cards = desk.cards()
    with work.graph.reading() as reader:
        links = reader.all_links()
    living = {card.id for card in cards if card.state in LIVING}
    depended_on = {link.to_id for link in links if link.relation is Relation.DEPENDS_ON and link.from_id in living}
    decisions = plan_forget(
        cards,
        work.now(),
        depended_on,
        model_line=top_fifth(card.importance for card in cards if card.importance_by == "llm"),
        days=settings.forget_days,
        threshold=settings.forget_threshold,
    )
    known = read_proposals(work)
    decisions = [
        decision
        for decision in (replace(each, key=proposal_key(each.verb, each.seen)) for each in decisions)
        if decision.key not in known.rejected
    ]
    many = len(decisions) > max(settings.forget_ask_above, settings.forget_ask_share * len(living))
    if many and not desk.options.yes and not desk.dry:
        question = f"forget {len(decisions):,} of {len(living):,} cards? each can be restored"
        if not desk.agree(question):
            decisions = [replace(each, review=True) for each in decisions if each.key not in known.open]
    out = desk.carry_out(decisions, report)
    forgotten = sum(not decision.review for decision in out.done)
    left = len(out.done) - forgotten
    gone = "would be forgotten" if desk.dry else "forgotten"
    report.lines = [f"{counted(forgotten, 'card')} {gone}" if forgotten or not left else f"no card {gone}"]
    if left:
        report.lines.append(f"{counted(left, 'card')} left for review: that many are not forgotten unasked")
    elif many and desk.dry and not desk.options.yes:
        report.lines.append("that many are only forgotten if you agree (or with --yes); else they wait for review")


def _index(desk: Desk, report: PhaseReport) -> None:
    """Looks after the index and the files."""
    work = desk.workspace
    if desk.dry:
        waits = {name: count for name, count in backlog(work).items() if count}
        report.counts = waits
        report.lines = ["folds logs, makes the vectors that are owed, compacts tables"]
        return
    told = upkeep(work, progress=desk.journal.step)
    report.lines = [*told.did, *told.stays] or ["nothing to do"]


def _snapshot(desk: Desk, report: PhaseReport) -> None:
    """Writes the working memory anew if its ranks changed."""
    from alaya_core.services.working_memory import snapshot

    told = snapshot(desk.workspace, write=not desk.dry)
    report.counts = {"tokens": told.tokens, "cards": len(told.cards)}
    will = "would be written" if desk.dry else "written"
    report.lines = [f"{will}: {told.tokens:,} tokens" if told.changed else "its ranks are the same: left as it is"]


DOES: Mapping[str, Phase] = {
    "distill": _distill,
    "consolidate": consolidate,
    "cool-down": _cool_down,
    "forget": _forget,
    "index": _index,
    "snapshot": _snapshot,
}
"""Who does each phase."""
