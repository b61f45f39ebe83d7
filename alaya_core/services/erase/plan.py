"""What an erase takes away, written down so that whoever finds it half done can finish it. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from alaya_core.models.commit import Event

VERSION = 1


@dataclass(slots=True)
class ErasePlan:
    """Everything that the steps need to know: what they take away they cannot look up.

    Attributes:
        what, name, title: What a person named.
        commit: Id of the commit that says so; at: its time, ms; actor: who erased.
        events: What it says.
        cards: Ids of the cards that go.
        session: The session that goes, or loses a turn; empty where only cards go.
        turn: The turn that goes; None = all of the session.
        path: The session's file.
        states: Per number of turns the session had at some time: its running hash and summary without the turn.
        sources: Per sha256 of a log that held it, what takes its place; empty = nothing.
        texts: What is to be found nowhere; names: ids likewise.
        embedded: Hashes of texts whose vectors are forgotten, hex.
        absorbers: Cards that had absorbed one that goes, and what they say themselves now.
        labels: Tags and entities of the cards that go; reasons: of their links.
        rehashed: Per sha256 of a text of an absorber, that of what stays of it.
        changed: Ids of other cards that change in the views.
    """

    what: Literal["card", "session", "turn"]
    name: str
    title: str = ""
    commit: str = ""
    at: int = 0
    actor: str = ""
    events: list[Event] = field(default_factory=list)
    cards: list[str] = field(default_factory=list)
    session: str = ""
    turn: int | None = None
    path: str = ""
    states: dict[str, tuple[str, str]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    embedded: list[str] = field(default_factory=list)
    absorbers: dict[str, dict[str, Any]] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    rehashed: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Ids that are to be found nowhere."""
        return [*self.cards, *([self.session] if self.session and self.turn is None else [])]

    @property
    def touches(self) -> list[str]:
        """Texts of which a ledger line must hold one to be changed."""
        return [*self.cards, *([self.session] if self.session else []), *self.sources, *self.absorbers]

    def to_json(self) -> dict[str, Any]:
        """The plan for the journal."""
        return {"v": VERSION, **asdict(self)}


def plan_from_json(raw: Mapping[str, Any]) -> ErasePlan:
    """The plan out of the journal.

    Raises:
        KeyError, TypeError, ValueError: It is not one, or one of a newer version.
    """
    if raw["v"] != VERSION:
        raise ValueError(f"version {raw['v']}")
    return ErasePlan(**{item.name: raw[item.name] for item in fields(ErasePlan)})
