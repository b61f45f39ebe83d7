"""Batches worked on by several threads, handed out as they finish."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from alaya_core.progress import CancelToken
from alaya_core.providers.pieces import Vectors

_LOOK_S = 0.1


class LinkedToken(CancelToken):
    """Set by its own `cancel`, or when the token it is linked to is set."""

    def __init__(self, outer: CancelToken | None) -> None:
        super().__init__()
        self._outer = outer

    def check(self) -> None:
        """See `CancelToken.check`."""
        if self._outer is not None:
            self._outer.check()
        super().check()


def run_batches(
    batches: Sequence[list[int]],
    work: Callable[[list[int], CancelToken], Vectors],
    workers: int,
    cancel: CancelToken | None,
) -> Iterator[tuple[list[int], Vectors]]:
    """Runs `work` on every batch and yields each result as it is ready.

    After a failure no further batch is begun; those under way are waited for and yielded, then the first failure is
    raised. After a cancel nothing is waited for: the threads are daemons, and stop at their next step.

    Args:
        batches: Row numbers; handed to `work` and back with its result.
        work: Gives the vectors of one batch; looks at the token it is given.
        workers: How many threads at most.
        cancel: The caller's token.

    Raises:
        AlayaError: The first failure of `work`.
        CancelledError: `cancel` was set.
    """
    stop = LinkedToken(cancel)
    todo = deque(batches)
    results: queue.Queue[tuple[list[int], Vectors] | BaseException | None] = queue.Queue()

    def serve() -> None:
        try:
            while True:
                stop.check()
                try:
                    rows = todo.popleft()
                except IndexError:
                    return
                results.put((rows, work(rows, stop)))
        except BaseException as exc:
            results.put(exc)
            stop.cancel()
        finally:
            results.put(None)

    running = min(workers, len(batches))
    for number in range(running):
        threading.Thread(target=serve, name=f"embed-{number}", daemon=True).start()
    failure: BaseException | None = None
    try:
        while running:
            try:
                result = results.get(timeout=_LOOK_S)
            except queue.Empty:
                if cancel is not None:
                    cancel.check()
                continue
            if result is None:
                running -= 1
            elif isinstance(result, BaseException):
                failure = failure or result
            else:
                yield result
    finally:
        stop.cancel()
    if failure is not None:
        raise failure
