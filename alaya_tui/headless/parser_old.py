"""Commands of earlier memory systems: they work, and are not listed."""

from __future__ import annotations

from typing import Any

from alaya_tui.headless.arguments import card, command


def add_old_names(commands: Any) -> None:
    """Adds them."""
    card(commands, "delete", None, more="The same as: forget").set_defaults(command="forget")
    command(commands, "rebuild-index", None, more="The same as: rebuild l1").set_defaults(command="rebuild", what="l1")
