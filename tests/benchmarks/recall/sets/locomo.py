"""LoCoMo: ten long conversations of two people, in sessions, with questions and the turns that answer them."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.benchmarks.recall.model import Recipe, Session, turn_id

FILE = "locomo10.json"
ALL = range(1, 11)
TUNED_ON = range(1, 6)
TUNED = "tuned on conversations 1-5; conversations 6-10 are held out"
CATEGORIES = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open-domain", 4: "4 single-hop", 5: "5 adversarial"}

_EVIDENCE = re.compile(r"D(\d+):(\d+)")
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the file has it.

    Attributes:
        turns: The evidence turns that exist; sessions: the evidence sessions that exist.
    """

    id: str
    text: str
    category: int
    turns: frozenset[str]
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Observation:
    """A sentence that was written down about a speaker, and the turns it came from."""

    text: str
    turns: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation, made into sessions of Alaya's own format."""

    number: int
    scope: str
    sessions: tuple[Session, ...]
    questions: tuple[Asked, ...]
    observations: tuple[Observation, ...]

    @property
    def part(self) -> str:
        """Whether anybody looked at it while tuning."""
        return "conversations 1-5" if self.number in TUNED_ON else "conversations 6-10"


def conversations(data: Path, numbers: Container[int] = ALL) -> list[Conversation]:
    """Some of the conversations, numbered from 1.

    Raises:
        FileNotFoundError: The file is not there.
    """
    samples = json.loads((data / FILE).read_text(encoding="utf-8"))
    return [_conversation(number, sample) for number, sample in enumerate(samples, start=1) if number in numbers]


def recipe(chosen: Sequence[Conversation]) -> Recipe:
    """The home with the sessions of some conversations."""
    name = "locomo" if len(chosen) == len(ALL) else "locomo-" + "-".join(str(c.number) for c in chosen)
    return Recipe(name, sessions=tuple(session for c in chosen for session in c.sessions))


def session_of(turn: str) -> str:
    """The session that a turn belongs to."""
    return turn.partition("#")[0]


def _conversation(number: int, sample: Mapping[str, Any]) -> Conversation:
    agent = f"locomo-{sample['sample_id']}"
    told = sample["conversation"]
    numbers = sorted(int(key.split("_")[1]) for key in told if re.fullmatch(r"session_\d+", key))
    names = {"D" + str(n): f"{agent}-{n:02d}" for n in numbers}
    turns = {
        turn["dia_id"]: turn_id(names[f"D{n}"], place)
        for n in numbers
        for place, turn in enumerate(told[f"session_{n}"])
    }
    questions = []
    for place, asked in enumerate(sample["qa"]):
        evidence = list(_evidence(asked["evidence"]))
        questions.append(
            Asked(
                f"{sample['sample_id']}/q{place}",
                asked["question"],
                asked["category"],
                frozenset(turns[dia] for dia in evidence if dia in turns),
                frozenset(names[part] for dia in evidence if (part := dia.partition(":")[0]) in names),
            )
        )
    return Conversation(
        number,
        f"agent:{agent}",
        tuple(_session(names[f"D{n}"], agent, told, n) for n in numbers),
        tuple(questions),
        tuple(_observations(sample["observation"], turns)),
    )


def _session(identifier: str, agent: str, told: Mapping[str, Any], number: int) -> Session:
    began = spoken_time(told[f"session_{number}_date_time"])
    turns = [
        {
            "role": "user" if turn["speaker"] == told["speaker_a"] else "assistant",
            "name": turn["speaker"],
            "content": _said(turn),
            "timestamp": began + place * _MINUTE_MS,
        }
        for place, turn in enumerate(told[f"session_{number}"])
    ]
    return {"id": identifier, "timestamp": began, "channel": "chat", "agent": agent, "turns": turns}


def _said(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares a photo: {caption}]" if caption else str(turn["text"])


def spoken_time(text: str) -> int:
    """`1:56 pm on 8 May, 2023` in ms, taken as UTC."""
    return int(datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp() * 1000)


def _evidence(values: Any) -> Iterator[str]:
    """Turn names in whatever they are wrapped; a few are written `D8:6; D9:17` or `D30:05`."""
    for session, turn in _EVIDENCE.findall(json.dumps(values)):
        yield f"D{int(session)}:{int(turn)}"


def _observations(by_session: Mapping[str, Any], turns: Mapping[str, str]) -> Iterator[Observation]:
    """Each text once: what is said of two turns came from both."""
    seen: dict[str, set[str]] = {}
    for by_speaker in by_session.values():
        for said in by_speaker.values():
            for text, evidence in said:
                known = {turns[dia] for dia in _evidence(evidence) if dia in turns}
                seen.setdefault(text.strip(), set()).update(known)
    for text, sources in seen.items():
        yield Observation(text, frozenset(sources))
