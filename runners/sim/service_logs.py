"""The history in the services' own logs: lines written by rule, the same for everybody."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from runners.sim import traffic
from runners.sim.generated import DAY, Line, chance, stranger
from runners.sim.machine import Machine, mix
from runners.sim.system import integer, seconds, text
from runners.sim.users import accounts
from scenario_dsl.values import Value


def write_logs(machine: Machine) -> None:
    """The logs that the description lists: today's lines, and older days in rotated files beside them."""
    for entry in machine.spec.entries("logs"):
        make = _KINDS.get(text(entry, "kind"))
        if make is not None:
            _write_log(machine, entry, list(make(machine, entry)))


def _write_log(machine: Machine, entry: Mapping[str, Value], lines: list[Line]) -> None:
    path = text(entry, "path")
    midnight = machine.spec.start_time - machine.spec.start_time % DAY
    rotated = integer(entry, "rotated")
    view = machine.view()
    names = accounts(machine)
    owner, group = names.user(text(entry, "owner", "root")), names.group(text(entry, "group", "adm"))
    for days in range(rotated, -1, -1):
        low = midnight - DAY * days if days else midnight
        high = low + DAY if days else machine.spec.start_time
        if days == rotated and not rotated:
            low = 0.0
        part = "".join(f"{line}\n" for at, line in lines if low <= at < high).encode("utf-8", "surrogateescape")
        name = path if not days else f"{path}.1" if days == 1 else f"{path}.{days}.gz"
        if not days:
            # The service has the file open since the boot: what it wrote then is older than any of this.
            part = part if rotated else view.read(path) + part if view.exists(path) else part
        view.write(name, gzip.compress(part, mtime=0) if name.endswith(".gz") else part)
        view.chown(name, owner.uid if owner else 0, group.gid if group else 0)
        view.chmod(name, int(text(entry, "mode", "0640"), 8))
        inode = view.stat(name)
        at = max((at for at, _ in lines if low <= at < high), default=low) if not days else high
        machine.files.put(inode._replace(mtime=at, ctime=at))


def _moments(machine: Machine, entry: Mapping[str, Value], default: float) -> Iterator[tuple[int, float]]:
    """Times from `hours` ago to the opening, about `every` seconds apart, busier by day."""
    hours = integer(entry, "hours", 24)
    every = seconds(entry.get("every", default)) or default
    at = machine.spec.start_time - hours * 3600.0
    number = 0
    path = text(entry, "path")
    while True:
        hour = at % DAY / 3600
        quiet = 2.2 if hour < 6 else 1.0
        at += every * quiet * (0.2 + 1.6 * chance(f"{path}{number}"))
        if at >= machine.spec.start_time - 1:
            return
        yield number, at
        number += 1


_PROBES = (
    "/wp-login.php",
    "/.env",
    "/phpmyadmin/index.php",
    "/robots.txt",
    "/favicon.ico",
    "/api/v1/users",
    "/.git/config",
)


def _access(machine: Machine, entry: Mapping[str, Value]) -> Iterator[Line]:
    """Combined log lines of the system's own clients, with a few scanners and refusals between them."""
    clients = [client for client in traffic.clients(machine) if client.kind == "http"]
    for number, at in _moments(machine, entry, 60.0):
        roll = chance(f"access{number}")
        when = f"{datetime.fromtimestamp(at, UTC):%d/%b/%Y:%H:%M:%S} +0000"
        if roll < 0.045 or not clients:
            path = _PROBES[mix(f"probe{number}") % len(_PROBES)]
            address = stranger(number + 1000)
            status, size = (403, 153) if path.startswith("/.") else (404, 153)
            yield at, f'{address} - - [{when}] "GET {path} HTTP/1.1" {status} {size} "-" "Mozilla/5.0 zgrab/0.x"'
            continue
        client = clients[mix(f"client{number}") % len(clients)]
        source = client.sources[mix(f"source{number}") % len(client.sources)]
        agent = client.agents[mix(f"agent{number}") % len(client.agents)]
        path = _weighted(client.paths, chance(f"path{number}")) or "/"
        status, size = 200, 180 + mix(f"size{number}") % 900
        if roll > 0.985:
            status, size = (499, 0) if number % 2 else (304, 0)
        elif roll > 0.978:
            status, size = (404, 153) if number % 3 else (401, 179)
        elif _outage(machine, at):
            status, size = 502, 157
        yield at, f'{source} - - [{when}] "GET {path} HTTP/1.1" {status} {size} "-" "{agent}"'


def _outage(machine: Machine, at: float) -> bool:
    """A deployment the evening before: the application was away for three minutes."""
    evening = machine.spec.start_time - machine.spec.start_time % DAY - 3 * 3600
    return evening <= at < evening + 180


def _weighted(paths: tuple[tuple[str, int], ...], at: float) -> str:
    left = at * sum(weight for _, weight in paths)
    for path, weight in paths:
        left -= weight
        if left < 0:
            return path
    return paths[-1][0]


