"""The last messages of a session as one card, so that where it ended can be recalled. No I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from alaya_core.models.card import SESSION_SUMMARY, CardDraft, SourceRef
from alaya_core.models.card_types import POLICIES, CardType
from alaya_core.models.session import Turn, TurnKind
from alaya_core.secrets import mask
from alaya_core.services.distill.classify import plain
from alaya_core.services.distill.rules import is_noise
from alaya_core.services.distill.subjects import is_chinese
from alaya_core.services.distill.titles import fit
from alaya_core.text import clip, safe_line, storable, without_escapes

_LINE = 240  # cells of one message
_READ = 4_000  # characters of a message that are looked at
_ROLES = {"user": ("User", "用户"), "assistant": ("Assistant", "助手")}


def summary_draft(turns: Sequence[tuple[int, Turn]], session_id: str, messages: int, time: int) -> CardDraft | None:
    """A card of a session's last messages, a line for each; None if nobody said anything.

    Args:
        turns: (number, turn), in order.
        messages: How many of the last ones are kept; 0 = none.
        time: When the session took place, ms; for turns without a time of their own.
    """
    last: deque[tuple[int, Turn, str]] = deque(maxlen=max(0, messages))
    for number, turn in turns:
        said = _said(turn)
        if said:
            last.append((number, turn, said))
    if not last:
        return None
    chinese = is_chinese(" ".join(said for _, _, said in last))
    lines = []
    for _, turn, said in last:
        who = safe_line(turn.name) or _ROLES[turn.role][chinese]
        lines.append(clip(f"{who}：{said}" if chinese else f"{who}: {said}", _LINE))
    about = next((said for _, turn, said in last if turn.role == "user"), last[0][2])
    when = next((turn.timestamp for _, turn, _ in reversed(last) if turn.timestamp is not None), time)
    return CardDraft(
        title=fit(f"会话小结：{about}" if chinese else f"Session summary: {about}"),
        content="\n".join(f"- {line}" for line in lines),
        type=CardType.SUMMARY,
        importance=POLICIES[CardType.SUMMARY].default_importance,
        created_at=when,
        sources=(SourceRef(session_id, tuple(number for number, _, _ in last)),),
        key=SESSION_SUMMARY,
    )


def _said(turn: Turn) -> str:
    """What somebody said in a turn, on one line and without secrets; empty if nobody did."""
    if turn.kind is not TurnKind.MESSAGE or turn.role not in _ROLES or is_noise(turn.text):
        return ""
    # Masked before it is cut: half a secret would not be known for one.
    return plain(safe_line(mask(without_escapes(storable(turn.text)))[:_READ]))
