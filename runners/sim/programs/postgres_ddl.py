"""Statements that change the cluster itself: its roles, databases and tables, and the settings of ALTER SYSTEM."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from runners.sim.programs import postgres_config as config
from runners.sim.programs.postgres_data import NO_RIGHTS, Catalogue, Cluster, Rights, verifier
from runners.sim.programs.sql_types import Refused, SqlError, SqlResult, Table, syntax

_NAME = r'("(?:[^"]|"")+"|[A-Za-z_][\w$]*)'
_DDL = re.compile(r"(?i)(create|alter|drop|grant|revoke|truncate)\b")


class Change(NamedTuple):
    """One statement of a user's, in one database of a cluster. `sessions`: database -> sessions other than this one."""

    cluster: Cluster
    catalogue: Catalogue
    user: str
    database: str
    statement: str
    sessions: Callable[[str], int]

    @property
    def rights(self) -> Rights:
        return self.cluster.rights.get(self.user, NO_RIGHTS)

    def fail(self, message: str, code: str, *, detail: str = "", near: str = "") -> NoReturn:
        at = self.statement.lower().find(near.lower()) + 1 if near else 0
        raise Refused(SqlError("ERROR", message, detail=detail, position=at, code=code))

    def need_role(self, name: str) -> str:
        if name not in self.cluster.roles:
            self.fail(f'role "{name}" does not exist', "42704")
        return name

    def need_table(self, name: str) -> Table:
        table = self.cluster.databases[self.database].tables.get(name)
        if table is None:
            self.fail(f'relation "{name}" does not exist', "42P01", near=name)
        return table

    def own(self, kind: str, name: str, owner: str) -> None:
        if not self.rights.superuser and owner != self.user:
            self.fail(f"must be owner of {kind} {name}", "42501")


def changes_cluster(statement: str) -> bool:
    return _DDL.match(statement) is not None


def change(asked: Change) -> SqlResult:
    """Run the statement. Refused with the server's error; what this server cannot do, it says so of."""
    for pattern, run in _STATEMENTS:
        match = pattern.fullmatch(asked.statement)
        if match is not None:
            return run(asked, match)
    words = asked.statement.upper().split()
    raise Refused(SqlError("ERROR", f"this form of {' '.join(words[:2])} is not supported", code="0A000"))


def _plain(name: str | None) -> str:
    """An identifier as it is kept: folded, unless it was quoted."""
    text = (name or "").removeprefix("public.")
    plain = text[1:-1] if text.startswith('"') else text.lower()
    if not re.fullmatch(r"[\w$.-]*", plain):
        raise Refused(SqlError("ERROR", f"identifier {text} is not supported", code="0A000"))
    return plain


# -- settings


def _alter_system(asked: Change, match: re.Match[str]) -> SqlResult:
    name = (match["set"] or match["reset"] or "").lower()
    every = name == "all" and match["reset"] is not None
    if not asked.rights.superuser:
        asked.fail(f'permission denied to set parameter "{name}"', "42501")
    if not every and name not in config.DEFAULTS:
        asked.fail(f'unrecognized configuration parameter "{name}"', "42704")
    if name in ("data_directory", "server_version", "config_file", "hba_file", "ident_file"):
        asked.fail(f'parameter "{name}" cannot be changed', "55P02")
    values = {} if every else asked.catalogue.settings()
    values.pop(name, None)
    if match["set"] is not None and match["value"].lower() != "default":
        value = match["value"].strip()
        value = value[1:-1].replace("''", "'") if value.startswith("'") else value
        problem = config.problem_of(name, value)
        if problem:
            asked.fail(problem, "22023")
        values[name] = value
    asked.catalogue.write_settings(values)
    return SqlResult("ALTER SYSTEM")


# -- roles

_FLAGS = {"login": "login", "superuser": "superuser", "createdb": "createdb", "createrole": "createrole"}
_OTHER_FLAGS = frozenset({"inherit", "replication", "bypassrls"})
_OPTION = re.compile(
    r"""(?ix)\s* (?: (?:encrypted\s+)?password\s+(?P<secret>'(?:[^']|'')*'|null)
    | connection\s+limit\s+(?P<limit>-?\d{1,9}) | valid\s+until\s+'[^']*' | (?P<flag>[a-z]+) ) (?=\s|$)"""
)


