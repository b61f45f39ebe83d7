"""The only reader of config files and of the environment.

Settings come from `config.json` of the home, else they are the defaults here; the file is never rewritten. The
environment says which home and which agent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, StringConstraints, ValidationError

from alaya_core.errors import ConfigError
from alaya_core.models.answers import ConfigRow
from alaya_core.safe_json import load_json

HOME_VARIABLE = "ALAYA_HOME"
AGENT_VARIABLE = "ALAYA_AGENT"


Scope = Annotated[str, StringConstraints(pattern=r"^(global|(agent|project|user|custom):\S{1,200})$")]


class Section(BaseModel):
    """A group of settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EmbeddingConfig(Section):
    """How text becomes vectors."""

    provider: str = Field(
        "bundled", description="bundled (offline), siliconflow, openai, ollama, llamacpp, jina, voyage"
    )
    model: str | None = Field(None, description="the provider's model; none = the provider's usual one")
    dimensions: int | None = Field(None, gt=0, le=8192, description="numbers a vector, passed to the provider")
    base_url: str | None = Field(None, description="address of an OpenAI-compatible endpoint, up to /v1")
    api_key_env: str | None = Field(None, description="name of the environment variable that holds the key")
    batch_size: int | None = Field(None, gt=0, le=2048, description="texts a request; none = the provider's limit")
    max_concurrency: int = Field(4, gt=0, le=64, description="requests at once")
    timeout_s: float = Field(30.0, gt=0, description="seconds a request may take")
    price_per_million_tokens: float | None = Field(
        None, ge=0, description="what the service charges; `reembed` tells the sum beforehand"
    )
    max_tokens: int | None = Field(None, gt=0, description="tokens a text may have; longer ones are cut and averaged")
    query_prefix: str | None = Field(None, description="put before a query; none = the model's usual one")
    passage_prefix: str | None = Field(None, description="put before a stored text; none = the model's usual one")
    query_task: str | None = Field(None, description="value of the service's task field for queries")
    passage_task: str | None = Field(None, description="value of the service's task field for stored texts")
    query_cache_size: int = Field(256, ge=0, description="query vectors kept in memory")
    query_cache_ttl_s: float = Field(1800.0, ge=0, description="seconds a query vector is kept")


class TemperatureConfig(Section):
    """Where the tiers begin and end."""

    hot_threshold: float = Field(0.7, ge=0, le=1, description="HOT from this temperature on")
    cold_threshold: float = Field(0.3, ge=0, le=1, description="COLD below it, when long unused")
    cold_days: int = Field(30, ge=0, description="days unused before a card may turn COLD")
    hot_limit: int = Field(5_000, ge=0, description="most HOT cards; the coolest above it are WARM")
    warm_limit: int = Field(20_000, ge=0, description="most WARM cards; beyond it those that may turn COLD do")


class LifecycleConfig(Section):
    """How cards cool."""

    model: Literal["weibull", "product", "halflife"] = Field("weibull", description="weibull, product or halflife")


class DistillConfig(Section):
    """How sessions become cards."""

    max_cards_per_session: int = Field(10, gt=0, description="most cards from one session")
    auto_distill: bool = Field(False, description="distill what was ingested at once, as with --distill")


RecallStage = Literal[
    "words",
    "vectors",
    "surroundings",
    "turn",
    "exact",
    "rerank",
    "doubt",
    "length",
    "lifecycle",
    "noise",
    "diversity",
    "neighbours",
]
"""The parts of recall that can be switched off."""


