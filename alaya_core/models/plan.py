"""What tidying decides: each decision rests on cards as they were seen, and is looked at again before it is carried
out."""

from __future__ import annotations

from dataclasses import dataclass

from alaya_core.models.card import Card, Link


@dataclass(frozen=True, slots=True)
class Pair:
    """Two cards that are alike.

    Attributes:
        one, other: Their ids, the smaller first.
        similarity: 0..1, rescaled.
    """

    one: str
    other: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing to be done.

    Attributes:
        verb: As the history tells it: `merge`, `supersede`, `similar`, `contradict`, `confirm`, `summarize`, `cool`,
            `reheat`, `rise`, `sink`, `archive`, `forget` ...
        seen: The cards it rests on, as they were. If the revision of one is another when it is carried out, it is
            skipped, and planned again the next time.
        changed: Those of them that change, as they become; their `rev` is set when it is carried out.
        made: Cards that come.
        links: Links that come; one that is there already is left as it is.
        absorbed: Of a merge, the id of the card that goes into the first of `seen`, with all that hangs on it.
        review: Whether a person decides: it is only proposed.
        score: 0..1, where there is one.
        why: The reason, in a sentence, for the history and the report.
        key: By which a rejection is known again: the same for the same proposal about the same texts; may be empty.
    """

    verb: str
    seen: tuple[Card, ...]
    changed: tuple[Card, ...] = ()
    made: tuple[Card, ...] = ()
    links: tuple[Link, ...] = ()
    absorbed: str = ""
    review: bool = False
    score: float | None = None
    why: str = ""
    key: str = ""
