"""Worlds fail in one way: what their backend cannot do is the infrastructure's failure, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from runners.worlds import WorldError

Given = ParamSpec("Given")
Result = TypeVar("Result")
Work = Callable[Given, Result]


def guarded(what: str, *also: type[BaseException]) -> Callable[[Work[Given, Result]], Work[Given, Result]]:
    """For methods of a LiveWorld. what: is said to have failed; also: failures that are no `Exception`."""
    failures: tuple[type[BaseException], ...] = (Exception, *also)

    def guard(work: Work[Given, Result]) -> Work[Given, Result]:
        @wraps(work)
        def done(*given: Given.args, **named: Given.kwargs) -> Result:
            try:
                return work(*given, **named)
            except (WorldError, KeyboardInterrupt):
                raise
            except failures as error:
                raise WorldError(f"{what} failed: {type(error).__name__}: {error}") from error

        return done

    return guard
