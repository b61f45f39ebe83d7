"""Settings: what a file may say, and what is said about it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.config import Config, agent_name, home_path, setting_names
from alaya_core.config_names import RENAMED, UNUSED, snake, understood
from alaya_core.errors import ConfigError


def load(tmp_path, text: str) -> Config:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    return Config.load(path)


def test_without_a_file_everything_is_as_usual(tmp_path):
    config = Config.load(tmp_path / "config.json")
    assert config == Config()
    assert config.warnings == []
    assert {row.origin for row in config.rows()} == {"default"}


def test_a_setting_says_where_it_comes_from(tmp_path):
    config = load(tmp_path, json.dumps({"recall": {"max_results": 3}}))
    rows = {row.key: row for row in config.rows()}
    assert config.recall.max_results == 3
    assert (rows["recall.max_results"].value, rows["recall.max_results"].origin) == (3, "file")
    assert rows["recall.floor"].origin == "default"


def test_every_setting_has_a_meaning():
    assert all(row.meaning for row in Config().rows())


def test_a_file_with_a_bom_or_nothing_in_it_is_fine(tmp_path):
    assert load(tmp_path, "\ufeff{}") == Config()
    assert load(tmp_path, "") == Config()


OLD: list[tuple[dict[str, Any], str, Any]] = [
    # the design of three layers
    ({"temperature": {"warm_threshold": 0.4}}, "temperature.cold_threshold", 0.4),
    ({"recall": {"vector_top_k": 25}}, "recall.candidates", 25),
    ({"recall": {"limit": 7}}, "recall.max_results", 7),
    ({"recall": {"minScore": 0.5}}, "recall.floor", 0.5),
    # facts, beliefs and summaries
    ({"thresholds": {"summary_trigger": 4}}, "introspect.summary_facts", 4),
    ({"token_budget": {"layer1_total": 900}}, "snapshot.token_budget", 900),
    ({"consolidation": {"schedule": "0 3 * * *"}}, "introspect.schedule", "0 3 * * *"),
    ({"consolidation": {"fallback_hours": 24}}, "introspect.overdue_hours", 24),
    ({"consolidation": {"model": "gpt-4o"}}, "distill.model", "gpt-4o"),
    # the plug-in of a gateway
    ({"smartExtraction": False}, "distill.llm_enabled", False),
    ({"extractMinMessages": 5}, "distill.min_messages", 5),
    ({"autoCapture": True}, "distill.auto_distill", True),
    ({"captureAssistant": False}, "distill.capture_assistant", False),
    ({"sessionMemory": {"enabled": True}}, "distill.session_summaries", 15),
    ({"sessionMemory": {"enabled": True, "messageCount": 9}}, "distill.session_summaries", 9),
    ({"sessionMemory": {"messageCount": 9, "enabled": False}}, "distill.session_summaries", 0),
    ({"embedding": {"baseURL": "http://localhost:1/v1"}}, "embedding.base_url", "http://localhost:1/v1"),
    ({"embedding": {"taskQuery": "retrieval.query"}}, "embedding.query_task", "retrieval.query"),
    ({"embedding": {"taskPassage": "retrieval.passage"}}, "embedding.passage_task", "retrieval.passage"),
    ({"embedding": {"apiKey": "${JINA_API_KEY}"}}, "embedding.api_key_env", "JINA_API_KEY"),
    ({"llm": {"model": "m"}}, "distill.model", "m"),
    ({"llm": {"baseURL": "http://localhost:1/v1"}}, "distill.base_url", "http://localhost:1/v1"),
    ({"llm": {"apiKey": "${MY_KEY}"}}, "distill.api_key_env", "MY_KEY"),
    ({"scopes": {"agentAccess": {"main": ["project:x"]}}}, "scopes.access", {"main": ["project:x"]}),
    ({"retrieval": {"minScore": 0.2}}, "recall.min_similarity", 0.2),
    ({"retrieval": {"hardMinScore": 0.5}}, "recall.floor", 0.5),
    ({"retrieval": {"candidatePoolSize": 20}}, "recall.candidates", 20),
    ({"retrieval": {"rerank": "cross-encoder", "rerankProvider": "jina"}}, "rerank.provider", "jina"),
    ({"retrieval": {"rerankModel": "m"}}, "rerank.model", "m"),
    ({"retrieval": {"rerankEndpoint": "http://localhost:1/v1/rerank"}}, "rerank.base_url",
     "http://localhost:1/v1/rerank"),
    ({"retrieval": {"rerankApiKey": "${K}"}}, "rerank.api_key_env", "K"),
    # today's names in other clothes
    ({"distill": {"maxCardsPerSession": 3}}, "distill.max_cards_per_session", 3),
    ({"distill.max_cards_per_session": 3}, "distill.max_cards_per_session", 3),
    ({"distill.maxCardsPerSession": 3}, "distill.max_cards_per_session", 3),
    ({"scopes.access": {"main": ["project:x"]}}, "scopes.access", {"main": ["project:x"]}),
    ({"sessionMemory.enabled": True, "sessionMemory.messageCount": 4}, "distill.session_summaries", 4),
]  # fmt: skip


@pytest.mark.parametrize(("file", "new", "value"), OLD, ids=lambda each: each if isinstance(each, str) else "")
def test_old_names_work_under_their_new_ones(tmp_path, file, new, value):
    config = load(tmp_path, json.dumps(file))
    rows = {row.key: row for row in config.rows()}
    assert rows[new].value == value
    said = "\n".join(config.warnings)
    assert "unknown" not in said
    assert new in said or "openai here" in said or "sessionMemory.enabled is not true" in said or new in file


def test_every_old_name_is_tried():
    tried = set()
    for file, _, _ in OLD:
        for group, value in file.items():
            names = [f"{group}.{name}" for name in value] if isinstance(value, dict) else [group]
            tried |= {snake(name) for name in names}
    assert set(RENAMED) <= tried


def test_todays_name_counts_beside_an_older_one(tmp_path):
    for file in ({"limit": 3, "max_results": 5}, {"max_results": 5, "limit": 3}):
        config = load(tmp_path, json.dumps({"recall": file}))
        assert config.recall.max_results == 5
        assert "recall.limit is not read" in config.warnings[0]


def test_a_reranker_that_was_switched_off_stays_off(tmp_path):
    for off in ("none", "lightweight"):
        config = load(tmp_path, json.dumps({"retrieval": {"rerankProvider": "jina", "rerank": off}}))
        assert not config.rerank.named
        assert any("retrieval.rerankProvider is not read" in warning for warning in config.warnings)


def test_the_usual_model_of_a_consolidation_names_none(tmp_path):
    config = load(tmp_path, json.dumps({"consolidation": {"model": "default"}}))
    assert config.distill.model is None
    assert config.warnings == []


@pytest.mark.parametrize(
    "file",
    [
        {"llm_api_key": "sk-very-secret-1234567890"},
        {"llm": {"apiKey": "sk-very-secret-1234567890"}},
        {"embedding": {"api_key": "sk-very-secret-1234567890"}},
        {"retrieval": {"rerankApiKey": ["sk-very-secret-1234567890"]}},
    ],
)
def test_a_key_in_a_file_is_not_read_and_not_shown(tmp_path, file):
    config = load(tmp_path, json.dumps(file))
    [said] = config.warnings
    assert "stands in the environment" in said
    assert "api_key_env" in said
    assert "very-secret" not in said + repr(config)


@pytest.mark.parametrize("key", sorted(UNUSED))
def test_known_keys_that_nothing_reads_are_named_with_the_reason(tmp_path, key):
    group, _, name = key.partition(".")
    config = load(tmp_path, json.dumps({group: {name: 1} if name else {"x": 1, "y": 2}}))
    assert len(config.warnings) == 1
    assert f"{key} is known, but nothing reads it: {UNUSED[key]}" in config.warnings[0]


def test_a_wrong_value_is_told_with_the_name_that_the_file_has(tmp_path):
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, json.dumps({"retrieval": {"hardMinScore": 7}}))
    assert "recall.floor (written as retrieval.hardMinScore)" in caught.value.message


def test_a_mistyped_key_is_guessed(tmp_path):
    assert "did you mean recall.max_results?" in load(tmp_path, '{"recall": {"max_resluts": 3}}').warnings[0]


KEY = st.one_of(
    st.sampled_from(sorted({*RENAMED, *UNUSED, *(key for key, _, _ in setting_names())})),
    st.text(max_size=12),
    st.sampled_from(["recall", "sessionMemory", "retrieval", "version", "embedding.apiKey"]),
)
VALUE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(KEY, inner, max_size=3)),
    max_leaves=6,
)


@given(raw=st.dictionaries(KEY, VALUE, max_size=5))
def test_no_file_surprises_it(raw):
    """Whatever stands in it, only today's settings come out."""
    known = {key for key, _, _ in setting_names()}
    said = understood(raw, known)
    assert {f"{group}.{name}" for group, names in said.groups.items() for name in names} <= known


