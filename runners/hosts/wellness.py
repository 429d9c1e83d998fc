"""From booted to well: everything listens and answers, and what that is like is remembered. And to rest again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from runners.hosts.dbus import DBusError
from runners.hosts.kernel_view import worked
from runners.hosts.outside import Outside
from runners.hosts.probes.evaluate import evaluate
from runners.hosts.sockets import listening
from scenario_dsl.model import Probe

_SECONDS = 60.0
_PAUSE = 0.01
_QUIET = 0.2
"""Seconds that a machine is watched for, to see whether it rests."""
_IDLE = 0.05
"""As much of a processor as its daemons may use then: they look after themselves now and then."""


def wait_until_well(
    outside: Outside, healthy: Sequence[Probe], asked: Sequence[Probe], together: Callable[[], None]
) -> None:
    """Until these probes hold; then the machine is remembered as it is, and asked what its usual answers are.

    A unit is active before its program listens, on a busy machine by seconds. Nobody is asked for anything before all
    listen, and `together` has returned: what cannot be served yet would be written into their logs. Raises DBusError.
    """
    until = time.monotonic() + _SECONDS
    sockets = tuple(probe for probe in healthy if probe.type == "socket")
    wanted = {
        (str(probe.arguments.get("protocol") or "tcp"), probe.arguments.get("port"))
        for probe in sockets
        if probe.arguments.get("listening")
    }
    while not wanted <= listening(outside.pid) and time.monotonic() < until:
        _pause(outside)
    together()

    late = tuple(probe for probe in healthy if probe not in sockets)
    with ThreadPoolExecutor(max(1, len(late))) as side_by_side:
        while late:
            said = tuple(side_by_side.map(partial(evaluate, outside), late))
            late = tuple(probe for probe, seen in zip(late, said, strict=True) if not seen.holds)
            if late and time.monotonic() > until:
                raise _unwell(next(seen.detail for seen in said if not seen.holds))
            if late:
                _pause(outside)
    # Looking at all processes and sockets takes as long as a question, so it is done once; and not before all have
    # answered, since what listens by then is what belongs there.
    with outside.still():
        for probe in sockets:
            if not (seen := evaluate(outside, probe)).holds:
                raise _unwell(seen.detail)
        outside.remember()
        for probe in asked:
            if probe not in healthy:
                evaluate(outside, probe)


def wait_until_at_rest(outside: Outside, seconds: float) -> None:
    """Until what was asked of the machine, or done to it, has had its consequences: it hardly works any more, and
    systemd changes nothing. At most so many seconds, for a service that is started again and again has no end."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        before = worked(outside.pid)
        quiet = min(_QUIET, left)
        time.sleep(quiet)
        if worked(outside.pid) - before <= _IDLE * quiet and not outside.manager.changing():
            return


def _pause(outside: Outside) -> None:
    if not outside.box.runs():
        raise DBusError("the machine ended before it was well")
    time.sleep(_PAUSE)


def _unwell(detail: str) -> DBusError:
    return DBusError(f"the machine is up and not well; {detail}")
