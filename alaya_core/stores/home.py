"""Where everything lies in a home, and whether a folder is one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from alaya_core.errors import DamagedError, NewerHomeError, NotFoundError, UsageError
from alaya_core.stores.files import make_directory, write_file

FORMAT = 1
"""The version of the layout and of ledger lines that this program writes."""


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of one home."""

    root: Path

    @property
    def config_file(self) -> Path:
        return self.root / "config.json"

    @property
    def raw(self) -> Path:
        return self.root / "raw"

    @property
    def format_file(self) -> Path:
        return self.raw / "FORMAT"

    @property
    def sources(self) -> Path:
        return self.raw / "sources"

    @property
    def sessions(self) -> Path:
        return self.raw / "sessions"

    @property
    def contexts(self) -> Path:
        return self.raw / "contexts"

    @property
    def ledger(self) -> Path:
        return self.raw / "ledger"

    @property
    def accesses(self) -> Path:
        return self.raw / "accesses"

    @property
    def set_aside(self) -> Path:
        """What `verify` took out of the raw layer, for whoever wants to look."""
        return self.raw / "set-aside"

    @property
    def graphs(self) -> Path:
        return self.root / "kuzu"

    @property
    def vectors(self) -> Path:
        return self.root / "lancedb"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def runs(self) -> Path:
        """What runs of introspect did, an event a line; made when the first of them begins."""
        return self.root / "runs"

    @property
    def prompts(self) -> Path:
        """Templates of what a model is told."""
        return self.root / "prompts"

    @property
    def snapshot(self) -> Path:
        """The working memory, to be put before a model."""
        return self.root / "snapshot.md"

    @property
    def locks(self) -> Path:
        return self.root / "locks"

    @property
    def directories(self) -> tuple[Path, ...]:
        """Every directory that a home has from its first day."""
        return (
            self.root,
            self.raw,
            self.sources,
            self.sessions,
            self.contexts,
            self.ledger,
            self.accesses,
            self.graphs,
            self.vectors,
            self.cache,
            self.logs,
            self.locks,
        )


def create_home(home: Home) -> list[str]:
    """Makes what is missing of a home; a second time changes nothing.

    Returns:
        What was made, as paths relative to the home.

    Raises:
        UsageError: The folder holds something that is not a home.
    """
    root = home.root
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is not a folder", "name another with --home")
    if root.is_dir() and not _is_home(home) and any(root.iterdir()):
        raise UsageError(f"{root} holds other files and is not a home of Alaya", "name an empty or new folder")
    if _is_home(home):
        check_home(home)
    created = [_shown(path, root) for path in home.directories if make_directory(path)]
    if not home.format_file.exists():
        write_file(home.format_file, f"{FORMAT}\n".encode())
        created.append(_shown(home.format_file, root))
    if not home.config_file.exists():
        write_file(home.config_file, b"{}\n")
        created.append(_shown(home.config_file, root))
    return created


def check_home(home: Home) -> None:
    """Makes sure that a folder is a home this version may use.

    Raises:
        NotFoundError: There is nothing there.
        UsageError: It is something else.
        NewerHomeError: A newer version wrote it.
        DamagedError: Its format file cannot be read.
    """
    if not home.root.exists() or (home.root.is_dir() and not any(home.root.iterdir())):
        raise NotFoundError(f"there is no home at {home.root}", "make one with `alaya init`, or try `alaya demo`")
    if not _is_home(home):
        raise UsageError(f"{home.root} is not a home of Alaya", "name another with --home, or make one: `alaya init`")
    if home_format(home) > FORMAT:
        raise NewerHomeError(f"{home.root} was written by a newer version of Alaya", "update alaya-tui")


def home_format(home: Home) -> int:
    """The format a home was written in.

    Raises:
        DamagedError: The file that says so cannot be read.
    """
    try:
        return int(home.format_file.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        return FORMAT
    except (OSError, ValueError) as error:
        raise DamagedError(f"{home.format_file} cannot be read: {error}", "it should hold a version number") from error


def safe_file_name(identifier: str) -> str:
    """A file name for an id that anybody may have written: readable where possible, unique always.

    Ids of plain lower-case letters, digits, `.`, `_` and `-` stand as they are; all others are shortened to such
    characters and told apart by a hash, so that no id can leave its folder or meet another on a case-blind disk. Ids
    that look so shortened are shortened too, else one could be written to take another's place.
    """
    plain = re.fullmatch(r"[a-z0-9_-][a-z0-9._~-]{0,119}", identifier) and not re.search(_SHORTENED, identifier)
    if plain and not identifier.endswith("."):
        stem = identifier.split(".")[0]
        if stem not in _RESERVED and not re.fullmatch(r"(com|lpt)[0-9]", stem):
            return identifier
    import hashlib

    readable = re.sub(r"[^a-z0-9_-]+", "-", identifier.lower()[:200]).strip("-")[:60] or "id"
    digest = hashlib.sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable}-{digest[:16]}"


_SHORTENED = r"-[0-9a-f]{16}\Z"
_RESERVED = {"con", "prn", "aux", "nul"}


def _is_home(home: Home) -> bool:
    return home.format_file.is_file() or home.ledger.is_dir()


def _shown(path: Path, root: Path) -> str:
    return "." if path == root else path.relative_to(root).as_posix() + ("/" if path.is_dir() else "")
