"""Builds the stores and providers of a home; nothing else does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from alaya_core.clock import Clock, IdSource
from alaya_core.config import Config, environment
from alaya_core.services.embedding_choice import configured, host_of
from alaya_core.services.workspace import Workspace
from alaya_core.stores.accesses import AccessLog
from alaya_core.stores.contexts import ContextStore
from alaya_core.stores.graph import GraphStore
from alaya_core.stores.home import Home
from alaya_core.stores.ledger import Ledger
from alaya_core.stores.locking import HomeLocks
from alaya_core.stores.sessions import SessionFiles
from alaya_core.stores.sources import SourceStore
from alaya_core.stores.staging import Staging

if TYPE_CHECKING:
    from alaya_core.providers.chat import ChatModel
    from alaya_core.providers.embedding import Background, EmbeddingSettings
    from alaya_core.providers.rerank import Reranker
    from alaya_core.services.embedding import Embedder
    from alaya_core.stores.vectors import VectorStore


def build_workspace(
    place: Home, agent: str | None, actor: str, clock: Clock, ids: IdSource, environ: Mapping[str, str] | None
) -> Workspace:
    """The stores and settings of a home; no engine is imported yet."""
    config = Config.load(place.config_file)
    locks = HomeLocks(place.locks, config.home.busy_timeout_s)
    ledger = Ledger(place.ledger)
    env = environment() if environ is None else environ

    def make_vectors() -> VectorStore:
        from alaya_core.stores.vectors import VectorStore

        return VectorStore(place.vectors)

    def make_embedder(settings: EmbeddingSettings) -> Embedder:
        from alaya_core.providers.choose import make_provider
        from alaya_core.services.embedding import Embedder, measured_background
        from alaya_core.stores.calibration import CALIBRATION, Calibrations
        from alaya_core.stores.embedding_cache import EmbeddingCache

        provider = make_provider(settings, env)

        def calibrated() -> Background | None:
            kept = Calibrations(place.cache / CALIBRATION).get(provider.cache_key)
            return measured_background(kept.figures) if kept else None

        cache = EmbeddingCache(place.cache / "embeddings.sqlite")
        return Embedder(provider, cache, settings, calibrated=calibrated)

    def make_reranker() -> Reranker:
        from alaya_core.providers.rerank import HttpReranker, resolve_rerank

        chosen = config.rerank.model_dump(exclude={"candidates", "weight"})
        return HttpReranker(resolve_rerank(env, **chosen), clock)

    def make_chat() -> ChatModel | None:
        from alaya_core.providers.chat_choice import resolve_chat

        said = config.distill
        endpoint = resolve_chat(
            env,
            llm_enabled=said.llm_enabled,
            llm_provider=said.llm_provider,
            model=said.model,
            base_url=said.base_url,
            api_key_env=said.api_key_env,
            timeout_s=said.timeout_s,
            output_tokens=said.output_tokens,
        )
        if endpoint is None:
            return None
        from alaya_core.providers.chat import HttpChat

        return HttpChat(endpoint)

    return Workspace(
        home=place,
        config=config,
        clock=clock,
        ids=ids,
        agent=agent,
        actor=actor,
        locks=locks,
        ledger=ledger,
        graph=GraphStore(place.graphs, locks, ledger, config.graph.engine),
        sessions=SessionFiles(place.root, place.sessions),
        sources=SourceStore(place.sources),
        contexts=ContextStore(place.contexts),
        staging=Staging(place.raw),
        accesses=AccessLog(place.accesses, place.raw / "vitals.jsonl"),
        make_vectors=make_vectors,
        make_embedder=make_embedder,
        make_reranker=make_reranker,
        make_chat=make_chat,
        embedding_host=host_of(configured(config)),
    )
