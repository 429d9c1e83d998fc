"""What counts as a lasting fact of a Linux host, whichever kind of world it is looked at in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

WITH_HASHES = ("/etc/shadow", "/etc/shadow-")
"""Files that hold password hashes."""
SALTED = re.compile(rb"\$(?:y|gy|7|6|5|2[aby]|1)\$[^:\s]*")
"""A hash with its salt, as crypt(5) writes it: setting the same password again gives another."""
RUN_BY_CRON = ("/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly")
"""Folders whose scripts Debian's crontab runs."""
_DECIDES = re.compile(r" -j (?:ACCEPT|DROP|REJECT|RETURN|REDIRECT|DNAT|SNAT|MASQUERADE)\b")
_COUNTS = re.compile(r" -m (?:limit|hashlimit|connlimit|recent)\b")
"""Matches of iptables that do not say the same of every packet: two such rules let through more than one."""
_PACKETS = re.compile(r" \[\d+:\d+\]$")
"""Counters of packets go up by themselves."""


def firewall_facts(lines: Iterable[str]) -> dict[str, str]:
    """`firewall:TABLE:CHAIN` -> digest of its policy and of the rules that can decide something.

    lines: as iptables-save(8) prints them. A rule behind its equal never sees a packet.
    """
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    table = ""
    for line in lines:
        table = line[1:] if line.startswith("*") else table
        if line[:1] not in (":", "-"):
            continue
        rule = _PACKETS.sub("", line)
        if (table, rule) in seen and _DECIDES.search(rule) and not _COUNTS.search(rule):
            continue
        seen.add((table, rule))
        chain = rule[1:].split()[0] if rule[0] == ":" else rule.split()[1]
        key = f"firewall:{table}:{chain}"
        found[key] = hashlib.sha256((found.get(key, "") + rule).encode()).hexdigest()[:16]
    return found
