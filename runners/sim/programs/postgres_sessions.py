"""What a running PostgreSQL answers: who is let in, its sessions, and the statements they run."""

from __future__ import annotations

import re
from typing import NamedTuple

from runners.sim.lifecycle import exit_process, fork
from runners.sim.machine import Machine, Program
from runners.sim.network.connect import Connection
from runners.sim.processes import Process
from runners.sim.programs import postgres_config as config
from runners.sim.programs.descriptors import current
from runners.sim.programs.postgres_data import NO_RIGHTS, Cluster, read_cluster, verifier
from runners.sim.programs.postgres_ddl import changes_cluster, single
from runners.sim.programs.postgres_log import Held, ServerLog
from runners.sim.programs.postgres_views import View, backends, room
from runners.sim.programs.sql import Refused, SqlError, SqlRequest, SqlResult, execute, statements
from runners.sim.traffic import Broken, Transaction


class OpenSession(NamedTuple):
    """Ask for a connection that stays: a back end of its own. The answer is its pid, or an SqlError."""

    database: str
    user: str
    password: str
    application: str = ""


class CloseSession(NamedTuple):
    pid: int


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

    def room(self, machine: Machine, held: Held) -> int:
        return room(machine, held)

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
        rights = cluster.rights.get(ask.user, NO_RIGHTS)
        if not rights.login:
            return SqlError("FATAL", f'role "{ask.user}" is not permitted to log in', code="28000")
        limit = int(held.settings["max_connections"]) - int(held.settings["superuser_reserved_connections"])
        if not rights.superuser and len(backends(machine, process)) >= limit:
            text = "remaining connection slots are reserved for non-replication superuser connections"
            return SqlError("FATAL", text, code="53300")
        if len(backends(machine, process)) >= limit + int(held.settings["superuser_reserved_connections"]):
            return SqlError("FATAL", "sorry, too many clients already", code="53300")
        if ask.database not in cluster.databases:
            return SqlError("FATAL", f'database "{ask.database}" does not exist', code="3D000")
        theirs = sum(1 for one in backends(machine, process) if isinstance(one.held, tuple) and one.held[1] == ask.user)
        if 0 <= rights.limit <= theirs and not rights.superuser:
            return SqlError("FATAL", f'too many connections for role "{ask.user}"', code="53300")
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
        if re.search(r"(?i)pg_reload_conf", ask.query):
            self.reload(machine, process)
            held = current(machine, process).held
            assert isinstance(held, Held)
        cluster = read_cluster(machine, process.cred, held.data)
        if isinstance(cluster, OSError):
            return SqlError("ERROR", f'could not open file "{cluster.filename}": {cluster.strerror}', code="58P01")
        if ask.user not in cluster.roles:
            return SqlError("ERROR", f'role "{ask.user}" does not exist', code="22023")
        if ask.database not in cluster.databases:
            return SqlError("FATAL", f'database "{ask.database}" does not exist', code="3D000")
        done: list[SqlResult] = []
        parts, at = statements(ask.query), 0
        try:
            view = View(machine, process, held, cluster, ask)
            storage = view.storage()
            for statement in parts:
                at = max(ask.query.find(statement, at), 0)
                name = single(statement)
                if name and len(parts) > 1:
                    text = f"{name} cannot run inside a transaction block"
                    raise Refused(SqlError("ERROR", text, code="25001"))
                if not changes_cluster(statement):
                    done.append(view.slept(execute(storage, statement)))
                    continue
                done.append(view.change(statement))
                changed = read_cluster(machine, process.cred, held.data)
                if not isinstance(changed, OSError):
                    view = View(machine, process, held, changed, ask)
                    storage = view.storage()
            return tuple(done)
        except Refused as refused:
            log = ServerLog(machine, process, None, held.log)
            log.write(refused.error.severity, refused.error.message, f"{ask.user}@{ask.database} ")
            for severity, text in (("DETAIL", refused.error.detail), ("HINT", refused.error.hint)):
                if text:
                    log.write(severity, text, f"{ask.user}@{ask.database} ")
            log.write("STATEMENT", ask.query, f"{ask.user}@{ask.database} ")
            position = refused.error.position + at if refused.error.position else 0
            return refused.error._replace(position=position, before=tuple(done))
