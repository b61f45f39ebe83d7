"""The error tree of Alaya.

AlayaError                what went wrong, what to do about it, which exit status says so
|- UsageError        2    the request itself is wrong
|- ConfigError       2    config.json or the environment is wrong
|- NotFoundError     3    no such card, session, home
|- AmbiguousIdError  3    a prefix that fits several ids
|- ConflictError     1    something changed since, and must not be overwritten
|- ProviderError     4    an embedding or chat service did not do its job
|  |- ProviderRefusedError      key or quota: asking again is pointless
|  `- VectorMismatchError       vectors of another model or dimension are stored
|- BusyError         5    another process holds what is needed
|- DamagedError      6    the home is damaged
|- NewerHomeError    6    the home was written by a newer version
|- DiskFullError     1    there is no room for it
|- ReadOnlyHomeError 1    the home cannot be written
`- SourceError       1    a file to ingest cannot be read or understood
"""

from __future__ import annotations

from typing import ClassVar


class AlayaError(Exception):
    """A failure that a person can understand and act on.

    Args:
        message: What went wrong, in one sentence.
        hint: What to do about it; may be empty.
    """

    code: ClassVar[str] = "failed"
    exit_status: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(AlayaError):
    """The request itself is wrong."""

    code = "usage"
    exit_status = 2


class ConfigError(AlayaError):
    """A setting is wrong; the message names the file and the key."""

    code = "config"
    exit_status = 2


class NotFoundError(AlayaError):
    """No such card, session, link or home."""

    code = "not_found"
    exit_status = 3


class AmbiguousIdError(AlayaError):
    """A prefix that fits several ids; the message lists them."""

    code = "ambiguous"
    exit_status = 3


class ConflictError(AlayaError):
    """What is to be changed was changed since by somebody else; the message lists what."""

    code = "conflict"


class ProviderError(AlayaError):
    """An embedding or chat service failed, after the retries that made sense."""

    code = "provider"
    exit_status = 4
    retryable = True


class ProviderRefusedError(ProviderError):
    """A key or a quota was refused: asking again is pointless."""

    code = "provider_refused"
    retryable = False


class VectorMismatchError(ProviderError):
    """The stored vectors come from another model, or have another dimension, than the one configured."""

    code = "vector_mismatch"
    retryable = False


class BusyError(AlayaError):
    """Another process holds the home; the message says who and since when."""

    code = "busy"
    exit_status = 5
    retryable = True


class DamagedError(AlayaError):
    """Something in the home cannot be trusted."""

    code = "damaged"
    exit_status = 6


class NewerHomeError(AlayaError):
    """The home was written by a newer version of Alaya: it can be read, not written."""

    code = "newer_home"
    exit_status = 6


class ReadOnlyHomeError(AlayaError):
    """The home cannot be written (permissions, read-only disk)."""

    code = "read_only"


class DiskFullError(AlayaError):
    """There is no room on the disk (or in a quota) for what was to be written."""

    code = "disk_full"

    def __init__(self, what: str) -> None:
        super().__init__(f"the disk is full: {what}", "free some space and repeat")


class SourceError(AlayaError):
    """A file to ingest cannot be read, or is of no known format."""

    code = "source"
