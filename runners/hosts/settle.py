"""The first boot of an image: what needs running servers to be made, such as the content of databases."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from runners.hosts.box import Box
from runners.hosts.engine import EngineError
from runners.hosts.outside import Outside
from runners.system import SystemSpec, mappings, text, texts
from scenario_dsl.values import Value

_SECONDS = 120
_CLUSTER = """
set -e
data=/var/lib/postgresql/15/main
if [ -d /etc/postgresql/15/main ] && [ ! -e $data/PG_VERSION ]; then
  systemctl stop postgresql 2>/dev/null || true
  install -d -o postgres -g postgres -m 700 $data
  su postgres -c "/usr/lib/postgresql/15/bin/initdb -D $data -E UTF8 --locale=C.UTF-8 --no-instructions" >/dev/null
  rm -f $data/postgresql.conf $data/pg_hba.conf $data/pg_ident.conf
  systemctl reset-failed postgresql 2>/dev/null || true
  systemctl start postgresql
fi
"""
_STOP = """
systemctl stop cron worker shop nginx node-exporter redis-server postgresql rsyslog ssh 2>/dev/null
rm -rf /var/log/journal/* /var/tmp/* /root/.bash_history /var/lib/systemd/random-seed /var/lib/systemd/timers/*
systemctl stop systemd-journald.socket systemd-journald-dev-log.socket systemd-journald-audit.socket systemd-journald
find /var/log -type f -delete
for record in wtmp lastlog; do install -m 664 -g utmp /dev/null /var/log/$record; done
install -m 660 -g utmp /dev/null /var/log/btmp
rm -rf /var/log/journal/*
"""


def settle(box: Box, spec: SystemSpec) -> None:
    """Boot the box, fill its databases and stop its daemons: its files can be kept then. Raises EngineError."""
    box.start()
    outside = Outside(box, spec, None)
    try:
        outside.manager.wait_until_up((), box.runs)
    finally:
        outside.close()
    databases = spec.section("databases")
    postgres, redis = databases.get("postgres"), databases.get("redis")
    if isinstance(postgres, Mapping):
        _do(box, ["bash", "-c", _CLUSTER])
        for name, statements in _statements(postgres):
            _do(box, ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", name, "-c", statements], user="postgres")
    if isinstance(redis, Mapping):
        words = " ".join(f"{shlex.quote(str(key))} {shlex.quote(str(value))}" for key, value in redis.items())
        _do(box, ["bash", "-c", f"redis-cli mset {words} && redis-cli save"])
    box.run(["bash", "-c", _STOP], seconds=_SECONDS)


def _do(box: Box, argv: list[str], user: str = "root") -> None:
    done = box.run(argv, seconds=_SECONDS, user=user)
    if done.exit_code:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise EngineError(f"settling the image: `{argv[0]}` ended with {done.exit_code}: {said[-500:]}")


def _statements(postgres: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """(database, SQL) that makes roles, databases, tables and rows as they are described."""
    roles = [(text(role, "name"), text(role, "password")) for role in mappings(postgres.get("roles"))]
    for name, password in roles:
        yield "postgres", f"CREATE ROLE {name} LOGIN PASSWORD {_quoted(password)}"
    bases = postgres.get("databases")
    for name, base in bases.items() if isinstance(bases, Mapping) else ():
        if not isinstance(base, Mapping):
            continue
        owner = text(base, "owner", "postgres")
        yield "postgres", f"CREATE DATABASE {name} OWNER {owner}"
        lines = []
        tables = base.get("tables")
        for table, content in tables.items() if isinstance(tables, Mapping) else ():
            if not isinstance(content, Mapping):
                continue
            lines.append(f"CREATE TABLE {table} ({', '.join(texts(content.get('columns')))})")
            rows = content.get("rows")
            for row in rows if isinstance(rows, tuple) else ():
                values = ", ".join(_quoted(value) for value in row) if isinstance(row, tuple) else ""
                lines.append(f"INSERT INTO {table} VALUES ({values})")  # noqa: S608 (quoted, and described by its author)
            lines.append(f"ALTER TABLE {table} OWNER TO {owner}")
            lines += [f"GRANT SELECT ON {table} TO {role}" for role, _ in roles if role != owner]
        if lines:
            yield name, "; ".join(lines)


def _quoted(value: Value) -> str:
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"
