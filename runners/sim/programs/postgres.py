"""PostgreSQL 15: the postmaster, its helpers and back ends, on its data directory's own files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from runners.sim.files.content import EMPTY, Content
from runners.sim.lifecycle import deliver, exit_process, fork
from runners.sim.machine import Machine, Program, Say
from runners.sim.memory import memory
from runners.sim.network.connect import Connection
from runners.sim.network.names import ResolveFailure, resolve
from runners.sim.processes import Process
from runners.sim.programs import postgres_config as config
from runners.sim.programs.descriptors import bind, current, hold, listen_unix, open_log, write_line
from runners.sim.programs.postgres_data import Cluster, lock_holder, read_cluster, verifier
from runners.sim.programs.sql import Refused, SqlError, SqlRequest, SqlResult, Storage, Table, execute, statements
from runners.sim.traffic import Broken, Transaction

VERSION = (
    "PostgreSQL 15.6 (Debian 15.6-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit"
)
_TERM, _INT, _QUIT, _ABRT = 15, 2, 3, 6
_HELPERS = ("checkpointer", "background writer", "walwriter", "autovacuum launcher", "logical replication launcher")


class Held(NamedTuple):
    """What the postmaster keeps: its settings, its rules of admission, the names of its files."""

    settings: Mapping[str, str]
    hba: tuple[config.HbaLine, ...]
    data: str
    log: str
    config_file: str


class OpenSession(NamedTuple):
    """Ask for a connection that stays: a back end of its own. The answer is its pid, or an SqlError."""

    database: str
    user: str
    password: str
    application: str = ""


class CloseSession(NamedTuple):
    pid: int


class _Exit(Exception):  # noqa: N818 (the server ends itself with it)
    def __init__(self, status: int, *lines: tuple[str, str]) -> None:
        super().__init__(status)
        self.status = status
        self.lines = lines


class Postgres(Program):
    """`held` of the postmaster is a `Held`; of a back end, the session it serves (database, user, application)."""

    ends_on = frozenset({_TERM, _INT, _QUIT})
    reloads = True

    # -- starting

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        if "--version" in process.argv or "-V" in process.argv:
            say("postgres (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)")
            return 0
        if process.cred.uid == 0:
            say('"root" execution of the PostgreSQL server is not permitted.')
            say("The server must be started under an unprivileged user ID to prevent")
            say("possible system security compromise.  See the documentation for")
            say("more information on how to properly start the server.")
            return 1
        log = _Log(machine, process, say)
        try:
            held = self._configure(machine, process, say)
            cluster = self._open_data(machine, process, held, log)
            self._listen(machine, process, held, log)
        except _Exit as end:
            for severity, text in end.lines:
                log.write(severity, text)
            return end.status
        self._recover(machine, process, held, cluster, log)
        hold(machine, process, held, rss=27 << 20, share=0.0004)
        self._make_helpers(machine, current(machine, process), held)
        log.write("LOG", "database system is ready to accept connections")
        machine.schedule(300.0, "program", (process.pid, "checkpoint"))
        return None

    def _configure(self, machine: Machine, process: Process, say: Say) -> Held:
        arguments = _arguments(process.argv)
        data = arguments.get("D", "")
        path = arguments.get("config_file") or f"{data}/postgresql.conf"
        view = machine.view(process.cred, process.cwd)
        try:
            text = view.text(path)
        except OSError as error:
            say(f'postgres: could not access the server configuration file "{path}": {error.strerror}')
            raise _Exit(2) from None
        made, problems = config.parse(text, path)
        if problems:
            lines = tuple(("LOG", problem.message) for problem in problems)
            raise _Exit(1, *lines, ("FATAL", f'configuration file "{path}" contains errors'))
        settings = {**config.DEFAULTS, **made, **{k: v for k, v in arguments.items() if k in config.DEFAULTS}}
        data = settings["data_directory"] or data
        settings["data_directory"] = data
        settings["config_file"] = path
        hba_path = settings["hba_file"] or f"{data}/pg_hba.conf"
        settings["hba_file"] = hba_path
        collected = ""
        if settings["logging_collector"] in ("on", "true", "yes", "1"):
            folder = settings["log_directory"]
            folder = folder if folder.startswith("/") else f"{data}/{folder}"
            collected = f"{folder}/{machine.clock.time().strftime(settings['log_filename'])}"
        return Held(settings, (), data, collected, path)

    def _open_data(self, machine: Machine, process: Process, held: Held, log: _Log) -> Cluster:
        view = machine.view(process.cred)
        data = held.data
        try:
            inode = view.stat(data)
        except OSError as error:
            if error.errno == 2:
                raise _Exit(2, ("FATAL", f'data directory "{data}" does not exist')) from None
            raise _Exit(2, ("FATAL", f'could not read permissions of directory "{data}": {error.strerror}')) from None
        if not inode.is_dir:
            raise _Exit(1, ("FATAL", f'specified data directory "{data}" is not a directory'))
        if inode.uid != process.cred.uid:
            raise _Exit(
                1,
                ("FATAL", f'data directory "{data}" has wrong ownership'),
                ("HINT", "The server must be started by the user that owns the data directory."),
            )
        if inode.permissions & 0o027:
            raise _Exit(
                1,
                ("FATAL", f'data directory "{data}" has invalid permissions'),
                ("DETAIL", "Permissions should be u=rwx (0700) or u=rwx,g=rx (0750)."),
            )
        try:
            version = view.text(f"{data}/PG_VERSION").strip()
        except OSError as error:
            if error.errno == 2:
                raise _Exit(
                    1,
                    ("FATAL", f'"{data}" is not a valid data directory'),
                    ("DETAIL", f'File "{data}/PG_VERSION" is missing.'),
                ) from None
            raise _Exit(1, ("FATAL", f'could not open file "{data}/PG_VERSION": {error.strerror}')) from None
        if version != "15":
            raise _Exit(
                1,
                ("FATAL", "database files are incompatible with server"),
                ("DETAIL", f"The data directory was initialized by PostgreSQL version {version}, which is not compatible "
                           "with this version 15.6 (Debian 15.6-0+deb12u1)."),
            )  # fmt: skip
        holder = lock_holder(machine, data)
        if holder is not None and holder.pid != process.pid:
            raise _Exit(
                1,
                ("FATAL", 'lock file "postmaster.pid" already exists'),
                ("HINT", f'Is another postmaster (PID {holder.pid}) running in data directory "{data}"?'),
            )
        cluster = read_cluster(machine, process.cred, data)
        if isinstance(cluster, OSError):
            path = cluster.filename or f"{data}/global/pg_control"
            if str(path).endswith("pg_control"):
                log.say("postgres: could not find the database system")
                log.say(f'Expected to find it in the directory "{data}",')
                log.say(f'but could not open file "{path}": {cluster.strerror}')
                raise _Exit(2)
            raise _Exit(1, ("FATAL", f'could not open file "{path}": {cluster.strerror}'))
        wanted = config.memory_size(held.settings["shared_buffers"]) or 0
        if wanted > memory(machine).available:
            raise _Exit(
                1,
                ("FATAL", "could not map anonymous shared memory: Cannot allocate memory"),
                ("HINT", "This error usually means that PostgreSQL's request for a shared memory segment exceeded "
                         "available memory, swap space, or huge pages. To reduce the request size (currently "
                         f"{wanted + (18 << 20)} bytes), reduce PostgreSQL's shared memory usage, perhaps by reducing "
                         "shared_buffers or max_connections."),
            )  # fmt: skip
        try:
            port, folder = held.settings["port"], held.settings["unix_socket_directories"].split(",")[0]
            lock = f"{process.pid}\n{data}\n{int(machine.clock.now)}\n{port}\n{folder}\n*\n  {process.pid * 7}         0\nready   \n"
            view.write(f"{data}/postmaster.pid", lock.encode(), mode=0o600)
        except OSError as error:
            what = "write" if error.errno == 28 else "create"
            raise _Exit(1, ("FATAL", f'could not {what} lock file "postmaster.pid": {error.strerror}')) from None
        if held.log:
            problem = open_log(machine, process, held.log)
            if problem is not None:
                raise _Exit(1, ("FATAL", f'could not open log file "{held.log}": {problem.strerror}'))
            log.write("LOG", "redirecting log output to logging collector process")
            log.write("HINT", f'Future log output will appear in directory "{held.settings["log_directory"]}".')
            log.path = held.log
        return cluster

    def _listen(self, machine: Machine, process: Process, held: Held, log: _Log) -> None:
        settings = held.settings
        log.write("LOG", f"starting {VERSION}")
        port = int(settings["port"])
        bound = 0
        names = list(config.addresses(settings["listen_addresses"]))
        for name in names:
            address = "0.0.0.0" if name == "*" else resolve(machine, name)  # noqa: S104
            if isinstance(address, ResolveFailure):
                log.write(
                    "LOG", f'could not translate host name "{name}", service "{port}" to address: {address.message}'
                )
                log.write("WARNING", f'could not create listen socket for "{name}"')
                continue
            problem = bind(machine, process, address, port)
            if problem is not None:
                log.write("LOG", f'could not bind IPv4 address "{address}": {problem.strerror}')
                if problem.errno == 98:
                    log.write(
                        "HINT",
                        f"Is another postmaster already running on port {port}? If not, wait a few seconds and retry.",
                    )
                log.write("WARNING", f'could not create listen socket for "{name}"')
                continue
            bound += 1
            log.write("LOG", f'listening on IPv4 address "{address}", port {port}')
        if names and not bound:
            self._forget_lock(machine, held)
            raise _Exit(1, ("FATAL", "could not create any TCP/IP sockets"), ("LOG", "database system is shut down"))
        folder = settings["unix_socket_directories"].split(",")[0].strip()
        socket = f"{folder}/.s.PGSQL.{port}"
        try:
            view = machine.view(process.cred)
            view.write(f"{socket}.lock", f"{process.pid}\n".encode(), mode=0o600)
        except OSError as error:
            self._forget_lock(machine, held)
            raise _Exit(1, ("FATAL", f'could not create lock file "{socket}.lock": {error.strerror}')) from None
        listen_unix(machine, process, socket)
        log.write("LOG", f'listening on Unix socket "{socket}"')
        if self._load_hba(machine, process, held, log):
            self._forget_lock(machine, held)
            raise _Exit(1, ("FATAL", f"could not load {settings['hba_file']}"), ("LOG", "database system is shut down"))

    def _load_hba(self, machine: Machine, process: Process, held: Held, log: _Log) -> bool:
        path = held.settings["hba_file"]
        try:
            _, problems = config.parse_hba(machine.view(process.cred).text(path), path)
        except OSError as error:
            log.write("LOG", f'could not open configuration file "{path}": {error.strerror}')
            return True
        for problem in problems:
            message, _, context = problem.partition("\n")
            log.write("LOG", message)
            log.write("CONTEXT", context)
        return bool(problems)

    def _recover(self, machine: Machine, process: Process, held: Held, cluster: Cluster, log: _Log) -> None:
        then = f"{machine.clock.time(cluster.changed):%Y-%m-%d %H:%M:%S} UTC"
        if cluster.clean:
            log.write("LOG", f"database system was shut down at {then}")
        else:
            log.write("LOG", f"database system was interrupted; last known up at {then}")
            log.write("LOG", "database system was not properly shut down; automatic recovery in progress")
            log.write("LOG", "redo starts at 0/1C4E1F0")
            log.write("LOG", "invalid record length at 0/1C6A3D8: wanted 24, got 0")
            log.write("LOG", "redo done at 0/1C6A3A0 system usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.01 s")
            log.write("LOG", "checkpoint starting: end-of-recovery immediate wait")
            log.write("LOG", "checkpoint complete: wrote 41 buffers (0.3%); 0 WAL file(s) added, 0 removed, 0 recycled; "
                             "write=0.004 s, sync=0.003 s, total=0.012 s; sync files=11, longest=0.002 s, average=0.001 s; "
                             "distance=112 kB, estimate=112 kB")  # fmt: skip
        self._mark(machine, held, clean=False)

    def _mark(self, machine: Machine, held: Held, *, clean: bool) -> None:
        """The state of the cluster, as pg_control keeps it through a crash."""
        path = f"{held.data}/global/pg_control"
        view = machine.view()
        try:
            data = view.read(path)
            state = b"\x01" if clean else b"\x06"
            view.write(path, data[:16] + state + data[17:])
        except OSError:
            return

    def _make_helpers(self, machine: Machine, postmaster: Process, held: Held) -> None:
        name = held.settings["cluster_name"]
        label = f"{name}: " if name else ""
        helpers = (*(("logger",) if held.log else ()), *_HELPERS)
        for helper in helpers:
            made = fork(machine, postmaster, argv=(f"postgres: {label}{helper} ",), held=helper, rss=8 << 20)
            if helper != "logger":
                for file in made.files:
                    machine.files.close(file.inode)
                machine.processes.put(made._replace(files=(), sockets=()))
            else:
                machine.processes.put(made._replace(sockets=()))

    # -- ending

    def stop(self, machine: Machine, process: Process, number: int) -> int:
        held = process.held
        if not isinstance(held, Held):
            return 1 if number == _QUIT else 0
        log = _Log(machine, process, None, held.log)
        how = {_TERM: "smart", _INT: "fast", _QUIT: "immediate"}[number]
        log.write("LOG", f"received {how} shutdown request")
        if number == _INT:
            log.write("LOG", "aborting any active transactions")
        children = machine.processes.children(process.pid)
        launcher = next((child for child in children if child.held == _HELPERS[-1]), None)
        for child in children:
            machine.processes.put(child._replace(ppid=0))
            exit_process(machine, child.pid, 0)
        if number != _QUIT:
            if launcher is not None:
                text = f'background worker "logical replication launcher" (PID {launcher.pid}) exited with exit code 1'
                log.write("LOG", text)
            log.write("LOG", "shutting down")
            log.write("LOG", "checkpoint starting: shutdown immediate")
            log.write("LOG", "checkpoint complete: wrote 14 buffers (0.1%); 0 WAL file(s) added, 0 removed, 0 recycled; "
                             "write=0.003 s, sync=0.002 s, total=0.010 s; sync files=9, longest=0.001 s, average=0.001 s; "
                             "distance=68 kB, estimate=68 kB")  # fmt: skip
            self._mark(machine, held, clean=True)
        log.write("LOG", "database system is shut down")
        self._forget_lock(machine, held)
        return 0

    def _forget_lock(self, machine: Machine, held: Held) -> None:
        view = machine.view()
        folder = held.settings["unix_socket_directories"].split(",")[0].strip()
        for path in (f"{held.data}/postmaster.pid", f"{folder}/.s.PGSQL.{held.settings['port']}.lock"):
            if view.exists(path):
                view.unlink(path)

    def killed(self, machine: Machine, process: Process) -> None:
        """Back ends of a dead postmaster notice, and end."""
        if not isinstance(process.held, Held):
            return
        for child in list(machine.processes):
            if (
                child.program == process.program
                and child.ppid == 1
                and child.unit == process.unit
                and child.pid != process.pid
            ):
                exit_process(machine, child.pid, 1)

    def child_ended(self, machine: Machine, process: Process, child: Process, status: int, number: int) -> None:
        held = process.held
        if not isinstance(held, Held):
            return
        if not number and status == 0:
            return
        log = _Log(machine, process, None, held.log)
        what = f"{child.held} process" if isinstance(child.held, str) else "server process"
        name = {6: "Aborted", 9: "Killed", 11: "Segmentation fault", 15: "Terminated"}.get(number, str(number))
        how = f"was terminated by signal {number}: {name}" if number else f"exited with exit code {status}"
        log.write("LOG", f"{what} (PID {child.pid}) {how}")
        log.write("LOG", "terminating any other active server processes")
        for other in machine.processes.children(process.pid):
            if other.held != "logger":
                machine.processes.put(other._replace(ppid=0))
                exit_process(machine, other.pid, 2)
        log.write("LOG", "all server processes terminated; reinitializing")
        if self._room(machine, held) < 16 << 20 and number == _ABRT:
            log.write("FATAL", f'could not write to file "pg_wal/xlogtemp.{process.pid + 31}": No space left on device')
            log.write("LOG", f"startup process (PID {process.pid + 31}) exited with exit code 1")
            log.write("LOG", "aborting startup due to startup process failure")
            log.write("LOG", "database system is shut down")
            self._forget_lock(machine, held)
            for other in machine.processes.children(process.pid):
                machine.processes.put(other._replace(ppid=0))
                exit_process(machine, other.pid, 0)
            exit_process(machine, process.pid, 1)
            return
        log.write(
            "LOG", f"database system was interrupted; last known up at {machine.clock.time():%Y-%m-%d %H:%M:%S} UTC"
        )
        log.write("LOG", "database system was not properly shut down; automatic recovery in progress")
        log.write("LOG", "database system is ready to accept connections")
        for other in machine.processes.children(process.pid):
            machine.processes.put(other._replace(ppid=0))
            exit_process(machine, other.pid, 0)
        self._make_helpers(machine, current(machine, process), held)

    def reload(self, machine: Machine, process: Process) -> None:
        held = process.held
        if not isinstance(held, Held):
            return
        log = _Log(machine, process, None, held.log)
        log.write("LOG", "received SIGHUP, reloading configuration files")
        try:
            made, problems = config.parse(machine.view(process.cred).text(held.config_file), held.config_file)
        except OSError as error:
            log.write("LOG", f'could not open configuration file "{held.config_file}": {error.strerror}')
            return
        for problem in problems:
            log.write("LOG", problem.message)
        if problems:
            log.write("LOG", f'configuration file "{held.config_file}" contains errors; no changes were applied')
            return
        settings = dict(held.settings)
        for name, value in {**config.DEFAULTS, **made}.items():
            if settings.get(name) == value or name in ("data_directory", "hba_file", "ident_file"):
                continue
            if name in (
                "port",
                "listen_addresses",
                "max_connections",
                "shared_buffers",
                "unix_socket_directories",
                "wal_level",
                "logging_collector",
            ):
                log.write("LOG", f'parameter "{name}" cannot be changed without restarting the server')
            else:
                settings[name] = value
                log.write("LOG", f'parameter "{name}" changed to "{value}"')
        held = held._replace(settings=settings)
        if self._load_hba(machine, process, held, log):
            log.write("LOG", f"{settings['hba_file']} was not reloaded")
        hold(machine, process, held)

    def wake(self, machine: Machine, process: Process, argument: object) -> None:
        """A checkpoint: it needs room in pg_wal, and panics without any."""
        held = process.held
        if not isinstance(held, Held):
            return
        machine.schedule(300.0, "program", (process.pid, argument))
        if self._room(machine, held) > 0:
            self._mark(machine, held, clean=False)
            return
        checkpointer = next(
            (one for one in machine.processes.children(process.pid) if one.held == "checkpointer"), None
        )
        if checkpointer is not None:
            log = _Log(machine, process, None, held.log, pid=checkpointer.pid)
            log.write("PANIC", f'could not write to file "pg_wal/xlogtemp.{checkpointer.pid}": No space left on device')
            deliver(machine, checkpointer, _ABRT)

    def _room(self, machine: Machine, held: Held) -> int:
        try:
            inode = machine.view().stat(held.data)
        except OSError:
            return 0
        return machine.files.free(machine.files.mount_of(inode)).bytes

    # -- serving

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
        made = fork(machine, process, argv=(title,), held=(ask.database, ask.user, ask.application), rss=15 << 20)
        for file in made.files:
            machine.files.close(file.inode)
        machine.processes.put(made._replace(files=(), sockets=()))
        return made.pid

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
            _Log(machine, process, None, held.log).write("FATAL", refusal.message, f"{ask.user}@{ask.database} ")
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
        try:
            storage = self._storage(machine, process, held, cluster, ask)
            return tuple(execute(storage, statement) for statement in statements(ask.query))
        except Refused as refused:
            log = _Log(machine, process, None, held.log)
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
                return view.content(f"{folder}/{table.node}")
            except OSError as error:
                raise refuse(table, "open", error) from None

        def append(table: Table, rows: bytes) -> None:
            try:
                if self._room(machine, held) < 8192:
                    raise OSError(28, "No space left on device")
                view.write(f"{folder}/{table.node}", rows, append=True)
            except OSError as error:
                raise refuse(table, "extend", error) from None

        def replace(table: Table, rows: bytes) -> None:
            try:
                view.write(f"{folder}/{table.node}", Content.of(rows) if rows else EMPTY)
            except OSError as error:
                raise refuse(table, "extend", error) from None

        now = machine.clock.time()
        functions = {
            "version": VERSION, "now": f"{now:%Y-%m-%d %H:%M:%S.%f}+00", "current_database": ask.database,
            "current_user": ask.user, "session_user": ask.user, "user": ask.user, "pg_is_in_recovery": "f",
            "pg_backend_pid": str(process.pid + 400), "current_date": f"{now:%Y-%m-%d}", "pg_reload_conf": "t",
            "current_timestamp": f"{now:%Y-%m-%d %H:%M:%S.%f}+00", "inet_server_port": held.settings["port"],
            "pg_postmaster_start_time": f"{machine.clock.time(process.started):%Y-%m-%d %H:%M:%S.%f}+00",
        }  # fmt: skip
        if re.search(r"(?i)pg_reload_conf", ask.query):
            self.reload(machine, process)
        virtual = {
            "pg_stat_activity": lambda: self._activity(machine, process, ask),
            "pg_database": lambda: (("datname", "datdba", "encoding", "datallowconn"), tuple(
                (name, "10", "6", "t") for name in cluster.databases)),
            "pg_tables": lambda: (("schemaname", "tablename", "tableowner"), tuple(
                ("public", table.name, table.owner) for table in database.tables.values())),
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
            began = f"{machine.clock.time(child.started):%Y-%m-%d %H:%M:%S.%f}+00"
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
                f"{machine.clock.time():%Y-%m-%d %H:%M:%S.%f}+00",
                None,
            )
        )
        return columns, tuple(rows)


class _Log:
    """Where the server writes: its collector's file when it has one, otherwise its standard error."""

    def __init__(self, machine: Machine, process: Process, say: Say | None, path: str = "", *, pid: int = 0) -> None:
        self.machine = machine
        self.process = process
        self.say: Say = say if say is not None else (lambda _line: None)
        self.path = path
        self.pid = pid or process.pid

    def write(self, severity: str, text: str, who: str = "") -> None:
        now = self.machine.clock.time()
        line = f"{now:%Y-%m-%d %H:%M:%S}.{now.microsecond // 1000:03d} UTC [{self.pid}] {who}{severity}:  {text}"
        if self.path:
            write_line(self.machine, current(self.machine, self.process), self.path, line)
        else:
            self.say(line)


def _arguments(argv: tuple[str, ...]) -> Mapping[str, str]:
    """-D DIR, -c name=value, --name=value, -p PORT."""
    found: dict[str, str] = {}
    words = list(argv[1:])
    while words:
        word = words.pop(0)
        if word == "-D" and words:
            found["D"] = words.pop(0)
        elif word == "-p" and words:
            found["port"] = words.pop(0)
        elif word == "-c" and words:
            name, _, value = words.pop(0).partition("=")
            found[name] = value
        elif word.startswith("--"):
            name, _, value = word[2:].partition("=")
            found[name.replace("-", "_")] = value
    return found


def server_of(machine: Machine) -> Process | None:
    """The running postmaster, if there is one."""
    return next((one for one in machine.processes if one.program == "postgres" and isinstance(one.held, Held)), None)


PROGRAMS = {"postgres": Postgres()}
