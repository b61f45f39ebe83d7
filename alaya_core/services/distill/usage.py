"""What a chat model was asked during one piece of work, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass

from alaya_core.config_sections import DistillConfig
from alaya_core.models.answers.tidying import ModelUsage
from alaya_core.providers.chat import ChatModel, ChatReply

_MILLION = 1_000_000


@dataclass(slots=True)
class Usage:
    """Counts as the work goes on; see `ModelUsage`."""

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False

    def count(self, reply: ChatReply) -> None:
        """Takes note of an answer that came over the network."""
        self.calls += 1
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens
        self.estimated |= reply.estimated

    def view(self, chat: ChatModel, config: DistillConfig) -> ModelUsage:
        """The counts as an answer, with the cost where prices are configured."""
        return ModelUsage(
            model=chat.model,
            host=chat.host,
            calls=self.calls,
            cached=self.cached,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            estimated=self.estimated,
            cost=self._cost(config.price_per_million_input, config.price_per_million_output),
        )

    def _cost(self, sent: float | None, answered: float | None) -> float | None:
        if sent is None and answered is None:
            return None
        cost = self.input_tokens * (sent or 0.0) + self.output_tokens * (answered or 0.0)
        return round(cost / _MILLION, 6)
