"""Distilling sessions by a chat model: small ones together, long ones in parts, each committed on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from alaya_core.errors import AlayaError, ProviderError, ProviderRefusedError
from alaya_core.models.answers import DistillOutcome
from alaya_core.models.card import Card, CardDraft, LinkDraft
from alaya_core.progress import CancelledError, CancelToken, Progress, ProgressSink
from alaya_core.providers.chat import ChatModel
from alaya_core.providers.http_errors import RequestRejectedError, TooLargeError
from alaya_core.services.distill.answering import Answered, Answering
from alaya_core.services.distill.asking import UnusableReplyError
from alaya_core.services.distill.committing import MEANWHILE, commit_session, outcome_of, proposed
from alaya_core.services.distill.comparing import compare
from alaya_core.services.distill.drafting import drafts_of, links_of
from alaya_core.services.distill.duplicates import Offer
from alaya_core.services.distill.making import Distiller, Fate, Made, Making
from alaya_core.services.distill.noise import Noise
from alaya_core.services.distill.offers import Offers
from alaya_core.services.distill.preparing import Preparing, Session
from alaya_core.services.distill.reading import Unread
from alaya_core.services.distill.upgrading import give_way, replaceable
from alaya_core.services.distill.usage import Usage
from alaya_core.services.distill.windows import fits
from alaya_core.services.distill.worth import Verdict
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader
from alaya_core.text import clip, safe_line

_FAILURES = 2
"""Requests in a row that fail for good, after which the service is left alone."""
_NAME_CELLS = 60


@dataclass(slots=True)
class _Ready:
    """One session, ready to be committed but for what is like its cards already.

    Attributes:
        replaced: Cards by rules that may give way to its cards.
        offers: By the key of a card, the known ones that it is like.
    """

    answered: Answered
    cards: list[CardDraft]
    replaced: list[Card] = field(default_factory=list)
    offers: dict[str, tuple[Offer, ...]] = field(default_factory=dict)


class ModelDistiller:
    """One run over sessions.

    Attributes:
        usage: What it took so far.

    Raises:
        ConfigError: The instructions that the config names cannot be read.
    """

    def __init__(
        self,
        workspace: Workspace,
        chat: ChatModel,
        *,
        run: str,
        upgrade: bool,
        dry_run: bool,
        progress: ProgressSink,
        cancel: CancelToken,
        announce: Callable[[str], None],
    ) -> None:
        self._work, self._run, self._upgrade, self._dry = workspace, run, upgrade, dry_run
        self._progress, self._cancel = progress, cancel
        self._settings = workspace.config.distill
        self._by = Distiller("llm", clip(safe_line(chat.model), _NAME_CELLS) or "model")
        self._noise = Noise(workspace)
        self._offers = Offers(workspace)
        self._preparing = Preparing(workspace, self._noise, cancel)
        self.usage = Usage()
        self._answering = Answering(
            workspace, chat, self._preparing, self.usage, cancel=cancel, announce=announce, told=self._tell
        )
        self._outcomes: dict[str, DistillOutcome] = {}
        self._total = 0
        self._stopped = ""
        self._failures = 0

    def distill_sessions(self, found: Sequence[Unread]) -> list[DistillOutcome]:
        """Distills each of these sessions.

        One about which the model gives no usable answer stays as it is, with the reason; a service that refuses is
        asked nothing more.

        Raises:
            CancelledError: It was told to stop; what was committed stays.
        """
        self._total = len(found)
        batch: list[Session] = []
        for one in found:
            self._cancel.check()
            self._tell(one.info.id)
            session = self._looked_at(one)
            if session is None:
                continue
            if len(session.windows) > 1:
                self._read([session])
            elif fits([each.windows[0] for each in batch], session.windows[0], self._settings.input_tokens):
                batch.append(session)
            else:
                self._read(batch)
                batch = [session]
        self._read(batch)
        self._tell("")
        return [self._outcomes[one.info.id] for one in found]

    def _looked_at(self, one: Unread) -> Session | None:
        """The session if it is to be sent; else its outcome is known."""
        try:
            session, verdict, reason = self._preparing.session(one)
        except CancelledError:
            raise
        except AlayaError as error:
            self._put(one, "retry", error.message)
            return None
        if session is not None and self._dry:
            tokens = sum(window.tokens for window in session.windows)
            self._outcomes[one.info.id] = proposed(one, "done", f"about {tokens:,} tokens for {self._by.name}", ())
            return None
        if session is None and verdict is Verdict.DONE and not (self._dry or self._upgrade):
            self._commit(one, "skipped", reason)
        elif session is None:
            self._put(one, "skipped", reason)
        return session

    def _read(self, batch: Sequence[Session]) -> None:
        """Asks about sessions, and commits what comes of it."""
        if not batch or self._stopped:
            self._give_up(batch, self._stopped)
            return
        try:
            ready = [self._made_ready(each) for each in self._answering.about(batch)]
            self._finish(ready)
            self._failures = 0
        except (UnusableReplyError, TooLargeError) as error:
            if len(batch) == 1:
                self._give_up(batch, _told(error))
                return
            for session in batch:
                self._read([session])
        except ProviderError as error:
            self._failures += 1
            if isinstance(error, ProviderRefusedError | RequestRejectedError) or self._failures >= _FAILURES:
                self._stopped = _told(error)
            self._give_up(batch, _told(error))

    def _give_up(self, batch: Iterable[Session], reason: str) -> None:
        for session in batch:
            if session.one.info.id not in self._outcomes:
                self._put(session.one, "retry", reason)

    def _made_ready(self, answered: Answered) -> _Ready:
        session = answered.session
        info = session.one.info
        cards = answered.cards
        if not self._settings.capture_assistant:
            cards = [card for card in cards if not card.turns or session.persons & set(card.turns)]
            answered.refused["card of an assistant's words"] += len(answered.cards) - len(cards)
        drafts = drafts_of(
            cards,
            session_id=info.id,
            time=info.timestamp,
            times=session.times,
            sent=answered.sent,
            most=self._settings.max_cards_per_session,
            stressed=session.stressed(),
        )
        answered.refused["card over the limit or told twice"] += len(cards) - len(drafts)
        replaced = replaceable(self._work, info.id) if self._upgrade else []
        hidden = {card.id for card in replaced}
        return _Ready(
            answered, drafts, replaced, self._offers.find(drafts, f"agent:{info.agent}", hidden, self._cancel)
        )

    def _finish(self, ready: Sequence[_Ready]) -> None:
        """Compares what the model proposes with what is known, and commits each session."""
        compared = compare(
            self._work,
            [card for each in ready for card in each.cards],
            {key: offers for each in ready for key, offers in each.offers.items()},
            usage=self.usage,
            cancel=self._cancel,
            told=self._tell,
        )
        ready[0].answered.refused["answer about a known card"] += compared.refused
        ready[0].answered.refused["comparison with known cards"] += compared.undecided
        for each in ready:
            self._cancel.check()
            self._commit_ready(each, compared.fates)

    def _commit_ready(self, ready: _Ready, fates: dict[str, Fate]) -> None:
        answered = ready.answered
        offered = {offer.card.id: offer.card for offers in ready.offers.values() for offer in offers}
        links, refused = links_of(answered.links, ready.cards, offered.values())
        answered.refused["link"] += refused

        def also(_: GraphReader, making: Making) -> None:
            give_way(making, ready.replaced, f"read again by {self._by.name}")

        made = self._commit(
            answered.session.one, "done", "", ready.cards, links, fates=fates, also=also, explained=answered
        )
        if made is None:
            return
        self._offers.remember(made.stands_for)
        if not answered.cards:
            self._noise.learn(answered.session.said_by_persons(), self._cancel)

    def _commit(
        self,
        one: Unread,
        status: Literal["done", "skipped"],
        reason: str,
        cards: Sequence[CardDraft] = (),
        links: Sequence[LinkDraft] = (),
        *,
        fates: dict[str, Fate] | None = None,
        also: Callable[[GraphReader, Making], None] = lambda _reader, _making: None,
        explained: Answered | None = None,
    ) -> Made | None:
        made = commit_session(
            self._work,
            one,
            cards,
            links,
            self._by,
            run=self._run,
            actor=f"llm:{self._by.name}",
            status=status,
            fates=fates,
            also=also,
            alone=True,
        )
        if made is None:
            self._put(one, "retry", MEANWHILE)
            return None
        told = reason or self._reason(made, explained)
        self._outcomes[one.info.id] = outcome_of(one, status, told, made)
        return made

    def _reason(self, made: Made, answered: Answered | None) -> str:
        """What a person should know about a session that was read."""
        counts = {"known already": made.repeated, "merged": made.merged, "superseded": made.superseded}
        parts = [f"{count} {what}" for what, count in counts.items() if count]
        if answered is not None:
            if not answered.cards:
                parts.append("nothing worth keeping in it")
            gone = [f"{count} x {what}" for what, count in answered.refused.items() if count]
            parts += [f"not taken: {', '.join(gone)}"] if gone else []
        return "; ".join([*parts, *(trouble for trouble in (self._noise.trouble, self._offers.trouble) if trouble)])

    def _put(self, one: Unread, status: Literal["skipped", "retry"], reason: str) -> None:
        self._outcomes[one.info.id] = DistillOutcome(session_id=one.info.id, status=status, reason=reason)

    def _tell(self, note: str) -> None:
        self._progress(Progress("distill", len(self._outcomes), self._total, note))


def _told(error: AlayaError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
