"""Commands of earlier memory systems: they work, and are not listed."""

from __future__ import annotations

import argparse
from typing import Any

from alaya_tui.headless.arguments import Once, add_mending, add_run, card, command, scope

OLD_PHASES = {
    "segment": ("distill",),
    "screen": ("distill",),
    "extract": ("distill",),
    "maintain": ("consolidate",),
    "weights": ("cool-down", "forget"),
    "index": ("index",),
    "snapshot": ("snapshot",),
}
"""The seven phases of a consolidation, in order, and the phases of introspect that do their work."""


def add_old_names(commands: Any) -> None:
    """Adds them."""
    card(commands, "delete", None, more="The same as: forget").set_defaults(command="forget")
    command(commands, "rebuild-index", None, more="The same as: rebuild l1").set_defaults(command="rebuild", what="l1")
    validate = command(commands, "validate", None, more="The same as: verify. Exits 1 when something is found.")
    validate.set_defaults(command="verify")
    add_mending(validate)
    command(commands, "stats", None, more="The memory in numbers; more of them: status")
    _consolidate(commands)
    _delete_bulk(commands)
    upgrade = command(commands, "upgrade", None, more="The same as: distill --upgrade")
    upgrade.add_argument(
        "--no-llm", action="store_true", help="read again by rules, whatever model is named: distill --redo"
    )


def _consolidate(commands: Any) -> None:
    consolidate = command(
        commands, "consolidate", None, more="The same as: introspect; skipped if a run ended within 20 hours."
    )
    add_run(consolidate, "even if a run ended within 20 hours")
    consolidate.add_argument(
        "--phase",
        action="append",
        default=[],
        type=_phase,
        metavar="N",
        help=f"only this one, 1 to {len(OLD_PHASES)} or by name: {', '.join(OLD_PHASES)}",
    )


def _delete_bulk(commands: Any) -> None:
    bulk = command(
        commands,
        "delete-bulk",
        None,
        more="Forgets many cards in one run. Without --yes it only shows which (at a terminal it asks).\n"
        "`alaya undo --run` takes it back. Pinned cards stay.",
    )
    bulk.set_defaults(command="delete_bulk")
    bulk.add_argument("--scope", type=scope, action=Once, metavar="SCOPE", help="cards of this scope")
    bulk.add_argument(
        "--before",
        action=Once,
        metavar="WHEN",
        help="cards from before 2026-03-31 (the time they were true), or older than 90d",
    )
    bulk.add_argument("--yes", action="store_true", help="do it")


def _phase(text: str) -> str:
    """The name of an old phase."""
    names = list(OLD_PHASES)
    name = names[int(text) - 1] if text in map(str, range(1, len(names) + 1)) else text.lower()
    if name not in OLD_PHASES:
        raise argparse.ArgumentTypeError(f"'{text}' is no phase: 1 to {len(names)}, or one of {', '.join(names)}")
    return name
