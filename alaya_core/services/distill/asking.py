"""Asking a chat model for JSON: what was answered once is not paid for again, and what cannot be used is asked for once
more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from alaya_core.errors import ConfigError, ProviderError
from alaya_core.progress import CancelToken
from alaya_core.providers.chat import ChatModel, Told
from alaya_core.services.distill.json_reply import json_in
from alaya_core.services.distill.usage import Usage
from alaya_core.services.workspace import Workspace
from alaya_core.stores.replies import REPLIES, KeptReply, ReplyCache, reply_key
from alaya_core.text import safe_line

T = TypeVar("T")
CUT_OFF = "the answer was cut off"


class UnusableReplyError(ProviderError):
    """The model answered twice, and neither answer can be used."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """An answer.

    Attributes:
        cut: Whether it had been cut off, so that only what came before is in it.
    """

    value: T
    cut: bool


def ask_json(
    workspace: Workspace,
    system: str,
    user: str,
    parse: Callable[[Any], T],
    *,
    usage: Usage,
    cancel: CancelToken | None = None,
    told: Told = lambda _: None,
) -> T:
    """What `parse` makes of the JSON that the named model answers.

    Args:
        system: The instructions.
        user: The question; the same question under the same instructions is only paid for once.
        parse: Takes the decoded JSON; raises ValueError when it is not what was asked for.
        usage: Counts what it took.
        told: Told of waits.

    Raises:
        ConfigError: No model is named, or it cannot be used.
        UnusableReplyError: Neither the first answer nor the second can be used.
        ProviderError: The service does not do its job, see `ChatModel.complete`.
        CancelledError: `cancel` was set.
    """
    return ask(workspace, system, user, parse, usage=usage, cancel=cancel, told=told).value


def ask(
    workspace: Workspace,
    system: str,
    user: str,
    parse: Callable[[Any], T],
    *,
    usage: Usage,
    cancel: CancelToken | None = None,
    told: Told = lambda _: None,
    enough: Callable[[T], bool] = lambda _: True,
) -> Asked[T]:
    """The same as `ask_json`, and whether the answer had been cut off.

    Args:
        enough: Whether what an answer holds is of use although it was cut off.
    """
    chat = workspace.chat
    if chat is None:
        raise ConfigError("no model is named", "set distill.model or distill.base_url, or MEMORY_LLM_MODEL")
    cache = ReplyCache(workspace.home.cache / REPLIES)
    key = reply_key(chat.model, system, user)
    kept = cache.get(key)
    if kept is not None:
        known, _ = _read(kept, parse, enough)
        if known is not None and not known.cut:
            usage.cached += 1
            return known
    return _asked(chat, cache, key, (system, user), partial(_read, parse=parse, enough=enough), usage, cancel, told)


def _asked(
    chat: ChatModel,
    cache: ReplyCache,
    key: str,
    question: tuple[str, str],
    read: Callable[[KeptReply], tuple[Asked[T] | None, str]],
    usage: Usage,
    cancel: CancelToken | None,
    told: Told,
) -> Asked[T]:
    system, user = question
    wrong = ""
    for attempt in range(2):
        again = _again(wrong) if attempt else ""
        reply = chat.complete(system, user + again, cancel=cancel, told=told)
        usage.count(reply)
        kept = KeptReply(reply.text, reply.cut)
        found, wrong = read(kept)
        if found is not None and not found.cut:
            cache.put(key, kept)
            return found
        if found is not None:
            wrong = CUT_OFF  # what stands behind the cut would be lost without a word
        told(f"asked again: {wrong}" if not attempt else wrong)
    raise unusable(chat, wrong)


def unusable(chat: ChatModel, wrong: str) -> UnusableReplyError:
    """The error that an answer of a model stands for that cannot be used."""
    return UnusableReplyError(f"{safe_line(chat.model)} gave no usable answer: {wrong}", "the next distill asks again")


def _read(reply: KeptReply, parse: Callable[[Any], T], enough: Callable[[T], bool]) -> tuple[Asked[T] | None, str]:
    """What an answer holds, or what is wrong with it."""
    try:
        value, mended = json_in(reply.text)
        found = Asked(parse(value), reply.cut or mended)
    except ValueError as error:
        return None, CUT_OFF if reply.cut else safe_line(str(error))[:160]
    return (None, CUT_OFF) if found.cut and not enough(found.value) else (found, "")


def _again(wrong: str) -> str:
    if wrong == CUT_OFF:
        return (
            "\n\nYour last answer was cut off. Answer again, shorter, with one complete JSON object and nothing else."
        )
    return f"\n\nYour last answer could not be used: {wrong}. Answer with one complete JSON object and nothing else."
