"""nginx: the master and its workers. What it serves by is what it last loaded, not what the files say now."""

from __future__ import annotations

from runners.sim.files.inode import Cred
from runners.sim.files.view import FileView
from runners.sim.lifecycle import deliver, exit_process, fork
from runners.sim.machine import Machine, Program, Say
from runners.sim.network.connect import Connection
from runners.sim.network.http import HttpFailure, HttpRequest
from runners.sim.processes import Process
from runners.sim.programs.descriptors import bind, current, hold, open_log
from runners.sim.programs.nginx_config import load
from runners.sim.programs.nginx_exchange import VERSION, Exchange, write_error
from runners.sim.programs.nginx_grammar import ConfigError
from runners.sim.programs.nginx_values import DEFAULT_PATH, Listen, NginxConfig

_QUIT, _TERM, _INT, _USR1, _WINCH = 3, 15, 2, 10, 28


class Options:
    """nginx's own arguments, as far as they matter: -t -q -c FILE -g TEXT -s SIGNAL."""

    def __init__(self, argv: tuple[str, ...]) -> None:
        self.test = self.quiet = self.foreground = False
        self.path, self.extra, self.signal = DEFAULT_PATH, "", ""
        words = list(argv[1:])
        while words:
            word = words.pop(0)
            if word in ("-c", "-g", "-s", "-p", "-e") and words:
                value = words.pop(0)
                if word == "-c":
                    self.path = value
                elif word == "-g":
                    self.extra = value
                elif word == "-s":
                    self.signal = value
            elif word.startswith("-"):
                self.test = self.test or "t" in word or "T" in word
                self.quiet = self.quiet or "q" in word
        self.foreground = "daemon off" in self.extra


def test_config(
    machine: Machine,
    cred: Cred,
    path: str = DEFAULT_PATH,  # noqa: PT028 (not a test of pytest's)
    *,
    quiet: bool = False,  # noqa: PT028
) -> tuple[list[str], int]:
    """`nginx -t`: its lines on standard error and its exit status."""
    view = machine.view(cred)
    lines: list[str] = []
    try:
        config = load(machine, cred, path)
    except ConfigError as error:
        lines += [f"nginx: [emerg] {error}", f"nginx: configuration file {path} test failed"]
        return lines, 1
    lines += [f"nginx: [warn] {warning}" for warning in config.warnings]
    for log in config.logs:
        problem = _openable(view, log)
        if problem is not None:
            lines += [
                f'nginx: [emerg] open() "{log}" failed ({problem.errno}: {problem.strerror})',
                f"nginx: configuration file {path} test failed",
            ]
            return lines, 1
    if not quiet:
        lines += [
            f"nginx: the configuration file {path} syntax is ok",
            f"nginx: configuration file {path} test is successful",
        ]
    return lines, 0


def _openable(view: FileView, path: str) -> OSError | None:
    if path in ("stderr", "off") or path.startswith(("syslog:", "memory:", "/dev/")):
        return None
    try:
        view.open_for_writing(path, truncate=False, mode=0o644)
    except OSError as error:
        return error
    return None


