"""Ctrl+P: every action of this place, by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from alaya_tui.actions import EVERYWHERE, Action, actions_for
from alaya_tui.screens.place import Place


class ActionCommands(Provider):
    """Offers the actions of the table that work here."""

    @property
    def _actions(self) -> list[Action]:
        place = self.screen.place_name if isinstance(self.screen, Place) else EVERYWHERE
        return [action for action in actions_for(place, EVERYWHERE) if action.palette]

    def _run(self, action: Action) -> Callable[[], Awaitable[bool]]:
        namespace = self.app if action.where == EVERYWHERE else self.screen
        return partial(self.app.run_action, action.action, namespace)

    async def discover(self) -> Hits:
        """All of them."""
        for action in self._actions:
            yield DiscoveryHit(_name(action), self._run(action), help=action.tooltip)

    async def search(self, query: str) -> Hits:
        """Those whose name or sentence fits."""
        matcher = self.matcher(query)
        for action in self._actions:
            score = max(matcher.match(_name(action)), matcher.match(action.tooltip) * 0.9)
            if score > 0:
                yield Hit(score, matcher.highlight(_name(action)), self._run(action), help=action.tooltip)


def _name(action: Action) -> str:
    return f"{action.label}  ({action.key_text})" if action.keys else action.label
