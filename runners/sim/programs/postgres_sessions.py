"""What a running PostgreSQL answers: who is let in, its sessions, and the statements they run."""

from __future__ import annotations

import re
from typing import NamedTuple

from runners.sim.clock import Clock, to_microseconds
from runners.sim.files.content import EMPTY, Content
from runners.sim.lifecycle import exit_process, fork
from runners.sim.machine import Machine, Program
from runners.sim.network.connect import Connection
from runners.sim.processes import Process
from runners.sim.programs import postgres_config as config
from runners.sim.programs.postgres_data import Cluster, read_cluster, verifier
from runners.sim.programs.postgres_log import VERSION, Held, ServerLog
from runners.sim.programs.sql import Refused, SqlError, SqlRequest, SqlResult, Storage, Table, execute, statements
from runners.sim.programs.sql_types import is_table
from runners.sim.traffic import Broken, Transaction


class OpenSession(NamedTuple):
    """Ask for a connection that stays: a back end of its own. The answer is its pid, or an SqlError."""

    database: str
    user: str
    password: str
    application: str = ""


class CloseSession(NamedTuple):
    pid: int


def _instant(clock: Clock, at: float) -> str:
    return f"{clock.written('%Y-%m-%d %H:%M:%S', at)}.{to_microseconds(at)[1]:06d}+00"


