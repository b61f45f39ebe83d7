"""Every command of the command line, with its options and their help."""

from __future__ import annotations

from typing import Any

from alaya_core.models.requests import SORTS
from alaya_tui.headless.arguments import (
    RELATIONS,
    TYPES,
    Parser,
    add_filters,
    add_globals,
    add_mending,
    card,
    command,
    count,
    named,
    offset,
    relation,
    share,
)
from alaya_tui.headless.parser_old import add_old_names
from alaya_tui.headless.parser_tidy import add_tidying

_ABOUT = """Long-term memory of AI agents: keep sessions, distil them into cards, find, trace and curate them.
The screen over the same memory: alaya-tui."""

_STATUSES = """exit status: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 a provider failed, 5 busy,
6 damaged or newer home, 130 cancelled.  A card is named by its id or by card- and its first 8 characters."""


def build_parser() -> Parser:
    """The parser of `alaya` (and of `alaya-tui --headless`)."""
    parser = Parser(prog="alaya", description=_ABOUT, epilog=_STATUSES)
    add_globals(parser, top=True)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", required=True)
    for add in (_gather, _find, _curate, _connect, _take_back, add_tidying, _keep, add_old_names):
        add(commands)
    # last, so that each command's help begins with its own options
    for each in set(commands.choices.values()):
        add_globals(each, top=False)
    return parser


def _gather(commands: Any) -> None:
    command(commands, "init", "make the memory's folder; run twice, it changes nothing")
    ingest = command(
        commands,
        "ingest",
        "keep session logs (files, folders, or - for stdin)",
        more="Exits 1 when a session failed, or when a path you named could not be read.",
    )
    ingest.add_argument("paths", metavar="PATH", nargs="+", help="file or folder of session logs; - reads stdin")
    ingest.add_argument(
        "--format", metavar="NAME", help="what they are, when it is not to be guessed (e.g. openclaw, codex)"
    )
    ingest.add_argument("--distill", action="store_true", help="distil what is new at once")
    distill = command(
        commands, "distill", "make cards out of kept sessions", more="Exits 4 when a session must be tried again."
    )
    distill.add_argument("--session", metavar="ID", type=named, help="only this session")
    distill.add_argument("--all", action="store_true", help="all sessions that have new turns (the default)")
    distill.add_argument("--redo", action="store_true", help="sessions that were distilled before, too")
    distill.add_argument(
        "--upgrade", action="store_true", help="let the model read again what was distilled by rules, and do better"
    )


def _find(commands: Any) -> None:
    _recall(commands)
    listing = command(commands, "list", "list cards")
    listing.add_argument("--sort", choices=SORTS, default="recent", help="order (default: recent)")
    listing.add_argument("--limit", "-n", type=count, default=50, metavar="N", help="at most N cards (default: 50)")
    listing.add_argument("--offset", type=offset, default=0, metavar="N", help="leave out the first N (default: 0)")
    add_filters(listing)
    show = card(commands, "show", "show a card, its neighbours and where it came from")
    show.add_argument("--neighbours", type=offset, default=20, metavar="N", help="at most N neighbours (default: 20)")
    trace = card(commands, "trace", "show the turns a card came from")
    trace.add_argument("--full", action="store_true", help="the whole session, the card's turns marked")
    trace.add_argument("--reveal", action="store_true", help="do not mask secrets; only for a person at a terminal")
    history = command(commands, "history", "what changed, newest first")
    history.add_argument("card", metavar="CARD", type=named, nargs="?", help="only changes of this card")
    history.add_argument("--limit", "-n", type=count, default=50, metavar="N", help="at most N changes (default: 50)")


def _recall(commands: Any) -> None:
    recall = command(
        commands,
        "recall",
        "find cards, and passages in sessions",
        more="A pipe gets JSON unless --format says otherwise.\n"
        "Words that start with - go after --: alaya recall -- --flag",
        aliases=("search",),
    )
    recall.add_argument("query", metavar="QUERY", nargs="+", help="what to look for; - reads it from stdin")
    recall.add_argument(
        "-n", "--limit", type=count, metavar="N", help="at most N cards and N passages (default: config)"
    )
    recall.add_argument(
        "--in", dest="within", choices=("cards", "passages", "both"), help="where to look (default: both)"
    )
    recall.add_argument("--no-sessions", action="store_true", help="the same as --in cards")
    recall.add_argument("--no-memex", action="store_true", help="leave out cards that memex brought")
    recall.add_argument("--context", action="store_true", help="bring the turns each card came from")
    recall.add_argument("--explain", action="store_true", help="say stage by stage why each hit stands where it does")
    recall.add_argument(
        "--auto", action="store_true", help="asked by an agent's hook: answer only if the text needs memory"
    )
    recall.add_argument(
        "--format", choices=("text", "json", "context"), help="text, JSON, or a fenced block to put before a model"
    )
    recall.add_argument(
        "--budget", type=count, metavar="N", help="with --format context: about N tokens at most (default: config)"
    )
    add_filters(recall)


