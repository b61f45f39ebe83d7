"""The settings of a home by group: what each means, what it may be, and what it is unless a file says otherwise."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

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
    expired_days: int = Field(
        7, ge=0, description="days after its date before passing information is archived, if nobody used it since"
    )


class DistillConfig(Section):
    """How sessions become cards."""

    max_cards_per_session: int = Field(10, gt=0, description="most cards from one session")
    max_cards_per_turn: int = Field(3, gt=0, description="most cards that rules make of one turn")
    auto_distill: bool = Field(False, description="distill what was ingested at once, as with --distill")
    capture_assistant: bool = Field(True, description="learn from what an assistant says too, not only from people")
    session_summaries: int = Field(
        0, ge=0, le=200, description="last messages of a session that are kept as one summary card; 0 = none"
    )
    llm_provider: str | None = Field(
        None, description="openai, siliconflow, deepseek or ollama; naming a model or an address switches the model on"
    )
    model: str | None = Field(None, description="the chat model that reads sessions (or MEMORY_LLM_MODEL)")
    base_url: str | None = Field(
        None, description="address of an OpenAI-compatible endpoint, up to /v1 (or OPENAI_BASE_URL)"
    )
    api_key_env: str | None = Field(
        None, description="name of the environment variable that holds the key (OPENAI_API_KEY)"
    )
    llm_enabled: bool = Field(True, description="false: rules only, whatever is named (or MEMORY_LLM_ENABLED=false)")
    timeout_s: float = Field(120.0, gt=0, le=3600, description="seconds an answer of the model may take")
    input_tokens: int = Field(12_000, ge=500, description="tokens of sessions sent in one request")
    output_tokens: int = Field(4_000, ge=200, description="tokens an answer may have")
    min_session_tokens: int = Field(200, ge=0, description="tokens a session needs to be worth a request")
    min_messages: int = Field(2, ge=0, description="messages a session needs to be worth a request")
    prompt_template: str | None = Field(
        None, description="file with the instructions; none = prompts/distill.txt of the home, else the built-in ones"
    )
    price_per_million_input: float | None = Field(None, ge=0, description="what a million tokens sent cost")
    price_per_million_output: float | None = Field(None, ge=0, description="what a million tokens answered cost")
    offer_similarity: float = Field(
        0.7, ge=0, le=1, description="known cards this similar (rescaled) are offered to be merged with"
    )
    noise_similarity: float = Field(
        0.82, ge=0, le=1, description="texts this similar (rescaled) to known noise are not sent"
    )


class IntrospectConfig(Section):
    """How a memory tidies itself."""

    schedule: str = Field("0 */4 * * *", description="when, as cron writes it; `alaya cron` prints the entry")
    consolidate_threshold: float = Field(
        0.95, ge=0, le=1, description="cards more similar (rescaled) are judged for duplicates"
    )
    related_threshold: float = Field(0.7, ge=0, le=1, description="cards more similar are linked SIMILAR_TO")
    similar_links: int = Field(5, ge=0, le=100, description="most SIMILAR_TO links that a card gets")
    forget_threshold: float | None = Field(
        None, ge=0, le=1, description="a card may be forgotten below it; none = the line of the temperature model"
    )
    forget_days: int = Field(90, ge=0, description="days unused before a card may be forgotten")
    forget_ask_share: float = Field(
        0.05, ge=0, le=1, description="a run that would forget more than this share asks (or leaves it for review)"
    )
    forget_ask_above: int = Field(20, ge=0, description="cards that may always be forgotten unasked")
    overdue_hours: int = Field(48, gt=0, description="hours after which `status` says that no run took place")
    summary_facts: int = Field(3, ge=0, description="facts about one thing that make a summary; 0 = never")


class SnapshotConfig(Section):
    """The working memory that is put before an agent."""

    token_budget: int = Field(2_000, ge=100, le=100_000, description="most tokens of snapshot.md")
    recent_days: int = Field(3, ge=0, description="days that `recent` means")
    top: int = Field(20, ge=0, le=200, description="most cards in its list of the most alive and important")


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
