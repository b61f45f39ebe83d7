"""What became of the fields of a card from one commit to the next. No I/O."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from alaya_core.clock import local
from alaya_core.models.answers import FieldChange
from alaya_core.models.commit import Commit, card_to_json
from alaya_core.stores.folding import fold

UNTOLD = ("rev", "updated_at")
_SHORT = 120
_CONTEXT = 40
"""Characters shown on each side of a change within a long line."""
_TIMES = ("created_at", "added_at", "expires_at")
_AROUND = 1
"""Lines of a text that are shown around a change."""


def field_changes(commits: Sequence[Commit], ids: set[str]) -> dict[int, list[FieldChange]]:
    """Per commit, what became of the fields of some cards.

    Args:
        commits: All that name these cards, in order.
    """
    found: dict[int, list[FieldChange]] = {}
    state: dict[str, dict[str, Any]] = {}
    cards: dict[str, Any] = {}
    for commit in commits:
        folded = fold([commit], cards, {})
        for card_id in ids & folded.removed:
            state.pop(card_id, None)
            cards.pop(card_id, None)
        for card_id in ids & folded.cards.keys():
            cards[card_id] = folded.cards[card_id]
            before, after = state.get(card_id), card_to_json(cards[card_id])
            state[card_id] = after
            if before is not None:
                found.setdefault(commit.seq, []).extend(_changes(card_id, before, after))
    return found


def _changes(card_id: str, before: dict[str, Any], after: dict[str, Any]) -> list[FieldChange]:
    names = [name for name in after if after[name] != before[name] and name not in UNTOLD]
    return [_change(card_id, name, before[name], after[name]) for name in names]


def _change(card_id: str, name: str, before: Any, after: Any) -> FieldChange:
    if isinstance(before, list) and all(isinstance(item, str) for item in (*before, *after)):
        went, came = [item for item in before if item not in after], [item for item in after if item not in before]
        told = [*(f"- {item}" for item in went), *(f"+ {item}" for item in came)]
        return FieldChange(card_id=card_id, field=name, before=", ".join(before), after=", ".join(after), diff=told)
    old, new = _text(name, before), _text(name, after)
    if max(len(old), len(new)) <= _SHORT and "\n" not in old + new:
        return FieldChange(card_id=card_id, field=name, before=old, after=new)
    return FieldChange(card_id=card_id, field=name, before=old, after=new, diff=text_diff(old, new))


def text_diff(before: str, after: str) -> list[str]:
    """The lines that went (`- `), came (`+ `) and stand around them (`  `)."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=_AROUND, lineterm=""))[2:]
    told = [f"{line[0]} {line[1:]}" if line[0] in "+- " else "  ..." for line in lines][1:]
    for at in range(len(told) - 1):
        if told[at].startswith("- ") and told[at + 1].startswith("+ "):
            told[at : at + 2] = _narrowed(told[at][2:], told[at + 1][2:])
    return told


def _narrowed(old: str, new: str) -> list[str]:
    """A long line that changed in one place: that place, and a little around it."""
    same = _shared(old, new)
    tail = _shared(old[same:][::-1], new[same:][::-1])
    start, stop = max(0, same - _CONTEXT), max(0, tail - _CONTEXT)
    if start < _CONTEXT and stop < _CONTEXT:
        return [f"- {old}", f"+ {new}"]

    def shown(line: str) -> str:
        return ("... " if start else "") + line[start : len(line) - stop] + (" ..." if stop else "")

    return [f"- {shown(old)}", f"+ {shown(new)}"]


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with together."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _text(name: str, value: Any) -> str:
    if name in _TIMES and value:
        return local(value)
    return value if isinstance(value, str) else "" if value is None else str(value)
