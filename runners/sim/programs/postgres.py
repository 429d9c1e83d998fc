"""PostgreSQL 15: the postmaster, its helpers and back ends, on its data directory's own files."""

from __future__ import annotations

from runners.sim.lifecycle import deliver, exit_process, fork
from runners.sim.machine import Machine, Say
from runners.sim.network.names import ResolveFailure, resolve
from runners.sim.processes import Process
from runners.sim.programs import postgres_config as config
from runners.sim.programs.descriptors import bind, current, hold, listen_unix
from runners.sim.programs.postgres_data import OWN_SETTINGS, Cluster
from runners.sim.programs.postgres_log import VERSION, Held, ServerLog
from runners.sim.programs.postgres_sessions import CloseSession, OpenSession, Sessions
from runners.sim.programs.postgres_start import EarlyExit, configure, open_data

_TERM, _INT, _QUIT, _ABRT = 15, 2, 3, 6
_CALLED = {
    "walwriter": "WAL writer process",
    "logical replication launcher": 'background worker "logical replication launcher"',
}
"""What the log calls helpers whose title is another."""
_HELPERS = ("checkpointer", "background writer", "walwriter", "autovacuum launcher", "logical replication launcher")


class Postgres(Sessions):
    """`held` of the postmaster is a `Held`; of a back end, the session it serves (database, user, application)."""

    ends_on = frozenset({_TERM, _INT, _QUIT})
    reloads = True
    notifies = True

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
        log = ServerLog(machine, process, say)
        try:
            held = configure(machine, process, say)
            cluster = open_data(machine, process, held, log)
            self._listen(machine, process, held, log)
        except EarlyExit as end:
            for severity, text in end.lines:
                log.write(severity, text)
            return end.status
        self._recover(machine, process, held, cluster, log)
        hold(machine, process, held, rss=27 << 20, share=0.0004)
        self._make_helpers(machine, current(machine, process), held)
        log.write("LOG", "database system is ready to accept connections")
        machine.schedule(300.0, "program", (process.pid, "checkpoint"))
        return None

    def _listen(self, machine: Machine, process: Process, held: Held, log: ServerLog) -> None:
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
            six = "::" if name == "*" else "::1" if name == "localhost" else ""
            if six and bind(machine, process, six, port) is None:
                log.write("LOG", f'listening on IPv6 address "{six}", port {port}')
        if names and not bound:
            self._forget_lock(machine, held)
            raise EarlyExit(
                1, ("FATAL", "could not create any TCP/IP sockets"), ("LOG", "database system is shut down")
            )
        folder = settings["unix_socket_directories"].split(",")[0].strip()
        socket = f"{folder}/.s.PGSQL.{port}"
        try:
            view = machine.view(process.cred)
            view.write(f"{socket}.lock", f"{process.pid}\n".encode("utf-8", "surrogateescape"), mode=0o600)
        except OSError as error:
            self._forget_lock(machine, held)
            raise EarlyExit(1, ("FATAL", f'could not create lock file "{socket}.lock": {error.strerror}')) from None
        listen_unix(machine, process, socket)
        log.write("LOG", f'listening on Unix socket "{socket}"')
        if self._load_hba(machine, process, held, log):
            self._forget_lock(machine, held)
            raise EarlyExit(
                1, ("FATAL", f"could not load {settings['hba_file']}"), ("LOG", "database system is shut down")
            )

    def _load_hba(self, machine: Machine, process: Process, held: Held, log: ServerLog) -> bool:
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

    def _recover(self, machine: Machine, process: Process, held: Held, cluster: Cluster, log: ServerLog) -> None:
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
            fork(
                machine, postmaster, argv=(f"postgres: {label}{helper} ",), held=helper, rss=8 << 20,
                files=helper == "logger", sockets=False,
            )  # fmt: skip

    # -- ending

    def stop(self, machine: Machine, process: Process, number: int) -> int:
        held = process.held
        if not isinstance(held, Held):
            return 1 if number == _QUIT else 0
        log = ServerLog(machine, process, None, held.log)
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
                machine.schedule(0.05, "process-ends", (child.pid, 1))

    def child_ended(self, machine: Machine, process: Process, child: Process, status: int, number: int) -> None:
        held = process.held
        if not isinstance(held, Held):
            return
        if not number and status == 0:
            return
        log = ServerLog(machine, process, None, held.log)
        what = _CALLED.get(child.held, f"{child.held} process") if isinstance(child.held, str) else "server process"
        name = {6: "Aborted", 9: "Killed", 11: "Segmentation fault", 15: "Terminated"}.get(number, str(number))
        how = f"was terminated by signal {number}: {name}" if number else f"exited with exit code {status}"
        log.write("LOG", f"{what} (PID {child.pid}) {how}")
        log.write("LOG", "terminating any other active server processes")
        for other in machine.processes.children(process.pid):
            if other.held != "logger":
                machine.processes.put(other._replace(ppid=0))
                exit_process(machine, other.pid, 2)
        log.write("LOG", "all server processes terminated; reinitializing")
        if self.room(machine, held) < 16 << 20 and number == _ABRT:
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
        log = ServerLog(machine, process, None, held.log)
        log.write("LOG", "received SIGHUP, reloading configuration files")
        try:
            made, problems = config.files(machine.view(process.cred), held.config_file, f"{held.data}/{OWN_SETTINGS}")
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
        if self.room(machine, held) > 0:
            self._mark(machine, held, clean=False)
            return
        checkpointer = next(
            (one for one in machine.processes.children(process.pid) if one.held == "checkpointer"), None
        )
        if checkpointer is not None:
            log = ServerLog(machine, process, None, held.log, pid=checkpointer.pid)
            log.write("PANIC", f'could not write to file "pg_wal/xlogtemp.{checkpointer.pid}": No space left on device')
            deliver(machine, checkpointer, _ABRT)


def server_of(machine: Machine) -> Process | None:
    """The running postmaster, if there is one."""
    return next((one for one in machine.processes if one.program == "postgres" and isinstance(one.held, Held)), None)


__all__ = ["PROGRAMS", "VERSION", "CloseSession", "Held", "OpenSession", "Postgres", "server_of"]

PROGRAMS = {"postgres": Postgres()}
