"""The parser class, and the options that several commands share (argparse only: `--help` must cost nothing)."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from alaya_core.errors import UsageError
from alaya_core.models.card import Relation, Standing, Tier
from alaya_core.models.card_types import CardType
from alaya_core.models.requests import ORIGINS, SCOPE

TYPES = [str(each) for each in CardType]
TIERS = [str(each) for each in Tier]
STANDINGS = [str(each) for each in Standing]
RELATIONS = [str(each) for each in Relation]
SCOPES = ("global", "agent:", "project:", "user:", "custom:")


class Wanted(Exception):
    """The person asked for a text (help, version) instead of a command."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        raise Wanted(parser.format_help())


class _Version(argparse.Action):
    def __call__(self, *_: Any) -> NoReturn:
        raise Wanted(f"alaya {version()}\n")


class Once(argparse.Action):
    """An option that may be given once: of two values one would be dropped without a word."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, *_: Any) -> None:
        if getattr(namespace, self.dest, None) is not None:
            raise UsageError(f"{self.option_strings[0]} is given twice", "give it once")
        setattr(namespace, self.dest, value)


def version() -> str:
    """The version that is installed."""
    from importlib import metadata

    return metadata.version("alaya-tui")


class Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of writing and exiting.

    Abbreviated options are refused: a script that uses one would break when a longer option arrives.
    """

    def __init__(self, **settings: Any) -> None:
        settings = {"formatter_class": argparse.RawDescriptionHelpFormatter, **settings}
        super().__init__(**{**settings, "allow_abbrev": False, "add_help": False})
        self.hint = f"see: {self.prog} --help"
        self.add_argument("-h", "--help", action=_Help, nargs=0, help="show this help and stop")

    def error(self, message: str) -> NoReturn:
        """Tells a usage error the way every other failure is told."""
        if wrong := re.match(r"argument COMMAND: invalid choice: '(.*)' \(choose from (.*)\)", message):
            names = re.findall(r"[a-z][a-z0-9-]*", wrong[2])
            near = difflib.get_close_matches(wrong[1].lower(), names, 1)
            raise UsageError(f"there is no command '{wrong[1]}'", f"did you mean: {near[0]}" if near else self.hint)
        if wrong := re.match(r"(argument \S+: )invalid choice: (.*) \(choose from (.*)\)", message, re.DOTALL):
            names = re.findall(r"'([^']*)'", wrong[3])
            raise UsageError(f"{wrong[1]}there is no {wrong[2]}", _meant(wrong[2].strip("'"), names))
        if message.endswith("required: COMMAND"):
            message = "no command was named"
        raise UsageError(message, self.hint)

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Reads all the words, and names the command whose help would have helped."""
        args, unknown = self.parse_known_args(words)
        if unknown:
            command = f" {args.command}" if args.command else ""
            raise UsageError(f"not understood: {' '.join(unknown)}", f"see: {self.prog}{command} --help")
        return args


def _meant(text: str, names: Sequence[str]) -> str:
    """What somebody may have meant, the rest of what there is behind it."""
    by_case = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(text.casefold(), by_case, 1)
    return (f"did you mean: {by_case[near[0]]}; " if near else "") + f"one of: {', '.join(names)}"


def add_globals(parser: Parser, *, top: bool) -> None:
    """The options that stand before or after the command.

    Args:
        parser: Who gets them.
        top: Whether it is the outermost parser; only that one sets defaults, so that the inner one cannot undo
            what stood before the command.
    """

    def default(value: Any) -> Any:
        return value if top else argparse.SUPPRESS

    group = parser.add_argument_group("options of every command")
    group.add_argument(
        "--home",
        metavar="PATH",
        type=named,
        default=default(None),
        help="the memory's folder (else ALAYA_HOME, else ~/.alaya)",
    )
    group.add_argument(
        "--agent",
        metavar="ID",
        type=named,
        default=default(None),
        help="whose eyes to look through (else ALAYA_AGENT, else the owner, who sees all)",
    )
    group.add_argument(
        "--json", action="store_true", default=default(False), help="one JSON document on stdout, errors too"
    )
    group.add_argument(
        "--quiet", action="store_true", default=default(False), help="no progress and no notes on stderr"
    )
    group.add_argument(
        "--verbose", action="store_true", default=default(False), help="print the traceback of a failure on stderr"
    )
    group.add_argument("--version", action=_Version, nargs=0, help="show the version and stop")


def add_filters(parser: Parser) -> None:
    """The filters of `recall` and `list`; each may be given several times, any one of its values then fits."""
    group = parser.add_argument_group(
        "filters (repeat --scope --type --tag --tier --standing --origin --entity to allow several values)"
    )
    _many(group, "--scope", "SCOPE", "global, agent:ID, project:ID, user:ID or custom:NAME", type=scope)
    _many(group, "--type", "TYPE", ", ".join(TYPES), choices=TYPES, type=str.lower)
    _many(group, "--tag", "TAG", "cards with this tag")
    _many(group, "--tier", "TIER", "HOT, WARM or COLD", choices=TIERS, type=str.upper)
    _many(group, "--standing", "STANDING", "core, working or peripheral", choices=STANDINGS, type=str.lower)
    _many(group, "--origin", "ORIGIN", "human, rules, llm or memex", choices=ORIGINS, type=str.lower)
    _many(group, "--entity", "NAME", "cards that mention this entity")
    group.add_argument(
        "--session",
        metavar="ID",
        type=named,
        action=Once,
        help="only what came from this one session (its id, or 8 characters of it)",
    )
    group.add_argument("--importance", type=share, metavar="0..1", help="at least this important")
    group.add_argument(
        "--since", metavar="WHEN", help="not older than 2026-03-31, 2026-03, an ISO time, or 7d, 12h, 2w ago"
    )
    group.add_argument("--until", metavar="WHEN", help="not newer than that (a day counts to its end)")
    group.add_argument("--archived", action="store_true", help="archived cards too")


def _many(group: Any, name: str, metavar: str, text: str, **settings: Any) -> None:
    group.add_argument(name, metavar=metavar, action="append", default=[], help=text, **settings)


def named(text: str) -> str:
    """A name of something, which cannot be empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def scope(text: str) -> str:
    """A scope, as it may stand on a card.

    Raises:
        UsageError: It is none.
    """
    if not SCOPE.fullmatch(text):
        head, colon, name = text.partition(":")
        near = difflib.get_close_matches(head.casefold() + colon, SCOPES, 1, 0.5)
        guess = near[0] + (name or "ID" if near[0].endswith(":") else "") if near else ""
        hint = f"did you mean: {guess}" if guess and SCOPE.fullmatch(guess) else ""
        raise UsageError(f"argument --scope: '{text}' is not a scope", hint or f"one of: {', '.join(SCOPES)}")
    return text


