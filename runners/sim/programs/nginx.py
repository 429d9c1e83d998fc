"""nginx: the master and its workers. What it serves by is what it last loaded, not what the files say now."""

from __future__ import annotations

import errno
from contextlib import suppress

from runners.sim.files.inode import Cred
from runners.sim.files.view import FileView
from runners.sim.lifecycle import deliver, exit_process, fork
from runners.sim.machine import Machine, Program, Say
from runners.sim.network.connect import Connection
from runners.sim.network.http import HttpFailure, HttpRequest
from runners.sim.processes import Process
from runners.sim.programs.descriptors import bind, current, hold, open_log
from runners.sim.programs.nginx_answering import VERSION, write_error
from runners.sim.programs.nginx_config import load
from runners.sim.programs.nginx_exchange import Exchange
from runners.sim.programs.nginx_grammar import ConfigError
from runners.sim.programs.nginx_values import DEFAULT_PATH, Listen, NginxConfig
from runners.text import is_digits

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


def config_line(machine: Machine, pid: int, level: str, text: object) -> str:
    """What nginx says before its logs are open: a line as in a log, on standard error (Debian's --error-log-path)."""
    return f"{machine.clock.time():%Y/%m/%d %H:%M:%S} [{level}] {pid}#{pid}: {text}"


def test_config(
    machine: Machine,
    cred: Cred,
    pid: int,
    path: str = DEFAULT_PATH,  # noqa: PT028 (not a test of pytest's)
    *,
    quiet: bool = False,  # noqa: PT028
) -> tuple[list[str], int]:
    """`nginx -t` as process `pid`: its lines on standard error and its exit status."""
    view = machine.view(cred)
    failed = f"nginx: configuration file {path} test failed"
    try:
        config = load(machine, cred, path)
    except ConfigError as error:
        return [config_line(machine, pid, "emerg", error), failed], 1
    lines = [config_line(machine, pid, "warn", warning) for warning in config.warnings]
    if not quiet:
        lines.append(f"nginx: the configuration file {path} syntax is ok")
    for opened in (config.pid_file, *config.logs):
        problem = _openable(view, opened)
        if problem is not None:
            return [*lines, config_line(machine, pid, "emerg", _open_problem(opened, problem)), failed], 1
    if not quiet:
        lines.append(f"nginx: configuration file {path} test is successful")
    return lines, 0


def _open_problem(path: str, error: OSError) -> str:
    return f'open() "{path}" failed ({error.errno}: {error.strerror})'


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
            lines, status = test_config(machine, process.cred, process.pid, options.path, quiet=options.quiet)
            for line in lines:
                say(line)
            return status
        try:
            config = load(machine, process.cred, options.path, options.extra)
        except ConfigError as error:
            say(config_line(machine, process.pid, "emerg", error))
            return 1
        if options.signal:
            return send(machine, config, options.signal, process.pid, say)
        for warning in config.warnings:
            say(config_line(machine, process.pid, "warn", warning))
        for path in config.logs:
            error_ = _openable(machine.view(process.cred), path) or open_log(machine, process, path)
            if error_ is not None:
                say(config_line(machine, process.pid, "emerg", _open_problem(path, error_)))
                return 1
        self._redirect_stderr(machine, process, config)
        if not self._bind_all(machine, process, config, say):
            return 1
        try:
            machine.view(process.cred).write(
                config.pid_file, f"{process.pid}\n".encode("utf-8", "surrogateescape"), mode=0o644
            )
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

    def _bind_all(self, machine: Machine, process: Process, config: NginxConfig, say: Say) -> bool:
        """Take every address that is not held yet; what is in use is tried five times, half a second apart."""

        def tell(text: str) -> None:
            say(f"nginx: [emerg] {text}")
            write_error(machine, current(machine, process), config.error_log, "emerg", text)

        for _ in range(5):
            taken = False
            held = [(socket.address, socket.port) for socket in current(machine, process).sockets]
            for listen in config.listens:
                if (listen.address, listen.port) in held:
                    continue
                problem = bind(machine, current(machine, process), listen.address, listen.port)
                if problem is None:
                    continue
                tell(f"bind() to {_address(listen)} failed ({problem.errno}: {problem.strerror})")
                if problem.errno != errno.EADDRINUSE:
                    return False
                taken = True
            if not taken:
                return True
            machine.moment(0.5)
        tell("still could not bind()")
        return False

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
        if not self._bind_all(machine, master, config, _nobody_hears):
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
        self._redirect_stderr(machine, process, config)

    def _redirect_stderr(self, machine: Machine, process: Process, config: NginxConfig) -> None:
        """What nginx would say on its standard error goes to the main log from here on."""
        process = current(machine, process)
        log = next((file for file in process.files if file.path == config.error_log.path), None)
        if log is not None:
            machine.files.open(log.inode)
            machine.processes.put(process._replace(files=(*process.files, log._replace(fd=2))))

    def signalled(self, machine: Machine, process: Process, number: int) -> bool:
        if number == _USR1 and isinstance(process.held, NginxConfig):
            self._reopen(machine, process, process.held)
            files = current(machine, process).files
            if _is_master(process):
                for file in files:
                    with suppress(OSError):  # the workers are to be able to open them too
                        machine.view().chown(file.path, process.held.user.uid, None)
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
            try:
                machine.view().unlink(process.held.pid_file)
            except OSError as error:
                text = f'unlink() "{process.held.pid_file}" failed ({error.errno}: {error.strerror})'
                write_error(machine, process, process.held.error_log, "alert", text)
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


def _nobody_hears(line: str) -> None:
    """A running master's standard error is closed: only its log is read."""
    del line


def send(machine: Machine, config: NginxConfig, name: str, pid: int, say: Say) -> int:
    """`nginx -s NAME` as process `pid`: signal the running master by its pid file; the exit status."""
    numbers = {"stop": _TERM, "quit": _QUIT, "reload": 1, "reopen": _USR1}
    if name not in numbers:
        say(f'nginx: invalid option: "-s {name}"')
        return 1
    say(config_line(machine, pid, "notice", "signal process started"))
    try:
        text = machine.view().text(config.pid_file).strip()
    except OSError as error:
        say(config_line(machine, pid, "error", _open_problem(config.pid_file, error)))
        return 1
    if not is_digits(text):
        say(config_line(machine, pid, "error", f'invalid PID number "{text}" in "{config.pid_file}"'))
        return 1
    master = machine.processes.get(int(text))
    if master is None:
        problem = f"kill({text}, {numbers[name]}) failed (3: No such process)"
        say(config_line(machine, pid, "alert", problem))
        return 1
    deliver(machine, master, numbers[name])
    return 0


def _is_master(process: Process) -> bool:
    return process.argv[0].startswith("nginx: master")


def _address(listen: Listen) -> str:
    return f"[{listen.address}]:{listen.port}" if ":" in listen.address else f"{listen.address}:{listen.port}"


__all__ = ["PROGRAMS", "VERSION", "Nginx", "Options", "config_line", "send", "test_config"]

PROGRAMS = {"nginx": Nginx()}
