"""MemoryBank: chats of invented people with an assistant, Chinese and English, and questions written for them here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.benchmarks.recall.model import Experiment, Question, Recipe, Session, turn_id
from tests.benchmarks.recall.published import figures
from tests.benchmarks.recall.score import at, recall_at, reciprocal_rank

FILES = {
    "zh": Path("memorybank") / "memory_bank_cn.json",
    "en": Path("memorybank") / "memory_bank_en.json",
}
QUESTIONS = Path(__file__).parents[1] / "data" / "memorybank_questions.json"
_MINUTE_MS = 60_000


def experiments(data: Path) -> list[Experiment]:
    """Each question asked within the user it is about.

    Raises:
        FileNotFoundError: A file is not there.
    """
    return [
        Experiment(
            name="memorybank",
            about="MemoryBank, both languages, questions asked within their user",
            tuned="not used for tuning",
            recipe=Recipe("memorybank", sessions=tuple(sessions(data))),
            questions=tuple(questions(data)),
            within="passages",
            limit=10,
            measures={"recall@5": at(recall_at, 5), "MRR (first gold in the top 10)": at(reciprocal_rank, 10)},
            fails="recall@5",
            published=figures("memorybank"),
        )
    ]


def sessions(data: Path) -> Iterator[Session]:
    """A session for each user's day."""
    for language, file in FILES.items():
        users = json.loads((data / file).read_text(encoding="utf-8"))
        for number, (user, told) in enumerate(users.items()):
            for day, entries in told["history"].items():
                if entries:
                    yield _session(f"mb-{language}-{number}", user.strip(), day, entries)


def questions(data: Path) -> Iterator[Question]:
    """The questions; their kind is their group."""
    agents = {
        (language, user): f"mb-{language}-{number}"
        for language, file in FILES.items()
        for number, user in enumerate(json.loads((data / file).read_text(encoding="utf-8")))
    }
    for asked in json.loads(QUESTIONS.read_text(encoding="utf-8"))["questions"]:
        agent = agents[asked["language"], asked["user"]]
        yield Question(
            asked["id"],
            asked["question"],
            frozenset(turn_id(f"{agent}-{day}", turn) for day, turn in asked["gold"]),
            scope=f"agent:{agent}",
            group=f"{asked['kind']}, {asked['language']}",
        )


def _session(agent: str, user: str, day: str, entries: Sequence[dict[str, Any]]) -> Session:
    began = int(datetime.fromisoformat(f"{day}T10:00:00+00:00").timestamp() * 1000)
    said = [(role, entry[key]) for entry in entries for role, key in (("user", "query"), ("assistant", "response"))]
    turns = [
        {
            "role": role,
            "name": user if role == "user" else "",
            "content": text,
            "timestamp": began + place * _MINUTE_MS,
        }
        for place, (role, text) in enumerate(said)
    ]
    return {"id": f"{agent}-{day}", "timestamp": began, "channel": "chat", "agent": agent, "turns": turns}