class RecallConfig(Section):
    """How cards and passages are found and ranked."""

    max_results: int = Field(10, gt=0, le=1000, description="most cards, and as many passages, in an answer")
    candidates: int = Field(60, gt=0, le=5000, description="how many each leg brings before ranking")
    min_similarity: float = Field(0.3, ge=0, le=1, description="vector hits below it are not candidates (rescaled)")
    floor: float = Field(0.35, ge=0, le=1, description="hits scored below it are counted, not shown")
    graph_expand_depth: int = Field(
        1, ge=0, le=2, description="links from a hit to the neighbours under it; 0 shows none"
    )
    related: int = Field(5, ge=0, le=50, description="most neighbours under a hit")
    cache_ttl_s: float = Field(
        20.0,
        ge=0,
        le=3600,
        description="seconds a repeated recall is answered from memory, while nothing changes; 0 = off",
    )
    context_tokens: int = Field(
        1_500, gt=0, le=1_000_000, description="tokens that `recall --format context` may take, about"
    )
    off: tuple[RecallStage, ...] = Field(
        ("length",), description=f"stages that are switched off, any of {', '.join(get_args(RecallStage))}"
    )


class ScopesConfig(Section):
    """Who sees what beyond `global` and what is their own."""

    access: dict[str, list[Scope]] = Field(
        {}, description='what an agent sees besides, e.g. {"main": ["project:x", "agent:helper"]}'
    )


class RerankConfig(Section):
    """Who reads query and cards side by side and judges them once more; nobody, unless an endpoint is named."""

    provider: str | None = Field(None, description="siliconflow, jina, cohere or voyage; none = off without base_url")
    model: str | None = Field(None, description="the reranker's model; a provider needs one")
    base_url: str | None = Field(None, description="address of a rerank endpoint, up to and without /rerank")
    api_key_env: str | None = Field(None, description="name of the environment variable that holds the key")
    timeout_s: float = Field(3.0, gt=0, le=600, description="seconds it may take in all; then cosines rerank")
    candidates: int = Field(20, gt=0, le=1000, description="how many cards it is sent, the best ones")
    weight: float = Field(0.6, ge=0, le=1, description="its share of the score")

    @property
    def named(self) -> bool:
        """Whether there is anybody to send text to."""
        return bool(self.provider or self.base_url)


class PassagesConfig(Section):
    """How raw turns are searched."""

    limit: int = Field(
        1_000_000, ge=0, description="most passages indexed; beyond it a session is counted, not indexed"
    )
    embed: Literal["all", "recent", "none"] = Field(
        "all", description="which passages get vectors, newest first: all, recent or none"
    )
    recent_days: int = Field(90, ge=0, description="days that recent means")
    embed_seconds: float = Field(
        60.0, ge=0, description="seconds an ingest goes on making these vectors; the rest follows by and by"
    )
    tool_characters: int = Field(
        2_000, ge=0, description="of a tool's output, how much is searched (its head and tail)"
    )


class RawConfig(Section):
    """What is kept of what came in."""

    keep_source: bool = Field(True, description="keep the bytes of every source, compressed")


class GraphConfig(Section):
    """Where cards and links are kept for asking."""

    engine: Literal["kuzu", "ladybug"] = Field("kuzu", description="kuzu or ladybug; `alaya rebuild l2` changes over")


class HomeConfig(Section):
    """How processes share a home."""

    busy_timeout_s: float = Field(10.0, ge=0, description="seconds to wait for another process before giving up")


RENAMED = {
    "temperature.warm_threshold": "temperature.cold_threshold",
    "recall.vector_top_k": "recall.candidates",
    "recall.limit": "recall.max_results",
    "recall.minScore": "recall.floor",
}
"""Keys of earlier documents, and what they are called here."""

UNUSED = frozenset(
    {
        "data_dir",
        "introspect",
        "logging",
        "temperature.recency_decay",
        "temperature.frequency_cap",
        "distill.llm_provider",
        "distill.model",
        "distill.prompt_template",
        "distill.min_session_tokens",
    }
)
"""Keys of earlier documents that nothing reads: they are named, not taken for mistakes."""


