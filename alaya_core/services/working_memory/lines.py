"""A card as one line of the working memory: short enough, without secrets, and unable to be more than a line."""

from __future__ import annotations

import re

from alaya_core.models.card import Card
from alaya_core.secrets import mask
from alaya_core.services.passages import beginning, estimated_tokens
from alaya_core.text import safe_line, safe_text

ENOUGH = 48
"""Tokens from which on the beginning of a card's text says more than its title."""

_READ = 20_000  # characters of a text that are looked at
_LONGEST_SECRET = 4_000  # characters at the end of what was looked at that may be half of a secret
_MORE = " ..."
_CUT_OFF = 1  # tokens of the sign that something was cut

_WORD = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u9fff\uf900-\ufaff]+")
_SAID_ALREADY = 0.6  # of a title's words stand in the text: it says nothing beside it

_UNSEEN = re.compile("[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]")
_FENCE = re.compile(r"[`~]{3,}")
_TAG = re.compile(r"<(?=[^\W\d_]|[/!?])")
_LINK = re.compile(r"\](?=[(\[:])")
_IMAGE = re.compile(r"!(?=\[)")
_BLOCK = re.compile(r"[#>|=\[]|[-+*_](?=[\s\-+*_]|$)|\d{1,9}[.)](?=\s|$)")


def cost(line: str) -> int:
    """About how many tokens a line takes, its end included."""
    return estimated_tokens(line + "\n")


def line_of(card: Card, room: int) -> str:
    """What a card says, in at most `room` tokens: all of it, else the best that fits.

    Args:
        room: Tokens, 1 or more.
    """
    said = _statement(card)
    if estimated_tokens(said) <= room:
        return said
    if room < ENOUGH:
        for shorter in (harmless(card.overview), harmless(card.title)):
            if shorter and estimated_tokens(shorter) + _CUT_OFF <= room:
                return shorter + _MORE
    return beginning(said, room - _CUT_OFF) + _MORE if room > _CUT_OFF else beginning(said, room)


def harmless(text: str) -> str:
    """Stored text on one line on which no heading, list, link, image, fence or tag begins, without secrets and without
    characters that nobody sees."""
    # What hides between letters goes first: it may hide a secret, too.
    text = _UNSEEN.sub("", safe_text(text[: _READ + 1]))
    line = safe_line(mask(text) if len(text) <= _READ else mask(text)[:-_LONGEST_SECRET])
    line = _FENCE.sub("'''", line)
    line = _TAG.sub("< ", line)
    line = _IMAGE.sub("! ", _LINK.sub("] ", line))
    return "\\" + line if _BLOCK.match(line) else line


def _statement(card: Card) -> str:
    """A card's text, its title before it where that says something else."""
    title, text = harmless(card.title), harmless(card.content)
    words = set(_WORD.findall(title.casefold()))
    known = words & set(_WORD.findall(text.casefold()))
    if not title or not text or len(known) >= _SAID_ALREADY * len(words):
        return text or title or _MORE.strip()
    return mask(f"{title}: {text}")
