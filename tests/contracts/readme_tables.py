"""The tables of the README that are made from the code. `python -m tests.contracts.readme_tables` prints them."""

from __future__ import annotations

from alaya_core.config import Config
from alaya_tui.actions import ACTIONS, PLACE_NAMES


def config_table() -> str:
    """Every setting, its default and its meaning."""
    rows = ["| key | default | meaning |", "|---|---|---|"]
    for row in Config().rows():
        default = (
            "" if row.default is None else str(row.default).lower() if isinstance(row.default, bool) else row.default
        )
        rows.append(f"| `{row.key}` | {default} | {row.meaning} |")
    return "\n".join(rows)


def key_table() -> str:
    """Every key that does something, and where."""
    rows = ["| where | keys | what |", "|---|---|---|"]
    for action in ACTIONS:
        if action.built and action.keys:
            keys = action.key_text.replace("|", "\\|")
            rows.append(f"| {PLACE_NAMES[action.where]} | `{keys}` | {action.tooltip} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(config_table())  # noqa: T201
    print()  # noqa: T201
    print(key_table())  # noqa: T201
