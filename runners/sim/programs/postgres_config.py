"""postgresql.conf and pg_hba.conf: reading them with the server's own complaints."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from runners.sim.files.view import FileView

DEFAULTS: Mapping[str, str] = {
    "listen_addresses": "localhost", "port": "5432", "max_connections": "100", "shared_buffers": "128MB",
    "superuser_reserved_connections": "3", "unix_socket_directories": "/var/run/postgresql", "data_directory": "",
    "hba_file": "", "ident_file": "", "external_pid_file": "", "logging_collector": "off", "log_directory": "log",
    "log_filename": "postgresql-%Y-%m-%d_%H%M%S.log", "log_line_prefix": "%m [%p] ", "cluster_name": "", "ssl": "off",
    "ssl_cert_file": "server.crt", "ssl_key_file": "server.key", "log_checkpoints": "on", "checkpoint_timeout": "5min",
    "max_wal_size": "1GB", "min_wal_size": "80MB", "work_mem": "4MB", "maintenance_work_mem": "64MB",
    "effective_cache_size": "4GB", "wal_level": "replica", "max_wal_senders": "10", "fsync": "on",
    "synchronous_commit": "on", "autovacuum": "on", "timezone": "Etc/UTC", "log_timezone": "Etc/UTC",
    "datestyle": "iso, mdy", "lc_messages": "C.UTF-8", "default_text_search_config": "pg_catalog.english",
    "log_min_duration_statement": "-1", "log_connections": "off", "log_disconnections": "off", "log_lock_waits": "off",
    "dynamic_shared_memory_type": "posix", "password_encryption": "scram-sha-256", "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0", "random_page_cost": "4", "server_version": "15.6 (Debian 15.6-0+deb12u1)",
    "archive_mode": "off", "archive_command": "", "hot_standby": "on", "max_worker_processes": "8", "log_statement": "none",
    "stats_temp_directory": "", "lc_monetary": "C.UTF-8", "lc_numeric": "C.UTF-8", "lc_time": "C.UTF-8",
    "log_destination": "stderr", "log_rotation_age": "1d", "log_rotation_size": "10MB", "log_truncate_on_rotation": "off",
    "log_temp_files": "-1", "wal_buffers": "4MB", "tcp_keepalives_idle": "0", "log_file_mode": "0600",
}  # fmt: skip
_INTEGERS = frozenset({"port", "max_connections", "superuser_reserved_connections", "max_wal_senders"})
_FLAGS = frozenset(
    {"logging_collector", "ssl", "fsync", "autovacuum", "log_checkpoints", "log_connections", "hot_standby"}
)


class ConfigProblem(NamedTuple):
    """One LOG line about a configuration file."""

    message: str


@lru_cache(maxsize=128)
def parse(text: str, path: str) -> tuple[Mapping[str, str], tuple[ConfigProblem, ...]]:
    """The settings that the text makes, and what is wrong with it."""
    found: dict[str, str] = {}
    problems: list[ConfigProblem] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(r"([A-Za-z_][\w.]*)\s*=?\s*('(?:[^']|'')*'|[^\s#']+)\s*(?:#.*)?", line)
        if match is None:
            near = re.sub(r"^[A-Za-z_][\w.]*\s*=?\s*", "", line).split(" ", 1)[0] or "end of line"
            what = near if near == "end of line" else f'token "{near}"'
            problems.append(ConfigProblem(f'syntax error in file "{path}" line {number}, near {what}'))
            continue
        name, value = match[1].lower(), match[2]
        value = value[1:-1].replace("''", "'") if value.startswith("'") else value
        if name in ("include_dir", "include_if_exists", "include"):
            continue
        problem = _problem(name, value, path, number)
        if problem:
            problems.append(ConfigProblem(problem))
        else:
            found[name] = value
    return found, tuple(problems)


def files(view: FileView, path: str, own: str) -> tuple[dict[str, str], tuple[ConfigProblem, ...]]:
    """What the configuration file sets, and over that the file of ALTER SYSTEM, which need not be there.

    OSError where the first cannot be read.
    """
    made, problems = parse(view.text(path), path)
    try:
        more, wrong = parse(view.text(own), own)
    except OSError:
        more, wrong = {}, ()
    return {**made, **more}, (*problems, *wrong)


def _problem(name: str, value: str, path: str, number: int) -> str:
    if name not in DEFAULTS and "." not in name:
        return f'unrecognized configuration parameter "{name}" in file "{path}" line {number}'
    return problem_of(name, value)


def problem_of(name: str, value: str) -> str:
    """What is wrong with a parameter's value, "" if nothing."""
    if name in _INTEGERS:
        if not re.fullmatch(r"-?\d+", value):
            return f'invalid value for parameter "{name}": "{value}"'
        low, high = {"port": (1, 65535), "max_connections": (1, 262143)}.get(name, (0, 262143))
        if not low <= int(value) <= high:
            return f'{value} is outside the valid range for parameter "{name}" ({low} .. {high})'
    if name in _FLAGS and value.lower() not in ("on", "off", "true", "false", "yes", "no", "1", "0"):
        return f'parameter "{name}" requires a Boolean value'
    if name in ("shared_buffers", "work_mem", "maintenance_work_mem") and memory_size(value) is None:
        return f'invalid value for parameter "{name}": "{value}"'
    return ""


