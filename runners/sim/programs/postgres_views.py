"""A database as one request sees it: its tables' files, the system's views, and the functions that act on the server."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from runners.sim.clock import Clock, to_microseconds
from runners.sim.files.content import EMPTY, Content
from runners.sim.lifecycle import deliver
from runners.sim.machine import Machine
from runners.sim.processes import Process
from runners.sim.programs import postgres_config as config
from runners.sim.programs.postgres_data import NO_RIGHTS, OWN_SETTINGS, Catalogue, Cluster
from runners.sim.programs.postgres_ddl import Change, change
from runners.sim.programs.postgres_log import VERSION, Held
from runners.sim.programs.sql import Refused, Row, SqlError, SqlRequest, SqlResult, Storage, Table
from runners.sim.programs.sql_types import is_table

Relation = tuple[tuple[str, ...], tuple[Row, ...]]
_TERM = 15


def instant(clock: Clock, at: float) -> str:
    return f"{clock.written('%Y-%m-%d %H:%M:%S', at)}.{to_microseconds(at)[1]:06d}+00"


def backends(machine: Machine, process: Process) -> list[Process]:
    """The sessions that stay open."""
    return [child for child in machine.processes.children(process.pid) if isinstance(child.held, tuple)]


def room(machine: Machine, held: Held) -> int:
    """Bytes that are free where the data are."""
    try:
        inode = machine.view().stat(held.data)
    except OSError:
        return 0
    return machine.files.free(machine.files.mount_of(inode)).bytes


class View:
    """What one request can see and do. `waited`: seconds that its functions have taken."""

    def __init__(self, machine: Machine, process: Process, held: Held, cluster: Cluster, ask: SqlRequest) -> None:
        self.machine = machine
        self.process = process
        self.held = held
        self.cluster = cluster
        self.ask = ask
        self.waited = 0.0

    @property
    def pid(self) -> int:
        """The back end that serves the request."""
        return self.process.pid + 400

    def slept(self, result: SqlResult) -> SqlResult:
        waited, self.waited = self.waited, 0.0
        return result._replace(seconds=result.seconds + waited) if waited else result

    def change(self, statement: str) -> SqlResult:
        catalogue = Catalogue(self.machine.view(self.process.cred, umask=0o077), self.held.data)
        asked = Change(self.cluster, catalogue, self.ask.user, self.ask.database, statement, self._sessions_in)
        try:
            return change(asked)
        except OSError as error:
            path = str(error.filename or "").removeprefix(f"{self.held.data}/") or "base"
            hint = "Check free disk space." if error.errno == 28 else ""
            text = f'could not write file "{path}": {error.strerror}'
            raise Refused(SqlError("ERROR", text, hint=hint, code="53100" if hint else "58P01")) from None

    def _sessions_in(self, database: str) -> int:
        return sum(
            1 for one in backends(self.machine, self.process) if isinstance(one.held, tuple) and one.held[0] == database
        )

    def storage(self) -> Storage:
        machine, process, held, cluster, ask = self.machine, self.process, self.held, self.cluster, self.ask
        database = cluster.databases[ask.database]
        folder = f"{held.data}/base/{database.oid}"
        view = machine.view(process.cred)

        def refuse(table: Table, verb: str, error: OSError) -> Refused:
            hint = "Check free disk space." if error.errno == 28 else ""
            text = f'could not {verb} file "base/{database.oid}/{table.node}": {error.strerror}'
            return Refused(SqlError("ERROR", text, hint=hint, code="53100" if hint else "58P01"))

        def read(table: Table) -> Content:
            try:
                content = view.content(f"{folder}/{table.node}")
            except OSError as error:
                raise refuse(table, "open", error) from None
            if not is_table(content, len(table.columns)):
                text = f"invalid page in block 0 of relation base/{database.oid}/{table.node}"
                raise Refused(SqlError("ERROR", text, code="XX001"))
            return content

        def append(table: Table, rows: bytes) -> None:
            try:
                if room(machine, held) < 8192:
                    raise OSError(28, "No space left on device")
                view.write(f"{folder}/{table.node}", rows, append=True)
            except OSError as error:
                raise refuse(table, "extend", error) from None

        def replace(table: Table, rows: bytes) -> None:
            try:
                view.write(f"{folder}/{table.node}", Content.of(rows) if rows else EMPTY)
            except OSError as error:
                raise refuse(table, "extend", error) from None

        clock = machine.clock
        now, today = instant(clock, clock.now), clock.written("%Y-%m-%d")
        functions = {
            "version": VERSION, "now": now, "current_database": ask.database,
            "current_user": ask.user, "session_user": ask.user, "user": ask.user, "pg_is_in_recovery": "f",
            "pg_backend_pid": str(self.pid), "current_date": today, "pg_reload_conf": "t",
            "current_timestamp": now, "inet_server_port": held.settings["port"],
            "pg_postmaster_start_time": instant(clock, process.started),
        }  # fmt: skip
        calls = {"pg_terminate_backend": self._terminate, "pg_cancel_backend": self._cancel, "pg_sleep": self._sleep}
        return Storage(database.tables, read, append, replace, self._relations(), functions, held.settings, calls)

    # -- functions

    def _backend(self, text: str | None) -> Process | None:
        """Another session's back end. Refused to those who may not signal it."""
        found = next((one for one in backends(self.machine, self.process) if str(one.pid) == text), None)
        rights = self.cluster.rights.get(self.ask.user, NO_RIGHTS)
        if found is not None and isinstance(found.held, tuple) and not rights.superuser:
            theirs = self.cluster.rights.get(found.held[1], NO_RIGHTS)
            if theirs.superuser:
                text = "must be a superuser to terminate superuser process"
                raise Refused(SqlError("ERROR", text, code="42501"))
            if found.held[1] != self.ask.user:
                text = "must be a member of the role whose process is being terminated or member of pg_signal_backend"
                raise Refused(SqlError("ERROR", text, code="42501"))
        return found

    def _terminate(self, text: str | None) -> str | None:
        found = self._backend(text)
        if found is not None:
            deliver(self.machine, found, _TERM)
        return "t" if found is not None else "f"

    def _cancel(self, text: str | None) -> str | None:
        """A session that waits for its client has nothing to cancel."""
        return "t" if self._backend(text) is not None else "f"

    def _sleep(self, text: str | None) -> str | None:
        if text is None or not re.fullmatch(r"-?\d{1,9}(\.\d+)?", text):
            raise Refused(SqlError("ERROR", f'invalid input syntax for type double precision: "{text}"', code="22P02"))
        self.waited += max(float(text), 0.0)
        return ""

    # -- views

    def _relations(self) -> Mapping[str, Callable[[], Relation]]:
        cluster, ask = self.cluster, self.ask
        tables = cluster.databases[ask.database].tables.values()
        roles = [(name, cluster.rights.get(name, NO_RIGHTS)) for name in cluster.roles]

        def flag(yes: bool) -> str:
            return "t" if yes else "f"

        return {
            "pg_stat_activity": self._activity,
            "pg_locks": self._locks,
            "pg_settings": self._settings,
            "pg_database": lambda: (("datname", "datdba", "encoding", "datallowconn", "datowner"), tuple(
                (one.name, "10", "6", "t", one.owner) for one in cluster.databases.values())),
            "pg_tables": lambda: (("schemaname", "tablename", "tableowner"), tuple(
                ("public", table.name, table.owner) for table in tables)),
            "pg_class": lambda: (("relname", "relkind", "relfilenode", "relpages"), tuple(
                (table.name, "r", str(table.node), str(self._pages(table))) for table in tables)),
            "information_schema.tables": lambda: (
                ("table_catalog", "table_schema", "table_name", "table_type"),
                tuple((ask.database, "public", table.name, "BASE TABLE") for table in tables)),
            "information_schema.columns": lambda: (("table_schema", "table_name", "column_name", "data_type"), tuple(
                ("public", table.name, column, kind) for table in tables for column, kind in table.columns)),
            "pg_roles": lambda: (
                ("rolname", "rolsuper", "rolcreaterole", "rolcreatedb", "rolcanlogin", "rolconnlimit"),
                tuple((name, flag(one.superuser), flag(one.createrole), flag(one.createdb), flag(one.login),
                       str(one.limit)) for name, one in roles)),
            "pg_user": lambda: (("usename", "usesuper"), tuple(
                (name, flag(one.superuser)) for name, one in roles if one.login)),
            "pg_namespace": lambda: (("nspname", "nspowner"), (("public", "pg_database_owner"),)),
            "pg_stat_database": lambda: (("datname", "numbackends"), tuple(
                (name, str(self._sessions_in(name) + (name == ask.database))) for name in cluster.databases)),
        }  # fmt: skip

    def _pages(self, table: Table) -> int:
        path = f"{self.held.data}/base/{self.cluster.databases[self.ask.database].oid}/{table.node}"
        try:
            return max(-(-self.machine.view().stat(path).size // 8192), 1)
        except OSError:
            return 0

    def _settings(self) -> Relation:
        """`source` as the server knows it: the files', or nobody's."""
        own = f"{self.held.data}/{OWN_SETTINGS}"
        try:
            made, _ = config.files(self.machine.view(), self.held.config_file, own)
        except OSError:
            made = {}
        rows = tuple(
            (name, value, "configuration file" if made.get(name) == value else "default")
            for name, value in sorted(self.held.settings.items())
        )
        return ("name", "setting", "source"), rows

    def _locks(self) -> Relation:
        """What the query itself holds: a share of the view that it reads, and its own virtual transaction."""
        columns = (
            "locktype", "database", "relation", "page", "tuple", "virtualxid", "transactionid", "classid", "objid",
            "objsubid", "virtualtransaction", "pid", "mode", "granted", "fastpath", "waitstart",
        )  # fmt: skip
        oid = str(self.cluster.databases[self.ask.database].oid)
        none = (None,) * 4
        return columns, (
            (
                "relation",
                oid,
                "12073",
                None,
                None,
                None,
                *none,
                "3/2",
                str(self.pid),
                "AccessShareLock",
                "t",
                "t",
                None,
            ),
            (
                "virtualxid",
                None,
                None,
                None,
                None,
                "3/2",
                *none,
                "3/2",
                str(self.pid),
                "ExclusiveLock",
                "t",
                "t",
                None,
            ),
        )

    def _activity(self) -> Relation:
        columns = (
            "datname", "pid", "usename", "application_name", "client_addr", "state", "query", "backend_start",
            "wait_event_type", "wait_event", "backend_type", "xact_start", "query_start", "state_change",
        )  # fmt: skip
        machine, ask = self.machine, self.ask
        rows: list[Row] = []
        for child in backends(machine, self.process):
            assert isinstance(child.held, tuple)
            database, user, application = child.held
            address = re.search(r" ([\d.]+)\(", child.argv[0])
            began = instant(machine.clock, child.started)
            rows.append((
                database, str(child.pid), user, application, address[1] if address else None, "idle", "COMMIT", began,
                "Client", "ClientRead", "client backend", None, began, began,
            ))  # fmt: skip
        now = instant(machine.clock, machine.clock.now)
        rows.append((
            ask.database, str(self.pid), ask.user, ask.application, None, "active", ask.query, now,
            None, None, "client backend", now, now, now,
        ))  # fmt: skip
        return columns, tuple(rows)
