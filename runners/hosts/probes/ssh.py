"""ssh: what the server that listens on a port offers to somebody who comes from outside."""

from __future__ import annotations

import socket

from runners.hosts.kernel import in_network
from runners.hosts.kernel_view import connected_to
from runners.hosts.outside import Outside
from runners.hosts.ssh import NOTHING_ASKED, ways_in
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.worlds import Observation

_PATIENCE = 30.0
_SERVER = "sshd"
_PASSWORDS = frozenset(("password", "keyboard-interactive", NOTHING_ASKED))
_KEYS = frozenset(("publickey", NOTHING_ASKED))


def ssh(outside: Outside, arguments: Arguments) -> Observation:
    """Asked from outside, by a client of our own that does not log in. The kernel says whether the connection ended at
    that port, and at the program that was the machine's SSH server while it was healthy: no packet filter leads
    elsewhere."""
    seen, port, user = Seen(), arguments.integer("port") or 22, arguments.require("user")
    with in_network(outside.box.outside):
        link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with link:
        link.settimeout(_PATIENCE)
        try:
            link.bind((outside.client_source(), 0))
            link.connect((outside.box.plan.own, port))
            ways = ways_in(link, user)
        except OSError as error:
            seen.expect(False, f"port {port}: {error or type(error).__name__}")
            return seen.observation()
        genuine = _is_genuine(outside, link.getsockname(), port)
    if not genuine:
        seen.expect(False, f"what answers on port {port} is not the SSH server")
        return seen.observation()
    for expectation, kinds in (("passwords", _PASSWORDS), ("keys", _KEYS)):
        wanted = arguments.flag(expectation)
        if wanted is not None:
            seen.expect(wanted is not kinds.isdisjoint(ways), f"{user} may try: {', '.join(ways) or 'nothing'}")
    return seen.observation()


def _is_genuine(outside: Outside, ours: tuple[str, int], port: int) -> bool:
    """Who has the other end of this connection?"""
    known = outside.baseline.names.get(_SERVER, frozenset())
    running = outside.processes()
    ends = tuple(connected_to(outside.pid, running, ours))
    by_pid = {one.pid: one for one in running}
    held = [by_pid[pid] for end in ends for pid in end.pids]
    return bool(held) and all(end.port == port for end in ends) and all(outside.program(one) in known for one in held)
