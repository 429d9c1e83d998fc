"""ssh: what the server that listens on a port offers to somebody who comes from outside."""

from __future__ import annotations

import socket

from runners.hosts.kernel import in_network
from runners.hosts.outside import Outside
from runners.hosts.sockets import connected_to
from runners.hosts.ssh import ways_in
from runners.probes.arguments import Arguments
from runners.probes.seen import nothing_held
from runners.probes.ssh import judge, port_of, stranger_on
from runners.worlds import Observation

_PATIENCE = 30.0
_SERVER = "sshd"


def ssh(outside: Outside, arguments: Arguments) -> Observation:
    """Asked from outside, by a client of our own that does not log in. The kernel says whether the connection ended at
    that port, and at the program that was the machine's SSH server while it was healthy: no packet filter leads
    elsewhere."""
    port = port_of(arguments)
    with in_network(outside.box.outside):
        link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with link:
        link.settimeout(_PATIENCE)
        try:
            link.bind((outside.client_source(), 0))
            link.connect((outside.box.plan.own, port))
            ways = ways_in(link, arguments.require("user"))
        except OSError as error:
            return nothing_held(f"port {port}: {error or type(error).__name__}")
        genuine = _is_genuine(outside, link.getsockname(), port)
    return judge(ways, arguments) if genuine else nothing_held(stranger_on(port))


def _is_genuine(outside: Outside, ours: tuple[str, int], port: int) -> bool:
    """Who has the other end of this connection?"""
    known = outside.baseline.names.get(_SERVER, frozenset())
    running = outside.processes()
    ends = tuple(connected_to(outside.pid, running, ours))
    by_pid = {one.pid: one for one in running}
    held = [by_pid[pid] for end in ends for pid in end.pids]
    return bool(held) and all(end.port == port for end in ends) and all(outside.program(one) in known for one in held)
