"""What `fate` prints for a person."""

from __future__ import annotations

from collections.abc import Iterator

from alaya_core.clock import iso
from alaya_core.models.answers import FateAnswer, FateStep
from alaya_tui.headless.render_layout import Page, short


def fate_lines(answer: FateAnswer, page: Page) -> Iterator[str]:
    """What a card is now, and what will become of it, day by day."""
    yield from page.item("🔮 ", f'{short(answer.card_id)}: "{answer.title}"')
    now = f"{answer.tier}, temperature {answer.temperature:.2f}, {answer.standing}"
    yield from page.item("  now       ", now if answer.state == "active" else f"{answer.state}; {now}")
    for step in answer.steps:
        yield from page.item(f"  {iso(step.at)[:10]}  ", f"{_move(step)} {_when(step.days)}: {step.why}")
    for sentence in answer.never:
        yield from page.item(" " * 12, sentence)
    yield ""
    yield from page.item("", f"If nobody uses or changes it: {answer.sentence}.")


def _move(step: FateStep) -> str:
    match step.what:
        case "tier":
            return f"turns {step.to}"
        case "standing":
            return f"becomes {step.to}"
        case _:
            return step.to


def _when(days: int) -> str:
    return "at the next cool-down" if days == 0 else f"in {days} day{'s' * (days != 1)}"
