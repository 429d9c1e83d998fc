"""ssh: what the server that listens on a port offers to somebody who comes from outside."""

from __future__ import annotations

from collections.abc import Sequence

from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.worlds import Observation

NOTHING_ASKED = "none"
"""The way in of somebody who is let in without having shown anything."""
_PASSWORDS = frozenset(("password", "keyboard-interactive", NOTHING_ASKED))
_KEYS = frozenset(("publickey", NOTHING_ASKED))


def port_of(arguments: Arguments) -> int:
    return arguments.integer("port") or 22


def stranger_on(port: int) -> str:
    return f"what answers on port {port} is not the SSH server"


def judge(ways: Sequence[str], arguments: Arguments) -> Observation:
    """`ways`: the methods that the server says can go on, RFC 4252."""
    seen, user = Seen(), arguments.require("user")
    for expectation, kinds in (("passwords", _PASSWORDS), ("keys", _KEYS)):
        wanted = arguments.flag(expectation)
        if wanted is not None:
            seen.expect(wanted is not kinds.isdisjoint(ways), f"{user} may try: {', '.join(ways) or 'nothing'}")
    return seen.observation()
