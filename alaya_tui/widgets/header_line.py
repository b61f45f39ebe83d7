"""The first line of every place: which memory this is, how much is in it, what runs."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from alaya_core.text import counted
from alaya_tui.messages import HeaderState
from alaya_tui.render_text import count, fit, tier_colour, tier_letter


class HeaderLine(Widget):
    """One line; what does not fit is left out whole, the least needed first."""

    ALLOW_SELECT = False

    state: reactive[HeaderState] = reactive(HeaderState())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Always one line."""
        return 1

    def render(self) -> Content:
        """The line."""
        state = self.state
        busy = state.busy
        room = self.size.width - (cell_len(busy) + 2 if busy else 0)
        left: list[tuple[str, str]] = [("Alaya", "bold $primary")]
        if state.read_only:
            left.append(("  read-only", "$text-warning"))
        counts: list[tuple[str, str]] = []
        if state.cards is not None:
            counts.append((f"   {counted(state.cards, 'card')}", ""))
            counts += [(f"  {tier_letter(tier)} {count(number)}", tier_colour(tier)) for tier, number in state.tiers]
        home = [(f"  {state.home}", "$foreground-muted")] if state.home else []
        for pieces in ([*left, *home, *counts], [*left, *counts], [*left, *counts[:1]], left):
            used = sum(cell_len(text) for text, _ in pieces)
            if used <= room:
                break
        gap = max(1, self.size.width - used - cell_len(busy)) if busy else 0
        shown = fit(busy, min(cell_len(busy), max(0, self.size.width - used - 1)))
        return Content.assemble(*pieces, " " * gap, (shown, "$text-warning"))
