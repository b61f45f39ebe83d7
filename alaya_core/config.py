"""The only reader of config files and of the environment.

Settings come from `config.json` of the home, else they are the defaults of `config_sections`; the file is never
rewritten. The environment says which home and which agent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, PrivateAttr, ValidationError

from alaya_core.config_names import understood
from alaya_core.config_sections import (
    DistillConfig,
    EmbeddingConfig,
    GraphConfig,
    HomeConfig,
    IntrospectConfig,
    LifecycleConfig,
    PassagesConfig,
    RawConfig,
    RecallConfig,
    RerankConfig,
    ScopesConfig,
    Section,
    SnapshotConfig,
    TemperatureConfig,
)
from alaya_core.errors import ConfigError
from alaya_core.models.answers import ConfigRow
from alaya_core.safe_json import load_json

HOME_VARIABLE = "ALAYA_HOME"
AGENT_VARIABLE = "ALAYA_AGENT"


class Config(Section):
    """All settings of a home."""

    embedding: EmbeddingConfig = EmbeddingConfig()
    temperature: TemperatureConfig = TemperatureConfig()
    lifecycle: LifecycleConfig = LifecycleConfig()
    distill: DistillConfig = DistillConfig()
    introspect: IntrospectConfig = IntrospectConfig()
    snapshot: SnapshotConfig = SnapshotConfig()
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
        said = understood(raw, {key for key, _, _ in setting_names()})
        try:
            config = cls.model_validate(said.groups)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            written = said.written.get(".".join(str(part) for part in first["loc"][:2]))
            named = f"{key} (written as {written})" if written else key
            raise ConfigError(f"{path}: {named}: {first['msg']}", "`alaya config` lists the settings") from None
        config._warnings.extend(f"{path}: {warning}" for warning in said.warnings)
        config._from_file.update(f"{group}.{key}" for group, keys in said.groups.items() for key in keys)
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
