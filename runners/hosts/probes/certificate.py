"""certificate: a PEM file of the world, or what a server shows to who connects from outside."""

from __future__ import annotations

import ssl

from runners.hosts.outside import Outside
from runners.hosts.probes.network import reach, secured
from runners.probes.arguments import Arguments
from runners.probes.certificate import judge
from runners.probes.seen import Seen
from runners.worlds import Observation


def certificate(outside: Outside, arguments: Arguments) -> Observation:
    """The first certificate of the file or of the server. Who signed it is not asked."""
    seen, url = Seen(), arguments.text("served")
    pem = outside.files.read(arguments.require("path")) if url is None else _shown(outside, url, seen)
    key = arguments.text("matches_key")
    judge(arguments, pem, outside.now(), outside.files.read(key) if key is not None else None, seen)
    return seen.observation()


def _shown(outside: Outside, url: str, seen: Seen) -> bytes | None:
    """OSError where nobody can be asked."""
    where = reach(outside, url)
    if where.stranger is not None:
        seen.expect(False, where.stranger)
        return None
    with secured(where.connected(outside), where.host) as link:
        shown = link.getpeercert(binary_form=True)
    return ssl.DER_cert_to_PEM_cert(shown).encode() if shown else None
