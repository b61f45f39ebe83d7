"""Names that settings had in earlier systems: what they are called here, and which of them mean nothing any more."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

RENAMED: Mapping[str, str] = {
    "temperature.warm_threshold": "temperature.cold_threshold",
    "recall.vector_top_k": "recall.candidates",
    "recall.limit": "recall.max_results",
    "recall.min_score": "recall.floor",
    "thresholds.summary_trigger": "introspect.summary_facts",
    "token_budget.layer1_total": "snapshot.token_budget",
    "consolidation.schedule": "introspect.schedule",
    "consolidation.fallback_hours": "introspect.overdue_hours",
    "consolidation.model": "distill.model",
    "smart_extraction": "distill.llm_enabled",
    "extract_min_messages": "distill.min_messages",
    "auto_capture": "distill.auto_distill",
    "capture_assistant": "distill.capture_assistant",
    "session_memory.message_count": "distill.session_summaries",
    "embedding.task_query": "embedding.query_task",
    "embedding.task_passage": "embedding.passage_task",
    "llm.model": "distill.model",
    "llm.base_url": "distill.base_url",
    "scopes.agent_access": "scopes.access",
    "retrieval.min_score": "recall.min_similarity",
    "retrieval.hard_min_score": "recall.floor",
    "retrieval.candidate_pool_size": "recall.candidates",
    "retrieval.rerank_provider": "rerank.provider",
    "retrieval.rerank_model": "rerank.model",
    "retrieval.rerank_endpoint": "rerank.base_url",
}
"""Keys of earlier documents (in small letters, words joined by _), and what they are called here."""

_LIFE = "lifecycle.model chooses among three models, whose figures are fixed"
_FUSION = "the weights are measured ones; recall.off switches a stage off"

UNUSED: Mapping[str, str] = {
    "data_dir": "--home or ALAYA_HOME chooses the folder",
    "db_path": "--home or ALAYA_HOME chooses the folder",
    "logging": "logs/ of the home takes what there is; --verbose tells more",
    "temperature.recency_decay": _LIFE,
    "temperature.frequency_cap": _LIFE,
    "decay_rates": "each type of card has its own rate; " + _LIFE,
    "decay": _LIFE,
    "tier": _LIFE,
    "thresholds.archive": _LIFE,
    "token_budget.layer1_top1": "the shares of the first cards are fixed: 40, 25, 15 and 20 %",
    "token_budget.layer1_top2": "the shares of the first cards are fixed: 40, 25, 15 and 20 %",
    "token_budget.layer1_top3": "the shares of the first cards are fixed: 40, 25, 15 and 20 %",
    "token_budget.layer1_rest": "the shares of the first cards are fixed: 40, 25, 15 and 20 %",
    "importance_rules": "the table of importance is fixed; `alaya edit CARD --importance` judges a card otherwise",
    "auto_recall": "an agent's hook asks by itself: alaya recall --auto --format context",
    "enable_management_tools": "every command is there for everybody",
    "embedding.normalized": "vectors are always normalized",
    "embedding.chunking": "a text that is too long is always cut, and its vectors averaged",
    "scopes.default": "`alaya capture --scope` names another scope than global",
    "scopes.definitions": "a scope needs no definition",
    "retrieval.mode": "words and vectors are always both asked; recall.off switches one off",
    "retrieval.vector_weight": _FUSION,
    "retrieval.bm25_weight": _FUSION,
    "retrieval.rerank": "rerank.provider or rerank.base_url names a reranker; without one, cosines rerank",
    "retrieval.filter_noise": "noise is filtered unless recall.off has it",
    "retrieval.length_norm_anchor": "length counts unless recall.off has it",
    "retrieval.recency_half_life_days": _LIFE,
    "retrieval.recency_weight": _LIFE,
    "retrieval.time_decay_half_life_days": _LIFE,
    "retrieval.reinforcement_factor": _LIFE,
    "retrieval.max_half_life_multiplier": _LIFE,
}
"""Keys (and whole groups) of earlier documents that nothing reads, and why: they are named, not taken for mistakes."""

_KEYS = {
    "llm_api_key": ("distill.api_key_env", "OPENAI_API_KEY"),
    "llm.api_key": ("distill.api_key_env", "OPENAI_API_KEY"),
    "distill.api_key": ("distill.api_key_env", "OPENAI_API_KEY"),
    "embedding.api_key": ("embedding.api_key_env", "its usual one"),
    "rerank.api_key": ("rerank.api_key_env", "its usual one"),
    "retrieval.rerank_api_key": ("rerank.api_key_env", "its usual one"),
}
"""Keys of services, the setting that names the variable they are read from, and the variable without one."""

_TOLD_ELSEWHERE = ("version", "session_memory.enabled")
_MEANT_NOTHING = (("consolidation.model", "default"),)
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SUMMARIZED_MESSAGES = 15
_NAME = 100  # characters of a key that are shown


@dataclass(slots=True)
class Understood:
    """What a config file says, in today's names.

    Attributes:
        groups: Values by group and name.
        written: Today's name of a setting, and how the file calls it where that is another.
        warnings: Sentences about names.
    """

    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def understood(raw: Mapping[str, Any], known: Collection[str]) -> Understood:
    """Reads the keys of a config file, be they today's, in another case, or of an earlier system.

    Args:
        raw: What stands in the file.
        known: Today's settings, `group.name`.
    """
    out = Understood()
    entries = [(written, snake(written), value) for written, value in _flat(raw, known)]
    values = {key: value for _, key, value in entries}
    # a setting under today's name counts, wherever an older name of it stands
    for written, key, value in sorted(entries, key=lambda entry: entry[0] not in known):
        if reason := _switched_off(key, values):
            out.warnings.append(f"{_short(written)} is not read: {reason}")
        else:
            _take(out, _short(written), key, value, known)
    if values.get("session_memory.enabled") is True and "session_memory.message_count" not in values:
        _put(out, "sessionMemory.enabled", "distill.session_summaries", _SUMMARIZED_MESSAGES)
    return out


def _switched_off(key: str, values: Mapping[str, Any]) -> str:
    """Why a setting of an earlier system must not count beside another one; empty if it may."""
    if key.startswith("retrieval.rerank_") and values.get("retrieval.rerank", "cross-encoder") != "cross-encoder":
        return "retrieval.rerank switches the reranker off"
    if key == "session_memory.message_count" and values.get("session_memory.enabled") is not True:
        return "sessionMemory.enabled is not true"
    return ""


def snake(name: str) -> str:
    """A key in small letters, its words joined by _: `recall.maxResults` is `recall.max_results`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


