"""The two console scripts: `alaya-tui` opens the screen, `alaya` (or `alaya-tui --headless`) answers and ends.

Neither side is imported before it is known which one is wanted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from alaya_core.errors import UsageError
from alaya_tui.headless.arguments import Parser, add_globals, before_dashes

if TYPE_CHECKING:
    from alaya_tui.headless.run import Session

HEADLESS = "--headless"
_ABOUT = """The screen over the long-term memory of AI agents.
For scripts: alaya COMMAND, which is the same as alaya-tui --headless COMMAND."""


def main(argv: Sequence[str] | None = None) -> int:
    """`alaya-tui`: the screen, or with `--headless` the command line."""
    words = list(sys.argv[1:] if argv is None else argv)
    if HEADLESS in before_dashes(words):
        words.remove(HEADLESS)
        return headless_main(words)
    # One thread a product: more of them wait for each other, and a recall that follows the typing took 50 ms, not 40.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from alaya_tui.headless.run import guarded

    return guarded(words, lambda session: _screen(words, session))


def headless_main(argv: Sequence[str] | None = None) -> int:
    """`alaya`: does one command and says its exit status."""
    from alaya_tui.headless.run import run

    return run(list(sys.argv[1:] if argv is None else argv))


def _screen(words: list[str], session: Session) -> int:
    args = _parser().parse(words)
    if args.json:
        raise UsageError("the screen speaks no JSON", "use alaya COMMAND --json")
    if args.command == "demo":
        return headless_main(["demo", *words_for_demo(args.home, args.agent)])
    argument = " ".join(args.argument) if args.command else None
    return open_screen(home=args.home, agent=args.agent, command=args.command, argument=argument)


def words_for_demo(home: str | None, agent: str | None) -> list[str]:
    """The options of a screen's demo, for the command line that does it."""
    return [*(["--home", home] if home else []), *(["--agent", agent] if agent else [])]


def open_screen(
    *, home: str | None = None, agent: str | None = None, command: str | None = None, argument: str | None = None
) -> int:
    """Opens the screen and waits until it is closed.

    Raises:
        UsageError: There is no terminal to draw on.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()) and not _driven():
        raise UsageError("the screen needs a terminal", "in a script use: alaya COMMAND (see alaya --help)")
    from alaya_tui.app import run_app

    return run_app(home=home, agent=agent, command=command, argument=argument)


def _driven() -> bool:
    """Whether something other than a terminal draws the screen (textual-serve names its driver)."""
    from textual.constants import DRIVER

    return bool(DRIVER)


def _parser() -> Parser:
    parser = Parser(prog="alaya-tui", description=_ABOUT)
    parser.hint = "see: alaya-tui --help; commands for scripts: alaya COMMAND, or alaya-tui --headless COMMAND"
    parser.add_argument(HEADLESS, action="store_true", help="do a command without a screen (see alaya --help)")
    add_globals(parser, top=True)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="where to begin (default: search)")
    recall = commands.add_parser("recall", help="begin with what a query finds")
    recall.add_argument("argument", metavar="QUERY", nargs="+", help="what to look for")
    show = commands.add_parser("show", help="begin with a card")
    show.add_argument("argument", metavar="CARD", nargs=1, help="card id, or card- and at least its first 8 characters")
    demo = commands.add_parser("demo", help="begin with sample sessions, in a folder of their own")
    for command in (recall, show, demo):
        add_globals(command, top=False)
    return parser
