"""What a terminal may do to the app: send bytes that are no UTF-8, or end while the screen is open."""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from textual.driver import Driver

ENDING_SIGNALS = ("SIGTERM", "SIGHUP")
LAST_WORDS_S = 3.0
"""How long putting a terminal right may take; one that is gone takes for ever."""


def bear_any_bytes(driver: type[Driver]) -> type[Driver]:
    """Makes a driver show bytes that are no UTF-8 as replacement characters, where Textual's own would crash."""
    for part in driver.__mro__:
        names = vars(sys.modules[part.__module__])
        if names.get("getincrementaldecoder") is codecs.getincrementaldecoder:
            names["getincrementaldecoder"] = _forgiving_decoder
    return driver


def _forgiving_decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


def leave_on_signals(leave: Callable[[int], object]) -> None:
    """Calls `leave` with the exit status when the process is told to end, so that the terminal is put right first.

    To be called on the event loop; where it knows no signals (Windows), nothing happens.
    """
    loop = asyncio.get_running_loop()
    for name in ENDING_SIGNALS:
        number = getattr(signal, name, None)
        if number is not None:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, _leave_in_time, leave, 128 + number)


def _leave_in_time(leave: Callable[[int], object], status: int) -> None:
    """Leaves the proper way, or in a moment the hard one."""
    last = threading.Timer(LAST_WORDS_S, os._exit, (status,))
    last.daemon = True
    last.start()
    leave(status)
