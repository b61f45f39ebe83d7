"""The table of commands: what the parser calls them, and who does them."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from alaya_tui.headless.render import Result
from alaya_tui.headless.request import Request

Command = Callable[[Request], Result]

# modules by name: a command imports what it needs, not what the others need
_HOMES = {
    "commands_gather": ("init", "ingest", "distill"),
    "commands_find": ("recall", "list", "show", "trace", "history"),
    "commands_curate": ("capture", "edit", "pin", "unpin", "archive", "forget", "restore", "link", "unlink"),
    "commands_undo": ("merge", "undo", "redo"),
    "commands_erase": ("erase",),
    "commands_keep": ("status", "verify", "rebuild", "doctor", "config"),
    "commands_upkeep": ("reembed", "upkeep"),
    "commands_introspect": ("introspect", "review"),
    "commands_standing": ("fate", "snapshot", "entities", "timeline"),
    "commands_old": ("consolidate", "stats", "delete_bulk", "upgrade", "cron"),
    "commands_demo": ("demo",),
}
MODULES = {name: module for module, names in _HOMES.items() for name in names}


def find(name: str) -> Command:
    """The function that does a command."""
    module = importlib.import_module(f"alaya_tui.headless.{MODULES[name]}")
    command: Command = getattr(module, f"{name}_command")
    return command
