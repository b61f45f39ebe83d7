"""What a person does to cards and links by hand. Every change is planned again under the lock, on the card as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from alaya_core import secrets
from alaya_core.errors import AlayaError, UsageError
from alaya_core.models.answers import CardAnswer, LinkAnswer
from alaya_core.models.card import RULES_SUMMARY, Card, CardDraft, CardState, Link, Relation, ordered_ends
from alaya_core.models.card_types import POLICIES
from alaya_core.models.commit import Event, card_changed, card_created, link_created, link_removed
from alaya_core.models.requests import CardChanges
from alaya_core.services.browse import show
from alaya_core.services.card_making import card_from_draft, card_type, masked, scope_name, share, tidy, title_of
from alaya_core.services.card_views import link_view
from alaya_core.services.lookup import find_card
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader
from alaya_core.text import safe_line, storable

_LONGEST = 1_000_000
"""Characters of a card's content."""


def capture(
    workspace: Workspace,
    content: str,
    *,
    title: str | None,
    type: str,
    importance: float | None,
    confidence: float,
    tags: Sequence[str],
    entities: Sequence[str],
    scope: str | None,
) -> CardAnswer:
    """A new card by hand. The same text in the same scope is not kept twice.

    Raises:
        UsageError: No text, or a value that cannot be.
    """
    text = _content(content)
    kind = card_type(type)
    draft = masked(
        CardDraft(
            title=_title(title) if title is not None else title_of(text),
            content=text,
            type=kind,
            tags=tuple(tags),
            entities=tuple(entities),
            importance=POLICIES[kind].default_importance if importance is None else share(importance, "importance"),
            importance_by="human" if importance is not None else "rules",
            confidence=share(confidence, "confidence"),
        )
    )
    where = _scope(workspace, scope) if scope else "global"
    card = card_from_draft(
        draft,
        card_id=workspace.ids.new_card(),
        scope=where,
        origin="human",
        distilled_by="",
        now=workspace.clock(),
    )
    twin: list[Card] = []

    def plan(reader: GraphReader) -> list[Event]:
        same = reader.cards_with_content([card.content]).get(card.content, [])
        twin.extend(known for known in same if known.scope == where)
        return [] if twin else [card_created(card)]

    made = workspace.commit("capture", plan) is not None
    note = "this is known already" if not made else ""
    if made and card.content != storable(text):
        note = "a secret in it was masked"
    return _answer(workspace, card.id if made else twin[0].id, made, note)


def edit(workspace: Workspace, reference: str, changes: CardChanges, rev: int | None) -> CardAnswer:
    """Changes fields of a card.

    Args:
        rev: The revision the caller has seen; None = whatever it is.

    Raises:
        AlayaError: Somebody changed the card since that revision.
        UsageError: A value that cannot be.
    """

    def change(reader: GraphReader, card: Card) -> Card:
        if rev is not None and rev != card.rev:
            raise AlayaError(
                f"the card was changed meanwhile: you saw revision {rev}, it is at {card.rev}",
                f"look at it again: alaya show {card.id}",
            )
        values = _values(workspace, changes)
        if changes.superseded_by is not None:
            successor = find_card(reader, changes.superseded_by, workspace.visible_scopes())
            if successor.id == card.id:
                raise UsageError("a card cannot supersede itself")
            values |= {"state": CardState.SUPERSEDED, "successor": successor.id}
        if card.distilled_by == RULES_SUMMARY and {"title", "content", "overview"} & values.keys():
            values["distilled_by"] = ""  # it is a person's text now, and is not written anew
        return replace(card, **values)

    return _change(workspace, reference, "edit", change)


def set_pinned(workspace: Workspace, reference: str, pinned: bool) -> CardAnswer:
    """Pins a card (it stays HOT and is never forgotten), or takes the pin out."""
    verb = "pin" if pinned else "unpin"
    return _change(workspace, reference, verb, lambda _, card: replace(card, pinned=pinned))


def set_state(workspace: Workspace, reference: str, verb: str) -> CardAnswer:
    """`archive`, `forget` or `restore` a card."""
    state = {"archive": CardState.ARCHIVED, "forget": CardState.FORGOTTEN, "restore": CardState.ACTIVE}[verb]

    def change(_: GraphReader, card: Card) -> Card:
        return replace(card, state=state, successor="" if state is CardState.ACTIVE else card.successor)

    return _change(workspace, reference, verb, change)


