"""What `reembed` and `upkeep` print for a person."""

from __future__ import annotations

from collections.abc import Iterator

from alaya_core.models.answers import ReembedAnswer, UpkeepAnswer
from alaya_core.text import counted, safe_line
from alaya_tui.headless.render_layout import Page, listed, size

_PARTS = {"raw": "plain files", "kuzu": "graph", "lancedb": "vectors and words", "cache": "embedding cache"}


def estimate(answer: ReembedAnswer) -> str:
    """What a reembed takes, in a sentence."""
    missing = answer.texts - answer.cached
    if not missing:
        return f"{counted(answer.texts, 'text')}, their vectors are all known already: nothing is embedded"
    parts = [f"about {answer.tokens:,} tokens"]
    if answer.requests:
        parts.append(counted(answer.requests, "request"))
    parts.append("time not measured" if answer.seconds is None else f"about {_duration(answer.seconds)}")
    if answer.price is not None:
        parts.append(f"costs about {answer.price:.4g}")
    where = f"sent to {answer.host}" if answer.host else "nothing leaves this machine"
    known = f" ({answer.cached:,} known already)" if answer.cached else ""
    return f"{counted(missing, 'text')} to embed by {answer.to_model}{known}: {', '.join(parts)}; {where}"


def reembed_lines(answer: ReembedAnswer, page: Page) -> Iterator[str]:
    """From which model to which, and what it takes or took."""
    new = _model(answer.to_model, answer.to_dimensions)
    old = _model(answer.from_model, answer.from_dimensions)
    if answer.note and answer.from_model == answer.to_model and answer.from_dimensions == answer.to_dimensions:
        yield from page.item("= ", f"Nothing to do: {answer.note}" if answer.done else answer.note)
        return
    if answer.done:
        yield from page.item("✓ ", f"The vectors are of {new} now, in {answer.took_ms / 1000:.1f}s; they were of {old}")
    else:
        yield from page.item("", f"Vectors of {old}  →  {new}")
        yield from page.item("  ", estimate(answer))
        yield page.dim(f"nothing is changed yet; do it with: {page.call} reembed")
    if answer.note:
        yield from page.item("  ", answer.note)


def upkeep_lines(answer: UpkeepAnswer, page: Page) -> Iterator[str]:
    """What was done, and how large the home is now."""
    for sentence in answer.did:
        yield from page.item("✓ ", sentence)
    if not answer.did:
        yield "✓ Nothing to do now" if answer.stays else "✓ Nothing to do"
    for sentence in answer.stays:
        yield from page.item("  ", sentence)
    parts = []
    for name, bytes_ in answer.after.items():
        was = answer.before.get(name, bytes_)
        parts.append(f"{_PARTS.get(name, name)} {size(bytes_)}" + (f" (was {size(was)})" if was != bytes_ else ""))
    yield from page.item("  ", listed(parts))


def _model(name: str, dimensions: int) -> str:
    if not name:
        return "no model"
    return f"{safe_line(name)} ({dimensions} numbers)" if dimensions else safe_line(name)


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"
