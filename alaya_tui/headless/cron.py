"""Entries for schedulers, as texts: how a command is run again and again. Pure functions."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from alaya_core.errors import UsageError
from alaya_core.schedule import Schedule
from alaya_core.text import safe_text

NAME = "alaya-introspect"
_TIMEOUT_MS = 600_000
_WEEKDAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_KEYS_TOLD = "keys of services (OPENAI_API_KEY ...) are not seen here unless they are set here"


def entry(what: str, schedule: Schedule, words: Sequence[str]) -> str:
    """The text that makes a scheduler run a command.

    Args:
        what: `openclaw`, `crontab` or `systemd`.
        words: The command, its program by absolute path.

    Raises:
        UsageError: A word that no such file can hold.
    """
    for word in words:
        if safe_text(word) != word or len(f"{word}|".splitlines()) > 1 or "\t" in word:
            raise UsageError("a path with control characters (or of no known encoding) fits no schedule", "rename it")
    return {"openclaw": _openclaw, "crontab": _crontab, "systemd": _systemd}[what](schedule, words)


def _openclaw(schedule: Schedule, words: Sequence[str]) -> str:
    job = {"name": NAME, "schedule": schedule.text, "command": shlex.join(words), "timeout": _TIMEOUT_MS}
    return json.dumps({"jobs": [job]}, ensure_ascii=False, indent=2)


def _crontab(schedule: Schedule, words: Sequence[str]) -> str:
    # cron ends a command at a bare %, within quotes too
    command = shlex.join(words).replace("%", "\\%")
    return f"# add with: crontab -e; {_KEYS_TOLD}\n{schedule.text} {command} --quiet >/dev/null"


def _systemd(schedule: Schedule, words: Sequence[str]) -> str:
    program, *rest = words
    command = " ".join([_unit_word(program), *(_unit_word(word).replace("$", "$$") for word in rest)])
    return f"""\
# ~/.config/systemd/user/{NAME}.service ({_KEYS_TOLD}: Environment=)
[Unit]
Description=Alaya tidies its memory

[Service]
Type=oneshot
ExecStart={command} --quiet

# ~/.config/systemd/user/{NAME}.timer, then: systemctl --user enable --now {NAME}.timer
[Unit]
Description=When Alaya tidies its memory

[Timer]
{chr(10).join(f"OnCalendar={calendar}" for calendar in calendars(schedule))}
Persistent=true

[Install]
WantedBy=timers.target"""


def _unit_word(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    plain = word and all(char.isalnum() or char in "/._-+=:,@%$" for char in word)
    return escaped if plain else f'"{escaped}"'


def calendars(schedule: Schedule) -> list[str]:
    """A schedule as systemd writes it; two lines where a day counts if its date or its weekday fits."""
    months, days = (_numbers(values) for values in (schedule.months, schedule.days))
    time = f"{_numbers(schedule.hours)}:{_numbers(schedule.minutes)}:00"
    week = "" if schedule.weekdays is None else ",".join(_WEEKDAYS[day] for day in schedule.weekdays) + " "
    if schedule.either:
        return [f"*-{months}-{days} {time}", f"{week}*-{months}-* {time}"]
    return [f"{week}*-{months}-{days} {time}"]


def _numbers(values: Sequence[int] | None) -> str:
    return "*" if values is None else ",".join(f"{value:02d}" for value in values)