def memory_size(text: str) -> int | None:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(B|kB|MB|GB|TB)?", text.strip())
    if match is None:
        return None
    factor = {None: 8192, "B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}[match[2]]
    return int(float(match[1]) * factor)


class HbaLine(NamedTuple):
    kind: str
    databases: tuple[str, ...]
    users: tuple[str, ...]
    address: str
    method: str


_METHODS = frozenset(
    {"trust", "reject", "md5", "password", "scram-sha-256", "peer", "ident", "cert", "gss", "ldap", "pam"}
)


@lru_cache(maxsize=128)
def parse_hba(text: str, path: str) -> tuple[tuple[HbaLine, ...], tuple[str, ...]]:
    """The lines, and the messages about those that are wrong."""
    found: list[HbaLine] = []
    problems: list[str] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        words = raw.split("#", 1)[0].split()
        if not words:
            continue
        context = f'line {number} of configuration file "{path}"'
        if words[0] not in ("local", "host", "hostssl", "hostnossl"):
            problems.append(f'invalid connection type "{words[0]}"\n{context}')
            continue
        wanted = 4 if words[0] == "local" else 5
        if len(words) < wanted:
            problems.append(f"end-of-line before authentication method\n{context}")
            continue
        rest = list(words[3:])
        address = "" if words[0] == "local" else rest.pop(0)
        if len(rest) > 1 and re.fullmatch(r"\d+(\.\d+){3}", rest[0]):
            address += "/" + rest.pop(0)
        if rest[0] not in _METHODS:
            problems.append(f'invalid authentication method "{rest[0]}"\n{context}')
            continue
        found.append(HbaLine(words[0], tuple(words[1].split(",")), tuple(words[2].split(",")), address, rest[0]))
    return tuple(found), tuple(problems)


def hba_method(lines: tuple[HbaLine, ...], *, local: bool, address: str, database: str, user: str) -> str | None:
    """The method of the first line that fits, None when none does."""
    for line in lines:
        if (line.kind == "local") != local or line.kind == "hostssl":
            continue
        if not _named(line.databases, database, user) or not _named(line.users, user, user):
            continue
        if local or _fits(line.address, address):
            return line.method
    return None


def _named(names: tuple[str, ...], name: str, user: str) -> bool:
    return any(one == "all" or one.strip('"') == name or (one == "sameuser" and name == user) for one in names)


@lru_cache(maxsize=1024)
def _fits(pattern: str, address: str) -> bool:
    if pattern == "all":
        return True
    if pattern in ("samehost", "samenet", "localhost"):
        return address.startswith("127.")
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(pattern, strict=False)
    except ValueError:
        return False


def addresses(value: str) -> Iterator[str]:
    for part in value.split(","):
        name = part.strip()
        if name:
            yield name
