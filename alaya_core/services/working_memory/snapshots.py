"""`snapshot.md` kept up to date: the working memory of the owner; an agent is only told its own."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from heapq import nsmallest

from alaya_core.clock import DAY_MS, iso, local, parse_when
from alaya_core.models.answers import SnapshotAnswer
from alaya_core.models.card import Card, CardState
from alaya_core.models.commit import event_cards
from alaya_core.models.requests import Filters
from alaya_core.services.distill.subjects import is_chinese
from alaya_core.services.lifecycle.temperature import MODELS, columns, life_of, temperatures
from alaya_core.services.passages import estimated_tokens
from alaya_core.services.working_memory.choice import choose
from alaya_core.services.working_memory.layout import Counts, Laid, lay_out, same_ranks
from alaya_core.services.working_memory.names import things_of
from alaya_core.services.workspace import Workspace
from alaya_core.stores.files import write_file
from alaya_core.stores.graph_read import GraphReader

_TRIES = 2
"""How often it is made while others may write, before it is made with the pen in hand."""
_SAMPLE = 500  # cards that tell the language of all
_BEGINNING = 80  # characters of one of them


def snapshot(workspace: Workspace, *, write: bool = True) -> SnapshotAnswer:
    """The working memory of whoever asks; the owner's is written to `snapshot.md` when its ranks changed.

    Within one day it depends on nothing but the memory: life is judged as of the day's beginning. A file that says the
    same of the same cards in the same order stays as it is, its counts and scores with it.

    Args:
        write: Whether the file is brought up to date; False = only say whether it would be.

    Raises:
        ReadOnlyHomeError, NewerHomeError: It would have to be written, and the home takes no changes.
        BusyError: Another process holds the home too long.
    """
    if workspace.agent is not None:
        return _answer("", _laid(workspace, _read(workspace)[0]), changed=False)
    path = str(workspace.home.snapshot)
    for _ in range(_TRIES):
        cards, seq = _read(workspace)
        laid = _laid(workspace, cards)
        standing = _standing(workspace)
        if standing is not None and same_ranks(standing, laid.text):
            return _answer(path, Laid(standing, laid.cards), changed=False)
        if not write:
            return _answer(path, laid, changed=True)
        workspace.require_writable()
        with workspace.locks.writing("snapshot"):
            if _still_holds(workspace, laid, seq):
                return _written(workspace, laid)
    with workspace.locks.writing("snapshot"):
        with workspace.graph.reading_to_write() as reader:
            cards = _cards(workspace, reader)
        return _written(workspace, _laid(workspace, cards))


def _still_holds(workspace: Workspace, laid: Laid, seq: int) -> bool:
    """Whether nothing in it changed since a commit: what was erased or forgotten meanwhile must not be written again.
    What only came meanwhile is in the next one."""
    since = [event for commit in workspace.ledger.commits(seq) for event in commit.events]
    touched = {card for event in since for card in event_cards(event)}
    return not (touched & set(laid.cards) or any(event["kind"] == "erased" for event in since))


def _written(workspace: Workspace, laid: Laid) -> SnapshotAnswer:
    path = workspace.home.snapshot
    write_file(path, laid.text.encode("utf-8"))
    return _answer(str(path), laid, changed=True)


def _answer(path: str, laid: Laid, *, changed: bool) -> SnapshotAnswer:
    return SnapshotAnswer(
        path=path, text=laid.text, tokens=estimated_tokens(laid.text), changed=changed, cards=list(laid.cards)
    )


def _standing(workspace: Workspace) -> str | None:
    """The text of the file; None where there is none that can be read."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return workspace.home.snapshot.read_bytes().decode("utf-8")
    return None


def _read(workspace: Workspace) -> tuple[list[Card], int]:
    """The cards, and the commit as of which they were read; the graph is not kept from others while they are judged."""
    with workspace.graph.reading() as reader:
        return _cards(workspace, reader), reader.mark().seq


def _cards(workspace: Workspace, reader: GraphReader) -> list[Card]:
    return reader.matching(Filters(archived=True), workspace.visible_scopes())


def _laid(workspace: Workspace, cards: Sequence[Card]) -> Laid:
    own = workspace.config.snapshot
    living = [card for card in cards if card.state is CardState.ACTIVE]
    now = workspace.clock()
    today = parse_when(local(now, "%Y-%m-%d"), now)
    choice = choose(living, _warmth(workspace, living, today), _recent(living, today, own.recent_days), today, own.top)
    return lay_out(choice, _counts(cards, living), own.token_budget, chinese=_mostly_chinese(living))


def _warmth(workspace: Workspace, cards: Sequence[Card], at: int) -> Mapping[str, float]:
    """The temperature of each card at a moment (ms), by id."""
    if not cards:
        return {}
    now = workspace.now()
    lives = columns(life_of(card, now.of(card), at) for card in cards)
    warm = temperatures(lives, MODELS[workspace.config.lifecycle.model])
    return dict(zip((card.id for card in cards), warm.tolist(), strict=True))


def _recent(cards: Sequence[Card], today: int, days: int) -> dict[str, str]:
    """The day of each card that was true today or on the days before it, `days` of them in all."""
    first, end = today - (days - 1) * DAY_MS, today + DAY_MS
    return {card.id: local(card.created_at, "%Y-%m-%d") for card in cards if first <= card.created_at < end}


def _counts(cards: Sequence[Card], living: Sequence[Card]) -> Counts:
    return Counts(
        total=len(cards),
        active=len(living),
        archived=sum(card.state is CardState.ARCHIVED for card in cards),
        entities=len(things_of(card for card in cards if card.state is not CardState.ARCHIVED)),
        topics=len({tag.casefold() for card in living for tag in card.tags}),
        changed=iso(max(card.updated_at for card in cards)) if cards else "",
    )


def _mostly_chinese(cards: Sequence[Card]) -> bool:
    """Whether most of the cards are Chinese, by those whose ids come first: ids are drawn by chance."""
    some = nsmallest(_SAMPLE, cards, key=lambda card: card.id)
    return 2 * sum(is_chinese((card.title or card.content)[:_BEGINNING]) for card in some) > len(some)
