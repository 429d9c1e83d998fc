"""The interface of executors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

from runners.records_io import Line
from runners.trials import Job, Works

Stopping: TypeAlias = Callable[[], bool]
"""Asked between chunks; once it says yes, no further jobs are begun and those under way are finished."""


class Executor(Protocol):
    """Plays jobs. `close` may be called at any time, and twice."""

    def start(self, works: Works) -> None:
        """Get ready: whatever takes long and is no playing. Raises HostError."""
        ...

    def play(self, jobs: Iterator[Job], stopping: Stopping) -> Iterator[Sequence[Line]]:
        """The lines of the jobs, in whatever order they are finished."""
        ...

    def close(self) -> None: ...