class Config(Section):
    """All settings of a home."""

    embedding: EmbeddingConfig = EmbeddingConfig()
    temperature: TemperatureConfig = TemperatureConfig()
    lifecycle: LifecycleConfig = LifecycleConfig()
    distill: DistillConfig = DistillConfig()
    recall: RecallConfig = RecallConfig()
    rerank: RerankConfig = RerankConfig()
    scopes: ScopesConfig = ScopesConfig()
    passages: PassagesConfig = PassagesConfig()
    raw: RawConfig = RawConfig()
    graph: GraphConfig = GraphConfig()
    home: HomeConfig = HomeConfig()

    _warnings: list[str] = PrivateAttr(default_factory=list)
    _from_file: set[str] = PrivateAttr(default_factory=set)

    @property
    def warnings(self) -> list[str]:
        """What a person should know about their config file, in sentences."""
        return self._warnings

    @classmethod
    def load(cls, path: Path) -> Config:
        """Reads a config file; an absent one means the defaults.

        Raises:
            ConfigError: It is not JSON, or a value is wrong; the message names file and key.
        """
        try:
            text = path.read_text(encoding="utf-8-sig") if path.exists() else "{}"
            raw = load_json(text or "{}")
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path} cannot be read: {error}", "mend it, or move it away for the defaults") from error
        if not isinstance(raw, dict):
            raise ConfigError(f"{path} holds no JSON object", "write {} for the defaults")
        warnings: list[str] = []
        known = _known_only(raw, warnings, path)
        try:
            config = cls.model_validate(known)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise ConfigError(f"{path}: {key}: {first['msg']}", "`alaya config` lists the settings") from None
        config._warnings.extend(warnings)
        config._from_file.update(f"{group}.{key}" for group, keys in known.items() for key in keys)
        return config

    def rows(self) -> list[ConfigRow]:
        """Every setting with its value, default, origin and meaning."""
        rows = []
        for key, group, name in setting_names():
            section = getattr(self, group)
            info = type(section).model_fields[name]
            origin: Literal["default", "file"] = "file" if key in self._from_file else "default"
            rows.append(
                ConfigRow(
                    key=key,
                    value=getattr(section, name),
                    default=info.default,
                    origin=origin,
                    meaning=info.description or "",
                )
            )
        return rows


def setting_names() -> Iterator[tuple[str, str, str]]:
    """Yields (dotted key, group, name) of every setting."""
    for group, info in Config.model_fields.items():
        section = info.annotation
        assert isinstance(section, type)
        assert issubclass(section, BaseModel)
        for name in section.model_fields:
            yield f"{group}.{name}", group, name


def _known_only(raw: dict[str, Any], warnings: list[str], path: Path) -> dict[str, dict[str, Any]]:
    known_keys = {key for key, _, _ in setting_names()}
    groups: dict[str, dict[str, Any]] = {}
    for group, value in raw.items():
        if group == "version":
            continue
        if group in UNUSED:
            warnings.append(f"{path}: {group} is known, but nothing reads it")
            continue
        if not isinstance(value, dict):
            warnings.append(f"{path}: unknown key {group}")
            continue
        if not value and group not in Config.model_fields:
            warnings.append(f"{path}: unknown key {group}")
        for name, setting in value.items():
            key = f"{group}.{name}"
            renamed = RENAMED.get(key)
            if renamed:
                warnings.append(f"{path}: {key} is called {renamed} here")
                key = renamed
            if key in UNUSED:
                warnings.append(f"{path}: {key} is known, but nothing reads it")
                continue
            if key not in known_keys:
                warnings.append(f"{path}: unknown key {key}")
                continue
            target, leaf = key.split(".", 1)
            groups.setdefault(target, {})[leaf] = setting
    return groups


def environment() -> Mapping[str, str]:
    """The process's environment."""
    return os.environ


def home_path(given: Path | str | None, environ: Mapping[str, str]) -> Path:
    """The home to use: as given, else ALAYA_HOME, else ~/.alaya; absolute."""
    chosen = given or environ.get(HOME_VARIABLE) or "~/.alaya"
    try:
        return Path(chosen).expanduser().absolute()
    except (RuntimeError, ValueError) as error:
        raise ConfigError(f"the home {str(chosen)[:200]!r} is no path: {error}", "name a folder") from None


def agent_name(given: str | None, environ: Mapping[str, str]) -> str | None:
    """The agent that asks: as given, else ALAYA_AGENT; None is the owner, who sees all."""
    return given or environ.get(AGENT_VARIABLE) or None
