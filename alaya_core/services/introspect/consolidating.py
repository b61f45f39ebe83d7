"""Consolidate: what is said twice becomes one card, what contradicts is settled, what is alike is linked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from alaya_core.errors import AlayaError, ConfigError, ProviderError
from alaya_core.models.answers import PhaseReport
from alaya_core.models.card import Card, CardState
from alaya_core.models.commit import proposal_judged
from alaya_core.models.plan import Decision, Pair
from alaya_core.progress import Progress
from alaya_core.services.consolidate.asking import PAIRS_AT_ONCE, SAME, SYSTEM, askable, question, verdicts
from alaya_core.services.consolidate.summaries import plan_summaries
from alaya_core.services.distill.asking import ask_json
from alaya_core.services.introspect.desk import ACTOR, Desk
from alaya_core.services.pair_plan import plan_alike
from alaya_core.services.similar_pairs import similar_pairs


def consolidate(desk: Desk, report: PhaseReport) -> None:
    """Settles all pairs of cards that are alike."""
    work = desk.workspace
    settings = work.config.introspect
    everything = desk.cards()
    cards = {card.id: card for card in everything if card.state is CardState.ACTIVE}
    pairs, note = _pairs(desk, list(cards.values()))
    with work.graph.reading() as reader:
        links = reader.all_links()
    decisions = plan_alike(work, cards, pairs, links)
    if settings.summary_facts:
        touched = {card.id for decision in decisions for card in decision.seen if decision.verb != "similar"}
        made = plan_summaries(everything, now=work.clock(), new_card_id=work.ids.new_card, least=settings.summary_facts)
        decisions += [decision for decision in made if not touched & {card.id for card in decision.seen}]
    decisions, judged = _judged(desk, decisions)
    out = desk.carry_out(decisions, report)
    report.lines = [_told(out.done), *judged, *([note] if note else [])]


def _pairs(desk: Desk, cards: Sequence[Card]) -> tuple[list[Pair], str]:
    """Pairs of like cards within each scope; without vectors only what the words of cards say is left."""
    try:
        return similar_pairs(
            desk.workspace,
            cards,
            least=desk.workspace.config.introspect.related_threshold,
            told=lambda done, total: _step(desk, done, total),
        ), ""
    except AlayaError as error:
        if error.code == "cancelled":
            raise
        return [], f"similar texts were not looked for: {error.message}"


def _step(desk: Desk, done: int, total: int) -> None:
    desk.cancel.check()
    desk.journal.step(Progress("consolidate", done, total, "comparing"))


def _judged(desk: Desk, decisions: Sequence[Decision]) -> tuple[list[Decision], list[str]]:
    """The decisions, those that rules cannot take judged by the model where one is named; and what to say of it."""
    from alaya_core.services.distill.usage import Usage

    work = desk.workspace
    asked = [decision for decision in decisions if askable(decision)]
    try:
        chat = work.chat if asked else None
    except ConfigError as error:
        return list(decisions), [f"no model judged duplicates: {error.message}"]
    if chat is None:
        return list(decisions), []
    if desk.dry:
        return list(decisions), [f"{chat.model} would judge {len(asked):,} pairs first"]
    usage = Usage()
    settled: dict[str, Decision | None] = {}
    notes: list[str] = []
    for start in range(0, len(asked), PAIRS_AT_ONCE):
        some = asked[start : start + PAIRS_AT_ONCE]
        desk.journal.step(Progress("consolidate", start, len(asked), f"{chat.model} compares"))
        try:
            found = ask_json(
                work,
                SYSTEM,
                question(some),
                partial(verdicts, count=len(some)),
                usage=usage,
                cancel=desk.cancel,
                told=lambda text: desk.journal.step(Progress("consolidate", 0, None, text)),
            )
        except ProviderError as error:
            notes.append(f"not all duplicates were judged: {error.message}")
            break
        settled |= {
            some[at].key: _same(some[at], chat.model) if verdict == SAME else None for at, verdict in found.items()
        }
    _keep_apart(desk, [key for key, decision in settled.items() if decision is None], chat.model)
    desk.add_usage(usage.view(chat, work.config.distill))
    kept = [settled.get(decision.key, decision) for decision in decisions]
    return [decision for decision in kept if decision is not None], notes


def _same(decision: Decision, model: str) -> Decision:
    """The merge that a model agrees to."""
    return replace(decision, review=False, absorbed=decision.seen[1].id, why=f"{model} finds them the same")


def _keep_apart(desk: Desk, keys: Sequence[str], model: str) -> None:
    """Notes what a model finds different, so that nobody is asked again unless a text changes."""
    judged = [proposal_judged(key, "rejected", model) for key in keys]
    desk.workspace.commit(ACTOR, lambda _: judged, run=desk.journal.run, actor=ACTOR)


def _told(done: Sequence[Decision]) -> str:
    words = {
        "merge": ("duplicate merged", "duplicates merged"),
        "contradict": ("contradiction settled", "contradictions settled"),
        "supersede": ("card superseded by a newer one", "cards superseded by newer ones"),
        "confirm": ("belief confirmed", "beliefs confirmed"),
        "summarize": ("summary written", "summaries written"),
        "similar": ("SIMILAR_TO link", "SIMILAR_TO links"),
    }
    counts = {verb: sum(each.verb == verb and not each.review for each in done) for verb in words}
    parts = [f"{counts[verb]:,} {words[verb][counts[verb] != 1]}" for verb in words if counts[verb]]
    review = sum(each.review for each in done)
    if review:
        parts.append(f"{review:,} for you to decide: `alaya review`")
    return ", ".join(parts) or "nothing is said twice"