def link(workspace: Workspace, a: str, b: str, *, relation: str, weight: float, reason: str) -> LinkAnswer:
    """Links two cards; an existing link of this relation gets the new weight and reason.

    Raises:
        NotFoundError, AmbiguousIdError: No such card.
        UsageError: The same card twice, an unknown relation, a weight that cannot be.
    """
    kind = _relation(relation)
    amount = share(weight, "weight")
    said = storable(secrets.mask(safe_line(reason)))
    ends: list[Card] = []
    made: list[Link] = []

    def plan(reader: GraphReader) -> list[Event]:
        scopes = workspace.visible_scopes()
        ends[:] = [find_card(reader, a, scopes), find_card(reader, b, scopes)]
        if ends[0].id == ends[1].id:
            raise UsageError("a card cannot be linked to itself", "name two cards")
        from_id, to_id = ordered_ends(ends[0].id, ends[1].id, kind)
        fresh = Link(from_id, to_id, kind, amount, said, "human", workspace.clock())
        old = next((known for known in reader.links_between(from_id, to_id) if known.id == fresh.id), None)
        if old is not None and (old.weight, old.reason) == (fresh.weight, fresh.reason):
            made[:] = [old]
            return []
        made[:] = [fresh]
        return [*([link_removed(old)] if old else []), link_created(fresh)]

    changed = workspace.commit("link", plan) is not None
    titles = {card.id: card.title for card in ends}
    note = "" if changed else "this link is there already"
    return LinkAnswer(link=link_view(made[0], titles), changed=changed, note=note)


def unlink(workspace: Workspace, a: str, b: str, *, relation: str | None) -> LinkAnswer:
    """Takes away the links between two cards, all of them or those of one relation.

    Raises:
        NotFoundError, AmbiguousIdError: No such card.
    """
    kind = _relation(relation) if relation else None
    removed: list[Link] = []
    titles: dict[str, str] = {}

    def plan(reader: GraphReader) -> list[Event]:
        scopes = workspace.visible_scopes()
        one, other = find_card(reader, a, scopes), find_card(reader, b, scopes)
        titles.update({one.id: one.title, other.id: other.title})
        found = reader.links_between(one.id, other.id)
        removed[:] = [known for known in found if kind is None or known.relation is kind]
        return [link_removed(known) for known in removed]

    changed = workspace.commit("unlink", plan) is not None
    return LinkAnswer(
        removed=[link_view(known, titles) for known in removed],
        changed=changed,
        note="" if changed else "there is no such link",
    )


def _change(workspace: Workspace, reference: str, verb: str, change: Callable[[GraphReader, Card], Card]) -> CardAnswer:
    found: list[Card] = []

    def plan(reader: GraphReader) -> list[Event]:
        card = find_card(reader, reference, workspace.visible_scopes(), forgotten=verb in ("restore", "forget"))
        found[:] = [card]
        after = change(reader, card)
        if after == card:
            return []
        return [card_changed(card, replace(after, rev=card.rev + 1, updated_at=workspace.clock()), verb)]

    changed = workspace.commit(verb, plan) is not None
    return _answer(workspace, found[0].id, changed, "" if changed else "nothing to change")


def _answer(workspace: Workspace, card_id: str, changed: bool, note: str) -> CardAnswer:
    answer = show(workspace, card_id, neighbours=20, forgotten=True)
    answer.changed, answer.note = changed, note
    return answer


def _values(workspace: Workspace, changes: CardChanges) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if changes.title is not None:
        values["title"] = secrets.mask(_title(changes.title))
    if changes.content is not None:
        values["content"] = storable(secrets.mask(_content(changes.content)))
    if changes.overview is not None:
        values["overview"] = storable(secrets.mask(changes.overview))
    if changes.type is not None:
        values["type"] = card_type(changes.type)
    if changes.tags is not None:
        values["tags"] = tidy(changes.tags)
    if changes.entities is not None:
        values["entities"] = tidy(changes.entities)
    if changes.importance is not None:
        values |= {"importance": share(changes.importance, "importance"), "importance_by": "human"}
    if changes.confidence is not None:
        values["confidence"] = share(changes.confidence, "confidence")
    if changes.scope is not None:
        values["scope"] = _scope(workspace, changes.scope)
    return values


def _content(content: str) -> str:
    if not content.strip():
        raise UsageError("there is no text to keep", "give it as an argument, or `-` to read it from standard input")
    if len(content) > _LONGEST:
        raise UsageError(f"the text has {len(content)} characters, at most {_LONGEST} fit a card", "ingest it instead")
    return content.strip()


def _scope(workspace: Workspace, scope: str) -> str:
    """A scope that whoever asks may see, so that nobody writes what they cannot read."""
    name, seen = scope_name(scope), workspace.visible_scopes()
    if seen is not None and name not in seen:
        raise UsageError(f"agent {workspace.agent} cannot see '{safe_line(name)[:60]}'", f"one of: {', '.join(seen)}")
    return name


def _title(title: str) -> str:
    line = storable(safe_line(title))
    if not line:
        raise UsageError("a title cannot be empty", "leave it out to have one made from the text")
    return line[:1_000]


def _relation(name: str) -> Relation:
    try:
        return Relation(name.strip().upper().replace("-", "_").replace(" ", "_"))
    except ValueError:
        kinds = ", ".join(Relation)
        raise UsageError(f"there is no relation '{safe_line(name)[:60]}'", f"one of: {kinds}") from None