def test_unknown_keys_are_named(tmp_path):
    config = load(tmp_path, json.dumps({"recal": {"x": 1}, "recall": {"flor": 1}, "odd": 3}))
    said = "\n".join(config.warnings)
    assert all(name in said for name in ("recal", "recall.flor", "odd"))
    assert {row.key: row.value for row in config.rows()} == {row.key: row.value for row in Config().rows()}


@pytest.mark.parametrize("text", ["[1]", "{", '{"recall": {"floor": 7}}', '{"recall": {"floor": "high"}}'])
def test_a_wrong_file_is_an_error_that_names_it(tmp_path, text):
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert "config.json" in caught.value.message
    if "floor" in text:
        assert "recall.floor" in caught.value.message


def test_the_examples_of_earlier_documents_load(tmp_path):
    example = {
        "version": "1.0",
        "data_dir": "~/.alaya",
        "embedding": {"provider": "siliconflow", "model": "BAAI/bge-large-zh-v1.5", "dimensions": 1024,
                      "api_key_env": "SILICONFLOW_API_KEY", "batch_size": 100, "max_concurrency": 5},
        "temperature": {"hot_threshold": 0.7, "warm_threshold": 0.3, "cold_days": 30, "hot_limit": 5000,
                        "warm_limit": 20000, "recency_decay": 30, "frequency_cap": 20},
        "distill": {"llm_provider": "openai", "model": "gpt-4o", "prompt_template": "~/x", "min_session_tokens": 200,
                    "max_cards_per_session": 10, "auto_distill": True},
        "recall": {"vector_top_k": 20, "graph_expand_depth": 1, "min_similarity": 0.6, "max_results": 10},
        "introspect": {"schedule": "0 */4 * * *"},
        "logging": {"level": "info", "file": "~/.alaya/logs/alaya.log"},
    }  # fmt: skip
    config = load(tmp_path, json.dumps(example))
    assert config.embedding.dimensions == 1024
    assert config.distill.auto_distill
    assert config.recall.candidates == 20
    assert not any("unknown" in warning for warning in config.warnings)


