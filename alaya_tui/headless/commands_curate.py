"""`capture edit pin unpin archive forget restore link unlink`: how people tend their cards."""

from __future__ import annotations

import re
from argparse import Namespace
from functools import partial

from alaya_core.errors import UsageError
from alaya_core.models.answers import CardAnswer
from alaya_core.models.requests import CardChanges
from alaya_tui.headless.render import Result
from alaya_tui.headless.render_cards import changed_lines, link_lines
from alaya_tui.headless.request import Request

_COMMA = re.compile("[,，、]")
_HAN = re.compile("[\u3400-\u9fff]")


def capture_command(request: Request) -> Result:
    """Writes a card by hand."""
    args = request.args
    text = request.text_of(args.text)
    with request.memory() as memory:
        answer = memory.capture(
            _with_basis(text, args.basis),
            title=args.title,
            type=args.type,
            importance=args.importance,
            confidence=args.confidence,
            tags=tuple(args.tag),
            entities=(*args.entity, *_COMMA.split(args.entities or "")),
            scope=args.scope,
        )
    return _changed("capture", answer)


def _with_basis(text: str, basis: str | None) -> str:
    """A text with what it was concluded from in its last line, in the language of the text."""
    if not (basis and basis.strip() and text.strip()):
        return text
    chinese = 5 * len(_HAN.findall(text)) >= sum(map(str.isalpha, text)) > 0
    return f"{text.rstrip()}\n\n{'依据：' if chinese else 'Basis: '}{' '.join(basis.split())}"


def edit_command(request: Request) -> Result:
    """Changes a card."""
    args = request.args
    content = None if args.content is None else request.text_of(args.content)
    changes = changes_of(args, content)
    if changes == CardChanges():
        raise UsageError("nothing to change was named", "e.g. --title, --content, --tag; see: alaya edit --help")
    with request.memory() as memory:
        answer = memory.edit(args.card, changes, rev=args.rev)
    return _changed("edit", answer)


def changes_of(args: Namespace, content: str | None) -> CardChanges:
    """The changes that the options describe; an empty tag or entity alone means none at all."""
    return CardChanges(
        title=args.title,
        content=content,
        overview=args.overview,
        type=args.type,
        tags=None if args.tag is None else tuple(tag for tag in args.tag if tag.strip()),
        entities=None if args.entity is None else tuple(name for name in args.entity if name.strip()),
        importance=args.importance,
        confidence=args.confidence,
        scope=args.scope,
    )


def pin_command(request: Request) -> Result:
    """Keeps a card HOT."""
    with request.memory() as memory:
        return _changed("pin", memory.pin(request.args.card))


def unpin_command(request: Request) -> Result:
    """Lets a pinned card live like the others."""
    with request.memory() as memory:
        return _changed("unpin", memory.unpin(request.args.card))


def archive_command(request: Request) -> Result:
    """Puts a card away."""
    with request.memory() as memory:
        return _changed("archive", memory.archive(request.args.card))


def forget_command(request: Request) -> Result:
    """Forgets a card."""
    with request.memory() as memory:
        return _changed("forget", memory.forget(request.args.card))


def restore_command(request: Request) -> Result:
    """Brings a card back."""
    with request.memory() as memory:
        return _changed("restore", memory.restore(request.args.card))


def link_command(request: Request) -> Result:
    """Links two cards."""
    args = request.args
    with request.memory() as memory:
        answer = memory.link(args.a, args.b, relation=args.rel, weight=args.weight, reason=args.reason)
    return Result(answer, partial(link_lines, answer))


def unlink_command(request: Request) -> Result:
    """Takes links away."""
    args = request.args
    with request.memory() as memory:
        answer = memory.unlink(args.a, args.b, relation=args.rel)
    return Result(answer, partial(link_lines, answer))


def _changed(verb: str, answer: CardAnswer) -> Result:
    return Result(answer, partial(changed_lines, verb, answer))
