"""The Apache HTTP Server, as Debian installs it: a master, its workers, and the files of its default site."""

from __future__ import annotations

import mimetypes
import posixpath
from contextlib import suppress

from runners.sim.files.inode import READ, Cred
from runners.sim.lifecycle import deliver, exit_process, fork
from runners.sim.machine import Machine, Program, Say
from runners.sim.network.connect import Connection
from runners.sim.network.http import REASONS, HttpFailure, HttpRequest, HttpResponse
from runners.sim.processes import Process
from runners.sim.programs.apache_config import Config, ConfigError, Host, load
from runners.sim.programs.descriptors import bind, current, hold, open_log, write_line
from runners.text import is_digits

VERSION = "Apache/2.4.57 (Debian)"
_TERM, _INT, _WINCH, _USR1 = 15, 2, 28, 10
_WORKERS = 2
_LARGEST = 1 << 20
_ORDERS = {"stop": _TERM, "graceful-stop": _WINCH, "restart": 1, "graceful": _USR1}
_ANY = "0.0.0.0"  # noqa: S104


def check(machine: Machine, cred: Cred) -> tuple[list[str], int]:
    """`apache2 -t`: its lines on standard error and its exit status."""
    try:
        config = load(machine, cred)
    except ConfigError as error:
        return str(error).splitlines(), 1
    return [*unnamed(machine, config), "Syntax OK"], 0


def unnamed(machine: Machine, config: Config) -> list[str]:
    """What it says where nobody told it its name."""
    if config.named:
        return []
    address = machine.network.interfaces[-1].address
    return [
        f"AH00558: apache2: Could not reliably determine the server's fully qualified domain name, using {address}. "
        "Set the 'ServerName' directive globally to suppress this message"
    ]


class Apache(Program):
    """`held` of the master and of each worker is the Config it works by."""

    ends_on = frozenset({_TERM, _INT, _WINCH})
    reloads = True

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        try:
            config = load(machine, process.cred)
        except ConfigError as error:
            for line in str(error).splitlines():
                say(line)
            return 1
        for line in unnamed(machine, config):
            say(line)
        for verb, number in _ORDERS.items():
            if process.argv[1:3] == ("-k", verb):
                return _order(machine, config, number, say)
        if not _bind_all(machine, process, config, say):
            return 1
        view = machine.view(process.cred)
        for path in config.logs:
            problem = open_log(machine, process, path)
            if problem is not None:
                say(f"({problem.errno}){problem.strerror}: AH00091: apache2: could not open error log file {path}.")
                say("AH00015: Unable to open logs")
                return 1
        folder = posixpath.dirname(config.pid_file)
        if not view.exists(folder):
            view.mkdir(folder, 0o755)
        view.write(config.pid_file, f"{process.pid}\n".encode(), mode=0o644)
        hold(machine, process, config, rss=5 << 20, share=0.00002)
        master = current(machine, process)
        _notice(machine, master, config, f"AH00489: {VERSION} configured -- resuming normal operations")
        _notice(machine, master, config, f"AH00094: Command line: '{process.argv[0]}'")
        _make_workers(machine, master, config)
        return None

    def reload(self, machine: Machine, process: Process) -> None:
        """SIGHUP, and SIGUSR1 more gently: the files are read again; if they are wrong, it ends."""
        config = process.held
        if not isinstance(config, Config):
            return
        said: list[str] = []
        try:
            new = load(machine, process.cred)
        except ConfigError:
            exit_process(machine, process.pid, 1)
            return
        kept = tuple(
            one
            for one in current(machine, process).sockets
            if (one.address, one.port) in new.listens or (one.address == _ANY and ("::", one.port) in new.listens)
        )
        machine.processes.put(current(machine, process)._replace(sockets=kept))
        if not _bind_all(machine, process, new, said.append):
            exit_process(machine, process.pid, 1)
            return
        _end_workers(machine, process)
        hold(machine, process, new)
        _make_workers(machine, current(machine, process), new)

    def signalled(self, machine: Machine, process: Process, number: int) -> bool:
        if number == _USR1:
            self.reload(machine, process)
        return number == _USR1

    def stop(self, machine: Machine, process: Process, number: int) -> int:
        config = process.held
        if isinstance(config, Config) and not _is_worker(machine, process):
            _end_workers(machine, process)
            text = "AH00492: caught SIGWINCH, shutting down gracefully"
            _notice(machine, process, config, text if number == _WINCH else "AH00491: caught SIGTERM, shutting down")
            with suppress(OSError):
                machine.view().unlink(config.pid_file)
        return 0

    def child_ended(self, machine: Machine, process: Process, child: Process, status: int, number: int) -> None:
        if isinstance(process.held, Config):
            _make_worker(machine, process, process.held)

    def serve(self, machine: Machine, process: Process, request: object, connection: object) -> object:
        """An HttpRequest gets a file of its virtual host; anything else gets nothing."""
        config = process.held
        if not isinstance(request, HttpRequest) or not isinstance(connection, Connection):
            return None
        if not isinstance(config, Config):
            return None
        if request.scheme == "https":
            return HttpFailure("tls", "wrong version number", 0.001)
        worker = next((one for one in machine.processes.children(process.pid) if one.state != "T"), process)
        host = _host(config, connection.port, request.host)
        answer = _answer(machine, worker, host, request, connection.port)
        if host.access_log:
            when = f"{machine.clock.time():%d/%b/%Y:%H:%M:%S +0000}"
            agent, referer = request.header("User-Agent") or "-", request.header("Referer") or "-"
            line = f'{request.remote} - - [{when}] "{request.method} {request.target} HTTP/1.1" '
            line += f'{answer.status} {len(answer.body) + 276} "{referer}" "{agent}"'
            write_line(machine, worker, host.access_log, line)
        return answer