def relation(text: str) -> str:
    """A relation as people type it: any case, `-` or blank for `_`."""
    return text.strip().upper().replace("-", "_").replace(" ", "_")


def command(commands: Any, name: str, text: str | None, *, more: str = "", aliases: tuple[str, ...] = ()) -> Parser:
    """One command; without a text it works but is not listed (old names)."""
    settings: dict[str, Any] = {"help": text} if text else {}
    parser: Parser = commands.add_parser(name, aliases=aliases, description=f"{text or ''}\n{more}".strip(), **settings)
    parser.set_defaults(command=name)
    return parser


def card(commands: Any, name: str, text: str | None, more: str = "") -> Parser:
    """One command about one card."""
    parser = command(commands, name, text, more=more)
    parser.add_argument(
        "card", metavar="CARD", type=named, help="card id, or card- and at least its first 8 characters"
    )
    return parser


def add_mending(parser: Parser) -> None:
    """The options by which what was found is mended."""
    parser.add_argument("--fix", action="store_true", help="say what would mend it (at a terminal: ask, then do it)")
    parser.add_argument("--yes", action="store_true", help="with --fix: do it without asking")


def add_run(parser: Parser, force: str) -> None:
    """The options of a run that tidies.

    Args:
        force: What `--force` does.
    """
    parser.add_argument("--dry-run", action="store_true", help="say what would be done; change nothing")
    parser.add_argument("--force", action="store_true", help=force)
    parser.add_argument("--yes", action="store_true", help="forget unusually many cards without asking")


def count(text: str) -> int:
    """A whole number of at least 1."""
    return _whole(text, 1)


def offset(text: str) -> int:
    """A whole number of at least 0."""
    return _whole(text, 0)


def share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 to 1") from None
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def _whole(text: str, least: int) -> int:
    try:
        # int() also reads "1_000" and digits of other scripts, and refuses 5,000 digits with a message of its own
        value = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else least - 1
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least {least}")
    return value


def before_dashes(words: Sequence[str]) -> list[str]:
    """The words that may be options: those before a bare `--`."""
    return list(words[: words.index("--")] if "--" in words else words)
