"""What an embedding is to the rest of Alaya: one protocol, its settings, and the services known by name.

Importing this module loads neither numpy nor an HTTP client nor a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from alaya_core.errors import ConfigError, VectorMismatchError
from alaya_core.progress import CancelToken
from alaya_core.providers.presets import FAMILIES, PRESETS, Family, Preset

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Script = Literal["zh", "en"]
"""Which writing a text is mostly compared as: `zh` holds any CJK character, `en` is all else."""


@dataclass(frozen=True, slots=True)
class Background:
    """Where a model's cosines begin to mean something: the mean cosine of a question and a text that has nothing to do
    with it, and how near a text stands that answers it.

    Attributes:
        zh: Background between two Chinese texts.
        en: Between two texts of any other language.
        cross: Between one and the other.
        related: What a question and a text that answers it typically have of the way from the background to 1.
    """

    zh: float
    en: float
    cross: float
    related: float = 0.7

    def between(self, a: Script, b: Script) -> float:
        """The background of a pair, -1..1."""
        if a != b:
            return self.cross
        return self.zh if a == "zh" else self.en


class EmbeddingProvider(Protocol):
    """Turns text into vectors; every vector it gives has length 1."""

    @property
    def model(self) -> str:
        """The name recorded with the vectors, e.g. `use-multilingual-v3`."""

    @property
    def dimensions(self) -> int | None:
        """Numbers in a vector; None until known."""

    @property
    def host(self) -> str | None:
        """The host that receives the text; None when nothing leaves the machine."""

    @property
    def background(self) -> Background | None:
        """The measured background of the model; None when it has to be estimated."""

    @property
    def cache_key(self) -> str:
        """Everything but the text that decides what vector a passage gets."""

    def warm_up(self) -> None:
        """Does now what the first use would do (loads the model); sends nothing anywhere."""

    def iter_passages(
        self, texts: Sequence[str], cancel: CancelToken | None = None
    ) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """Embeds texts and yields each batch as it is ready.

        Yields:
            The positions in `texts`, and their vectors (len(positions), d), L2-normalised. When a batch fails, those
            that were finished come first, then the error.

        Raises:
            ProviderError: The model or service failed.
            CancelledError: `cancel` was set.
        """

    def embed_passages(self, texts: Sequence[str], cancel: CancelToken | None = None) -> NDArray[np.float32]:
        """All vectors of `texts` in order: (n, d), L2-normalised. Raises as `iter_passages` does."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a search, (d,), L2-normalised. Gives up soon: somebody is waiting.

        Raises:
            ProviderError: The model or service failed.
        """

    def close(self) -> None:
        """Lets go of connections; a later use opens them again."""


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """What the `embedding` section of config.json says; None means what the provider's preset says.

    Attributes:
        provider: `bundled`, or one of `PRESETS`.
        model: The model's name at the service.
        dimensions: How many numbers to ask for; passed through to the service.
        base_url: Where the service is, up to and without `/embeddings`.
        api_key: The key itself; never shown.
        api_key_env: The environment variable that holds the key.
        batch_size: Texts in one request.
        max_concurrency: Requests at the same time.
        timeout_s: Seconds without an answer before a request counts as failed.
        max_tokens: The longest text the model takes, in estimated tokens; longer ones are cut and averaged.
        query_prefix, passage_prefix: Put before every query and passage.
        query_task, passage_task: Values of the service's task field, where it has one.
        query_cache_size: Query vectors kept in memory; 0 keeps none.
        query_cache_ttl_s: Seconds a kept query vector is good for.
    """

    provider: str = "bundled"
    model: str | None = None
    dimensions: int | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_key_env: str | None = None
    batch_size: int | None = None
    max_concurrency: int = 4
    timeout_s: float = 30.0
    max_tokens: int | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    query_task: str | None = None
    passage_task: str | None = None
    query_cache_size: int = 256
    query_cache_ttl_s: float = 1800.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`EmbeddingSettings` with every choice made; what the OpenAI-compatible provider works from."""

    provider: str
    model: str
    dimensions: int | None
    base_url: str
    api_key: str = field(repr=False)
    key_name: str
    batch_size: int
    max_concurrency: int
    timeout_s: float
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    query_fields: Mapping[str, str]
    passage_fields: Mapping[str, str]
    dimensions_field: str
    sends_encoding_format: bool