def test_the_examples_of_the_other_systems_load(tmp_path):
    rules = {
        "version": "1.0",
        "decay_rates": {"fact": 0.008, "belief": 0.07, "summary": 0.025},
        "thresholds": {"archive": 0.05, "summary_trigger": 3},
        "token_budget": {"layer1_total": 1000, "layer1_top1": 0.4, "layer1_top2": 0.25, "layer1_top3": 0.15,
                         "layer1_rest": 0.2},
        "consolidation": {"schedule": "0 3 * * *", "fallback_hours": 48, "model": "default"},
        "importance_rules": {"identity_health_safety": 1.0, "temporary": 0.2},
        "llm_api_key": "sk-your-api-key-here",
    }  # fmt: skip
    config = load(tmp_path, json.dumps(rules))
    assert (config.introspect.schedule, config.snapshot.token_budget) == ("0 3 * * *", 1000)
    assert not any("unknown" in warning for warning in config.warnings)
    plugin = {
        "embedding": {"apiKey": "${JINA_API_KEY}", "model": "jina-embeddings-v5-text-small", "provider": "jina",
                      "baseURL": "https://api.jina.ai/v1", "dimensions": 1024, "taskQuery": "retrieval.query",
                      "taskPassage": "retrieval.passage", "normalized": True, "chunking": True},
        "dbPath": "~/x", "autoCapture": True, "autoRecall": False, "captureAssistant": False, "smartExtraction": True,
        "extractMinMessages": 2, "enableManagementTools": False, "sessionMemory": {"enabled": False, "messageCount": 9},
        "retrieval": {"mode": "hybrid", "vectorWeight": 0.7, "bm25Weight": 0.3, "minScore": 0.3, "hardMinScore": 0.35,
                      "rerank": "cross-encoder", "candidatePoolSize": 20, "filterNoise": True,
                      "lengthNormAnchor": 500, "recencyHalfLifeDays": 14, "recencyWeight": 0.1,
                      "timeDecayHalfLifeDays": 60, "reinforcementFactor": 0.5, "maxHalfLifeMultiplier": 3},
        "decay": {"recencyHalfLifeDays": 30}, "tier": {"coreAccessThreshold": 10},
        "scopes": {"default": "global", "definitions": {}, "agentAccess": {"a": ["global"]}},
        "llm": {"model": "gpt-4o-mini", "baseURL": "http://localhost:1/v1"},
    }  # fmt: skip
    config = load(tmp_path, json.dumps(plugin))
    assert not any("unknown" in warning for warning in config.warnings)
    assert config.embedding.api_key_env == "JINA_API_KEY"
    assert config.distill.capture_assistant is False
    assert not config.rerank.named


def test_home_and_agent_as_given_else_as_the_environment_says(tmp_path):
    environ = {"ALAYA_HOME": str(tmp_path / "a"), "ALAYA_AGENT": "coder"}
    assert home_path(None, environ) == tmp_path / "a"
    assert home_path(tmp_path / "b", environ) == tmp_path / "b"
    assert home_path(None, {}).name == ".alaya"
    assert agent_name(None, environ) == "coder"
    assert agent_name("main", environ) == "main"
    assert agent_name(None, {}) is None


def test_names_of_settings_are_distinct():
    names = [key for key, _, _ in setting_names()]
    assert len(names) == len(set(names))


def test_an_endpoint_of_ones_own_needs_no_key_whatever_its_provider_is_called(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(
        '{"embedding": {"provider": "openai-compatible", "base_url": "http://localhost:1/v1", "model": "m"}}'
    )
    config = Config.load(path)
    assert (config.embedding.provider, config.warnings) == ("openai-compatible", [])
