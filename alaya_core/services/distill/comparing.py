"""What becomes of drafts that are like known cards: one of the ways that the model is offered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from alaya_core.models.card import CardDraft
from alaya_core.progress import CancelToken
from alaya_core.providers.chat import Told
from alaya_core.providers.http_errors import TooLargeError
from alaya_core.services.distill.asking import UnusableReplyError, ask_json
from alaya_core.services.distill.duplicates import SYSTEM, Candidate, Offer, question, verdicts
from alaya_core.services.distill.making import Action, Fate
from alaya_core.services.distill.usage import Usage
from alaya_core.services.workspace import Workspace

_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Compared:
    """What was decided.

    Attributes:
        fates: By the key of a draft, the known card that it goes into.
        refused: Answers that name what was not offered, or nothing to be done.
        undecided: Drafts about which there was no usable answer: they stand for themselves, and introspect compares
            them again.
    """

    fates: dict[str, Fate] = field(default_factory=dict)
    refused: int = 0
    undecided: int = 0


def compare(
    workspace: Workspace,
    drafts: Sequence[CardDraft],
    offers: Mapping[str, tuple[Offer, ...]],
    *,
    usage: Usage,
    cancel: CancelToken,
    told: Told,
) -> Compared:
    """Decides about each draft that has offers: without a word where one says the same, else by asking.

    Args:
        offers: By the key of a draft.

    Raises:
        ProviderError: The service does not do its job.
        CancelledError: `cancel` was set.
    """
    fates: dict[str, Fate] = {}
    candidates: list[Candidate] = []
    for draft in drafts:
        offered = offers.get(draft.key, ())
        same = next((offer for offer in offered if _plain(offer.card.content) == _plain(draft.content)), None)
        if same is not None:
            fates[draft.key] = Fate(Action.SAME, same.card, same.similarity)
        elif offered:
            candidates.append(Candidate(draft, offered))
    refused = undecided = 0
    for start in range(0, len(candidates), _AT_ONCE):
        piece = candidates[start : start + _AT_ONCE]
        try:
            found, strange = ask_json(
                workspace,
                SYSTEM,
                question(piece),
                partial(verdicts, candidates=piece),
                usage=usage,
                cancel=cancel,
                told=told,
            )
        except (UnusableReplyError, TooLargeError):
            undecided += len(piece)
            continue
        fates |= found
        refused += strange
    return Compared(fates, refused, undecided)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
