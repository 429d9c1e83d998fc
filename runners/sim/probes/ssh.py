"""ssh: what the server that listens on a port offers to somebody who comes from outside."""

from __future__ import annotations

from runners.probes.arguments import Arguments
from runners.probes.seen import nothing_held
from runners.probes.ssh import judge, port_of, stranger_on
from runners.sim.machine import Machine
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.probes.baseline import Baseline
from runners.sim.probes.vantage import client_address, own_address
from runners.sim.programs.sshd import offered
from runners.worlds import Observation

_PATIENCE = 30.0


def ssh(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    """By the configuration that the running server holds: a file that nobody has read yet closes no door."""
    port, source = port_of(arguments), client_address(machine)
    link = connect(machine, own_address(machine, "localhost") or "", port, source=source, timeout=_PATIENCE)
    if isinstance(link, ConnectFailure):
        return nothing_held(f"port {port}: {link.message}")
    process = link.process
    if process is None or process.program != "sshd" or not baseline.genuine_listener("tcp", port, process):
        return nothing_held(stranger_on(port))
    return judge(offered(machine, process, arguments.require("user"), source), arguments)
