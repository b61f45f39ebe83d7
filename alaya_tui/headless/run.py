"""One run of the command line, from arguments to exit status; no exception leaves it."""

from __future__ import annotations

import itertools
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

from alaya_core.errors import UsageError
from alaya_tui.headless.arguments import Wanted, before_dashes
from alaya_tui.headless.diagnostics import Diagnostics, Failure, Interrupts, describe
from alaya_tui.headless.render import Output, OutputGone, Result

PATHS = ("home", "paths")


def run(argv: Sequence[str]) -> int:
    """Does one command.

    Args:
        argv: The arguments, without the program's name and without `--headless`.

    Returns:
        The exit status.
    """
    interrupts = Interrupts()

    def work(session: Session) -> int:
        from alaya_tui.headless.parser import build_parser

        # `alaya help recall` is what people try first
        words = [*argv[1:], "--help"] if argv[:1] == ["help"] else list(argv)
        args = with_whole_characters(build_parser().parse(words))
        session.take(args)
        return session.answer(_do(args, session, interrupts))

    with interrupts.installed():
        return guarded(argv, work)


def with_whole_characters(args: Namespace) -> Namespace:
    """Arguments that were no UTF-8, made text that can be kept; a path stays as it was, its file has that name."""
    from alaya_core.text import storable

    for name, value in vars(args).items():
        if name in PATHS:
            continue
        if isinstance(value, str):
            setattr(args, name, storable(value))
        elif isinstance(value, list):
            setattr(args, name, [storable(each) for each in value])
    return args


def _do(args: Namespace, session: Session, interrupts: Interrupts) -> Result:
    from alaya_tui.headless.commands import find
    from alaya_tui.headless.request import Request

    return find(args.command)(Request(args, session.told, interrupts, session.output.terminal, session.emit))


class Session:
    """The two streams of a run, and in which form they speak.

    Attributes:
        output: stdout.
        told: stderr.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        words = before_dashes(argv)
        self.output = Output(sys.stdout)
        # looked up before parsing, so that wrong usage too is told in the form that was asked for
        self.told = Diagnostics(sys.stderr, quiet="--quiet" in words, verbose="--verbose" in words)
        self._form = "json" if "--json" in words or _names_json(words) else "text"
        self._implied = False
        self._in_lines = False
        self._home: str | None = None

    def take(self, args: Namespace) -> None:
        """Settles the form now that the arguments are known.

        Raises:
            UsageError: Two forms were asked for.
        """
        wanted: str | None = getattr(args, "format", None) if args.command == "recall" else None
        if args.json and wanted not in (None, "json"):
            raise UsageError(f"--json contradicts --format {wanted}", "leave one of them out")
        self._implied = args.command == "recall" and not (args.json or wanted or self.output.terminal)
        self._home = args.home
        self._form = "json" if args.json or self._implied else wanted or "text"

    def emit(self, data: Any, lines: Sequence[str]) -> None:
        """Writes a part of an answer before the rest is known: a line of JSON, or lines for a person."""
        self._in_lines = True
        if self._form == "json":
            self.output.line(data)
        else:
            self.output.text(lines)

    def answer(self, result: Result) -> int:
        """Writes an answer."""
        if self._form == "json" and self._in_lines:
            self.output.line(result.data)
        elif self._form == "json":
            self.output.document(result.data)
        else:
            self.output.text(result.lines(self.output.page(self._home)))
        return result.status

    def fail(self, error: BaseException) -> int:
        """Tells a failure in the form that was asked for."""
        failure = describe(error)
        if failure.code == "internal":
            _log(error)
        if self._form == "json":
            self._envelope(failure)
        if self._form != "json" or self._implied:
            self.told.failed(error, failure)
        else:
            self.told.trace(error)
        return failure.status

    def _envelope(self, failure: Failure) -> None:
        try:
            self.output.document(failure.envelope())
        except (OutputGone, OSError):
            self._implied = True  # nobody can read stdout: stderr has to do


def guarded(argv: Sequence[str], work: Callable[[Session], int]) -> int:
    """Runs a piece of work and turns whatever comes out of it into words and an exit status."""
    os.umask(0o077)  # whatever engines write, it is for its owner only
    session = Session(argv)
    try:
        return work(session)
    except Wanted as wanted:
        return _said(session, wanted.text)
    except OutputGone:
        session.output.abandon()
        return 0
    except (Exception, KeyboardInterrupt) as error:
        return session.fail(error)


def _said(session: Session, text: str) -> int:
    try:
        session.output.text(text.splitlines())
    except OutputGone:
        session.output.abandon()
    return 0


def _names_json(words: list[str]) -> bool:
    return "--format=json" in words or ("--format", "json") in itertools.pairwise(words)


def _log(error: BaseException) -> None:
    """Keeps the traceback in the home's log, if a log is open; with none, logging would write it to stderr."""
    logging = sys.modules.get("logging")
    if logging is not None and (logger := logging.getLogger("alaya_tui")).hasHandlers():
        logger.error("internal error", exc_info=error)