def _options(asked: Change, text: str, rights: Rights, secret: str) -> tuple[Rights, str]:
    """A role's rights and verifier after these options."""
    at = 0
    while at < len(text.rstrip()):
        match = _OPTION.match(text, at)
        if match is None:
            word = text[at:].split()[0]
            raise Refused(syntax(asked.statement, word))
        at = match.end()
        flag = (match["flag"] or "").lower()
        plain = flag.removeprefix("no")
        if match["secret"]:
            given = match["secret"]
            secret = "" if given.lower() == "null" else verifier(given[1:-1].replace("''", "'"))
        elif match["limit"]:
            rights = rights._replace(limit=int(match["limit"]))
        elif plain in _FLAGS:
            rights = rights._replace(**{_FLAGS[plain]: flag == plain})
        elif flag and plain not in _OTHER_FLAGS:
            asked.fail(f'unrecognized role option "{flag}"', "42601", near=flag)
    return rights, secret


def _create_role(asked: Change, match: re.Match[str]) -> SqlResult:
    name = _plain(match["name"])
    if not (asked.rights.superuser or asked.rights.createrole):
        asked.fail("permission denied to create role", "42501")
    base = NO_RIGHTS._replace(login=match["kind"].lower() == "user")
    rights, secret = _options(asked, match["options"] or "", base, "")
    if rights.superuser and not asked.rights.superuser:
        asked.fail("must be superuser to create superusers", "42501")
    if name in asked.cluster.roles:
        asked.fail(f'role "{name}" already exists', "42710")
    asked.catalogue.write_roles({**asked.cluster.roles, name: secret}, {**asked.cluster.rights, name: rights})
    return SqlResult("CREATE ROLE")


def _alter_role(asked: Change, match: re.Match[str]) -> SqlResult:
    name = asked.need_role(_plain(match["name"]))
    own_password = re.fullmatch(r"(?is)\s*(encrypted\s+)?password\s.*", match["options"]) and name == asked.user
    held = asked.cluster.rights.get(name, NO_RIGHTS)
    rights, secret = _options(asked, match["options"], held, asked.cluster.roles[name])
    if not asked.rights.superuser and (held.superuser or rights.superuser):
        asked.fail("must be superuser to alter superuser roles or change superuser attribute", "42501")
    if not (asked.rights.superuser or asked.rights.createrole or own_password):
        asked.fail("permission denied", "42501")
    asked.catalogue.write_roles({**asked.cluster.roles, name: secret}, {**asked.cluster.rights, name: rights})
    return SqlResult("ALTER ROLE")


def _drop_role(asked: Change, match: re.Match[str]) -> SqlResult:
    name = _plain(match["name"])
    if not (asked.rights.superuser or asked.rights.createrole):
        asked.fail("permission denied to drop role", "42501")
    if name not in asked.cluster.roles:
        if match["if"]:
            return SqlResult("DROP ROLE")
        asked.fail(f'role "{name}" does not exist', "42704")
    if name == asked.user:
        asked.fail("current user cannot be dropped", "55006")
    owned = [f"owner of database {one.name}" for one in asked.cluster.databases.values() if one.owner == name]
    for database in asked.cluster.databases.values():
        tables = [table.name for table in database.tables.values() if table.owner == name]
        if database.name == asked.database:
            owned += [f"owner of table {table}" for table in tables]
        elif tables:
            owned.append(f"{len(tables)} object{'s' * (len(tables) > 1)} in database {database.name}")
    if owned:
        text = f'role "{name}" cannot be dropped because some objects depend on it'
        asked.fail(text, "2BP01", detail="\n".join(owned))
    left = {role: secret for role, secret in asked.cluster.roles.items() if role != name}
    asked.catalogue.write_roles(left, asked.cluster.rights)
    return SqlResult("DROP ROLE")


# -- databases


