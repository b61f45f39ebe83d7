"""What a model says about sessions, a request for each part of a long one or for several small ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from alaya_core.progress import CancelToken
from alaya_core.providers.chat import ChatModel, Told
from alaya_core.providers.http_errors import TooLargeError
from alaya_core.services.distill.asking import ask_json
from alaya_core.services.distill.preparing import Preparing, Session
from alaya_core.services.distill.prompts import instructions, quoted
from alaya_core.services.distill.reply import ProposedCard, ProposedLink, Reply, plain_title, read_reply
from alaya_core.services.distill.usage import Usage
from alaya_core.services.distill.windows import Window
from alaya_core.services.workspace import Workspace
from alaya_core.text import safe_line


@dataclass(slots=True)
class Answered:
    """What a model said about one session.

    Attributes:
        sent: By label, the turns of each part of it.
        refused: What of the answer counts for nothing, by why.
    """

    session: Session
    cards: list[ProposedCard] = field(default_factory=list)
    links: list[ProposedLink] = field(default_factory=list)
    sent: dict[str, frozenset[int]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)

    def add(self, label: str, window: Window, reply: Reply) -> None:
        """Takes in the answer about one part."""
        self.sent[label] = window.turns
        self.cards += reply.cards
        self.links += reply.links
        self.refused += reply.refused


class Answering:
    """Asks about sessions.

    Args:
        announce: Told who is sent text, before the first of it.
        told: Told of waits.
    """

    def __init__(
        self,
        workspace: Workspace,
        chat: ChatModel,
        preparing: Preparing,
        usage: Usage,
        *,
        cancel: CancelToken,
        announce: Callable[[str], None],
        told: Told,
    ) -> None:
        self._work, self._chat, self._preparing, self._usage = workspace, chat, preparing, usage
        self._cancel, self._announce, self._told = cancel, announce, told
        self._announced = False

    def about(self, batch: Sequence[Session]) -> list[Answered]:
        """What the model says about several sessions of one part each, or about one of any number.

        Raises:
            UnusableReplyError: It gives no usable answer; about fewer sessions it may.
            TooLargeError: The service finds it too large; fewer sessions may pass.
            ProviderError: The service does not do its job.
            CancelledError: It was told to stop.
        """
        if len(batch) == 1:
            found = Answered(batch[0])
            for window in batch[0].windows:
                self._about_window(window, found)
            return [found]
        windows = [(f"S{number}", session.windows[0]) for number, session in enumerate(batch, 1)]
        reply = self._ask(windows)
        answered = []
        for session, (label, window) in zip(batch, windows, strict=True):
            one = Answered(session)
            one.add(label, window, _part(reply, label))
            answered.append(one)
        answered[0].refused += reply.refused
        answered[0].refused["link"] += len(reply.links) - len({id(link) for one in answered for link in one.links})
        return answered

    def _about_window(self, window: Window, found: Answered) -> None:
        """Asks about a part, in halves where the service finds it too large."""
        label = f"S{len(found.sent) + 1}"
        try:
            reply = self._ask([(label, window)])
        except TooLargeError:
            halves = window.halves()
            if len(halves) == 1:
                raise
            for half in halves:
                self._about_window(half, found)
            return
        found.add(label, window, reply)

    def _ask(self, windows: Sequence[tuple[str, Window]]) -> Reply:
        if not self._announced and self._chat.host:
            self._announce(
                f"sessions are read by {safe_line(self._chat.model)}: their text is sent to {self._chat.host}"
            )
        self._announced = True
        settings = self._work.config.distill
        chinese = self._preparing.chinese([window for _, window in windows])
        system = instructions(
            self._preparing.template,
            max_cards=settings.max_cards_per_session,
            chinese=chinese,
            assistant=settings.capture_assistant,
        )
        sent = {label: window.turns for label, window in windows}
        return ask_json(
            self._work,
            system,
            quoted(windows, chinese=chinese),
            partial(read_reply, sent=sent),
            usage=self._usage,
            cancel=self._cancel,
            told=self._told,
        )


def _part(reply: Reply, label: str) -> Reply:
    """What of an answer about several sessions is about one of them."""
    cards = tuple(card for card in reply.cards if card.session == label)
    titles = {plain_title(card.title) for card in cards}
    links = tuple(link for link in reply.links if {plain_title(link.from_title), plain_title(link.to_title)} & titles)
    return Reply(cards, links)
