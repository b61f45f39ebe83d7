"""Settings: what a file may say, and what is said about it."""

import json

import pytest

from alaya_core.config import RENAMED, UNUSED, Config, agent_name, home_path, setting_names
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


@pytest.mark.parametrize(("old", "new"), sorted(RENAMED.items()))
def test_old_names_work_under_their_new_ones(tmp_path, old, new):
    group, name = old.split(".")
    wanted = 0.5 if new != "recall.candidates" and "max" not in new else 7
    config = load(tmp_path, json.dumps({group: {name: wanted}}))
    rows = {row.key: row for row in config.rows()}
    assert rows[new].value == wanted
    assert old in config.warnings[0]
    assert new in config.warnings[0]


@pytest.mark.parametrize("key", sorted(UNUSED))
def test_known_keys_that_nothing_reads_are_named(tmp_path, key):
    group, _, name = key.partition(".")
    config = load(tmp_path, json.dumps({group: {name: 1} if name else {"x": 1}}))
    assert len(config.warnings) == 1
    assert f"{key} is known" in config.warnings[0]


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
