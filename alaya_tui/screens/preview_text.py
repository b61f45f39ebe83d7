"""What the preview beside the results says about the row under the cursor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textual.content import Content

from alaya_core.clock import local
from alaya_core.models.answers import CardAnswer, PassageHit, RecallHit, Related
from alaya_tui.render_text import (
    block,
    fit,
    joined,
    line,
    relation_words,
    share,
    tier_colour,
    tier_letter,
    title,
    why_lines,
)
from alaya_tui.screens.search_rows import who

PREVIEW_CHARACTERS = 4_000


def hit_preview(hit: RecallHit, *, why: bool) -> Content:
    """A card that was found."""
    reasons = _why(hit.score, hit.why) if why else []
    return _card(
        hit.title,
        hit.content,
        hit.type,
        hit.tier,
        hit.temperature,
        hit.importance,
        hit.tags,
        hit.related,
        hit.state,
        reasons,
    )


def card_preview(answer: CardAnswer) -> Content:
    """A card of the whole list."""
    card = answer.card
    return _card(
        card.title,
        card.content,
        card.type,
        card.tier,
        card.temperature,
        card.importance,
        card.tags,
        answer.related,
        card.state,
        [],
    )


def passage_preview(hit: PassageHit, *, why: bool) -> Content:
    """A turn that was found."""
    when = local(hit.timestamp) if hit.timestamp is not None else ""
    parts: list[Content] = [
        joined([(who(hit.role), "bold"), f"turn {hit.turn}", (when, "$foreground-muted")]),
        joined([(line(hit.session_id, 80), "$foreground-muted")]),
        Content(""),
    ]
    if why:
        parts += [*_why(hit.score, hit.why), Content("")]
    parts.append(Content(block(hit.text, PREVIEW_CHARACTERS)))
    return Content("\n").join(parts)


def _card(
    name: str,
    content: str,
    type_: str,
    tier: str,
    temperature: float,
    importance: float,
    tags: Sequence[str],
    related: Sequence[Related],
    state: str,
    reasons: list[Content],
) -> Content:
    parts: list[Content] = [
        Content.styled(title(name), "bold"),
        joined(
            [
                line(type_, 20),
                (f"{tier_letter(tier)} {share(temperature)}", tier_colour(tier)),
                f"importance {share(importance)}",
                (line(state, 20) if state != "active" else "", "$text-warning"),
            ]
        ),
    ]
    if tags:
        parts.append(joined([(f"#{line(tag, 30)}", "$text-accent") for tag in tags[:12]], " "))
    parts.append(Content(""))
    if reasons:
        parts += [*reasons, Content("")]
    parts.append(Content(block(content, PREVIEW_CHARACTERS)))
    if related:
        parts.append(Content(""))
        parts += [_neighbour(neighbour) for neighbour in related[:8]]
    return Content("\n").join(parts)


def _neighbour(neighbour: Related) -> Content:
    words = relation_words(neighbour.relation, neighbour.direction)
    return joined([(fit(words, 11), "$foreground-muted"), share(neighbour.score), title(neighbour.title, 120)], " ")


def _why(score: float, why: Mapping[str, Any]) -> list[Content]:
    told = [joined([(f"why {share(score)}", "bold $text-accent")])]
    told += [joined([(fit(stage, 12), "$foreground-muted"), value], " ") for stage, value in why_lines(why)]
    return told
