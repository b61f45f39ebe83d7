"""What every service works with: the stores of one home, its settings, and who asks."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from alaya_core.clock import Clock, IdSource
from alaya_core.config import Config
from alaya_core.errors import AlayaError, BusyError, NewerHomeError, ReadOnlyHomeError
from alaya_core.models.commit import Commit, Event
from alaya_core.services.card_views import Now
from alaya_core.services.embedding_choice import configured
from alaya_core.services.recall.cache import RecallCache
from alaya_core.services.vitals_book import VitalsBook
from alaya_core.stores.accesses import AccessLog
from alaya_core.stores.contexts import ContextStore
from alaya_core.stores.graph import GraphStore
from alaya_core.stores.graph_read import GraphReader
from alaya_core.stores.home import Home
from alaya_core.stores.ledger import Ledger
from alaya_core.stores.locking import HomeLocks
from alaya_core.stores.sessions import SessionFiles
from alaya_core.stores.sources import SourceStore
from alaya_core.stores.staging import Staging

if TYPE_CHECKING:
    from alaya_core.providers.chat import ChatModel
    from alaya_core.providers.embedding import EmbeddingSettings
    from alaya_core.providers.rerank import Reranker
    from alaya_core.services.embedding import Embedder
    from alaya_core.stores.vectors import VectorStore

_MUCH_UNFOLDED = 256 << 10

Plan = Callable[[GraphReader], Sequence[Event]]
"""Looks at the memory as it is under the lock, and says what changes; no events = nothing changes."""


@dataclass(slots=True)
class Workspace:
    """The stores of one home.

    Attributes:
        agent: Who asks; None = the owner, who sees all.
        actor: Who is written into the ledger.
        embedding_host: The host that text is sent to; None = none.
        newer: Whether a newer version wrote the home: it can be read, not written.
        notices: What happened at opening that a person should know.
        recalled: Answers of the last moments.
        make_vectors, make_embedder: Build what imports heavy libraries, at first use.
        make_reranker: Builds the reranker that the config names, at first use.
        make_chat: Builds the chat model that config and environment name, at first use; None where they name none.
    """

    home: Home
    config: Config
    clock: Clock
    ids: IdSource
    agent: str | None
    actor: str
    locks: HomeLocks
    ledger: Ledger
    graph: GraphStore
    sessions: SessionFiles
    sources: SourceStore
    contexts: ContextStore
    accesses: AccessLog
    staging: Staging
    make_vectors: Callable[[], VectorStore]
    make_embedder: Callable[[EmbeddingSettings], Embedder]
    make_reranker: Callable[[], Reranker] | None = None
    make_chat: Callable[[], ChatModel | None] = lambda: None
    embedding_host: str | None = None
    newer: bool = False
    notices: list[str] = field(default_factory=list)
    vitals: VitalsBook = field(init=False)
    recalled: RecallCache = field(init=False)
    _vectors: VectorStore | None = None
    _embedder: Embedder | None = None
    _reranker: Reranker | None = None
    _chat: ChatModel | None = None
    _earlier: dict[EmbeddingSettings, Embedder] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.vitals = VitalsBook(self.accesses)
        self.recalled = RecallCache(self.config.recall.cache_ttl_s, self.clock)

    @property
    def vectors(self) -> VectorStore:
        """L1; importing its engine at first use."""
        if self._vectors is None:
            self._vectors = self.make_vectors()
        return self._vectors

    @property
    def embedder(self) -> Embedder:
        """The configured embedding provider with its cache."""
        if self._embedder is None:
            self._embedder = self.make_embedder(configured(self.config))
        return self._embedder

    def embedder_by(self, settings: EmbeddingSettings) -> Embedder:
        """The provider that other settings name: those that stored vectors were made by."""
        known = self._earlier.get(settings)
        if known is None:
            known = self._earlier[settings] = self.make_embedder(settings)
        return known

    @property
    def reranker(self) -> Reranker | None:
        """The configured reranker; None when the config names none (whatever keys the environment holds) or switches
        the stage off.

        Raises:
            ConfigError: It cannot be used, e.g. its key is missing.
        """
        if not self.config.rerank.named or "rerank" in self.config.recall.off or self.make_reranker is None:
            return None
        if self._reranker is None:
            self._reranker = self.make_reranker()
        return self._reranker

    @property
    def chat(self) -> ChatModel | None:
        """The chat model; None when neither config nor environment names one (whatever keys lie there), or it is
        switched off.

        Raises:
            ConfigError: It cannot be used, e.g. its key is missing.
        """
        if self._chat is None:
            self._chat = self.make_chat()
        return self._chat

    def close(self) -> None:
        """Lets go of what was opened."""
        if self._chat is not None:
            self._chat.close()
        if self._reranker is not None:
            self._reranker.close()
        for embedder in (self._embedder, *self._earlier.values()):
            if embedder is not None:
                embedder.provider.close()

    def now(self) -> Now:
        """By what the life of cards is judged at this moment."""
        return Now(self.clock(), self.config, self.vitals.all())

    def visible_scopes(self) -> list[str] | None:
        """The scopes that whoever asks may see; None = all.

        An agent sees `global`, what is its own, and what the config grants it (`scopes.access`). What tells of the home
        as a whole (`status`, `verify`, `doctor`) does not ask: it counts, and shows no text.
        """
        if self.agent is None:
            return None
        return list(dict.fromkeys(["global", f"agent:{self.agent}", *self.config.scopes.access.get(self.agent, ())]))

    def commit(self, verb: str, plan: Plan, *, run: str = "", actor: str | None = None) -> Commit | None:
        """Changes the memory: one plan, one ledger line, and the graph with it.

        Slow work belongs before this call; the plan looks at revs again and does no I/O of its own.

        Args:
            verb: For the label of the lock.
            plan: Called once, under the writer lock.
            actor: Who decided it, where that is not whoever asks (`rules`, `cool-down`).

        Returns:
            What was committed; None when the plan changed nothing.

        Raises:
            BusyError: Another process holds the home too long.
            ReadOnlyHomeError, NewerHomeError, DamagedError: The home takes no changes.
        """
        self.require_writable()
        with self.locks.writing(verb):
            self.ledger.require_sound()
            with self.graph.reading_to_write() as reader:
                self.remove_strays(reader)
                events = plan(reader)
            if not events:
                return None
            now = self.clock()
            self.graph.require_room()
            commit = self.ledger.append(
                events, commit_id=self.ids.new_commit(now), at=now, actor=actor or self.actor, run=run
            )
            self.graph.apply([commit])
            self.staging.clear()
        self._fold_accesses()
        return commit

    def _fold_accesses(self) -> None:
        """Folds the access log once much has gathered; the change is acknowledged already, so nothing may fail here."""
        with contextlib.suppress(AlayaError, OSError):
            if self.vitals.unfolded_bytes() > _MUCH_UNFOLDED:
                self.vitals.fold(self.clock(), lambda: self.locks.writing("fold accesses", timeout_s=0))

    def tidy(self) -> None:
        """Removes what writers that were killed left of a commit that never was; waits for nobody."""
        if self.takes_changes and any(self.staging.files()):
            with (
                contextlib.suppress(BusyError),
                self.locks.writing("tidy", timeout_s=0),
                self.graph.reading_to_write() as reader,
            ):
                self.remove_strays(reader)

    def remove_strays(self, reader: GraphReader) -> None:
        """Removes staged files that the memory does not know; the caller holds the writer lock."""
        for staged in self.staging.files():
            if staged.kind == "session" and reader.session(staged.id) is None:
                self.sessions.remove(staged.path)
            elif staged.kind == "card" and not reader.cards([staged.id]):
                self.contexts.remove_file(self.contexts.path(staged.id).name)
            elif staged.kind == "source" and not reader.sessions_of_source(staged.id):
                self.sources.drop(staged.id)
        self.staging.clear()

    def require_writable(self) -> None:
        """Raises ReadOnlyHomeError or NewerHomeError if the home takes no changes."""
        if self.newer:
            raise NewerHomeError("this home was written by a newer version of Alaya", "update alaya-tui to change it")
        if self.read_only:
            raise ReadOnlyHomeError(f"{self.home.root} cannot be written", "check who owns it, or use another --home")

    @property
    def read_only(self) -> bool:
        """Whether this process may not write the home."""
        ledger = self.home.ledger
        return not os.access(ledger if ledger.exists() else self.home.raw, os.W_OK)

    @property
    def takes_changes(self) -> bool:
        """Whether this process may write the home, and knows all that stands in it."""
        return not (self.read_only or self.newer)

    def new_run(self) -> str:
        """An id for a run of several commits."""
        return f"run-{self.ids.new_commit(self.clock()).lower()}-{secrets.token_hex(2)}"
