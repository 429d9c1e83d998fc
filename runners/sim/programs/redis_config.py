"""redis.conf: reading it with the server's own complaints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from runners.system import size

VERSION = "7.0.15"


class Settings(NamedTuple):
    port: int
    binds: tuple[str, ...]
    folder: str
    dump: str
    log: str
    password: str
    protected: bool
    maxmemory: int
    policy: str
    stop_writes: bool
    raw: Mapping[str, str]
    path: str


class ConfigError(Exception):
    """The text of a fatal configuration error, as redis prints it."""


KNOWN: Mapping[str, tuple[int, int]] = {
    "bind": (1, 16), "port": (1, 1), "dir": (1, 1), "dbfilename": (1, 1), "logfile": (1, 1), "requirepass": (1, 1),
    "protected-mode": (1, 1), "maxmemory": (1, 1), "maxmemory-policy": (1, 1), "stop-writes-on-bgsave-error": (1, 1),
    "save": (1, 99), "appendonly": (1, 1), "appendfilename": (1, 1), "appendfsync": (1, 1), "daemonize": (1, 1), "supervised": (1, 1),
    "pidfile": (1, 1), "loglevel": (1, 1), "databases": (1, 1), "timeout": (1, 1), "tcp-keepalive": (1, 1),
    "tcp-backlog": (1, 1), "always-show-logo": (1, 1), "rdbcompression": (1, 1), "rdbchecksum": (1, 1), "maxclients": (1, 1),
    "slowlog-log-slower-than": (1, 1), "slowlog-max-len": (1, 1), "lazyfree-lazy-eviction": (1, 1), "hz": (1, 1),
    "dynamic-hz": (1, 1), "activerehashing": (1, 1), "unixsocket": (1, 1), "unixsocketperm": (1, 1), "include": (1, 1),
    "rename-command": (2, 2), "replicaof": (2, 2), "masterauth": (1, 1), "replica-read-only": (1, 1), "latency-monitor-threshold": (1, 1),
    "notify-keyspace-events": (1, 1), "set-proc-title": (1, 1), "proc-title-template": (1, 1), "client-output-buffer-limit": (4, 4),
}  # fmt: skip


def parse(text: str, path: str, overrides: tuple[tuple[str, str], ...] = ()) -> Settings:
    """Read redis.conf. ConfigError as the server words it."""
    found: dict[str, str] = {}
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        words = re.findall(r'"[^"]*"|\S+', line)
        name, values = words[0].lower(), [word.strip('"') for word in words[1:]]
        problem = _problem(name, values)
        if problem:
            raise ConfigError(
                f"\n*** FATAL CONFIG FILE ERROR (Redis {VERSION}) ***\nReading the configuration file, at line {number}\n"
                f">>> '{line}'\n{problem}"
            )
        found[name] = " ".join(values)
    found |= dict(overrides)
    binds = tuple(name.lstrip("-") for name in found.get("bind", "* -::*").split() if "::" not in name)
    return Settings(
        int(found.get("port", "6379")),
        binds,
        found.get("dir", "./"),
        found.get("dbfilename", "dump.rdb"),
        found.get("logfile", ""),
        found.get("requirepass", ""),
        found.get("protected-mode", "yes") == "yes",
        _memory(found.get("maxmemory", "0")),
        found.get("maxmemory-policy", "noeviction"),
        found.get("stop-writes-on-bgsave-error", "yes") == "yes",
        found,
        path,
    )


def _problem(name: str, values: list[str]) -> str:
    wanted = KNOWN.get(name)
    if wanted is None:
        return "Bad directive or wrong number of arguments"
    if not wanted[0] <= len(values) <= wanted[1]:
        return "wrong number of arguments" if values else "Bad directive or wrong number of arguments"
    if name == "port" and not (values[0].isdigit() and int(values[0]) <= 65535):
        return (
            "argument must be between 0 and 65535 inclusive"
            if values[0].isdigit()
            else "argument couldn't be parsed into an integer"
        )
    if name in ("protected-mode", "appendonly", "daemonize", "stop-writes-on-bgsave-error") and values[0] not in (
        "yes",
        "no",
    ):
        return "argument must be 'yes' or 'no'"
    if name == "maxmemory" and not re.fullmatch(r"(?i)\d+([kmg]b?)?", values[0]):
        return "argument must be a memory value"
    return ""


def _memory(text: str) -> int:
    return size(re.sub(r"(?i)^(\d+)([kmg])b?$", lambda match: match[1] + match[2].upper(), text))


def overrides(words: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """`--name value` arguments after the file."""
    found = []
    for index, word in enumerate(words):
        if word.startswith("--") and index + 1 < len(words):
            found.append((word[2:], words[index + 1]))
    return tuple(found)
