"""ssh: what the server that listens on a port offers to somebody who comes from outside."""

from __future__ import annotations

from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.sim.machine import Machine
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.probes.baseline import Baseline
from runners.sim.probes.vantage import client_address, own_address
from runners.sim.programs.sshd import offered
from runners.worlds import Observation

_PATIENCE = 30.0
_PASSWORDS, _KEYS = frozenset(("password", "keyboard-interactive")), frozenset(("publickey",))


def ssh(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    """By the configuration that the running server holds: a file that nobody has read yet closes no door."""
    seen, port, user = Seen(), arguments.integer("port") or 22, arguments.require("user")
    source = client_address(machine)
    link = connect(machine, own_address(machine, "localhost") or "", port, source=source, timeout=_PATIENCE)
    if isinstance(link, ConnectFailure):
        seen.expect(False, f"port {port}: {link.message}")
        return seen.observation()
    process = link.process
    if process is None or process.program != "sshd" or not baseline.genuine_listener("tcp", port, process):
        seen.expect(False, f"what answers on port {port} is not the SSH server")
        return seen.observation()
    ways = offered(machine, process, user, source)
    for expectation, kinds in (("passwords", _PASSWORDS), ("keys", _KEYS)):
        wanted = arguments.flag(expectation)
        if wanted is not None:
            seen.expect(wanted is not kinds.isdisjoint(ways), f"{user} may try: {', '.join(ways) or 'nothing'}")
    return seen.observation()
