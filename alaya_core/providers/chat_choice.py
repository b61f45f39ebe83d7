"""Which chat model is meant, if any: a key that lies in the environment names none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from alaya_core.errors import ConfigError
from alaya_core.providers.http import is_loopback
from alaya_core.providers.http_errors import shown

MODEL_VARIABLE = "MEMORY_LLM_MODEL"
ENABLED_VARIABLE = "MEMORY_LLM_ENABLED"
ADDRESS_VARIABLE = "OPENAI_BASE_URL"
KEY_VARIABLE = "OPENAI_API_KEY"
_NO = {"false", "0", "no", "off"}


@dataclass(frozen=True, slots=True)
class ChatPreset:
    """A service known by name.

    Attributes:
        base_url: Up to and without `/chat/completions`.
        model: Its usual model; empty where only the user knows.
        key_env: The usual environment variable of its key; empty for none.
    """

    base_url: str
    model: str = ""
    key_env: str = ""


PRESETS: dict[str, ChatPreset] = {
    "openai": ChatPreset("https://api.openai.com/v1", "gpt-4o-mini", KEY_VARIABLE),
    "siliconflow": ChatPreset("https://api.siliconflow.cn/v1", "Qwen/Qwen2.5-7B-Instruct", "SILICONFLOW_API_KEY"),
    "deepseek": ChatPreset("https://api.deepseek.com/v1", "deepseek-chat", "DEEPSEEK_API_KEY"),
    "ollama": ChatPreset("http://127.0.0.1:11434/v1"),
}
_USUAL = "openai"


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """A service with every choice made."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    key_name: str = KEY_VARIABLE
    timeout_s: float = 120.0
    output_tokens: int = 4_000


def resolve_chat(
    environ: Mapping[str, str],
    *,
    llm_enabled: bool = True,
    llm_provider: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    timeout_s: float = 120.0,
    output_tokens: int = 4_000,
) -> ChatEndpoint | None:
    """The `distill` section of the config, presets and environment made one; what the config says counts first.

    Returns:
        None when nobody named a model or an address, or somebody switched the model off.

    Raises:
        ConfigError: An unknown provider, no model, or a key that is missing.
    """
    said_model = model or environ.get(MODEL_VARIABLE, "").strip()
    said_address = base_url or ("" if llm_provider else environ.get(ADDRESS_VARIABLE, "").strip())
    off = environ.get(ENABLED_VARIABLE, "").strip().lower() in _NO
    if off or not llm_enabled or not (said_model or said_address or llm_provider):
        return None
    if llm_provider and llm_provider not in PRESETS:
        known = ", ".join(PRESETS)
        raise ConfigError(f"distill.llm_provider is '{shown(llm_provider, [])}', which is unknown", f"one of: {known}")
    address = (said_address or PRESETS[llm_provider or _USUAL].base_url).rstrip("/").removesuffix("/chat/completions")
    known_as = llm_provider or _name_of(address)
    preset = PRESETS.get(known_as, ChatPreset(""))
    # An address of one's own may hold any model, so the usual one is named there as other programs name it.
    named = said_model or preset.model or ("" if known_as else PRESETS[_USUAL].model)
    if not named:
        raise ConfigError("distill.model is missing", f"provider '{known_as}' has no usual one; name one it holds")
    key, key_name = _key(environ, api_key_env, preset, own_address=bool(said_address))
    if not key and (api_key_env or (preset.key_env and _is_preset(address, preset))):
        raise ConfigError(f"the model needs a key, and {key_name} is not set", f"export {key_name}=...")
    return ChatEndpoint(address, named, key, key_name, timeout_s, output_tokens)


def _key(
    environ: Mapping[str, str], api_key_env: str | None, preset: ChatPreset, *, own_address: bool
) -> tuple[str, str]:
    """The key and the name of the variable that holds (or should hold) it. The usual variable is only looked at for
    an address that somebody named beside it: one service's key must not be sent to another."""
    usual = (preset.key_env, KEY_VARIABLE if own_address or not preset.base_url else "")
    names = [api_key_env] if api_key_env else [name for name in usual if name]
    for name in names:
        key = environ.get(name, "").strip()
        if not key:
            continue
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ConfigError(f"the key in {name} holds characters that no key has", "copy it again")
        return key, name
    return "", names[0] if names else KEY_VARIABLE


def _name_of(address: str) -> str:
    return next((name for name, preset in PRESETS.items() if _is_preset(address, preset)), "")


def _is_preset(address: str, preset: ChatPreset) -> bool:
    host = _host(address)
    if not host:
        return False
    if is_loopback(host):  # other programs answer there too, so the port tells
        return urlsplit(address).netloc == urlsplit(preset.base_url).netloc
    return host == _host(preset.base_url)


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
