"""certificate: a PEM file, or what a server shows in its handshake, read at the machine's own time."""

from __future__ import annotations

from runners.probes.arguments import Arguments
from runners.probes.certificate import judge
from runners.probes.seen import Seen
from runners.sim.machine import Machine
from runners.sim.network.http import HttpResponse
from runners.sim.probes.baseline import Baseline
from runners.sim.probes.http import ask
from runners.worlds import Observation


def certificate(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    """The first certificate of the file or of the server. Who signed it is not asked."""
    seen, url = Seen(), arguments.text("served")
    pem = _read(machine, arguments.require("path")) if url is None else _shown(machine, url, baseline, seen)
    key = arguments.text("matches_key")
    judge(arguments, pem, machine.clock.now, _read(machine, key) if key is not None else None, seen)
    return seen.observation()


def _read(machine: Machine, path: str) -> bytes | None:
    try:
        return machine.view().read(path)
    except OSError:
        return None


def _shown(machine: Machine, url: str, baseline: Baseline, seen: Seen) -> bytes | None:
    answer, stranger = ask(machine, url, baseline)
    if stranger is not None:
        seen.expect(False, stranger)
    if not isinstance(answer, HttpResponse) or answer.tls is None:
        return None
    return answer.tls.certificate.encode("utf-8", "surrogateescape")
