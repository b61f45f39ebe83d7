"""What `fate` prints for a person."""

from __future__ import annotations

from collections.abc import Iterator

from alaya_core.clock import iso
from alaya_core.models.answers import FateAnswer
from alaya_tui.headless.render_layout import Page, short


def fate_lines(answer: FateAnswer, page: Page) -> Iterator[str]:
    """What a card is now, and what will become of it, day by day."""
    yield from page.item("🔮 ", f'{short(answer.card_id)}: "{answer.title}"')
    now = f"{answer.tier}, temperature {answer.temperature:.2f}, {answer.standing}"
    yield from page.item("  now       ", now if answer.state == "active" else f"{answer.state}; {now}")
    for step in answer.steps:
        yield from page.item(f"  {iso(step.at)[:10]}  ", f"{step.said}: {step.why}")
    for sentence in answer.never:
        yield from page.item(" " * 12, sentence)
    yield ""
    yield from page.item("", f"If nobody uses or changes it: {answer.sentence}.")
