"""Processes that work for another one end when that one is interrupted: only a terminal interrupts all of them."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


class _Standing:
    """Of this process: is it at work, and has it been asked to end?"""

    works = False
    asked = False


def expect() -> None:
    """In a process that works for another: from now on it can be asked to end."""
    signal.signal(signal.SIGTERM, _end)


def until_asked(work: Callable[..., Result], *given: object) -> Result:
    """Do the work. Raises KeyboardInterrupt, once, when this process is asked to end, and where it was before."""
    if _Standing.asked:
        raise KeyboardInterrupt
    _Standing.works = True
    try:
        return work(*given)
    finally:
        _Standing.works = False


def ask() -> None:
    """Ask all processes that work for this one to end; they take away what they have open."""
    for worker in multiprocessing.active_children():
        worker.terminate()


def _end(_number: int, _frame: object) -> None:
    works, _Standing.works, _Standing.asked = _Standing.works, False, True
    if works:
        raise KeyboardInterrupt
