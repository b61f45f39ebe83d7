"""When something is to happen, as cron writes it: five fields, read the way cron daemons read them. No clock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from alaya_core.errors import ConfigError

_NAMED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_VALUE = r"(?:[0-9]{1,2}|[a-z]{3})"
_ITEM = rf"(?:\*|{_VALUE}-{_VALUE})(?:/[1-9][0-9]?)?|{_VALUE}"
_RANGE = re.compile(rf"({_VALUE})-({_VALUE})")
_FIELD = re.compile(rf"(?:{_ITEM})(?:,(?:{_ITEM}))*", re.IGNORECASE)
_NAMES = (
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ("sun", "mon", "tue", "wed", "thu", "fri", "sat"),
)
_ORDER = {name: at for names in _NAMES for at, name in enumerate(names)}
_HINT = "five fields as in a crontab: minute hour day month weekday, e.g. 0 */4 * * *"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The minutes at which something happens; None in a field means all of them.

    Attributes:
        text: The five fields, blanks between them.
        weekdays: 0 = Sunday.
        either: Whether a day counts if its date or its weekday fits, not only if both do.
    """

    text: str
    minutes: tuple[int, ...] | None
    hours: tuple[int, ...] | None
    days: tuple[int, ...] | None
    months: tuple[int, ...] | None
    weekdays: tuple[int, ...] | None
    either: bool


def read_schedule(text: str) -> Schedule:
    """What a cron expression means.

    Args:
        text: Five fields (numbers, names, lists, ranges, steps), or `@daily` and its like.

    Raises:
        ConfigError: It is of another form.
    """
    from croniter import CroniterError, croniter  # type: ignore[import-untyped]  # it has no types

    plain = " ".join(_NAMED.get(text.strip().lower(), text).split())
    fields = plain.split(" ")
    whole = len(fields) == 5 and all(_FIELD.fullmatch(field) for field in fields)
    # some daemons take a range over the end of a week or day, most refuse the line
    if not whole or any(_place(first) > _place(last) for first, last in _RANGE.findall(plain.lower())):
        raise ConfigError(f"introspect.schedule: '{text[:80]}' is no time that every cron understands", _HINT)
    try:
        found, _ = croniter.expand(plain)
    except (CroniterError, ValueError, KeyError):
        raise ConfigError(f"introspect.schedule: '{text[:80]}' names what no calendar has", _HINT) from None
    minutes, hours, days, months, weekdays = (
        None if values == ["*"] else tuple(sorted({int(value) for value in values})) for values in found
    )
    both_named = not (fields[2].startswith("*") or fields[4].startswith("*"))
    return Schedule(plain, minutes, hours, days, months, weekdays, both_named)


def next_time(text: str, after: int, *, zone: tzinfo | None = None) -> int:
    """The first moment of a schedule that is later than another, ms.

    Args:
        text: The cron expression.
        after: ms since the epoch.
        zone: Whose clock the schedule means; None = the machine's.

    Raises:
        ConfigError: It is no cron expression, or a day that never comes.
    """
    from croniter import CroniterError, croniter  # it has no types

    schedule = read_schedule(text)
    wall = datetime.fromtimestamp(after / 1000, UTC).astimezone(zone).replace(tzinfo=None)
    try:
        found: datetime = croniter(schedule.text, wall, implement_cron_bug=True).get_next(datetime)
    except CroniterError:
        raise ConfigError(f"introspect.schedule: '{text[:80]}' never comes", _HINT) from None
    moments = [_instant(found.replace(fold=fold), zone) for fold in (0, 1)]
    # the hour that a clock set back shows twice: the second one, if the first is over
    return moments[0] if moments[0] > after else moments[1]


def _place(value: str) -> int:
    return int(value) if value.isdigit() else _ORDER.get(value, 0)


def _instant(wall: datetime, zone: tzinfo | None) -> int:
    moment = wall.replace(tzinfo=zone) if zone else wall.astimezone()
    return round(moment.timestamp() * 1000)
