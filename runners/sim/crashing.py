"""What fails inside the simulation because of what an agent wrote or made is the agent's world, not our failure.

A real program given something it cannot bear dies, and the machine goes on. So do these: an agent must not be able to
end its episode as a failure of the infrastructure, which costs it nothing. The warning tells us of it, and makes our
tests fail.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any


def unforeseen(what: str, error: Exception) -> None:
    """Somebody has to look at this."""
    warnings.warn(f"{what} crashed: {error!r}", RuntimeWarning, stacklevel=3)


def contained(method: Callable[..., Any], instead: object) -> Callable[..., Any]:
    """A method of a program, called with the machine and the process: where it fails, the process dies by a
    segmentation fault, and `instead` is its answer."""

    @wraps(method)
    def done(program: Any, machine: Any, process: Any, *given: Any) -> Any:
        try:
            return method(program, machine, process, *given)
        except Exception as error:
            unforeseen(process.name, error)
            machine.handlers["process-crashes"](machine, process.pid)
            return instead

    return done