class Nginx(Program):
    """`held` of the master and of each worker is the NginxConfig it works by."""

    ends_on = frozenset({_TERM, _INT, _QUIT})
    reloads = True

    # -- the processes

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        options = Options(process.argv)
        if options.test:
            lines, status = test_config(machine, process.cred, options.path, quiet=options.quiet)
            for line in lines:
                say(line)
            return status
        try:
            config = load(machine, process.cred, options.path, options.extra)
        except ConfigError as error:
            say(f"nginx: [emerg] {error}")
            return 1
        if options.signal:
            return send(machine, config, options.signal, say)
        for warning in config.warnings:
            say(f"nginx: [warn] {warning}")
        for listen in config.listens:
            problem = bind(machine, process, listen.address, listen.port)
            if problem is not None:
                return self._cannot_bind(machine, process, config, listen, problem, say)
        for path in config.logs:
            error_ = _openable(machine.view(process.cred), path) or open_log(machine, process, path)
            if error_ is not None:
                say(f'nginx: [emerg] open() "{path}" failed ({error_.errno}: {error_.strerror})')
                return 1
        try:
            machine.view(process.cred).write(config.pid_file, f"{process.pid}\n".encode(), mode=0o644)
        except OSError as error:
            say(f'nginx: [emerg] open() "{config.pid_file}" failed ({error.errno}: {error.strerror})')
            return 1
        path = process.argv[0] if process.argv[0].startswith("/") else process.exe
        words = " ".join([path, *process.argv[1:]])
        master = current(machine, process)
        machine.processes.put(master._replace(argv=(f"nginx: master process {words}",)))
        hold(machine, process, config, rss=7 << 20, share=0.00002)
        self._make_workers(machine, current(machine, process), config)
        return None

    def _cannot_bind(
        self, machine: Machine, process: Process, config: NginxConfig, listen: Listen, problem: OSError, say: Say
    ) -> int:
        text = f"bind() to {_address(listen)} failed ({problem.errno}: {problem.strerror})"
        say(f"nginx: [emerg] {text}")
        if problem.errno == 98:
            for _ in range(4):
                machine.moment(0.5)
                say(f"nginx: [emerg] {text}")
            machine.moment(0.5)
            say("nginx: [emerg] still could not bind()")
        log = _openable(machine.view(process.cred), config.error_log) or open_log(machine, process, config.error_log)
        if log is None:
            write_error(machine, current(machine, process), config.error_log, "emerg", text)
        return 1

    def _make_workers(self, machine: Machine, master: Process, config: NginxConfig) -> None:
        for _ in range(config.workers):
            fork(machine, master, argv=("nginx: worker process",), cred=config.user, held=config, rss=9 << 20)

    def reload(self, machine: Machine, process: Process) -> None:
        master = current(machine, process)
        if not _is_master(master):
            return
        old = master.held
        assert isinstance(old, NginxConfig)
        write_error(machine, master, old.error_log, "notice", "signal process started")
        try:
            config = load(machine, master.cred, old.path)
        except ConfigError as error:
            write_error(machine, master, old.error_log, "emerg", str(error))
            return
        kept = tuple(
            s for s in master.sockets if any((s.address, s.port) == (n.address, n.port) for n in config.listens)
        )
        machine.processes.put(master._replace(sockets=kept))
        for listen in config.listens:
            if any((socket.address, socket.port) == (listen.address, listen.port) for socket in kept):
                continue
            problem = bind(machine, master, listen.address, listen.port)
            if problem is not None:
                text = f"bind() to {_address(listen)} failed ({problem.errno}: {problem.strerror})"
                write_error(machine, current(machine, master), old.error_log, "emerg", text)
                machine.processes.put(current(machine, master)._replace(sockets=master.sockets))
                return
        self._reopen(machine, current(machine, master), config)
        hold(machine, master, config)
        for worker in machine.processes.children(master.pid):
            machine.processes.put(worker._replace(ppid=0))
            exit_process(machine, worker.pid, 0)
        self._make_workers(machine, current(machine, master), config)

    def _reopen(self, machine: Machine, process: Process, config: NginxConfig) -> None:
        for file in process.files:
            machine.files.close(file.inode)
        machine.processes.put(process._replace(files=()))
        for path in config.logs:
            if _openable(machine.view(), path) is None:
                open_log(machine, process._replace(cred=machine.view().cred), path)

    def signalled(self, machine: Machine, process: Process, number: int) -> bool:
        if number == _USR1 and isinstance(process.held, NginxConfig):
            self._reopen(machine, process, process.held)
            files = current(machine, process).files
            for worker in machine.processes.children(process.pid):
                for file in worker.files:
                    machine.files.close(file.inode)
                for file in files:
                    machine.files.open(file.inode)
                machine.processes.put(worker._replace(files=files))
            return True
        return number == _WINCH

    def stop(self, machine: Machine, process: Process, number: int) -> int:
        del number
        if _is_master(process) and isinstance(process.held, NginxConfig):
            for worker in machine.processes.children(process.pid):
                machine.processes.put(worker._replace(ppid=0))
                exit_process(machine, worker.pid, 0)
            view = machine.view()
            if view.exists(process.held.pid_file):
                view.unlink(process.held.pid_file)
        return 0

    def child_ended(self, machine: Machine, process: Process, child: Process, status: int, number: int) -> None:
        config = process.held
        if not isinstance(config, NginxConfig):
            return
        how = f"exited on signal {number}" if number else f"exited with code {status}"
        write_error(machine, process, config.error_log, "alert", f"worker process {child.pid} {how}")
        fork(machine, process, argv=("nginx: worker process",), cred=config.user, held=config, rss=9 << 20)

    # -- requests

    def serve(self, machine: Machine, process: Process, request: object, connection: object) -> object:
        """An HttpRequest gets an HttpResponse (or a failed handshake); anything else gets nothing."""
        config = process.held
        if not isinstance(request, HttpRequest) or not isinstance(connection, Connection):
            return None
        if not isinstance(config, NginxConfig):
            return None
        worker = next((one for one in machine.processes.children(process.pid) if one.state != "T"), None)
        if worker is None and _is_master(process):
            return HttpFailure("timeout", "Operation timed out", 60.0)
        return Exchange(machine, worker or process, config, request, connection).answer()


def send(machine: Machine, config: NginxConfig, name: str, say: Say) -> int:
    """`nginx -s NAME`: signal the running master by its pid file; the exit status."""
    numbers = {"stop": _TERM, "quit": _QUIT, "reload": 1, "reopen": _USR1}
    if name not in numbers:
        say(f'nginx: invalid option: "-s {name}"')
        return 1
    try:
        text = machine.view().text(config.pid_file).strip()
    except OSError as error:
        say(f'nginx: [error] open() "{config.pid_file}" failed ({error.errno}: {error.strerror})')
        return 1
    if not text.isdigit():
        say(f'nginx: [error] invalid PID number "{text}" in "{config.pid_file}"')
        return 1
    master = machine.processes.get(int(text))
    if master is None:
        say(f"nginx: [alert] kill({text}, {numbers[name]}) failed (3: No such process)")
        return 1
    deliver(machine, master, numbers[name])
    return 0


def _is_master(process: Process) -> bool:
    return process.argv[0].startswith("nginx: master")


def _address(listen: Listen) -> str:
    return f"[{listen.address}]:{listen.port}" if ":" in listen.address else f"{listen.address}:{listen.port}"


__all__ = ["PROGRAMS", "VERSION", "Nginx", "Options", "send", "test_config"]

PROGRAMS = {"nginx": Nginx()}
