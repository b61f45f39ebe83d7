"""Distillation by rules: from a session's turns to cards, without a model; pure and deterministic."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from alaya_core.models.card import CardDraft, LinkDraft, SourceRef
from alaya_core.models.card_types import CardType
from alaya_core.models.session import Turn, TurnKind
from alaya_core.secrets import mask
from alaya_core.services.distill.classify import REMEMBERED, Kind, Verdict, is_question, plain, without_filler
from alaya_core.services.distill.entities import entities, tags
from alaya_core.services.distill.expiry import expires_at
from alaya_core.services.distill.folding import folded
from alaya_core.services.distill.importance import importance
from alaya_core.services.distill.links import links
from alaya_core.services.distill.segment import sentences
from alaya_core.services.distill.subjects import is_bare, is_chinese, quoted, speaks_of_self
from alaya_core.services.distill.titles import fit, title
from alaya_core.services.distill.units import Heard, Unit, hear, referred, refers, units
from alaya_core.text import storable, without_escapes

RULES_VERSION = "rules/1"
_LOOKED_BACK = 3
"""Turns in which `remember that` is looked for: between it and what it means somebody may have said `ok`."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What distilling one session proposes.

    Attributes:
        cards: In the order of their turns.
        links: Between these cards, by their keys.
        skipped: Why turns gave no card (`heartbeat`, `question`, `small talk` ...), and how many statements were
            dropped (`pronoun`), folded (`repeated`) or beyond the limits (`over limit`, `over limit of a turn`).
    """

    cards: tuple[CardDraft, ...]
    links: tuple[LinkDraft, ...]
    skipped: Mapping[str, int]


@dataclass(slots=True)
class _Reading:
    """What is known while the turns are read."""

    capture_assistant: bool = True
    units: list[Unit] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    asked: tuple[int, str] | None = None
    before: deque[tuple[int, list[Heard], bool, str]] = field(default_factory=lambda: deque(maxlen=_LOOKED_BACK))
    person: int = -1  # the last turn of a person


_NOISE = re.compile(
    r"^\s*(?:HEARTBEAT_OK|NO_REPLY|\[OpenClaw heartbeat|Read HEARTBEAT\.md|\[cron:|A scheduled reminder"
    r"|\[Bootstrap pending|\[assistant turn failed|⚠️ Agent failed"
    r"|\[Request interrupted|API Error:|Error: \d{3}\b|✅ New session started|You are running a boot check)",
    re.IGNORECASE,
)
_MIDDLING = 1.3  # rank under which a card is left out of a session that gave enough
_SURE = 0.6  # strength under which an assistant's words are a step on the way where there is enough else
_WEIGHT = {
    CardType.GOTCHA: 0.15,
    CardType.DECISION: 0.15,
    CardType.CASE: 0.1,
    CardType.PATTERN: 0.1,
    CardType.EVENT: 0.05,
    CardType.BELIEF: -0.1,
}
_FIGURE = re.compile(r"\d|[一二两三四五六七八九十百千万]{2,}")
_COMMAND = re.compile(r"^\s*[/!][A-Za-z][\w:-]{0,40}(?:\s|$)")
_BOT = re.compile(r"bot\b|assistant|claude|gpt|gemini|copilot|^ai$|\bai\b|agent|助手|机器人", re.IGNORECASE)


def distill_by_rules(
    turns: Sequence[tuple[int, Turn]],
    *,
    session_id: str,
    session_time: int,
    max_cards: int = 10,
    max_per_turn: int = 3,
    capture_assistant: bool = True,
    known_entities: Sequence[str] = (),
) -> Proposal:
    """Cards and links for what was said in a session.

    Args:
        turns: (number, turn), in order; only messages with text are read.
        session_id: Whose turns they are.
        session_time: When the session began, ms; for turns without a time of their own.
        max_cards: Of a session; the most important are kept, and what somebody asked to be remembered in any case.
        max_per_turn: Of one turn, likewise.
        capture_assistant: Whether an assistant's statements become cards too. If not, its turns are only read for what
            a person means by `remember that`.
        known_entities: Names that the memory holds already and that should be found again.
    """
    reading = _Reading(capture_assistant)
    times: dict[int, int] = {}
    for number, turn in turns:
        if turn.timestamp is not None:
            times[number] = turn.timestamp
        reason = _read(reading, number, turn)
        if reason:
            reading.skipped[reason] += 1
    found, fell = folded(reading.units)
    if fell:
        reading.skipped["repeated"] += fell
    chosen = _chosen(found, max_cards, max_per_turn, reading.skipped)
    cards = []
    for order, index in enumerate(chosen):
        unit, repeated = found[index]
        when = next((times[number] for number in reversed(unit.turns) if number in times), session_time)
        draft = _card(unit, when, repeated=repeated, known=known_entities)
        if draft is None:
            reading.skipped["no title"] += 1
            continue
        sources = (SourceRef(session_id, unit.turns),)
        cards.append(replace(draft, sources=sources, key=f"{unit.turns[-1]}.{order}"))
    return Proposal(tuple(cards), links(cards, {unit.name for unit, _ in found if unit.name}), dict(reading.skipped))


def _chosen(found: Sequence[tuple[Unit, bool]], max_cards: int, max_per_turn: int, skipped: Counter[str]) -> list[int]:
    """Which units become cards, in the order of their turns."""
    ranked = sorted(range(len(found)), key=lambda index: (-_rank(*found[index]), index))
    asked = {index for index in ranked if REMEMBERED in found[index][0].verdict.cues}
    few = -(-max_cards * 3 // 5)
    chosen: list[int] = []
    of_turn: Counter[int] = Counter(found[index][0].turns[-1] for index in asked)
    for place, index in enumerate(ranked):
        unit = found[index][0]
        if index in asked:
            chosen.append(index)
        elif _is_passing(found[index], place, few):
            skipped["passing"] += 1
        elif of_turn[unit.turns[-1]] >= max_per_turn:
            skipped["over limit of a turn"] += 1
        else:
            of_turn[unit.turns[-1]] += 1
            chosen.append(index)
    others = [index for index in chosen if index not in asked]
    over = set(others[max(0, max_cards - len(asked)) :])
    if over:
        skipped["over limit"] += len(over)
    return sorted(index for index in chosen if index not in over)


def _is_passing(found: tuple[Unit, bool], place: int, few: int) -> bool:
    """Whether a unit gives way where a session gave enough: one that matters little, or an assistant's step on the
    way.

    Args:
        place: Its rank.
        few: How many units a session has before any gives way.
    """
    unit, _ = found
    if place >= few and _rank(*found) < _MIDDLING:
        return True
    unsure = not unit.person and unit.verdict.strength < _SURE
    return place >= few - 2 and len(unit.turns) == 1 and unsure


def is_noise(text: str) -> bool:
    """Whether a turn's text is a program's poll or notice, and nothing that anybody said."""
    return bool(_NOISE.match(text))


def _read(reading: _Reading, number: int, turn: Turn) -> str:
    """Reads one turn; the reason if it gave nothing."""
    if turn.kind is not TurnKind.MESSAGE:
        return str(turn.kind)
    if turn.role not in ("user", "assistant") or not turn.text.strip():
        return "empty" if turn.role in ("user", "assistant") else turn.role
    text = without_escapes(storable(turn.text))
    if is_noise(text):
        return "heartbeat"
    if _COMMAND.match(text):
        return "command"
    person = turn.role == "user" or bool(turn.name and not _BOT.search(turn.name))
    heard = hear(sentences(mask(text)), person=person)
    if not heard:
        return "code or output"
    read = person or reading.capture_assistant
    made = _units_of(reading, number, turn, heard, person=person) if read else []
    reading.before.appendleft((number, heard, person, turn.name))
    reading.asked = _question(number, heard)
    if person:
        reading.person = number
    else:
        made = [replace(unit, answers=reading.person) for unit in made]
    reading.units += made
    if made:
        return ""
    if not read:
        return "assistant"
    kinds = Counter(one.verdict.kind for one in heard)
    top = kinds.most_common(1)[0][0]
    return "no cue" if top is Kind.STATEMENT else str(top)


def _units_of(reading: _Reading, number: int, turn: Turn, heard: list[Heard], *, person: bool) -> list[Unit]:
    at = next((index for index, one in enumerate(heard) if refers(without_filler(plain(one.text)))), -1)
    if at >= 0 and person:  # it only asks for what it points at
        heard[at] = replace(heard[at], verdict=Verdict(Kind.INSTRUCTION))
    made, dropped = units(heard, number, person=person, name=turn.name, asked=reading.asked)
    reading.skipped.update({"pronoun": dropped} if dropped else {})
    if at < 0 or not person:
        return made
    unit = referred(heard[:at], number, person=person, name=turn.name)
    for before, said, by_person, name in reading.before:
        if unit is not None:
            break
        unit = referred(said, before, person=by_person, name=name)
        unit = replace(unit, turns=(before, number)) if unit else None
    return [*made, unit] if unit else made


def _question(number: int, heard: list[Heard]) -> tuple[int, str] | None:
    """The last thing asked in a turn, if an answer could lean on it."""
    for one in reversed(heard):
        text = without_filler(plain(one.text))
        if (
            one.verdict.kind is Kind.QUESTION
            and len(text) <= 300
            and is_question(text)
            and not is_bare(text)
            and entities(text)
        ):
            return number, text
    return None


def _rank(unit: Unit, repeated: bool) -> float:
    """What is kept when there is too much: what matters, what is surely said, what a person said."""
    verdict = unit.verdict
    text = " ".join(unit.parts)
    named = bool(_FIGURE.search(text) or entities(text))
    return (
        importance(verdict.intrinsic, verdict.signal, repeated=repeated)
        + verdict.strength
        + _WEIGHT.get(verdict.type, 0.0)
        + 0.15 * (unit.person or len(unit.turns) > 1)
        + 0.1 * named
    )


def _card(unit: Unit, when: int, *, repeated: bool, known: Sequence[str]) -> CardDraft | None:
    verdict = unit.verdict
    who = unit.name or ("User" if unit.person else "Assistant")
    who_zh = unit.name or ("用户" if unit.person else "助手")
    head = title(unit.head, who=who, who_zh=who_zh, personal=unit.person)
    if is_bare(head) and unit.person:
        head = fit(f"{who_zh}：{head}" if is_chinese(head) else f"{who}: {head}")
    if not head or is_bare(head):
        return None
    joiner = "" if is_chinese(unit.parts[0]) else " "
    content = joiner.join(unit.parts)
    content = quoted(content, unit.name or f"The {who.lower()}", who_zh) if unit.person else content
    names = entities(" ".join(unit.parts), known)
    if (
        unit.name
        and unit.person
        and unit.name not in names
        and speaks_of_self(content)
        and verdict.type in (CardType.PROFILE, CardType.PREFERENCE, CardType.EVENT)
    ):
        names = (unit.name, *names)[:8]
    return CardDraft(
        title=head,
        content=content,
        type=verdict.type,
        tags=tags(content, verdict.cues),
        entities=names,
        importance=importance(verdict.intrinsic, verdict.signal, repeated=repeated),
        confidence=min(1.0, verdict.confidence),
        created_at=when,
        # What somebody is or likes, or found out, ends only where that is said.
        expires_at=expires_at(
            without_filler(plain(unit.head)), when, ends_only=verdict.type not in (CardType.EVENT, CardType.FACT)
        ),
    )
