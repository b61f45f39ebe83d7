"""Calibration: what the embedding in use finds alike in the home's own cards although they have nothing to do with each
other, and how near a card stands to its own title. Where there are too few cards, the shipped texts stand in."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, product

import numpy as np

from alaya_core.models.answers.calibration import Calibration, Figures
from alaya_core.models.card import Card, CardState
from alaya_core.models.requests import Filters
from alaya_core.progress import CancelToken
from alaya_core.providers.embedding import Background, Script
from alaya_core.services.background_texts import ANSWERED, CHINESE, ENGLISH
from alaya_core.services.embedding import Embedder, Vectors, background_from, dominant_script
from alaya_core.services.index import embedder_of
from alaya_core.services.workspace import Workspace
from alaya_core.stores.calibration import CALIBRATION, Calibrations, Measured

ENOUGH = 20
"""Cards of a language (and pairs of them) that are enough to measure by."""
_MOST_CARDS = 200
_MOST_PAIRS = 2_000
_MOST_TITLES = 60
_SCRIPTS: tuple[Script, Script] = ("zh", "en")
_SHIPPED = {"zh": CHINESE, "en": ENGLISH}

Pair = tuple[int, int]
Announce = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Side:
    """The cards of one language to measure by.

    Attributes:
        cards: A sample; empty = too few, the shipped texts stand in.
        pairs: Places of cards that have nothing to do with each other.
        titled: Cards whose title says what they say in words of its own.
    """

    cards: tuple[Card, ...] = ()
    pairs: tuple[Pair, ...] = ()
    titled: tuple[Card, ...] = ()


@dataclass(slots=True)
class Ties:
    """What tells cards that may have to do with each other: a link, a session, a tag.

    Attributes:
        linked: Pairs of ids, in both orders.
    """

    linked: set[tuple[str, str]] = field(default_factory=set)

    def between(self, one: Card, other: Card) -> bool:
        """Whether there is any."""
        if (one.id, other.id) in self.linked or not set(one.tags).isdisjoint(other.tags):
            return True
        sessions = {source.session_id for source in one.sources}
        return any(source.session_id in sessions for source in other.sources)


def calibrate(workspace: Workspace, announce: Announce, cancel: CancelToken | None = None) -> Calibration:
    """Measures the embedding in use on the home's own cards, and keeps the figures for it.

    Args:
        announce: Told how many texts go where before the first is sent.

    Raises:
        ReadOnlyHomeError: What is measured could not be kept.
        ProviderError: The embedding does not answer; nothing is kept then.
    """
    workspace.require_writable()
    mark = workspace.vectors.mark()
    embedder = embedder_of(workspace, mark) if mark.dimensions else workspace.embedder
    provider = embedder.provider
    sides, cross = _sample(workspace)
    where = f"sent to {provider.host}" if provider.host else "nothing leaves this machine"
    texts = sum(len(side.cards) + 2 * len(side.titled) for side in sides.values())
    announce(f"up to {texts} titles and texts of cards are embedded by {provider.model}: {where}")
    before = embedder.background()
    answer = Calibration(model=provider.model, host=provider.host, before=_figures(before), after=_figures(before))
    pairs = {script: len(side.pairs) for script, side in sides.items()} | {"cross": len(cross)}
    answer.pairs = {**pairs, "related": sum(len(side.titled) for side in sides.values())}
    if not any(answer.pairs.values()):
        answer.note = f"too few cards: {ENOUGH} of a language that have nothing to do with each other are needed"
        return answer
    after = _measured(embedder, sides, cross, cancel)
    kept = Measured(asdict(after), answer.pairs, provider.model, workspace.clock())
    Calibrations(workspace.home.cache / CALIBRATION).put(provider.cache_key, kept)
    embedder.forget_background()
    answer.after, answer.stored = _figures(after), True
    return answer


def kept_of(workspace: Workspace) -> Measured | None:
    """What was measured earlier of the embedding in use; asks nobody."""
    mark = workspace.vectors.mark()
    embedder = embedder_of(workspace, mark) if mark.dimensions else workspace.embedder
    return Calibrations(workspace.home.cache / CALIBRATION).get(embedder.provider.cache_key)


def choose(cards: Iterable[Card], ties: Ties) -> tuple[dict[Script, Side], tuple[Pair, ...]]:
    """Which cards to measure by in each language, and which pairs of a Chinese and another one. The same for the same
    cards, in whatever order they come.

    Args:
        ties: Those of all these cards.
    """
    sides: dict[Script, Side] = {}
    for script, own in by_script(cards).items():
        pairs = _unrelated(combinations(range(len(own)), 2), own, own, ties)
        enough = len(own) >= ENOUGH and len(pairs) >= ENOUGH
        titled = tuple(card for card in own if _titled_in_other_words(card))[:_MOST_TITLES]
        titled = titled if len(titled) >= ENOUGH else ()
        sides[script] = Side(own, pairs, titled) if enough else Side(titled=titled)
    chinese, other = sides["zh"].cards, sides["en"].cards
    cross = _unrelated(product(range(len(chinese)), range(len(other))), chinese, other, ties)
    return sides, cross if len(cross) >= ENOUGH else ()


def by_script(cards: Iterable[Card]) -> dict[Script, tuple[Card, ...]]:
    """A sample of the cards of each language."""
    found: dict[Script, list[Card]] = {script: [] for script in _SCRIPTS}
    for card in sorted(cards, key=lambda card: hashlib.sha256(card.id.encode()).digest()):
        if card.content.strip():
            found[dominant_script(f"{card.title} {card.content[:200]}")].append(card)
    return {script: tuple(own[:_MOST_CARDS]) for script, own in found.items()}


def _sample(workspace: Workspace) -> tuple[dict[Script, Side], tuple[Pair, ...]]:
    scopes = workspace.visible_scopes()
    with workspace.graph.reading() as reader:
        active = [card for card in reader.matching(Filters(), scopes) if card.state is CardState.ACTIVE]
        chosen = [card for own in by_script(active).values() for card in own]
        around = reader.neighbours([card.id for card in chosen], scopes)
    linked = {(card_id, near.card_id) for card_id, several in around.items() for near in several}
    return choose(chosen, Ties(linked))


def _unrelated(places: Iterable[Pair], ones: Sequence[Card], others: Sequence[Card], ties: Ties) -> tuple[Pair, ...]:
    drawn = list(places)
    random.Random(0).shuffle(drawn)
    found: list[Pair] = []
    for one, other in drawn:
        if not ties.between(ones[one], others[other]):
            found.append((one, other))
            if len(found) == _MOST_PAIRS:
                break
    return tuple(found)


def _titled_in_other_words(card: Card) -> bool:
    """A title that was cut out of the text is no question that the text answers."""
    title, content = (" ".join(text.casefold().split()).strip(" .…。") for text in (card.title, card.content))
    return bool(title) and title not in content and content not in title


def _measured(
    embedder: Embedder, sides: dict[Script, Side], cross: Sequence[Pair], cancel: CancelToken | None
) -> Background:
    own = {
        script: embedder.passages([card.text_to_embed() for card in side.cards], cancel=cancel) if side.cards else None
        for script, side in sides.items()
    }
    shipped = {script: embedder.passages(_SHIPPED[script], cancel=cancel) for script in _SCRIPTS}
    unrelated: dict[Script, Vectors] = {}
    for script in _SCRIPTS:
        vectors = own[script]
        if vectors is None:
            every = list(combinations(range(len(shipped[script])), 2))
            unrelated[script] = _cosines(shipped[script], shipped[script], every)
        else:
            unrelated[script] = _cosines(vectors, vectors, sides[script].pairs)
    chinese, other = own["zh"], own["en"]
    if chinese is None or other is None:  # whatever is shipped has nothing to do with anything
        across = _every(shipped["zh"] if chinese is None else chinese, shipped["en"] if other is None else other)
    else:
        across = _cosines(chinese, other, cross) if cross else _every(shipped["zh"], shipped["en"])
    answered = {script: _answered(embedder, script, sides[script].titled, cancel) for script in _SCRIPTS}
    return background_from(unrelated["zh"], unrelated["en"], across, answered["zh"], answered["en"])


def _answered(embedder: Embedder, script: Script, titled: Sequence[Card], cancel: CancelToken | None) -> Vectors:
    """Cosines of titles (or of shipped questions) and the texts that answer them."""
    asked = [(card.title, card.content) for card in titled]
    asked = asked or [pair for pair in ANSWERED if dominant_script(pair[0]) == script]
    answers = embedder.passages([answer for _, answer in asked], cancel=cancel)
    found = []
    for (question, _), answer in zip(asked, answers, strict=True):
        if cancel is not None:
            cancel.check()
        found.append(float(embedder.provider.embed_query(question) @ answer))
    return np.array(found, np.float32)


def _every(ones: Vectors, others: Vectors) -> Vectors:
    return np.asarray((ones @ others.T).ravel(), np.float32)


def _cosines(ones: Vectors, others: Vectors, pairs: Sequence[Pair]) -> Vectors:
    first, second = (np.array(places) for places in zip(*pairs, strict=True))
    return np.asarray((ones[first] * others[second]).sum(axis=1), np.float32)


def _figures(background: Background) -> Figures:
    return Figures(**{name: round(figure, 4) for name, figure in asdict(background).items()})
