"""Memory: one object per home, a method per use case, and the only builder of stores and providers."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Literal, Self

from alaya_core.clock import Clock, IdSource, system_clock
from alaya_core.config import Config, agent_name, environment, home_path
from alaya_core.errors import NewerHomeError, UsageError
from alaya_core.models.answers import (
    CardAnswer,
    CardList,
    ConfigAnswer,
    DistillReport,
    DoctorAnswer,
    HistoryAnswer,
    IngestReport,
    InitReport,
    LinkAnswer,
    RebuildAnswer,
    RecallAnswer,
    StatusAnswer,
    TraceAnswer,
    VerifyAnswer,
)
from alaya_core.models.requests import CardChanges, Filters, RecallOptions
from alaya_core.progress import CancelToken, ProgressSink, silent
from alaya_core.services import browse
from alaya_core.services.workspace import Workspace
from alaya_core.stores.accesses import AccessLog
from alaya_core.stores.contexts import ContextStore
from alaya_core.stores.graph import GraphStore
from alaya_core.stores.home import Home, check_home, create_home
from alaya_core.stores.ledger import Ledger
from alaya_core.stores.locking import HomeLocks
from alaya_core.stores.sessions import SessionFiles
from alaya_core.stores.sources import SourceStore

if TYPE_CHECKING:
    from alaya_core.providers.embedding import EmbeddingSettings
    from alaya_core.services.embedding import Embedder
    from alaya_core.stores.vectors import VectorStore


class Memory:
    """The memory of one home. Safe to use from several threads, beside other processes.

    Made by `Memory.open`. Answers are plain data; the text in them is as it was stored and must pass through
    `alaya_core.text` before a terminal sees it.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._work = workspace

    @classmethod
    def init(cls, home: Path | str | None = None, *, environ: Mapping[str, str] | None = None) -> InitReport:
        """Makes a home; a second time changes nothing.

        Raises:
            UsageError: The folder holds something else.
        """
        place = Home(home_path(home, environment() if environ is None else environ))
        created = create_home(place)
        workspace = _workspace(place, None, "human", system_clock, IdSource(), environ)
        if not workspace.graph.path.exists() and not workspace.read_only:
            with workspace.locks.writing("init"):
                workspace.graph.catch_up()
            created.append(workspace.graph.path.relative_to(place.root).as_posix())
        return InitReport(home=str(place.root), created=created)

    @classmethod
    def open(
        cls,
        home: Path | str | None = None,
        *,
        agent: str | None = None,
        actor: str = "human",
        clock: Clock = system_clock,
        ids: IdSource | None = None,
        environ: Mapping[str, str] | None = None,
        create: bool = False,
    ) -> Memory:
        """Opens a home; imports no engine yet.

        Args:
            home: None = ALAYA_HOME, else `~/.alaya`.
            agent: Who asks and what they may see; None = ALAYA_AGENT, else the owner, who sees all.
            actor: Who is written into the ledger.
            clock: Now, in ms.
            environ: The environment; None = the process's.
            create: Whether to make the home if there is none.

        Raises:
            NotFoundError: There is no home there.
            UsageError: The folder is something else.
            ConfigError: Its config cannot be read.
            DamagedError: It cannot be trusted.
        """
        env = environment() if environ is None else environ
        place = Home(home_path(home, env))
        if create:
            create_home(place)
        newer = False
        try:
            check_home(place)
        except NewerHomeError:
            newer = True
        asking = agent_name(agent, env)
        who = f"agent:{asking}" if asking and actor == "human" else actor
        workspace = _workspace(place, asking, who, clock, ids or IdSource(), env)
        workspace.newer = newer
        return cls(workspace)

    def close(self) -> None:
        """Lets go of connections; nothing is lost without it."""
        self._work.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def home(self) -> Path:
        """The home's folder."""
        return self._work.home.root

    @property
    def config(self) -> Config:
        """The home's settings."""
        return self._work.config

    @property
    def read_only(self) -> bool:
        """Whether this process may not change the home."""
        return not self._work.takes_changes

    def ingest(
        self,
        paths: Sequence[Path | str],
        *,
        format: str | None = None,
        distill: bool = False,
        stdin: BinaryIO | None = None,
        progress: ProgressSink = silent,
        cancel: CancelToken | None = None,
    ) -> IngestReport:
        """Takes in sessions from files, folders and standard input (`-`), and makes their turns searchable.

        Args:
            format: The format of all of them; None = found out for each.
            distill: Whether to distill what came in at once.

        Raises:
            AlayaError: The home takes no changes. What a file does wrong is in the report.
        """
        from alaya_core.services.index import sync
        from alaya_core.services.ingest import ingest

        report = ingest(self._work, paths, format=format, stdin=stdin, progress=progress, cancel=cancel)
        if distill or self._work.config.distill.auto_distill:
            report.distilled = self.distill(progress=progress, cancel=cancel)
        else:
            # Also when nothing is new: an earlier ingest may have been killed before its turns were indexed.
            sync(self._work, patient=True, progress=progress, cancel=cancel)
        return report

    def distill(
        self,
        *,
        session: str | None = None,
        redo: bool = False,
        progress: ProgressSink = silent,
        cancel: CancelToken | None = None,
    ) -> DistillReport:
        """Makes cards of the turns not distilled yet.

        Args:
            session: Only this session; None = all.
            redo: Read again what was distilled before.

        Raises:
            NotFoundError: No such session.
        """
        from alaya_core.services.distill.run import distill
        from alaya_core.services.index import sync

        report = distill(self._work, session=session, redo=redo, progress=progress, cancel=cancel)
        sync(self._work, patient=True, progress=progress, cancel=cancel)
        report.vectors_pending = self._work.vectors.mark().pending
        return report

    def recall(self, query: str, options: RecallOptions | None = None) -> RecallAnswer:
        """Finds cards and passages, best first, with the reason for each place."""
        from alaya_core.services.recall.run import recall

        return recall(self._work, query, options or RecallOptions())

    def opened(self, card: str, *, query: str) -> None:
        """Counts one use of a card that was opened from a typed search."""
        from alaya_core.services.recall.run import opened

        opened(self._work, card, query)

    def context_block(self, answer: RecallAnswer) -> str:
        """A recall as a block for an agent's prompt, fenced and labelled as data."""
        from alaya_core.services.recall.context_block import render_context

        return render_context(answer.results, answer.passages, secrets.token_hex(8))

    def list_cards(
        self, filters: Filters | None = None, *, sort: str = "recent", limit: int = 50, offset: int = 0
    ) -> CardList:
        """A page of the cards that pass the filters.

        Raises:
            UsageError: An unknown order.
        """
        return browse.list_cards(self._work, filters or Filters(), sort=sort, limit=limit, offset=offset)

    def show(self, card: str, *, neighbours: int = 20) -> CardAnswer:
        """A card in full, with its neighbours.

        Raises:
            NotFoundError, AmbiguousIdError: No such card.
        """
        return browse.show(self._work, card, neighbours=neighbours)

    def trace(self, card: str, *, full: bool = False, reveal: bool = False) -> TraceAnswer:
        """The turns a card came from.

        Args:
            full: All turns of the sessions, the card's own marked.
            reveal: Secrets as they are: only for a person at a terminal.

        Raises:
            NotFoundError, AmbiguousIdError: No such card.
        """
        from alaya_core.services.trace import trace

        return trace(self._work, card, full=full, reveal=reveal)

    def history(self, card: str | None = None, *, limit: int = 50) -> HistoryAnswer:
        """What happened to the memory, or to one card, newest first.

        Raises:
            NotFoundError, AmbiguousIdError: No such card.
        """
        return browse.history(self._work, card, limit=limit)

    def capture(
        self,
        content: str,
        *,
        title: str | None = None,
        type: str = "fact",
        importance: float | None = None,
        confidence: float = 0.9,
        tags: Sequence[str] = (),
        entities: Sequence[str] = (),
        scope: str | None = None,
    ) -> CardAnswer:
        """A new card by hand.

        Raises:
            UsageError: No text, or a value that cannot be.
        """
        from alaya_core.services.curate import capture

        return capture(
            self._work,
            content,
            title=title,
            type=type,
            importance=importance,
            confidence=confidence,
            tags=tags,
            entities=entities,
            scope=scope,
        )

    def edit(self, card: str, changes: CardChanges, *, rev: int | None = None) -> CardAnswer:
        """Changes fields of a card.

        Args:
            rev: The revision the caller has seen; another one now is an error.

        Raises:
            NotFoundError, AmbiguousIdError, UsageError, AlayaError: No such card, a value that cannot be, or changed.
        """
        from alaya_core.services.curate import edit

        return edit(self._work, card, changes, rev)

    def pin(self, card: str) -> CardAnswer:
        """Keeps a card HOT and safe from forgetting."""
        return self._pinned(card, True)

    def unpin(self, card: str) -> CardAnswer:
        """Takes the pin out."""
        return self._pinned(card, False)

    def archive(self, card: str) -> CardAnswer:
        """Puts a card where only `--archived` finds it."""
        return self._state(card, "archive")

    def forget(self, card: str) -> CardAnswer:
        """Takes a card out of sight; `restore` brings it back."""
        return self._state(card, "forget")

    def restore(self, card: str) -> CardAnswer:
        """Makes an archived, superseded or forgotten card active again."""
        return self._state(card, "restore")

    def link(
        self, a: str, b: str, *, relation: str = "RELATES_TO", weight: float = 0.5, reason: str = ""
    ) -> LinkAnswer:
        """Links two cards.

        Raises:
            NotFoundError, AmbiguousIdError, UsageError: No such card, or a value that cannot be.
        """
        from alaya_core.services.curate import link

        return link(self._work, a, b, relation=relation, weight=weight, reason=reason)

    def unlink(self, a: str, b: str, *, relation: str | None = None) -> LinkAnswer:
        """Takes away the links between two cards (of one relation, or all)."""
        from alaya_core.services.curate import unlink

        return unlink(self._work, a, b, relation=relation)

    def status(self) -> StatusAnswer:
        """What each layer holds, and what needs attention."""
        from alaya_core.services.status import status

        return status(self._work)

    def verify(self, *, fix: bool = False) -> VerifyAnswer:
        """Compares the layers with each other."""
        from alaya_core.services.verify import verify

        return verify(self._work, fix=fix)

    def rebuild(
        self,
        what: Literal["all", "l1", "l2"] = "all",
        *,
        progress: ProgressSink = silent,
        cancel: CancelToken | None = None,
    ) -> RebuildAnswer:
        """Makes the views anew from `raw/`."""
        from alaya_core.services.rebuild import rebuild

        if what not in ("all", "l1", "l2"):
            raise UsageError(f"cannot rebuild '{what}'", "one of: all, l1, l2")
        return rebuild(self._work, what, progress, cancel)

    def cool_down(self) -> tuple[int, int]:
        """Moves cards between the tiers.

        Returns:
            How many turned COLD, how many were reheated.
        """
        from alaya_core.services.cool_down import cool_down

        return cool_down(self._work)

    def doctor(self) -> DoctorAnswer:
        """Whether this machine and this home can do the work."""
        from alaya_core.services.doctor import doctor

        return doctor(self._work)

    def settings(self) -> ConfigAnswer:
        """Every setting, where its value comes from, and what it means."""
        config = self._work.config
        return ConfigAnswer(path=str(self._work.home.config_file), settings=config.rows(), warnings=config.warnings)

    def warm_up(self) -> None:
        """Loads the engines and the embedding model, so that the next recall need not."""
        from alaya_core.services.index import sync
        from alaya_core.services.recall import run  # noqa: F401

        self._work.embedder.provider.warm_up()
        sync(self._work, patient=False)
        if self._work.vectors.exists:
            self._work.vectors.cards.count()
            self._work.vectors.matrix()

    def last_change(self) -> int:
        """The number of the last change of the memory, by whatever process; cheap."""
        return self._work.ledger.last_seq()

    def _pinned(self, card: str, pinned: bool) -> CardAnswer:
        from alaya_core.services.curate import set_pinned

        return set_pinned(self._work, card, pinned)

    def _state(self, card: str, verb: str) -> CardAnswer:
        from alaya_core.services.curate import set_state

        return set_state(self._work, card, verb)


