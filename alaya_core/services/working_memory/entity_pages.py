"""The things that cards are about: a list of them, and a page of each."""

from __future__ import annotations

from collections import Counter

from alaya_core.errors import NotFoundError
from alaya_core.models.answers import EntitiesAnswer, EntityPage, EntityRow
from alaya_core.models.card import CardState
from alaya_core.services.recall.emptied import close_to
from alaya_core.services.working_memory.names import Things, name_key, things_of
from alaya_core.services.working_memory.timelines import by_day, entry, require_limit
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_entities import Mention, mentions
from alaya_core.text import safe_line, storable

_MOST_OTHERS = 20


def entities(workspace: Workspace, name: str | None = None, *, limit: int = 50) -> EntitiesAnswer:
    """The things that the cards are about which whoever asks may see, those with most cards first; or one of them.

    Args:
        name: Any name of the one, however spelt; None = all.
        limit: Most things, or most cards of the one.

    Raises:
        NotFoundError: No card is about it; the hint names those that are spelt alike.
        UsageError: A limit below 0.
    """
    require_limit(limit)
    with workspace.graph.reading() as reader:
        found = mentions(reader, workspace.visible_scopes())
    things = things_of(found)
    if name is not None:
        return EntitiesAnswer(page=_page(found, things, storable(name.strip()), limit), total=1)
    ordered = sorted(things.by_key.values(), key=lambda thing: (-thing.cards, -thing.last, thing.name))
    rows = [
        EntityRow(name=thing.name, cards=thing.cards, aliases=thing.aliases, last=thing.last)
        for thing in ordered[:limit]
    ]
    return EntitiesAnswer(entities=rows, total=len(things))


def _page(found: list[Mention], things: Things, name: str, limit: int) -> EntityPage:
    key = things.key_of(name)
    if key is None:
        raise _unknown(things, name)
    own = [mention for mention in found if key in things.keys_of(mention)]
    others = Counter(other for mention in own for other in things.keys_of(mention) if other != key)
    named = {things.by_key[other].name: count for other, count in others.items()}
    ranked = sorted(own, key=lambda one: (one.state != CardState.ACTIVE, -one.importance, -one.created_at, one.id))
    newest = sorted(own, key=lambda one: (-one.created_at, one.id))
    return EntityPage(
        name=things.by_key[key].name,
        aliases=things.by_key[key].aliases,
        cards=[entry(mention) for mention in ranked[:limit]],
        days=by_day(newest[:limit]),
        with_others=dict(sorted(named.items(), key=lambda item: (-item[1], item[0]))[:_MOST_OTHERS]),
        total=len(own),
    )


def _unknown(things: Things, name: str) -> NotFoundError:
    known = {spelling for thing in things.by_key.values() for spelling in thing.spellings}
    by_key = {name_key(spelling): spelling for spelling in sorted(known)}
    near = [by_key[key] for key in close_to(name_key(name), sorted(by_key))]
    within = sorted((each for key, each in by_key.items() if name_key(name) and name_key(name) in key), key=len)
    told = ", ".join(safe_line(each)[:80] for each in list(dict.fromkeys([*near, *within]))[:5])
    hint = f"did you mean: {told}" if told else "`alaya entities` lists the things that cards are about"
    return NotFoundError(f"no card is about '{safe_line(name)[:80]}'", hint)
