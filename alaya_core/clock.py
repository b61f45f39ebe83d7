"""Time and ids, passed in wherever they are needed so that tests can hold them still."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from ulid import ULID

from alaya_core.errors import UsageError

DAY_MS = 86_400_000
HOUR_MS = 3_600_000

Clock = Callable[[], int]
"""Returns now, in milliseconds since the epoch, UTC."""


def system_clock() -> int:
    """The wall clock in milliseconds since the epoch, UTC."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class IdSource:
    """Makes the ids of new cards and commits."""

    new_card: Callable[[], str] = lambda: f"card-{uuid.uuid4().hex}"
    new_commit: Callable[[int], str] = lambda now_ms: str(ULID.from_timestamp(now_ms / 1000))


def iso(ms: int) -> str:
    """An instant as ISO 8601, UTC, to the second, with a trailing Z; a time no calendar holds as its number."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return f"{ms}ms"


def local(ms: int, fmt: str = "%Y-%m-%d %H:%M") -> str:
    """An instant on the clock of the person looking at it."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).astimezone().strftime(fmt)
    except (OverflowError, OSError, ValueError):
        return f"{ms}ms"


def month_of(ms: int) -> str:
    """The UTC month (YYYY-MM) an instant falls in; an impossible time falls in 1970-01."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m")
    except (OverflowError, OSError, ValueError):
        return "1970-01"


def parse_when(text: str, now_ms: int, *, zone: tzinfo | None = None, end_of_day: bool = False) -> int:
    """Reads a moment that a person typed.

    Args:
        text: ISO date or date-time, or an age such as `7d`, `12h`, `2w` before now.
        now_ms: The present, for ages.
        zone: The zone of a time without one; the machine's when absent.
        end_of_day: Whether a bare date (or month) means its last millisecond rather than its first.

    Raises:
        UsageError: The text is neither.
    """
    value = text.strip()
    unit = {"h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS}.get(value[-1:].lower())
    if unit and value[:-1].isascii() and value[:-1].isdigit() and len(value) <= 7:
        return now_ms - int(value[:-1]) * unit
    try:
        month_only = len(value) == 7 and value[4] == "-"
        parsed = datetime.fromisoformat(f"{value}-01" if month_only else value)
        # The next day is looked for on the calendar: a day on which the clocks change is not 24 hours long.
        if end_of_day and month_only:
            parsed = parsed.replace(year=parsed.year + parsed.month // 12, month=parsed.month % 12 + 1)
            return _instant(parsed, zone) - 1
        if end_of_day and len(value) == 10:
            return _instant(parsed + timedelta(days=1), zone) - 1
        return _instant(parsed, zone)
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"'{text}' is not a date", "write 2026-03-31, 2026-03, an ISO time, or an age like 7d"
        ) from None


def _instant(moment: datetime, zone: tzinfo | None) -> int:
    """Milliseconds since the epoch of a moment; without a zone of its own it is of this one, or of the machine's."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone) if zone else moment.astimezone()
    return int(moment.timestamp() * 1000)
