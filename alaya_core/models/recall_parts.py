"""What the stages of recall hand to each other: candidates, and why each stands where it does."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from alaya_core.models.card import CardState, Standing, Tier


@dataclass(frozen=True, slots=True)
class Why:
    """The scores that a candidate got, in the order of the stages, and what else is worth saying.

    Attributes:
        scores: (stage, figure) pairs; a stage that comes again replaces its figure in place.
        notes: Short sentences.
    """

    scores: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()

    def with_score(self, stage: str, value: float) -> Why:
        """The same with one more figure."""
        return Why(tuple((dict(self.scores) | {stage: value}).items()), self.notes)

    def with_note(self, note: str) -> Why:
        """The same with one more sentence, said once."""
        return self if note in self.notes else Why(self.scores, (*self.notes, note))

    def as_dict(self, digits: int = 4) -> dict[str, float | list[str]]:
        """For an answer: figures rounded, notes last and only if there are any."""
        rounded: dict[str, float | list[str]] = {stage: round(value, digits) for stage, value in self.scores}
        return rounded | {"notes": list(self.notes)} if self.notes else rounded


@dataclass(frozen=True, slots=True)
class Candidate:
    """A card (or passage) on its way to becoming a hit.

    Attributes:
        id: The card's id, or the passage's.
        title: May be empty (passages have none).
        text: What it says, for exact matches, noise and near repeats; may be cut to its first few thousand characters.
        length: Characters of the whole content.
        similarity: Rescaled to 0..1 (unrelated text near 0); None if the vector leg did not bring it.
        words: Raw score of the word index; None if the word leg did not bring it.
        coverage: Share of what was asked that it has (`words.coverage`), 0..1; None if not computed.
        other_language: Whether it is written in another language than the query, as far as scripts tell.
        temperature: 0..1 now; of a passage 1.
        successor: The card that supersedes it; may be empty.
        apart: Whether it is no near repeat of others, nor they of it, however alike they are: a session's summary.
        score: 0..1, as of the last stage.
        why: What every stage did.
    """

    id: str
    text: str = ""
    title: str = ""
    length: int = 0
    similarity: float | None = None
    words: float | None = None
    coverage: float | None = None
    other_language: bool = False
    state: CardState = CardState.ACTIVE
    standing: Standing = Standing.WORKING
    temperature: float = 1.0
    importance: float = 0.5
    scope: str = "global"
    tier: Tier = Tier.WARM
    pinned: bool = False
    successor: str = ""
    apart: bool = False
    score: float = 0.0
    why: Why = field(default_factory=Why)

    def scored(self, stage: str, score: float, figure: float | None = None) -> Candidate:
        """With a new score; `why` keeps `figure` (the score itself when absent) under the stage's name."""
        return replace(self, score=score, why=self.why.with_score(stage, score if figure is None else figure))

    def noted(self, note: str) -> Candidate:
        """With one more sentence in `why`."""
        return replace(self, why=self.why.with_note(note))


@dataclass(frozen=True, slots=True)
class Staged:
    """What came through the stages, and what did not.

    Attributes:
        kept: Best first.
        below_floor: How many were dropped for their score.
        best_below: The best score among them; None if there were none.
        noise: How many were dropped because they say nothing.
    """

    kept: tuple[Candidate, ...]
    below_floor: int = 0
    best_below: float | None = None
    noise: int = 0


@dataclass(frozen=True, slots=True)
class NeighbourLink:
    """A link seen from a hit.

    Attributes:
        hit_id: The hit it starts from.
        other_id: The card at its other end.
        direction: `out`, `in` or `both`, as seen from the hit.
        weight: 0..1.
        degree: How many links the other card has in all.
        hops: 1, or 2 for a neighbour's neighbour.
    """

    hit_id: str
    other_id: str
    relation: str
    direction: str
    weight: float
    degree: int
    reason: str = ""
    hops: int = 1


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A neighbour to show under a hit, and how strongly it belongs there (0..1)."""

    link: NeighbourLink
    score: float


def best_first(candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """By falling score; equal ones by id, so that the order never depends on the engines."""
    return tuple(sorted(candidates, key=lambda candidate: (-candidate.score, candidate.id)))
