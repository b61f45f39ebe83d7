"""Schedules: what cron expressions mean, and when the next moment is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core.errors import ConfigError
from alaya_core.schedule import next_time, read_schedule

BERLIN = ZoneInfo("Europe/Berlin")


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize(
    ("schedule", "after", "then"),
    [
        ("0 */4 * * *", "2026-12-01T02:00:00Z", "2026-12-01T04:00:00Z"),
        ("0 */4 * * *", "2026-12-01T04:00:00Z", "2026-12-01T08:00:00Z"),
        ("0 */4 * * *", "2026-12-01T21:17:31.250Z", "2026-12-02T00:00:00Z"),
        ("0 3 * * *", "2026-12-31T03:00:01Z", "2027-01-01T03:00:00Z"),
        ("30 3 * * 1-5", "2026-12-04T04:00:00Z", "2026-12-07T03:30:00Z"),
        ("0 0 * * 7", "2026-12-01T00:00:00Z", "2026-12-06T00:00:00Z"),
        ("0 0 29 2 *", "2026-12-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("0 0 13 * fri", "2026-12-01T00:00:00Z", "2026-12-04T00:00:00Z"),
        ("@weekly", "2026-12-01T00:00:00Z", "2026-12-06T00:00:00Z"),
        ("  0   12 *  jan-mar sat,sun ", "2026-12-01T00:00:00Z", "2027-01-02T12:00:00Z"),
    ],
)
def test_the_next_moment(schedule, after, then):
    assert next_time(schedule, ms(after), zone=UTC) == ms(then)


def test_it_is_meant_on_the_local_clock():
    assert next_time("0 3 * * *", ms("2026-07-01T00:00:00Z"), zone=BERLIN) == ms("2026-07-01T01:00:00Z")
    assert next_time("0 3 * * *", ms("2026-12-01T00:00:00Z"), zone=BERLIN) == ms("2026-12-01T02:00:00Z")


def test_the_hour_that_comes_twice():
    """On 2026-10-25 the hour from 02:00 on is shown twice in Berlin; a moment that is over is no answer."""
    after = ms("2026-10-25T01:10:00Z")  # 02:10 for the second time
    assert next_time("*/30 * * * *", after, zone=BERLIN) == ms("2026-10-25T01:30:00Z")


@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "0 0 0 * * *", "61 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 * 13 *", "0 0 * * 8", "5/15 * * * *",
     "0 5-1 * * *", "0 0 * * fri-mon", "@reboot", "H * * * *", "0 0 L * *", "*/0 * * * *", "0 0 * foo *", "a b c d e",
     "١ * * * *", "0 0 * * *; rm -rf /", "0 0 * *\n*\nroot"],
)  # fmt: skip
def test_what_some_cron_would_refuse_is_refused(text):
    if "\n" in text:
        text += "x"
    with pytest.raises(ConfigError) as caught:
        read_schedule(text)
    assert "introspect.schedule" in caught.value.message
    assert "minute hour day month weekday" in caught.value.hint


def test_a_day_that_never_comes():
    with pytest.raises(ConfigError, match="never comes"):
        next_time("0 0 30 2 *", ms("2026-12-01T00:00:00Z"), zone=UTC)


def test_a_day_counts_by_date_or_weekday_only_if_both_are_named():
    assert read_schedule("0 0 13 * 5").either
    assert not read_schedule("0 0 */2 * 5").either
    assert not read_schedule("0 0 13 * *").either


def _field(low: int, high: int) -> st.SearchStrategy[str]:
    value = st.integers(low, high)
    span = st.tuples(value, value).map(lambda pair: f"{min(pair)}-{max(pair)}")
    step = st.tuples(st.one_of(st.just("*"), span), st.integers(1, 20)).map(lambda pair: f"{pair[0]}/{pair[1]}")
    item = st.one_of(value.map(str), span, step)
    return st.one_of(st.just("*"), st.lists(item, min_size=1, max_size=3).map(",".join))


@settings(max_examples=60, deadline=None)
@given(minute=_field(0, 59), hour=_field(0, 23), day=_field(1, 28), weekday=_field(0, 7), start=st.integers(0, 10**6))
def test_the_next_moment_fits_and_none_before_it_does(minute, hour, day, weekday, start):
    """Against the sets that the schedule itself names, minute by minute."""
    text = f"{minute} {hour} {day} * {weekday}"
    schedule = read_schedule(text)
    moment = datetime(2026, 12, 1, tzinfo=UTC) + timedelta(minutes=start)
    found = datetime.fromtimestamp(next_time(text, round(moment.timestamp() * 1000), zone=UTC) / 1000, UTC)

    def fits(at: datetime) -> bool:
        dates = [schedule.days is None or at.day in schedule.days,
                 schedule.weekdays is None or at.isoweekday() % 7 in schedule.weekdays]  # fmt: skip
        day_fits = any(dates) if schedule.either else all(dates)
        hour_fits = schedule.hours is None or at.hour in schedule.hours
        return day_fits and hour_fits and (schedule.minutes is None or at.minute in schedule.minutes)

    assert fits(found)
    between = min(int((found - moment).total_seconds() // 60), 3_000)
    assert not any(fits(moment + timedelta(minutes=step)) for step in range(1, between))