def _create_database(asked: Change, match: re.Match[str]) -> SqlResult:
    name, owner = _plain(match["name"]), _plain(match["owner"]) or asked.user
    if not (asked.rights.superuser or asked.rights.createdb):
        asked.fail("permission denied to create database", "42501")
    asked.need_role(owner)
    if name in asked.cluster.databases:
        asked.fail(f'database "{name}" already exists', "42P04")
    asked.catalogue.create_database(asked.cluster, name, owner)
    return SqlResult("CREATE DATABASE", seconds=0.05)


def _drop_database(asked: Change, match: re.Match[str]) -> SqlResult:
    name = _plain(match["name"])
    database = asked.cluster.databases.get(name)
    if database is None:
        if match["if"]:
            return SqlResult("DROP DATABASE")
        asked.fail(f'database "{name}" does not exist', "3D000")
    asked.own("database", name, database.owner)
    if name == asked.database:
        asked.fail("cannot drop the currently open database", "55006")
    if name in ("template0", "template1"):
        asked.fail("cannot drop a template database", "42809")
    others = asked.sessions(name)
    if others:
        detail = (
            f"There {'is' if others == 1 else 'are'} {others} other session{'s' * (others > 1)} using the database."
        )
        asked.fail(f'database "{name}" is being accessed by other users', "55006", detail=detail)
    asked.catalogue.drop_database(asked.cluster, name)
    return SqlResult("DROP DATABASE", seconds=0.02)


def _database_owner(asked: Change, match: re.Match[str]) -> SqlResult:
    name = _plain(match["name"])
    database = asked.cluster.databases.get(name)
    if database is None:
        asked.fail(f'database "{name}" does not exist', "3D000")
    asked.own("database", name, database.owner)
    asked.catalogue.write_databases(asked.cluster, {name: asked.need_role(_plain(match["owner"]))})
    return SqlResult("ALTER DATABASE")


# -- tables

_TYPE = r"(?:double\s+precision|character\s+varying|timestamp\s+with(?:out)?\s+time\s+zone|[A-Za-z]\w*)(?:\s*\([\d,\s]+\))?(?:\[\])?"


def _create_table(asked: Change, match: re.Match[str]) -> SqlResult:
    name = _plain(match["name"])
    database = asked.cluster.databases[asked.database]
    if not asked.rights.superuser and database.owner != asked.user:
        asked.fail("permission denied for schema public", "42501", near=match["name"])
    if name in database.tables:
        if match["if"]:
            return SqlResult("CREATE TABLE")
        asked.fail(f'relation "{name}" already exists', "42P07")
    columns = []
    for part in re.split(r",(?![^()]*\))", match["columns"]):
        column = re.fullmatch(rf"(?is)\s*{_NAME}\s+({_TYPE})\s*(.*?)\s*", part)
        if column is None:
            raise Refused(syntax(asked.statement, part.split()[-1] if part.split() else ")"))
        if column[3]:
            asked.fail(f'column constraint "{column[3].lower()}" is not supported', "0A000", near=column[3])
        columns.append((_plain(column[1]), re.sub(r"\s+", " ", column[2].lower())))
    if len(dict(columns)) < len(columns):
        twice = next(one for one, _ in columns if sum(one == other for other, _ in columns) > 1)
        asked.fail(f'column "{twice}" specified more than once', "42701")
    asked.catalogue.create_table(asked.cluster, asked.database, name, tuple(columns), asked.user)
    return SqlResult("CREATE TABLE")


def _drop_table(asked: Change, match: re.Match[str]) -> SqlResult:
    names = [_plain(part.strip()) for part in match["names"].split(",")]
    tables = asked.cluster.databases[asked.database].tables
    for name in names:
        if name in tables:
            asked.own("table", name, tables[name].owner)
        elif not match["if"]:
            asked.fail(f'table "{name}" does not exist', "42P01")
    asked.catalogue.drop_tables(asked.cluster, asked.database, frozenset(names))
    return SqlResult("DROP TABLE")


def _truncate(asked: Change, match: re.Match[str]) -> SqlResult:
    found = [asked.need_table(_plain(part.strip())) for part in match["names"].split(",")]
    for table in found:
        if not asked.rights.superuser and table.owner != asked.user:
            asked.fail(f"permission denied for table {table.name}", "42501")
    for table in found:
        asked.catalogue.empty_table(asked.cluster, asked.database, table)
    return SqlResult("TRUNCATE TABLE")


