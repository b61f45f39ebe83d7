"""Figures known from elsewhere, to be read beside ours: each with what was measured, and by whom."""

from __future__ import annotations

from collections.abc import Mapping

_KNOWN: Mapping[str, Mapping[str, str]] = {
    "locomo-turns": {
        "evidence recall@10": ".31: vectors of the bundled model alone, measured when the model was chosen",
    },
    "cmrc": {
        "hit@1": ".974: the words index alone, measured when its tokenizer was chosen",
    },
}
"""By experiment and measure. Only what was measured on the same questions in the same way belongs here."""


def figures(experiment: str) -> Mapping[str, str]:
    """What is known for an experiment, by measure."""
    return _KNOWN.get(experiment, {})