def _flat(raw: Mapping[str, Any], known: Collection[str]) -> Iterator[tuple[str, Any]]:
    for name, value in raw.items():
        key = snake(name)
        if isinstance(value, dict) and value and not (key in known or key in RENAMED or key in UNUSED):
            yield from ((f"{name}.{inner}", setting) for inner, setting in value.items())
        elif value != {} or key not in {each.partition(".")[0] for each in known}:
            yield name, value


def _take(out: Understood, shown: str, key: str, value: Any, known: Collection[str]) -> None:
    if (key, value) in _MEANT_NOTHING or key in _TOLD_ELSEWHERE:
        return
    if key in _KEYS:
        _take_secret(out, shown, key, value)
    elif key in known or key in RENAMED:
        _put(out, shown, RENAMED.get(key, key), value)
    elif why := UNUSED.get(key) or UNUSED.get(key.partition(".")[0]):
        out.warnings.append(f"{shown} is known, but nothing reads it: {why}")
    else:
        near = difflib.get_close_matches(key[:_NAME], known, 1, 0.8)
        out.warnings.append(f"unknown key {shown}{f'; did you mean {near[0]}?' if near else ''}")


def _take_secret(out: Understood, shown: str, key: str, value: Any) -> None:
    setting, usual = _KEYS[key]
    named = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    if named:
        _put(out, shown, setting, named[1])
    else:
        out.warnings.append(
            f"{shown} is not read: a key stands in the environment, not in a file; {setting} names the variable "
            f"(without it: {usual})"
        )


def _put(out: Understood, shown: str, key: str, value: Any) -> None:
    group, name = key.split(".", 1)
    taken = out.groups.setdefault(group, {})
    if name in taken:
        out.warnings.append(f"{shown} is not read: {key}, as it is called here, is set too")
        return
    taken[name] = value
    if shown != key:
        out.warnings.append(f"{shown} is called {key} here")
        out.written[key] = shown


def _short(written: str) -> str:
    return written if len(written) <= _NAME else written[:_NAME] + "..."
