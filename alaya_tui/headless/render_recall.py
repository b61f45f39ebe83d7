"""What `recall` prints for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from alaya_core.clock import local
from alaya_core.models.answers import PassageHit, RecallAnswer, RecallHit, Related
from alaya_core.text import counted, safe_line
from alaya_tui.headless.render_layout import Page, argument, ratio, short, tags

MOST_RELATED = 3
INDENT = 4


def recall_lines(
    answer: RecallAnswer,
    page: Page,
    *,
    explain: bool = False,
    floor: float | None = None,
    asked: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """The hits, best first, then what was found, what was left out, and how to go on.

    Args:
        answer: What was found.
        page: Where it is laid out.
        explain: Whether to say why each hit stands where it does.
        floor: The score below which hits were left out.
        asked: The filters as they were typed, by the names that the answer calls them.
    """
    yield from page.item("🔍 ", f'Recalling: "{answer.query}"')
    yield ""
    if answer.skipped:
        yield from page.item("", f"Not searched: {answer.skipped}")
        return
    for number, hit in enumerate(answer.results, 1):
        yield from _hit(number, hit, page, explain)
        yield ""
    if answer.passages:
        yield "In sessions:"
        for passage in answer.passages:
            yield from _passage(passage, page, explain)
        yield ""
    yield _found(answer)
    yield from filter_lines(answer.filtered.without, answer.filtered.notes, page, asked or {})
    yield from _notes(answer, page, floor)
    if answer.results:
        yield page.dim(f"open with: {page.call} show {argument(answer.results[0].card_id)}")
    elif answer.passages and answer.passages[0].cards:
        yield page.dim(f"open with: {page.call} show {argument(answer.passages[0].cards[0])}")


def _hit(number: int, hit: RecallHit, page: Page, explain: bool) -> Iterator[str]:
    marks = f" ({hit.score:.2f}) #{safe_line(hit.type)}" + (
        "" if hit.state == "active" else f" [{safe_line(hit.state)}]"
    )
    lead = f"[{number}] "
    yield lead + page.bold(page.clip(hit.title, len(lead) + len(marks))) + marks
    yield from page.preview(hit.content, INDENT)
    for near in hit.related[:MOST_RELATED]:
        yield from page.item(" " * INDENT + "Related: ", _related(near))
    if len(hit.related) > MOST_RELATED:
        yield page.dim(f"{' ' * INDENT}         and {len(hit.related) - MOST_RELATED} more")
    if hit.source_sessions:
        yield from page.item(" " * INDENT + "Source: ", ", ".join(hit.source_sessions))
    told = f"{short(hit.card_id)}  {hit.tier} {ratio(hit.temperature)}  {tags(hit.tags)}"
    yield page.dim(" " * INDENT + page.clip(told, INDENT))
    for turn in hit.context or ():
        mark = "*" if turn.relevant else " "
        yield from page.item(f"{' ' * INDENT}{mark} [Turn {turn.turn}] {safe_line(turn.role)}: ", turn.content)
    if explain:
        yield from _why(hit.why, page)


def _related(near: Related) -> str:
    """`Title (DEPENDS_ON, 0.85)`; `this` says that the link leads to the card that was found."""
    towards = " this" if near.direction == "in" else ""
    state = "" if near.state == "active" else f", {near.state}"
    return f"{near.title} ({near.relation}{towards}, {near.score:.2f}{state})"


def _passage(passage: PassageHit, page: Page, explain: bool) -> Iterator[str]:
    when = f"  {local(passage.timestamp)}" if passage.timestamp is not None else ""
    lead = f"    {ratio(passage.score):>4}  {safe_line(passage.role)}: "
    first, *rest = page.preview(passage.text, len(lead)) or [""]
    yield lead + first.lstrip()
    yield from rest
    cards = "".join(f"  {short(card)}" for card in passage.cards[:MOST_RELATED])
    where = f"{passage.session_id}  turn {passage.turn}{when}{cards}"
    yield from map(page.dim, page.item(" " * 10, where))
    if explain:
        yield from _why(passage.why, page, indent=10)


def _found(answer: RecallAnswer) -> str:
    found = f"Found {counted(len(answer.results), 'card')}"
    if answer.passages:
        found += f" and {counted(len(answer.passages), 'passage')}"
    return f"{found} in {answer.took_ms}ms"


def filter_lines(
    without: Mapping[str, int], notes: Sequence[str], page: Page, asked: Mapping[str, str]
) -> Iterator[str]:
    """What filters did that left nothing: what there is without each of them, and names in them that nothing has.

    Args:
        without: How many there are without a filter, by its name; `all`: without any.
        notes: Sentences.
        page: Where it is laid out.
        asked: The filters as they were typed, by the same names.
    """
    for note in notes:
        yield from page.item("! ", note)
    if not without:
        return
    names = [name for name in without if name != "all"]
    told = " ".join(asked.get(name, f"--{name}") for name in names)
    if not without["all"]:
        counts = "nothing without it either" if len(names) == 1 else "nothing without filters either"
    elif len(names) == 1:
        counts = f"{without['all']:,} without it"
    else:
        each = [f"{without[name]:,} without --{_option(name)}" for name in names if without[name]]
        counts = ", ".join([*each, f"{without['all']:,} without any filter"])
    yield from page.item("", f"nothing with {told}; {counts}")


def _option(name: str) -> str:
    return "no-memex" if name == "without_origin" else name


def _notes(answer: RecallAnswer, page: Page, floor: float | None) -> Iterator[str]:
    if answer.filtered.below_floor:
        best = f" (best {ratio(answer.filtered.best)})" if answer.filtered.best is not None else ""
        below = "the floor" if floor is None else ratio(floor)
        yield f"{answer.filtered.below_floor:,} more below {below}{best}"
    if answer.degraded:
        yield from page.item("! not everything answered: ", "; ".join(answer.degraded))
    if answer.stale:
        yield "! newer changes exist that this answer has not seen"
    if not answer.results and not answer.passages:
        yield page.dim(f"try other words, or see what there is: {page.call} list")


def _why(why: Mapping[str, Any], page: Page, indent: int = INDENT) -> Iterator[str]:
    """Stage by stage, in the order the stages ran."""
    flat = list(flatten(why))
    widest = max((len(name) for name, _ in flat), default=0)
    for number, (name, told) in enumerate(flat):
        lead = "why " if number == 0 else "    "
        yield from page.item(f"{' ' * indent}{lead}{name:<{widest}}  ", told)


def flatten(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested stage scores as `stage.part`, numbers at three decimals."""
    for key, each in value.items():
        name = safe_line(f"{prefix}{key}")
        if isinstance(each, Mapping):
            yield from flatten(each, f"{name}.")
        else:
            yield name, _told(each)


def _told(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list | tuple):
        return ", ".join(_told(each) for each in value) or "none"
    return "none" if value is None else safe_line(str(value))
