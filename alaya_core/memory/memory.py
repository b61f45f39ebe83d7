"""Memory: opens a home, and does everything there is to do with it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from alaya_core.clock import Clock, IdSource, system_clock
from alaya_core.config import Config, agent_name, environment, home_path
from alaya_core.errors import BusyError, NewerHomeError
from alaya_core.memory.building import build_workspace
from alaya_core.memory.curating import Curating
from alaya_core.memory.finding import Finding
from alaya_core.memory.keeping import Keeping
from alaya_core.memory.tidying import Tidying
from alaya_core.models.answers import InitReport
from alaya_core.stores.erasing import JOURNAL
from alaya_core.stores.home import Home, check_home, create_home


class Memory(Finding, Curating, Keeping, Tidying):
    """The memory of one home. Safe to use from several threads, beside other processes.

    Made by `Memory.open`. Answers are plain data; the text in them is as it was stored and must pass through
    `alaya_core.text` before a terminal sees it.
    """

    @classmethod
    def init(cls, home: Path | str | None = None, *, environ: Mapping[str, str] | None = None) -> InitReport:
        """Makes a home; a second time changes nothing.

        Raises:
            UsageError: The folder holds something else.
        """
        place = Home(home_path(home, environment() if environ is None else environ))
        created = create_home(place)
        workspace = build_workspace(place, None, "human", system_clock, IdSource(), environ)
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
        workspace = build_workspace(place, asking, who, clock, ids or IdSource(), env)
        workspace.newer = newer
        if workspace.takes_changes and (place.raw / JOURNAL).exists():
            from alaya_core.services.erase import finish_erase

            with contextlib.suppress(BusyError):  # whoever is at work finishes it, or the next to open
                if finish_erase(workspace):
                    workspace.notices.append("an erase that had been cut off was finished")
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

    @property
    def notices(self) -> list[str]:
        """What happened to the stores while they were used that a person should know, in sentences."""
        return [*self._work.notices, *self._work.graph.notices]
