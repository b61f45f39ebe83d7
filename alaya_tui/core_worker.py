"""The one way from a screen to the core: a job in a thread, its answer as a message, stale answers dropped."""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from textual.message import Message

from alaya_core.errors import AlayaError, NotFoundError

if TYPE_CHECKING:
    from textual.dom import DOMNode as _Node

    from alaya_core.memory import Memory
else:
    _Node = object  # Textual takes the names of a style sheet from the first base that is a node: it must be the screen

T = TypeVar("T")
logger = logging.getLogger("alaya.tui")
logger.addHandler(logging.NullHandler())

MAX_THREADS = 2
"""Threads one purpose may keep busy; of what is asked beyond, only the newest waits."""

_busy: set[threading.Thread] = set()
_request_ids = itertools.count(1)


class CoreAnswered(Message):
    """A job ended well.

    Attributes:
        purpose: What it was for; a newer request of the same purpose makes an older answer stale.
    """

    def __init__(self, purpose: str, request: int, value: object, deliver: Callable[[Any], object]) -> None:
        super().__init__()
        self.purpose = purpose
        self.request = request
        self.value = value
        self.deliver = deliver


class CoreFailed(Message):
    """A job ended with an error."""

    def __init__(self, purpose: str, request: int, error: Exception, deliver: Callable[[Any], object] | None) -> None:
        super().__init__()
        self.purpose = purpose
        self.request = request
        self.error = error
        self.deliver = deliver


class CoreCalls(_Node):
    """Mixed into whatever asks the core something: the app and its screens."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._newest: dict[str, int] = {}
        self._open: set[str] = set()
        self._threads: Counter[str] = Counter()
        self._waiting: dict[str, Callable[[], object]] = {}

    def ask(
        self,
        purpose: str,
        job: Callable[[Memory], T],
        deliver: Callable[[T], object],
        *,
        failed: Callable[[Exception], object] | None = None,
    ) -> int:
        """Runs a job off the event loop.

        A thread cannot be stopped, so a newer request does not stop the older: it makes its answer stale. So that fast
        typing over a slow memory does not fill the machine with threads, few run at once and only the newest waits.

        Args:
            purpose: What it is for.
            job: Called with the memory in a thread.
            deliver: Called with the answer on the event loop, unless a newer request was made meanwhile.
            failed: Called with the error instead of the app's toast or window.

        Returns:
            The number of the request.
        """
        return self.ask_without_memory(purpose, lambda: job(self._memory()), deliver, failed=failed)

    def ask_without_memory(
        self,
        purpose: str,
        job: Callable[[], T],
        deliver: Callable[[T], object],
        *,
        failed: Callable[[Exception], object] | None = None,
    ) -> int:
        """`ask` for a job that needs no memory, as opening one."""
        request = next(_request_ids)
        self._newest[purpose] = request
        self._open.add(purpose)
        start = partial(self._start, purpose, request, job, deliver, failed)
        if self._threads[purpose] < MAX_THREADS:
            start()
        else:
            self._waiting[purpose] = start
        return request

    def drop(self, purpose: str) -> None:
        """Makes every answer of this purpose that is still to come stale."""
        self._newest[purpose] = next(_request_ids)
        self._open.discard(purpose)
        self._waiting.pop(purpose, None)

    def is_waiting_for(self, *purposes: str) -> bool:
        """Whether an answer of one of these purposes is still to come."""
        return any(purpose in self._open for purpose in purposes)

    def _memory(self) -> Memory:
        memory = getattr(self.app, "memory", None)
        if memory is None:
            raise RuntimeError("the memory is not open yet")
        return cast("Memory", memory)

    def _start(
        self,
        purpose: str,
        request: int,
        job: Callable[[], T],
        deliver: Callable[[T], object],
        failed: Callable[[Exception], object] | None,
    ) -> None:
        self._threads[purpose] += 1

        async def carry() -> None:
            try:
                value = await _in_thread(job)
            except Exception as error:
                self.post_message(CoreFailed(purpose, request, error, failed))
            else:
                self.post_message(CoreAnswered(purpose, request, value, deliver))

        self.run_worker(carry(), name=f"{purpose} {request}", group=purpose, exit_on_error=False)

    def _ended(self, purpose: str) -> None:
        self._threads[purpose] -= 1
        if start := self._waiting.pop(purpose, None):
            start()

    def on_core_answered(self, message: CoreAnswered) -> None:
        """Hands the answer over, if nobody has asked again."""
        message.stop()
        self._ended(message.purpose)
        if self._newest.get(message.purpose) == message.request:
            self._open.discard(message.purpose)
            message.deliver(message.value)

    def on_core_failed(self, message: CoreFailed) -> None:
        """Tells the person, if the question still matters."""
        message.stop()
        self._ended(message.purpose)
        if not isinstance(message.error, AlayaError):
            logger.error("%s failed", message.purpose, exc_info=message.error)
        if self._newest.get(message.purpose) != message.request:
            return
        self._open.discard(message.purpose)
        if message.deliver is not None:
            message.deliver(message.error)
        else:
            cast("Any", self.app).show_error(message.error)


async def _in_thread(job: Callable[[], T]) -> T:
    """Runs the job in a daemon thread: quitting never waits for a search that nobody will see."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(put: Callable[[Any], None], value: object) -> None:
        if not future.done():
            put(value)

    def body() -> None:
        try:
            outcome: tuple[Callable[[Any], None], object] = (future.set_result, job())
        except BaseException as error:
            ordinary = isinstance(error, Exception) and not isinstance(error, StopIteration)  # which a future refuses
            outcome = (future.set_exception, error if ordinary else RuntimeError(repr(error)))
        finally:
            _busy.discard(threading.current_thread())
        with suppress(RuntimeError):  # the loop is closed: the person has left
            loop.call_soon_threadsafe(settle, *outcome)

    thread = threading.Thread(target=body, name="alaya-core", daemon=True)
    _busy.add(thread)
    thread.start()
    return await future


def wait_for_threads(seconds: float) -> bool:
    """Waits a moment for the jobs that still run; says whether all have ended."""
    deadline = time.monotonic() + seconds
    for thread in list(_busy):
        thread.join(max(0.0, deadline - time.monotonic()))
    return not _busy


def newest_change(memory: Memory) -> int:
    """The number of the last change.

    Raises:
        NotFoundError: The home is gone; what is read of it would look like an empty memory.
    """
    for _ in range(2):  # also when it goes while it is being read
        if not memory.home.is_dir():
            hint = "put it back, or leave and open another; what is on the screen was read before"
            raise NotFoundError(f"the home at {memory.home} is gone", hint)
        newest = memory.last_change()
    return newest
