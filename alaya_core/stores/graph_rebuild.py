"""Builds generations of the graph from the ledger, beside the living one or in its place."""

from __future__ import annotations

from pathlib import Path

from alaya_core.errors import AlayaError, ConfigError
from alaya_core.stores.files import make_directory
from alaya_core.stores.generations import Generations
from alaya_core.stores.graph_build import Told, build_graph, extend_graph, ledger_shape, only_grew
from alaya_core.stores.graph_engine import engine_of, require_engine
from alaya_core.stores.graph_probe import Trust
from alaya_core.stores.ledger import Ledger
from alaya_core.stores.locking import HomeLocks


class GraphRebuild:
    """What makes a generation, and lets it live.

    Args:
        folder: `kuzu/` of a home; generations: which of its files lives.
        trust: Which state of a file is known to be readable.
        configured: The engine that config names.
    """

    def __init__(
        self,
        folder: Path,
        generations: Generations,
        locks: HomeLocks,
        ledger: Ledger,
        trust: Trust,
        configured: str,
    ) -> None:
        self._folder = folder
        self._generations = generations
        self._locks = locks
        self._ledger = ledger
        self._trust = trust
        self._configured = configured

    def engine(self) -> str:
        """The engine to build with: the configured one, or where that one cannot be used the living graph's.

        Raises:
            ConfigError: Neither can be used here.
        """
        try:
            require_engine(self._configured)
        except ConfigError:
            living = engine_of(self._generations.current)
            require_engine(living)
            return living
        return self._configured

    def beside(self, engine: str, on_commits: Told) -> bool:
        """Builds a generation beside the living one; the caller holds the lock of rebuilding.

        Returns:
            Whether it lives now. It does not when the ledger was rewritten or the graph replaced under its hands.
        """
        living, shape = self._generations.current, ledger_shape(self._ledger)
        fresh = self._generations.next(f".{engine}")

        def is_good() -> bool:
            return (
                self._generations.current == living and fresh.exists() and only_grew(shape, ledger_shape(self._ledger))
            )

        try:
            build_graph(fresh, self._ledger, on_commits)
            extend_graph(fresh, self._ledger, on_commits)
            with self._locks.writing("rebuild l2"):
                if not is_good():
                    return False
                extend_graph(fresh, self._ledger, on_commits)
                self._switch(fresh)
            return True
        except (AlayaError, OSError):
            if is_good():
                raise
            return False
        finally:
            if self._generations.current != fresh:
                self._generations.remove(fresh)

    def without_living(self, engine: str, on_commits: Told) -> str:
        """Moves the living graph out of the way and builds another; the caller holds the writer lock.

        Returns:
            Where the old one lies now, for people.
        """
        living = self._generations.current
        with self._locks.graph_writing():
            aside = self._generations.set_aside(living)
        try:
            self.build(engine, on_commits)
        except BaseException:
            with self._locks.graph_writing():
                self._generations.rename(aside, living)
            raise
        return f"{self._folder.name}/{aside.name}"

    def build(self, engine: str, on_commits: Told) -> None:
        """Builds a generation and switches to it; the caller holds the writer lock."""
        make_directory(self._folder)
        if self._generations.current.exists():
            fresh = built = self._generations.next(f".{engine}")
        else:  # under its own name it would be the living one from its first byte on
            fresh = self._generations.first(f".{engine}")
            built = self._generations.unborn(fresh)
        try:
            build_graph(built, self._ledger, on_commits)
            self._switch(fresh, built)
        except BaseException:
            self._generations.remove(built)
            raise

    def _switch(self, fresh: Path, built: Path | None = None) -> None:
        """Lets a generation live, and removes the others; no reader is in one of them by then."""
        with self._locks.graph_writing():
            if built is not None and built != fresh:
                self._generations.rename(built, fresh)
            self._generations.switch(fresh)
            self._trust.remember(fresh)
            self._generations.remove_others()