def _curate(commands: Any) -> None:
    capture = command(commands, "capture", "write a card yourself")
    capture.add_argument("text", metavar="TEXT", nargs="+", help="the card's text (Markdown); - reads stdin")
    capture.add_argument("--title", help="its title (default: from the text)")
    capture.add_argument(
        "--type",
        choices=TYPES,
        type=str.lower,
        default="fact",
        metavar="TYPE",
        help=", ".join(TYPES) + " (default: fact)",
    )
    capture.add_argument("--importance", type=share, metavar="0..1", help="default: what its type says")
    capture.add_argument("--confidence", type=share, default=0.9, metavar="0..1", help="how sure it is (default: 0.9)")
    capture.add_argument("--tag", action="append", default=[], metavar="TAG", help="a tag; may be repeated")
    capture.add_argument(
        "--entity", action="append", default=[], metavar="NAME", help="what it is about; may be repeated"
    )
    capture.add_argument("--entities", metavar="A,B", help="the same, several at once, with commas between")
    capture.add_argument("--basis", metavar="TEXT", help="what it was concluded from; kept below its text")
    capture.add_argument("--scope", help="whose memory it is (default: global)")
    _edit(commands)
    for name, text in (
        ("pin", "keep a card HOT, and never forget it"),
        ("unpin", "let a pinned card live like the others"),
        ("archive", "put a card away: found only with --archived"),
        ("forget", "forget a card; `alaya restore` brings it back"),
        ("restore", "bring back an archived or forgotten card"),
    ):
        card(commands, name, text)


def _edit(commands: Any) -> None:
    edit = card(commands, "edit", "change a card", "What is not named stays as it is.")
    edit.add_argument("--title", help="new title")
    edit.add_argument("--content", metavar="TEXT", help="new text; - reads stdin")
    edit.add_argument("--overview", metavar="TEXT", help="new overview")
    edit.add_argument("--type", choices=TYPES, type=str.lower, metavar="TYPE", help=", ".join(TYPES))
    edit.add_argument(
        "--tag", action="append", metavar="TAG", help="its tags from now on; repeat for several, '' for none"
    )
    edit.add_argument("--entity", action="append", metavar="NAME", help="its entities from now on; likewise")
    edit.add_argument("--importance", type=share, metavar="0..1", help="new importance")
    edit.add_argument("--confidence", type=share, metavar="0..1", help="new confidence")
    edit.add_argument("--scope", help="new scope")
    edit.add_argument("--rev", type=count, metavar="N", help="refuse if the card changed since this revision")


def _connect(commands: Any) -> None:
    link = command(commands, "link", "link two cards")
    unlink = command(commands, "unlink", "take away links between two cards")
    for parser in (link, unlink):
        parser.add_argument("a", metavar="A", type=named, help="card the link starts from")
        parser.add_argument("b", metavar="B", type=named, help="card it leads to")
    names = ", ".join(RELATIONS)
    link.add_argument(
        "--rel",
        type=relation,
        choices=RELATIONS,
        default="RELATES_TO",
        metavar="REL",
        help=f"{names} (default: RELATES_TO)",
    )
    link.add_argument("--weight", type=share, default=0.5, metavar="0..1", help="how strong (default: 0.5)")
    link.add_argument("--reason", default="", metavar="TEXT", help="why, in a sentence")
    unlink.add_argument(
        "--rel", type=relation, choices=RELATIONS, metavar="REL", help="only links of this relation (default: all)"
    )


def _take_back(commands: Any) -> None:
    merge = command(commands, "merge", "make one card of two", more="The other's id names the kept card from then on.")
    merge.add_argument("card", metavar="KEEP", type=named, help="the card that stays")
    merge.add_argument("other", metavar="OTHER", type=named, help="the card that goes into it")
    merge.add_argument("--reason", default="", metavar="TEXT", help="why, for the history")
    undo = command(commands, "undo", "take back your last change, or a whole run", more="Refused if it changed since.")
    redo = command(commands, "redo", "do again what was undone last")
    undo.add_argument(
        "--run", metavar="ID", type=named, help="a whole run, or one change by its number, as `history` shows them"
    )
    redo.add_argument("--run", metavar="ID", type=named, help="what this run undid, or an undone run or change itself")
    undo.add_argument("--cascade", action="store_true", help="undo first what touched the same things since")
    redo.add_argument("--cascade", action="store_true", help="undo first what touched the same things since")
    erase = command(
        commands,
        "erase",
        "take a card, a session or a turn out for good",
        more="Without --yes it only shows what would go (at a terminal it asks). It cannot be undone.",
    )
    erase.add_argument("target", metavar="CARD|SESSION", type=named, help="card id, or id of a session")
    erase.add_argument("--turn", type=offset, metavar="N", help="only this turn of the session (they count from 0)")
    erase.add_argument("--yes", action="store_true", help="do it")


def _keep(commands: Any) -> None:
    command(commands, "status", "what each layer holds, and what needs attention")
    verify = command(commands, "verify", "check that the layers agree", more="Exits 1 when something is found.")
    add_mending(verify)
    rebuild = command(commands, "rebuild", "build the databases anew from the plain files")
    rebuild.add_argument(
        "what", nargs="?", choices=("l1", "l2", "all"), default="all", help="which layer (default: all)"
    )
    for old in ("l1", "l2"):
        command(commands, f"rebuild-{old}", None, more=f"The same as: rebuild {old}").set_defaults(
            command="rebuild", what=old
        )
    reembed = command(
        commands,
        "reembed",
        "make all vectors anew by the configured model",
        more="The old vectors answer until it is done; cut off, it goes on where it was.",
    )
    reembed.add_argument("--dry-run", action="store_true", help="only say how much it is, how long, what it costs")
    command(commands, "upkeep", "fold logs and indexes, remove old versions of the tables")
    doctor = command(
        commands, "doctor", "check the installation and the memory's folder", more="Exits 1 when a check fails."
    )
    doctor.add_argument(
        "--calibrate",
        action="store_true",
        help="measure the embedding model on your own cards (a remote one is sent some: it says where)",
    )
    config = command(commands, "config", "every setting: its value, where it comes from, what it means")
    config.add_argument("key", metavar="KEY", nargs="?", help="only settings that start with this, e.g. recall")
    command(
        commands,
        "demo",
        "try it on sample sessions, in a folder of its own",
        more="Makes a temporary memory unless --home names a new folder; at a terminal it opens the screen on it.",
    )
