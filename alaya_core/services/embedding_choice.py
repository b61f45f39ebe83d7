"""Which embedding made the vectors of a generation, and whether it is the one that is configured. No I/O; imports
neither numpy nor a provider."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from alaya_core.config import Config
from alaya_core.providers.embedding import EmbeddingSettings
from alaya_core.providers.presets import BUNDLED_MODEL, FAMILIES, PRESETS, Family, Preset
from alaya_core.stores.vector_state import VectorMark

_BUNDLED = EmbeddingSettings()
_NOT_RECORDED = ("api_key", "query_cache_size", "query_cache_ttl_s")
_NAMES = frozenset(field.name for field in fields(EmbeddingSettings))


def configured(config: Config) -> EmbeddingSettings:
    """The embedding that the config names."""
    return EmbeddingSettings(**config.embedding.model_dump(exclude={"price_per_million_tokens"}))


def recorded(settings: EmbeddingSettings) -> dict[str, Any]:
    """Settings as they are kept with the vectors: nothing secret, and only what was chosen."""
    raw = {name: value for name, value in asdict(settings).items() if value is not None and name not in _NOT_RECORDED}
    if settings.base_url:
        raw["base_url"] = _without_secrets(settings.base_url)
    return raw


def made_by(mark: VectorMark) -> EmbeddingSettings | None:
    """The embedding that made the vectors of a generation; None where nobody wrote it down."""
    if not mark.embedding:
        return _BUNDLED if mark.model == BUNDLED_MODEL else None
    try:
        return EmbeddingSettings(**{name: value for name, value in mark.embedding.items() if name in _NAMES})
    except TypeError:
        return None


def same_kind(settings: EmbeddingSettings, mark: VectorMark) -> bool:
    """Whether vectors made by these settings can be compared with those that are stored."""
    stored = made_by(mark)
    if stored is None:
        return _kind(settings).model == mark.model and settings.dimensions in (None, mark.dimensions)
    if _kind(settings) != _kind(stored):
        return False
    return settings.dimensions == stored.dimensions or settings.dimensions == mark.dimensions


def mismatch(config: Config, mark: VectorMark) -> str:
    """That stored vectors are of another embedding than the configured one, in a sentence; empty if they are not."""
    settings = configured(config)
    if not mark.dimensions or same_kind(settings, mark):
        return ""
    wanted = _kind(settings).model or settings.provider
    if wanted == mark.model and settings.dimensions not in (None, mark.dimensions):
        wanted = f"{wanted} with {settings.dimensions} numbers"
    elif wanted == mark.model:
        wanted = f"{wanted} with other settings"
    return f"vectors are of {mark.model} ({mark.dimensions} numbers), but {wanted} is configured: run `alaya reembed`"


def host_of(settings: EmbeddingSettings) -> str | None:
    """The host that text is sent to; None with the built-in model."""
    if settings.provider == "bundled":
        return None
    preset = PRESETS.get(settings.provider, Preset())
    try:
        address = urlsplit(settings.base_url or preset.base_url)
    except ValueError:  # the provider says what is wrong with it
        return None
    return address.netloc.rpartition("@")[2] or None


def texts_a_request(settings: EmbeddingSettings) -> int:
    """How many texts are embedded at once."""
    return settings.batch_size or PRESETS.get(settings.provider, Preset(max_batch=64)).max_batch


@dataclass(frozen=True, slots=True)
class _Kind:
    """What decides which vector a text gets, but for its length."""

    provider: str
    model: str
    query: tuple[str, str] = ("", "")
    passage: tuple[str, str] = ("", "")


def _kind(settings: EmbeddingSettings) -> _Kind:
    if settings.provider == "bundled":
        return _Kind("bundled", settings.model or BUNDLED_MODEL)
    preset = PRESETS.get(settings.provider, Preset())
    model = settings.model or preset.model
    family = next((known for known in FAMILIES if known.matches(model)), Family(""))

    def chosen(prefix: str | None, usual: str, task: str | None, usual_task: str) -> tuple[str, str]:
        said = usual_task if task is None else task
        return (usual if prefix is None else prefix, said if preset.task_field else "")

    return _Kind(
        settings.provider,
        model,
        chosen(settings.query_prefix, family.query_prefix, settings.query_task, preset.query_task),
        chosen(settings.passage_prefix, family.passage_prefix, settings.passage_task, preset.passage_task),
    )


def _without_secrets(address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
