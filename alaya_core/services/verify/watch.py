"""What commits say that cannot be: seen while they go by, in one pass. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from alaya_core.models.commit import Commit


@dataclass(slots=True)
class Watch:
    """What was seen.

    Attributes:
        same_id: Commits whose id an earlier one has: (seq, id).
        made_twice: Cards that were made while they lived: (seq, id).
        strangers: Cards that were changed and never made: (seq, id).
    """

    same_id: list[tuple[int, str]] = field(default_factory=list)
    made_twice: list[tuple[int, str]] = field(default_factory=list)
    strangers: list[tuple[int, str]] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)
    _living: set[str] = field(default_factory=set)
    _removed: set[str] = field(default_factory=set)

    def over(self, commits: Iterable[Commit]) -> Iterator[Commit]:
        """The commits, looked at as they pass."""
        for commit in commits:
            if commit.id in self._ids:
                self.same_id.append((commit.seq, commit.id))
            elif commit.id:
                self._ids.add(commit.id)
            self._look(commit)
            yield commit

    def _look(self, commit: Commit) -> None:
        for event in commit.events:
            match event["kind"]:
                case "card.created":
                    key = event["card"]["id"]
                    if key in self._living:
                        self.made_twice.append((commit.seq, key))
                    self._living.add(key)
                case "card.removed":
                    self._living.discard(event["id"])
                    self._removed.add(event["id"])
                case "card.changed" if event["id"] not in self._living and event["id"] not in self._removed:
                    self.strangers.append((commit.seq, event["id"]))
                case _:
                    pass
