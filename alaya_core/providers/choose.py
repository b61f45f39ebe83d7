"""From settings to the provider they name."""

from __future__ import annotations

from collections.abc import Mapping

from alaya_core.errors import ConfigError
from alaya_core.providers.embedding import EmbeddingProvider, EmbeddingSettings, resolve


def make_provider(settings: EmbeddingSettings, environ: Mapping[str, str]) -> EmbeddingProvider:
    """The provider that the settings name. Loads no model and opens no connection yet.

    Args:
        settings: The embedding section of the config.
        environ: The environment, for API keys.

    Raises:
        ConfigError: An unknown provider, a value out of range, or a key that is missing.
    """
    if settings.provider == "bundled":
        from alaya_core.providers.bundled import MODEL, BundledProvider

        if settings.model not in (None, "", MODEL):
            raise ConfigError(
                f"embedding.model is {settings.model}, but the bundled provider has only {MODEL}",
                "set embedding.provider too, or remove embedding.model",
            )
        if settings.dimensions not in (None, 512):
            raise ConfigError(f"embedding.dimensions is {settings.dimensions}, but {MODEL} has 512", "remove it")
        return BundledProvider()
    from alaya_core.providers.openai_compatible import OpenAICompatibleProvider

    return OpenAICompatibleProvider(resolve(settings, environ))