def resolve(settings: EmbeddingSettings, environ: Mapping[str, str]) -> Endpoint:
    """Settings, presets and environment made one.

    Raises:
        ConfigError: As for `make_provider`.
    """
    preset = PRESETS.get(settings.provider)
    if preset is None:
        known = ", ".join(["bundled", *PRESETS])
        raise ConfigError(f"embedding.provider is '{settings.provider}', which is unknown", f"one of: {known}")
    _check_ranges(settings)
    base_url = settings.base_url or preset.base_url
    model = settings.model or preset.model
    for key, value in (("base_url", base_url), ("model", model)):
        if not value:
            raise ConfigError(f"embedding.{key} is missing", f"provider '{settings.provider}' has no default for it")
    family = next((f for f in FAMILIES if f.matches(model)), Family(""))
    return Endpoint(
        provider=settings.provider,
        model=model,
        dimensions=settings.dimensions,
        base_url=base_url,
        api_key=_api_key(settings, preset, environ),
        key_name=settings.api_key_env or preset.key_env or "embedding.api_key",
        batch_size=settings.batch_size or preset.max_batch,
        max_concurrency=settings.max_concurrency,
        timeout_s=settings.timeout_s,
        max_tokens=settings.max_tokens or family.max_tokens or preset.max_tokens,
        query_prefix=_first(settings.query_prefix, family.query_prefix),
        passage_prefix=_first(settings.passage_prefix, family.passage_prefix),
        query_fields=_task(preset, _first(settings.query_task, preset.query_task)),
        passage_fields=_task(preset, _first(settings.passage_task, preset.passage_task)),
        dimensions_field=preset.dimensions_field,
        sends_encoding_format=preset.sends_encoding_format,
    )


def check_same(recorded_model: str, recorded_dim: int, provider: EmbeddingProvider) -> None:
    """Makes sure that stored vectors and new ones can be compared.

    Args:
        recorded_model: The model recorded with the table.
        recorded_dim: Its numbers a vector.
        provider: What is configured now; an unknown dimension is not held against it.

    Raises:
        VectorMismatchError: Another model or another dimension; names both and the command that mends it.
    """
    dim = provider.dimensions
    if recorded_model == provider.model and dim in (None, recorded_dim):
        return
    now = provider.model if dim is None else f"{provider.model} ({dim} numbers)"
    raise VectorMismatchError(
        f"the stored vectors come from {recorded_model} ({recorded_dim} numbers), but {now} is configured",
        "alaya rebuild l1",
    )


def _check_ranges(settings: EmbeddingSettings) -> None:
    for key in ("dimensions", "batch_size", "max_concurrency", "timeout_s", "max_tokens"):
        value = getattr(settings, key)
        if value is not None and not value > 0:
            raise ConfigError(f"embedding.{key} is {value}", "it must be greater than 0")


def _api_key(settings: EmbeddingSettings, preset: Preset, environ: Mapping[str, str]) -> str:
    name = settings.api_key_env or preset.key_env
    key = (settings.api_key or (environ.get(name, "") if name else "")).strip()
    needed = preset.needs_key or settings.api_key_env is not None
    if needed and not key:
        raise ConfigError(
            f"embedding provider '{settings.provider}' needs a key, and {name} is not set",
            f"export {name}=..., or set embedding.provider to bundled",
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigError(f"the key in {name or 'embedding.api_key'} holds characters that no key has", "copy it again")
    return key


def _first(chosen: str | None, default: str) -> str:
    return default if chosen is None else chosen


def _task(preset: Preset, value: str) -> dict[str, str]:
    return {preset.task_field: value} if preset.task_field and value else {}