def _workspace(
    place: Home, agent: str | None, actor: str, clock: Clock, ids: IdSource, environ: Mapping[str, str] | None
) -> Workspace:
    config = Config.load(place.config_file)
    locks = HomeLocks(place.locks, config.home.busy_timeout_s)
    ledger = Ledger(place.ledger)
    env = environment() if environ is None else environ

    def make_vectors() -> VectorStore:
        from alaya_core.stores.vectors import VectorStore

        return VectorStore(place.vectors)

    def make_embedder() -> Embedder:
        from alaya_core.providers.choose import make_provider
        from alaya_core.services.embedding import Embedder
        from alaya_core.stores.embedding_cache import EmbeddingCache

        settings = _embedding_settings(config)
        return Embedder(make_provider(settings, env), EmbeddingCache(place.cache / "embeddings.sqlite"), settings)

    return Workspace(
        home=place,
        config=config,
        clock=clock,
        ids=ids,
        agent=agent,
        actor=actor,
        locks=locks,
        ledger=ledger,
        graph=GraphStore(place.graphs, locks, ledger),
        sessions=SessionFiles(place.root, place.sessions),
        sources=SourceStore(place.sources),
        contexts=ContextStore(place.contexts),
        accesses=AccessLog(place.accesses, place.raw / "vitals.jsonl"),
        make_vectors=make_vectors,
        make_embedder=make_embedder,
        embedding_host=_embedding_host(config),
    )


def _embedding_host(config: Config) -> str | None:
    """The host that text is sent to; None with the built-in model."""
    if config.embedding.provider == "bundled":
        return None
    from urllib.parse import urlsplit

    from alaya_core.providers.presets import PRESETS

    preset = PRESETS.get(config.embedding.provider)
    return urlsplit(config.embedding.base_url or (preset.base_url if preset else "") or "").netloc or None


def _embedding_settings(config: Config) -> EmbeddingSettings:
    from alaya_core.providers.embedding import EmbeddingSettings

    return EmbeddingSettings(**config.embedding.model_dump())
