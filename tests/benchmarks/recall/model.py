"""What a set of questions is: texts that go into a home, questions, and what would be right to come back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Literal

from alaya_core.models.requests import Filters, RecallOptions
from tests.benchmarks.recall.score import Measure

Session = Mapping[str, Any]
"""A session in Alaya's own JSON, as it is written into a file to be taken in."""


def same(identifier: str) -> str:
    """The unit that is ranked is what came."""
    return identifier


@dataclass(frozen=True, slots=True)
class Document:
    """A text that can come back: a turn (`session#turn`) or a card (the id it has in its set).

    Attributes:
        scope: Whose memory it is.
    """

    text: str
    scope: str


@dataclass(frozen=True, slots=True)
class CardText:
    """A card to capture.

    Attributes:
        id: What the set calls it; the home's own id is found out when it is captured.
    """

    id: str
    content: str
    title: str | None = None
    type: str = "fact"
    scope: str = "global"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A home to build.

    Attributes:
        name: Its folder.
        base: The home it starts as a copy of, so that what is in both is embedded once.
    """

    name: str
    sessions: tuple[Session, ...] = ()
    cards: tuple[CardText, ...] = ()
    base: Recipe | None = None

    def digest(self) -> str:
        """Tells apart homes of the same name that hold something else."""
        cards = [[card.id, card.title, card.content, card.type, card.scope] for card in self.cards]
        inside = [self.base.digest() if self.base else "", list(self.sessions), cards]
        return hashlib.sha256(json.dumps(inside, ensure_ascii=False, sort_keys=True).encode()).hexdigest()

    def documents(self) -> dict[str, Document]:
        """All that can come back, by id."""
        found = self.base.documents() if self.base else {}
        for session in self.sessions:
            for number, turn in enumerate(session["turns"]):
                found[turn_id(session["id"], number)] = Document(turn["content"], f"agent:{session['agent']}")
        found.update((card.id, Document(card.content, card.scope)) for card in self.cards)
        return found


def turn_id(session: str, turn: int) -> str:
    """What a turn is called in all sets."""
    return f"{session}#{turn}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what answers it.

    Attributes:
        gold: Ids of the documents (or of the units they are ranked as).
        scope: Where it is asked; empty = everywhere.
        part: Which part of the set it belongs to: those that were looked at while tuning, and those that were not.
        group: Its kind.
    """

    id: str
    text: str
    gold: Set[str]
    scope: str = ""
    part: str = "all"
    group: str = ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """Questions asked of one home in one way.

    Attributes:
        tuned: What of it was looked at while the core was tuned, in words.
        limit: How many passages or cards are asked for.
        unit: What a document is ranked as (a turn as its session); the first of a unit counts.
        measures: By name; the first one judges the stages.
        fails: The measure that is 0 for a question that failed.
    """

    name: str
    about: str
    tuned: str
    recipe: Recipe
    questions: tuple[Question, ...]
    within: Literal["cards", "passages"]
    limit: int
    measures: Mapping[str, Measure]
    fails: str
    unit: Callable[[str], str] = same
    published: Mapping[str, str] = field(default_factory=dict)

    def options(self, question: Question) -> RecallOptions:
        """How a question is asked."""
        filters = Filters(scope=(question.scope,)) if question.scope else Filters()
        return RecallOptions(limit=self.limit, within=self.within, filters=filters)
