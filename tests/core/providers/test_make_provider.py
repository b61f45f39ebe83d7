"""From settings to a provider: presets, keys, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from alaya_core.errors import ConfigError, VectorMismatchError
from alaya_core.providers.bundled import BundledProvider
from alaya_core.providers.choose import make_provider
from alaya_core.providers.embedding import EmbeddingSettings, check_same, resolve
from alaya_core.providers.presets import FAMILIES, PRESETS

KEYS = {p.key_env: "k" for p in PRESETS.values() if p.key_env}


def test_the_default_is_bundled_and_sends_nothing_whatever_keys_lie_around():
    provider = make_provider(EmbeddingSettings(), KEYS)
    assert isinstance(provider, BundledProvider)
    assert (provider.host, provider.model, provider.dimensions) == (None, "use-multilingual-v3", 512)


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "openai-compatible"])
def test_every_service_works_by_its_name_alone(name):
    provider = make_provider(EmbeddingSettings(provider=name), KEYS)
    assert provider.model
    assert (provider.host is None) == (name in ("ollama", "llamacpp"))


@pytest.mark.parametrize("name", [name for name, preset in PRESETS.items() if preset.needs_key])
def test_a_missing_key_names_its_variable(name):
    with pytest.raises(ConfigError, match=PRESETS[name].key_env):
        make_provider(EmbeddingSettings(provider=name), {})
    with pytest.raises(ConfigError, match="OTHER_KEY"):
        make_provider(EmbeddingSettings(provider=name, api_key_env="OTHER_KEY"), KEYS)


def test_a_key_is_taken_from_the_named_variable():
    endpoint = resolve(
        EmbeddingSettings(provider="openai", api_key_env="MINE"), {"MINE": " k1\n", "OPENAI_API_KEY": "k2"}
    )
    assert (endpoint.api_key, endpoint.key_name) == ("k1", "MINE")


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-密", "sk a"])
def test_a_key_that_cannot_be_one_is_refused_unseen(key):
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as info:
        make_provider(EmbeddingSettings(provider="openai"), {"OPENAI_API_KEY": key})
    assert key not in str(info.value) + repr(EmbeddingSettings(api_key=key))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"provider": "nowhere"}, "nowhere"),
        ({"provider": "openai-compatible", "model": "m"}, "base_url"),
        ({"provider": "openai-compatible", "base_url": "http://x/v1"}, "model"),
        ({"provider": "ollama", "base_url": "x"}, "base_url"),
        ({"provider": "ollama", "batch_size": 0}, "batch_size"),
        ({"provider": "ollama", "max_concurrency": -1}, "max_concurrency"),
        ({"model": "other"}, "other"),
        ({"dimensions": 256}, "256"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(ConfigError, match=message):
        make_provider(EmbeddingSettings(**settings), {})


@pytest.mark.parametrize(
    ("model", "query", "passage", "tokens"),
    [
        ("intfloat/multilingual-e5-large", "query: ", "passage: ", 500),
        ("intfloat/multilingual-e5-large-instruct", FAMILIES[3].query_prefix, "", 500),
        ("BAAI/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", "", 500),
        ("bge-m3", "", "", 8000),
        ("nomic-embed-text:latest", "search_query: ", "search_document: ", 2000),
        ("some-e5000", "", "", 512),
    ],
)
def test_prefixes_follow_the_model(model, query, passage, tokens):
    endpoint = resolve(EmbeddingSettings(provider="ollama", model=model), {})
    assert (endpoint.query_prefix, endpoint.passage_prefix, endpoint.max_tokens) == (query, passage, tokens)


def test_what_is_set_goes_before_what_is_known():
    endpoint = resolve(
        EmbeddingSettings(
            provider="jina",
            model="e5-x",
            query_prefix="",
            passage_prefix="p ",
            max_tokens=9,
            batch_size=7,
            query_task="t",
        ),
        KEYS,
    )
    assert (endpoint.query_prefix, endpoint.passage_prefix, endpoint.max_tokens, endpoint.batch_size) == (
        "",
        "p ",
        9,
        7,
    )
    assert (endpoint.query_fields, endpoint.passage_fields) == ({"task": "t"}, {"task": "retrieval.passage"})


@pytest.mark.parametrize(
    ("change"),
    [{"model": "x"}, {"dimensions": 8}, {"passage_prefix": "p"}, {"passage_task": "t"}, {"provider": "voyage"}],
)
def test_the_cache_key_changes_with_whatever_changes_a_vector(change):
    base: dict[str, Any] = {"provider": "jina", "model": "m"}
    before = make_provider(EmbeddingSettings(**base), KEYS).cache_key
    assert make_provider(EmbeddingSettings(**(base | change)), KEYS).cache_key != before


def test_another_model_or_dimension_is_a_clear_error():
    provider = make_provider(EmbeddingSettings(), {})
    check_same("use-multilingual-v3", 512, provider)
    with pytest.raises(VectorMismatchError, match=r"bge-m3 \(1024 numbers\).*use-multilingual-v3 \(512") as info:
        check_same("bge-m3", 1024, provider)
    assert "alaya rebuild l1" in info.value.hint
    with pytest.raises(VectorMismatchError, match="use-large"):
        check_same("use-large", 512, provider)
    with pytest.raises(VectorMismatchError, match="256"):
        check_same("use-multilingual-v3", 256, provider)


def test_a_dimension_not_known_yet_is_not_held_against_a_provider():
    check_same("bge-m3", 1024, make_provider(EmbeddingSettings(provider="ollama"), {}))