def _order(machine: Machine, config: Config, number: int, say: Say) -> int:
    """Signal the running master by its pid file; the exit status."""
    try:
        text = machine.view().text(config.pid_file).strip()
    except OSError:
        text = ""
    master = machine.processes.get(int(text)) if is_digits(text) else None
    if master is None:
        say("httpd (no pid file) not running" if not text else f"httpd (pid {text}?) not running")
        return int(number == _USR1)
    deliver(machine, master, number)
    return 0


def _bind_all(machine: Machine, process: Process, config: Config, say: Say) -> bool:
    held = {(socket.address, socket.port) for socket in current(machine, process).sockets}
    for address, port in config.listens:
        if (address, port) in held:
            continue
        # `::` takes both families, as bindv6only=0 has it; that the other one is free has to be seen too.
        both = (_ANY, "::") if address == "::" else (address,)
        for one in both:
            problem = bind(machine, process, one, port, lowest_fd=3)
            if problem is not None:
                where = f"[::]:{port}" if one == "::" else f"{one}:{port}"
                say(f"({problem.errno}){problem.strerror}: AH00072: make_sock: could not bind to address {where}")
                say("no listening sockets available, shutting down")
                say("AH00015: Unable to open logs")
                return False
    return True


def _make_workers(machine: Machine, master: Process, config: Config) -> None:
    for _ in range(_WORKERS):
        _make_worker(machine, master, config)


def _make_worker(machine: Machine, master: Process, config: Config) -> None:
    worker = fork(machine, master, cred=config.user, held=config, rss=4 << 20)
    machine.processes.put(worker._replace(threads=27))


def _end_workers(machine: Machine, master: Process) -> None:
    for worker in machine.processes.children(master.pid):
        machine.processes.put(worker._replace(ppid=0))
        exit_process(machine, worker.pid, 0)


def _is_worker(machine: Machine, process: Process) -> bool:
    parent = machine.processes.get(process.ppid)
    return parent is not None and parent.program == process.program


def _notice(machine: Machine, process: Process, config: Config, text: str) -> None:
    now = machine.clock.time()
    stamp = f"{now:%a %b %d %H:%M:%S.%f %Y}"
    line = f"[{stamp}] [mpm_event:notice] [pid {process.pid}:tid {process.pid}] {text}"
    write_line(machine, process, config.error_log, line)


def _host(config: Config, port: int, name: str) -> Host:
    """The first of the port that has the name, or the first of the port."""
    name = name.partition(":")[0]
    own = [host for host in config.hosts if host.port in (0, port)]
    general = Host(port, (), "/var/www/html", "", config.error_log)
    return next((host for host in own if name in host.names), own[0] if own else general)


def _answer(machine: Machine, worker: Process, host: Host, request: HttpRequest, port: int) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return _page(machine, request, port, 405)
    view = machine.view(worker.cred)
    path = posixpath.normpath(f"{host.root}/{request.path.lstrip('/')}")
    try:
        inode = view.stat(path)
        if inode.is_dir:
            path = next(file for file in (f"{path}/{name}" for name in host.indexes) if view.exists(file))
            inode = view.stat(path)
    except OSError:
        return _page(machine, request, port, 404)
    except StopIteration:
        return _page(machine, request, port, 403)
    if not inode.is_file or not view.access(path, READ):
        return _page(machine, request, port, 403)
    data = inode.content.read(0, min(inode.size, _LARGEST))
    kind = mimetypes.guess_type(path, strict=True)[0] or "text/plain"
    headers = (*_headers(machine), ("Content-Length", str(len(data))), ("Content-Type", kind))
    return HttpResponse(200, headers, b"" if request.method == "HEAD" else data, 0.0004)


def _page(machine: Machine, request: HttpRequest, port: int, status: int) -> HttpResponse:
    said = {
        403: "You don't have permission to access this resource.",
        404: "The requested URL was not found on this server.",
        405: f"The requested method {request.method} is not allowed for this URL.",
    }[status]
    title = REASONS[status]
    name = request.host.partition(":")[0]
    body = (
        '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n'
        f"<html><head>\n<title>{status} {title}</title>\n</head><body>\n<h1>{title}</h1>\n<p>{said}</p>\n"
        f"<hr>\n<address>{VERSION} Server at {name} Port {port}</address>\n</body></html>\n"
    ).encode("utf-8", "surrogateescape")
    headers = (
        *_headers(machine),
        ("Content-Length", str(len(body))),
        ("Content-Type", "text/html; charset=iso-8859-1"),
    )
    return HttpResponse(status, headers, b"" if request.method == "HEAD" else body, 0.0003)


def _headers(machine: Machine) -> tuple[tuple[str, str], ...]:
    return (("Date", f"{machine.clock.time():%a, %d %b %Y %H:%M:%S} GMT"), ("Server", VERSION))


PROGRAMS = {"apache2": Apache()}