def _error(machine: Machine, entry: Mapping[str, Value]) -> Iterator[Line]:
    """nginx's error log: what scanners ask for in vain, and the evening's deployment."""
    worker = next((process.pid for process in machine.processes if process.argv[0] == "nginx: worker process"), 812)
    for number, at in _moments(machine, entry, 1500.0):
        when = f"{datetime.fromtimestamp(at, UTC):%Y/%m/%d %H:%M:%S}"
        path = _PROBES[mix(f"error{number}") % len(_PROBES)]
        address = stranger(number + 2000)
        rest = f'client: {address}, server: shop.example.com, request: "GET {path} HTTP/1.1", host: "shop.example.com"'
        if path.startswith("/."):
            yield at, f"{when} [error] {worker}#{worker}: *{number * 37 + 11} access forbidden by rule, {rest}"
        else:
            yield (
                at,
                f'{when} [error] {worker}#{worker}: *{number * 37 + 11} open() "/var/www/shop{path}" failed '
                f"(2: No such file or directory), {rest}",
            )
    evening = machine.spec.start_time - machine.spec.start_time % DAY - 3 * 3600
    for number in range(6):
        at = evening + 3 + number * 6
        when = f"{datetime.fromtimestamp(at, UTC):%Y/%m/%d %H:%M:%S}"
        yield (
            at,
            (
                f"{when} [error] {worker}#{worker}: *{88112 + number} connect() failed (111: Connection refused) "
                f"while connecting to upstream, client: 10.0.3.{17 + number}, server: shop.example.com, "
                f'request: "GET /api/products HTTP/1.1", upstream: "http://127.0.0.1:8000/api/products", '
                f'host: "shop.example.com"'
            ),
        )


def _app(machine: Machine, entry: Mapping[str, Value]) -> Iterator[Line]:
    return _application(machine, entry, "shop", "shop-server")


def _worker(machine: Machine, entry: Mapping[str, Value]) -> Iterator[Line]:
    return _application(machine, entry, "worker", "shop-worker")


def _application(machine: Machine, entry: Mapping[str, Value], label: str, program: str) -> Iterator[Line]:
    pid = next((process.pid for process in machine.processes if process.program == program), 900)
    for number, at in _moments(machine, entry, 90.0):
        moment = datetime.fromtimestamp(at, UTC)
        when = f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03d}"
        if label == "worker":
            yield at, f"{when} INFO [{pid}] worker: processed {1 + mix(f'{number}') % 4} jobs"
        elif number % 3 == 0:
            yield at, f"{when} INFO [{pid}] shop: heartbeat: {20418 + number * 61} requests served"
        else:
            path = ("/", "/api/products", "/api/orders", "/health")[mix(f"app{number}") % 4]
            yield at, f"{when} INFO [{pid}] shop: 127.0.0.1 GET {path} 200"


def _postgres(machine: Machine, entry: Mapping[str, Value]) -> Iterator[Line]:
    pid = next((process.pid for process in machine.processes if process.held == "checkpointer"), 701)
    for number, at in _moments(machine, entry, 1800.0):
        moment = datetime.fromtimestamp(at, UTC)
        when = f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d} UTC [{pid}]"
        buffers = 3 + mix(f"pg{number}") % 60
        yield at, f"{when} LOG:  checkpoint starting: time"
        yield (
            at + 0.4,
            (
                f"{when} LOG:  checkpoint complete: wrote {buffers} buffers ({buffers / 163.84:.1f}%); 0 WAL file(s) "
                f"added, 0 removed, 0 recycled; write={buffers * 0.1:.3f} s, sync=0.012 s, "
                f"total={buffers * 0.1 + 0.03:.3f} s; sync files=7, longest=0.005 s, average=0.002 s; "
                f"distance={buffers * 8} kB, estimate={buffers * 9} kB"
            ),
        )


def _redis(machine: Machine, entry: Mapping[str, Value]) -> Iterator[Line]:
    pid = next((process.pid for process in machine.processes if process.program == "redis-server"), 690)
    for number, at in _moments(machine, entry, 3600.0):
        moment = datetime.fromtimestamp(at, UTC)
        when = f"{moment:%d %b %Y %H:%M:%S}.{moment.microsecond // 1000:03d}"
        child = pid + 9000 + number * 31
        yield at, f"{pid}:M {when} * 100 changes in 300 seconds. Saving..."
        yield at + 0.01, f"{pid}:M {when} * Background saving started by pid {child}"
        yield at + 0.02, f"{child}:C {when} * DB saved on disk"
        yield at + 0.1, f"{pid}:M {when} * Background saving terminated with success"


def _dpkg(machine: Machine, entry: Mapping[str, Value]) -> Iterator[Line]:
    del entry
    for number, package in enumerate(machine.spec.entries("packages")):
        at = machine.clock.boot - 90 * DAY + number * 2.0
        when = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
        name, version = text(package, "name"), text(package, "version")
        yield at, f"{when} install {name}:amd64 <none> {version}"
        yield at + 1, f"{when} status installed {name}:amd64 {version}"


_KINDS: Mapping[str, Callable[[Machine, Mapping[str, Value]], Iterator[Line]]] = {
    "access": _access, "error": _error, "app": _app, "worker": _worker, "postgres": _postgres, "redis": _redis,
    "dpkg": _dpkg,
}  # fmt: skip