def _table_owner(asked: Change, match: re.Match[str]) -> SqlResult:
    table = asked.need_table(_plain(match["name"]))
    asked.own("table", table.name, table.owner)
    changed = table._replace(owner=asked.need_role(_plain(match["owner"])))
    asked.catalogue.write_tables(asked.cluster, asked.database, {table.name: changed})
    return SqlResult("ALTER TABLE")


def _rename_table(asked: Change, match: re.Match[str]) -> SqlResult:
    table, new = asked.need_table(_plain(match["name"])), _plain(match["new"])
    asked.own("table", table.name, table.owner)
    if new in asked.cluster.databases[asked.database].tables:
        asked.fail(f'relation "{new}" already exists', "42P07")
    asked.catalogue.write_tables(asked.cluster, asked.database, {table.name: table._replace(name=new)})
    return SqlResult("ALTER TABLE")


def _grant(asked: Change, match: re.Match[str]) -> SqlResult:
    """Everybody may read and write every table here, so what is granted is there already."""
    asked.need_role(_plain(match["role"]))
    database, table = match["database"], match["table"]
    if database is not None and _plain(database) not in asked.cluster.databases:
        asked.fail(f'database "{_plain(database)}" does not exist', "3D000")
    if table is not None:
        found = asked.need_table(_plain(table))
        if not asked.rights.superuser and found.owner != asked.user:
            asked.fail(f"permission denied for table {found.name}", "42501")
    return SqlResult("GRANT")


def _form(text: str) -> re.Pattern[str]:
    """A statement's pattern: blanks stand for any white space, NAME for an identifier."""
    return re.compile(text.replace("NAME", f"(?:{_NAME[1:-1]})").replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL)


_IF_EXISTS, _TABLE = r"(?P<if>if exists )?", r"(?P<name>(?:public\.)?NAME)"
_STATEMENTS: tuple[tuple[re.Pattern[str], Callable[[Change, re.Match[str]], SqlResult]], ...] = tuple(
    (_form(text), run)
    for text, run in (
        (
            r"alter system (?:set (?P<set>[\w.]+)\s*(?:=|\bto\b)\s*(?P<value>'(?:[^']|'')*'|[^\s']+)|reset (?P<reset>[\w.]+))",
            _alter_system,
        ),
        (r"create (?P<kind>role|user) (?P<name>NAME)(?: with)?(?P<options> .*)?", _create_role),
        (r"alter (?:role|user) (?P<name>NAME)(?: with)?(?P<options>(?! (?:set|reset|rename|in)\b) .+)", _alter_role),
        (rf"drop (?:role|user) {_IF_EXISTS}(?P<name>NAME)", _drop_role),
        (r"create database (?P<name>NAME)(?: with)?(?: owner\s*=?\s*(?P<owner>NAME))?", _create_database),
        (rf"drop database {_IF_EXISTS}(?P<name>NAME)", _drop_database),
        (r"alter database (?P<name>NAME) owner to (?P<owner>NAME)", _database_owner),
        (rf"create table (?P<if>if not exists )?{_TABLE}\s*\((?P<columns>.*)\)", _create_table),
        (rf"drop table {_IF_EXISTS}(?P<names>[^;]+?)(?: (?:cascade|restrict))?", _drop_table),
        (r"truncate (?:table )?(?P<names>[^;]+?)(?: (?:cascade|restrict))?", _truncate),
        (rf"alter table {_TABLE} owner to (?P<owner>NAME)", _table_owner),
        (rf"alter table {_TABLE} rename to (?P<new>NAME)", _rename_table),
        (
            r"grant [\w\s,]+? on (?:all tables in schema public|schema public|database (?P<database>NAME)"
            r"|(?:table )?(?P<table>(?:public\.)?NAME)) to (?P<role>NAME)",
            _grant,
        ),
    )
)


def single(statement: str) -> str:
    """The name of a statement that runs alone only, "" for one that may stand among others."""
    match = re.match(r"(?i)(alter\s+system|create\s+database|drop\s+database|vacuum)\b", statement)
    return re.sub(r"\s+", " ", match[1].upper()) if match is not None else ""
