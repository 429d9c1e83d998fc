"""Installed packages: what dpkg and apt know of them."""

from __future__ import annotations

from typing import NamedTuple

from runners.sim.machine import Machine


class Package(NamedTuple):
    name: str
    version: str
    architecture: str
    summary: str


_BASE = (
    ("acl", "2.3.1-3", "access control list - utilities"),
    ("base-files", "12.4+deb12u8", "Debian base system miscellaneous "
"files"), ("bash", "5.2.15-2+b7", "GNU Bourne Again SHell"),
    ("coreutils", "9.1-1", "GNU core utilities"), ("cron", "3.0pl1-162", "process scheduling daemon"),
    ("curl", "7.88.1-10+deb12u8", "command line tool for transferring data with URL syntax"),
    ("dpkg", "1.21.22", "Debian package management system"), ("grep", "3.8-5", "GNU grep, egrep and fgrep"),
    ("iproute2", "6.1.0-3", "networking and traffic control "
"tools"), ("iptables", "1.8.9-2", "administration tools for packet filtering and NAT"),
    ("libc6", "2.36-9+deb12u9", "GNU C Library: Shared libraries"), ("logrotate", "3.21.0-1", "Log rotation utility"),
    ("lsof", "4.95.0-1", "utility to list open files"), ("nginx", "1.22.1-9", "small, powerful, "
"scalable web/proxy server"),
    ("openssh-server", "1:9.2p1-2+deb12u2", "secure shell (SSH) server, for secure access from remote machines"),
    ("openssl", "3.0.11-1~deb12u2", "Secure Sockets Layer toolkit - cryptographic utility"),
    ("passwd", "1:4.13+dfsg1-1+b1", "change and administer password and group data"),
    ("postgresql-15", "15.6-0+deb12u1", "The World's Most Advanced Open Source Relational Database"),
    ("postgresql-client-15", "15.6-0+deb12u1", "front-end programs for "
"PostgreSQL 15"), ("procps", "2:4.0.2-3", "/proc file system utilities"),
    ("psmisc", "23.6-1", "utilities that use the proc file "
"system"), ("redis-server", "5:7.0.15-1~deb12u1", "Persistent key-value database with network interface"),
    ("redis-tools", "5:7.0.15-1~deb12u1", "Persistent key-value database with network interface (client)"),
    ("rsyslog", "8.2302.0-1", "reliable system and kernel logging "
"daemon"), ("sed", "4.9-1", "GNU stream editor for filtering/transforming text"),
    ("sudo", "1.9.13p3-1+deb12u1", "Provide limited super user privileges to specific users"),
    ("systemd", "252.22-1~deb12u1", "system and service "
"manager"), ("util-linux", "2.38.1-5+deb12u1", "miscellaneous system utilities"),
)  # fmt: skip
OWNERS = {
    "apache2": "apache2",
    "nginx": "nginx",
    "psql": "postgresql-client-15",
    "redis-server": "redis-server",
    "redis-cli": "redis-tools",
    "curl": "curl",
    "sshd": "openssh-server",
    "ssh": "openssh-client",
    "systemctl": "systemd",
    "journalctl": "systemd",
    "ps": "procps",
    "top": "procps",
    "free": "procps",
    "kill": "procps",
    "bash": "bash",
    "dash": "dash",
    "sh": "dash",
    "ls": "coreutils",
    "cat": "coreutils",
    "df": "coreutils",
    "du": "coreutils",
    "grep": "grep",
    "sed": "sed",
    "ip": "iproute2",
    "ss": "iproute2",
    "iptables": "iptables",
    "mount": "mount",
    "useradd": "passwd",
    "sudo": "sudo",
    "cron": "cron",
    "crontab": "cron",
    "logrotate": "logrotate",
    "openssl": "openssl",
    "lsof": "lsof",
    "fuser": "psmisc",
    "killall": "psmisc",
    "dpkg": "dpkg",
    "rsyslogd": "rsyslog",
    "postgres": "postgresql-15",
    "getfacl": "acl",
    "setfacl": "acl",
    "setpriv": "util-linux",
}
"""Command -> the package that ships it."""


def packages(machine: Machine) -> list[Package]:
    """Those of the system's description over the base ones, by name."""
    found = {name: Package(name, version, "amd64", summary) for name, version, summary in _BASE}
    for entry in machine.spec.entries("packages"):
        name = str(entry.get("name", ""))
        known = found.get(name)
        summary = str(entry.get("summary") or (known.summary if known is not None else name))
        version = str(entry.get("version") or (known.version if known is not None else "1.0-1"))
        found[name] = Package(name, version, "amd64", summary)
    return [found[name] for name in sorted(found) if name]