class Sessions(Program):
    """The serving half of the server. `held` of a back end is its session: (database, user, application)."""

    def serve(self, machine: Machine, process: Process, request: object, connection: object) -> object:
        """SqlRequest -> tuple of SqlResult, or SqlError; Transaction -> None or Broken; OpenSession -> pid or SqlError."""
        held = process.held
        if not isinstance(held, Held):
            return None
        address = connection.source if isinstance(connection, Connection) else "127.0.0.1"
        if isinstance(request, CloseSession):
            exit_process(machine, request.pid, 0)
            return None
        if isinstance(request, OpenSession):
            return self._open(machine, process, held, request, address)
        if isinstance(request, Transaction):
            work = SqlRequest(request.database, request.user, "; ".join(request.statements), request.password)
            answer = self._answer(machine, process, held, work, address, trusted=not request.password)
            return Broken(f"{answer.severity}:  {answer.message}") if isinstance(answer, SqlError) else None
        if isinstance(request, SqlRequest):
            return self._answer(machine, process, held, request, address)
        return None

    def _open(self, machine: Machine, process: Process, held: Held, ask: OpenSession, address: str) -> int | SqlError:
        refusal = self._admit(machine, process, held, SqlRequest(ask.database, ask.user, "", ask.password), address)
        if refusal is not None:
            return refusal
        name = held.settings["cluster_name"]
        label = f"{name}: " if name else ""
        title = (
            f"postgres: {label}{ask.user} {ask.database} {address}({40000 + machine.count('backends') % 20000}) idle"
        )
        session = (ask.database, ask.user, ask.application)
        return fork(machine, process, argv=(title,), held=session, rss=15 << 20, files=False, sockets=False).pid

    def _sessions(self, machine: Machine, process: Process) -> list[Process]:
        return [child for child in machine.processes.children(process.pid) if isinstance(child.held, tuple)]

    def _admit(
        self, machine: Machine, process: Process, held: Held, ask: SqlRequest, address: str, *, trusted: bool = False
    ) -> SqlError | None:
        cluster = read_cluster(machine, process.cred, held.data)
        if isinstance(cluster, OSError):
            return SqlError("FATAL", f'could not open file "{cluster.filename}": {cluster.strerror}', code="58P01")
        refusal = self._refusal(machine, process, held, cluster, ask, address, trusted)
        if refusal is not None:
            ServerLog(machine, process, None, held.log).write("FATAL", refusal.message, f"{ask.user}@{ask.database} ")
        return refusal

    def _refusal(
        self,
        machine: Machine,
        process: Process,
        held: Held,
        cluster: Cluster,
        ask: SqlRequest,
        address: str,
        trusted: bool,
    ) -> SqlError | None:
        path = held.settings["hba_file"]
        try:
            hba, _ = config.parse_hba(machine.view().text(path), path)
        except OSError:
            hba = ()
        method = config.hba_method(hba, local=ask.local, address=address, database=ask.database, user=ask.user)
        if method is None or method == "reject":
            where = "[local]" if ask.local else address
            verb = "pg_hba.conf rejects connection" if method == "reject" else "no pg_hba.conf entry"
            return SqlError(
                "FATAL", f'{verb} for host "{where}", user "{ask.user}", database "{ask.database}", no encryption',
                code="28000",
            )  # fmt: skip
        role = cluster.roles.get(ask.user)
        if method == "peer" and ask.cred_name != ask.user:
            return SqlError("FATAL", f'Peer authentication failed for user "{ask.user}"', code="28000")
        if role is None and method in ("trust", "peer"):
            return SqlError("FATAL", f'role "{ask.user}" does not exist', code="28000")
        if (
            method in ("md5", "scram-sha-256", "password")
            and not trusted
            and (role is None or role != verifier(ask.password or ""))
        ):
            return SqlError("FATAL", f'password authentication failed for user "{ask.user}"', code="28P01")
        limit = int(held.settings["max_connections"]) - int(held.settings["superuser_reserved_connections"])
        if ask.user != "postgres" and len(self._sessions(machine, process)) >= limit:
            text = "remaining connection slots are reserved for non-replication superuser connections"
            return SqlError("FATAL", text, code="53300")
        if len(self._sessions(machine, process)) >= limit + int(held.settings["superuser_reserved_connections"]):
            return SqlError("FATAL", "sorry, too many clients already", code="53300")
        if ask.database not in cluster.databases:
            return SqlError("FATAL", f'database "{ask.database}" does not exist', code="3D000")
        return None

    def _answer(
        self, machine: Machine, process: Process, held: Held, ask: SqlRequest, address: str, *, trusted: bool = False
    ) -> tuple[SqlResult, ...] | SqlError:
        refusal = self._admit(machine, process, held, ask, address, trusted=trusted)
        if refusal is not None:
            return refusal
        return self.run(machine, process, ask)

    def run(self, machine: Machine, process: Process, ask: SqlRequest) -> tuple[SqlResult, ...] | SqlError:
        """Run statements for somebody who is admitted already (an open session)."""
        held = process.held
        assert isinstance(held, Held)
        cluster = read_cluster(machine, process.cred, held.data)
        if isinstance(cluster, OSError):
            return SqlError("ERROR", f'could not open file "{cluster.filename}": {cluster.strerror}', code="58P01")
        if ask.user not in cluster.roles:
            return SqlError("ERROR", f'role "{ask.user}" does not exist', code="22023")
        if ask.database not in cluster.databases:
            return SqlError("FATAL", f'database "{ask.database}" does not exist', code="3D000")
        try:
            storage = self._storage(machine, process, held, cluster, ask)
            return tuple(execute(storage, statement) for statement in statements(ask.query))
        except Refused as refused:
            log = ServerLog(machine, process, None, held.log)
            log.write(refused.error.severity, refused.error.message, f"{ask.user}@{ask.database} ")
            if refused.error.hint:
                log.write("HINT", refused.error.hint, f"{ask.user}@{ask.database} ")
            log.write("STATEMENT", ask.query, f"{ask.user}@{ask.database} ")
            return refused.error

    def _storage(self, machine: Machine, process: Process, held: Held, cluster: Cluster, ask: SqlRequest) -> Storage:
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
                if self.room(machine, held) < 8192:
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
        now, today = _instant(clock, clock.now), clock.written("%Y-%m-%d")
        functions = {
            "version": VERSION, "now": now, "current_database": ask.database,
            "current_user": ask.user, "session_user": ask.user, "user": ask.user, "pg_is_in_recovery": "f",
            "pg_backend_pid": str(process.pid + 400), "current_date": today, "pg_reload_conf": "t",
            "current_timestamp": now, "inet_server_port": held.settings["port"],
            "pg_postmaster_start_time": _instant(clock, process.started),
        }  # fmt: skip
        if re.search(r"(?i)pg_reload_conf", ask.query):
            self.reload(machine, process)
        virtual = {
            "pg_stat_activity": lambda: self._activity(machine, process, ask),
            "pg_database": lambda: (("datname", "datdba", "encoding", "datallowconn"), tuple(
                (name, "10", "6", "t") for name in cluster.databases)),
            "pg_tables": lambda: (("schemaname", "tablename", "tableowner"), tuple(
                ("public", table.name, table.owner) for table in database.tables.values())),
            "information_schema.columns": lambda: (("table_schema", "table_name", "column_name", "data_type"), tuple(
                ("public", table.name, column, kind) for table in database.tables.values()
                for column, kind in table.columns)),
            "pg_roles": lambda: (("rolname", "rolsuper", "rolcanlogin"), tuple(
                (role, "t" if role == "postgres" else "f", "t") for role in cluster.roles)),
            "pg_user": lambda: (("usename", "usesuper"), tuple(
                (role, "t" if role == "postgres" else "f") for role in cluster.roles)),
            "pg_settings": lambda: (("name", "setting"), tuple((key, value) for key, value in sorted(held.settings.items()))),
            "pg_stat_database": lambda: (("datname", "numbackends"), tuple(
                (name, str(sum(1 for one in self._sessions(machine, process) if isinstance(one.held, tuple) and one.held[0] == name)))
                for name in cluster.databases)),
        }  # fmt: skip
        return Storage(database.tables, read, append, replace, virtual, functions, held.settings)

    def _activity(
        self, machine: Machine, process: Process, ask: SqlRequest
    ) -> tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]:
        columns = (
            "datname",
            "pid",
            "usename",
            "application_name",
            "client_addr",
            "state",
            "query",
            "backend_start",
            "wait_event",
        )
        rows: list[tuple[str | None, ...]] = []
        for child in machine.processes.children(process.pid):
            began = _instant(machine.clock, child.started)
            if isinstance(child.held, tuple):
                database, user, application = child.held
                address = re.search(r" ([\d.]+)\(", child.argv[0])
                rows.append(
                    (
                        database,
                        str(child.pid),
                        user,
                        application,
                        address[1] if address else None,
                        "idle",
                        "COMMIT",
                        began,
                        "ClientRead",
                    )
                )
        rows.append(
            (
                ask.database,
                str(process.pid + 400),
                ask.user,
                ask.application,
                None,
                "active",
                ask.query,
                _instant(machine.clock, machine.clock.now),
                None,
            )
        )
        return columns, tuple(rows)

    def room(self, machine: Machine, held: Held) -> int:
        try:
            inode = machine.view().stat(held.data)
        except OSError:
            return 0
        return machine.files.free(machine.files.mount_of(inode)).bytes
