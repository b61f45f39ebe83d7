"""The commands by which a memory tidies itself and tells how it stands."""

from __future__ import annotations

from typing import Any

from alaya_core.models.requests import PHASES
from alaya_tui.headless.arguments import add_run, card, command, count, named


def add_tidying(commands: Any) -> None:
    """Adds them."""
    introspect = command(
        commands,
        "introspect",
        "tidy the memory: distill, consolidate, cool-down, forget, index, snapshot",
        more="Goes on with a run that was cut off. Everything it does is in `alaya history` and can be undone.",
    )
    add_run(introspect, "begin anew, whatever was cut off")
    introspect.add_argument(
        "--phase",
        action="append",
        default=[],
        choices=PHASES,
        metavar="NAME",
        help=f"only this one: {', '.join(PHASES)}",
    )
    introspect.add_argument(
        "--watch", action="store_true", help="watch the run of another process, or show the last one"
    )
    introspect.add_argument("--run", metavar="ID", type=named, help="with --watch: this run")
    introspect.add_argument("--list", action="store_true", help="the last runs")
    review = command(commands, "review", "what waits for your decision: merges, and cards to forget")
    review.add_argument("verdict", nargs="?", choices=("accept", "reject"), help="decide one, or all")
    review.add_argument("key", nargs="?", metavar="KEY", type=named, help="the proposal's key, its beginning, or all")
    card(commands, "fate", "what will become of a card, when, and why")
    snapshot = command(commands, "snapshot", "write the working memory (snapshot.md), and show it")
    snapshot.add_argument("--dry-run", action="store_true", help="show it, write nothing")
    entities = command(commands, "entities", "the things cards are about, or all about one of them")
    entities.add_argument("name", metavar="NAME", nargs="?", type=named, help="the page of this one")
    entities.add_argument("--limit", "-n", type=count, default=50, metavar="N", help="at most N (default: 50)")
    timeline = command(commands, "timeline", "what happened when, newest day first")
    timeline.add_argument("--since", metavar="WHEN", help="from then on: 2026-03-31 or 7d")
    timeline.add_argument("--until", metavar="WHEN", help="up to then")
    timeline.add_argument("--limit", "-n", type=count, default=100, metavar="N", help="at most N cards (default: 100)")
    cron = command(commands, "cron", "print what runs introspect by itself")
    cron.add_argument(
        "--print", dest="what", choices=("openclaw", "crontab", "systemd"), default="crontab", help="for whom"
    )
