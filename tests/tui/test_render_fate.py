"""What `fate` prints."""

from __future__ import annotations

from typing import Any

from alaya_core.clock import DAY_MS
from alaya_core.models.answers import FateAnswer, FateStep
from alaya_core.text import cells
from alaya_tui.headless.render_fate import fate_lines
from alaya_tui.headless.render_layout import Page

NOON = 1_772_366_400_000  # 2026-03-01 12:00 UTC


def step(days: int, what: Any, to: str, why: str = "unused 60 days") -> FateStep:
    return FateStep(at=NOON + days * DAY_MS, days=days, what=what, to=to, why=why)


def fate(**fields: Any) -> FateAnswer:
    usual = {"card_id": f"card-{7:032x}", "title": "Gateway port", "model": "weibull", "temperature": 0.5}
    more = {"tier": "HOT", "standing": "working", "state": "active", "sentence": "turns WARM in 6 days"}
    return FateAnswer(**{**usual, **more, **fields})


def told(answer: FateAnswer, page: Page | None = None) -> str:
    return "\n".join(fate_lines(answer, page or Page()))


def test_each_step_has_its_day_what_happens_and_why() -> None:
    steps = [step(0, "standing", "peripheral"), step(1, "tier", "COLD"), step(90, "forgotten", "forgotten", "not used")]
    said = told(fate(steps=steps, never=["stays HOT: pinned"]))
    for line in (
        "2026-03-01  becomes peripheral at the next cool-down: unused 60 days",
        "2026-03-02  turns COLD in 1 day: unused 60 days",
        "2026-05-30  forgotten in 90 days: not used",
        "stays HOT: pinned",
        "If nobody uses or changes it: turns WARM in 6 days.",
    ):
        assert line in said, line


def test_a_card_that_is_no_longer_active_is_called_what_it_is() -> None:
    assert "archived; HOT" in told(fate(state="archived"))
    assert "active" not in told(fate())


def test_stored_text_acts_on_nothing_and_fits_the_page() -> None:
    said = told(fate(title="\x1b[31m[b]网关\x07" * 20, steps=[step(3, "tier", "WARM", "x " * 60)]), Page(width=50))
    assert "\x1b" not in said
    assert "\x07" not in said
    assert "[b]" in said
    assert all(cells(line) <= 50 for line in said.split("\n"))
