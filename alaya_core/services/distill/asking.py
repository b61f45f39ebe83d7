"""Asking a chat model for JSON: what was answered once is not paid for again, and what cannot be used is asked for once
more."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from alaya_core.errors import ConfigError, ProviderError
from alaya_core.progress import CancelToken
from alaya_core.providers.chat import ChatModel, Told
from alaya_core.services.distill.json_reply import json_in
from alaya_core.services.distill.usage import Usage
from alaya_core.services.workspace import Workspace
from alaya_core.stores.replies import REPLIES, ReplyCache, reply_key
from alaya_core.text import safe_line

T = TypeVar("T")
CUT_OFF = "the answer was cut off"


class UnusableReplyError(ProviderError):
    """The model answered twice, and neither answer can be used."""


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
    chat = workspace.chat
    if chat is None:
        raise ConfigError("no model is named", "set distill.model or distill.base_url, or MEMORY_LLM_MODEL")
    cache = ReplyCache(workspace.home.cache / REPLIES)
    key = reply_key(chat.model, system, user)
    kept = cache.get(key)
    if kept is not None:
        with contextlib.suppress(ValueError):
            known = _read(kept, parse)
            usage.cached += 1
            return known
    return _asked(chat, cache, key, (system, user), partial(_read, parse=parse), usage, cancel, told)


def _asked(
    chat: ChatModel,
    cache: ReplyCache,
    key: str,
    question: tuple[str, str],
    read: Callable[[str], T],
    usage: Usage,
    cancel: CancelToken | None,
    told: Told,
) -> T:
    system, user = question
    wrong = ""
    for attempt in range(2):
        again = _again(wrong) if attempt else ""
        reply = chat.complete(system, user + again, cancel=cancel, told=told)
        usage.count(reply)
        try:
            if reply.cut:
                raise ValueError(CUT_OFF)
            found = read(reply.text)
        except ValueError as error:
            wrong = safe_line(str(error))[:160]
            told(f"asked again: {wrong}" if not attempt else wrong)
            continue
        cache.put(key, reply.text)
        return found
    raise UnusableReplyError(f"{safe_line(chat.model)} gave no usable answer: {wrong}", "the next distill asks again")


def _read(text: str, parse: Callable[[Any], T]) -> T:
    """What an answer holds; what stands behind a cut would be lost without a word, so that a cut-off one is none.

    Raises:
        ValueError: It cannot be used.
    """
    value, mended = json_in(text)
    if mended:
        raise ValueError(CUT_OFF)
    return parse(value)


def _again(wrong: str) -> str:
    if wrong == CUT_OFF:
        return (
            "\n\nYour last answer was cut off. Answer again, shorter, with one complete JSON object and nothing else."
        )
    return f"\n\nYour last answer could not be used: {wrong}. Answer with one complete JSON object and nothing else."
