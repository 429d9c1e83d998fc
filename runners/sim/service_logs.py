"""The history in the services' own logs: lines written by rule, the same for everybody."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from heapq import merge

from runners.sim.generated import Line, chance, pid_at
from runners.sim.machine import Machine, mix
from runners.sim.programs.nginx_values import connections
from runners.sim.programs.shop import Held
from runners.sim.request_history import DAY, Asked, application, error_text, requests
from runners.sim.users import accounts
from runners.system import integer, seconds, text
from scenario_dsl.values import Value

Past = Sequence[Asked]


def write_logs(machine: Machine) -> Mapping[str, int]:
    """The logs that the description lists: today's lines, and older days in rotated files beside them.

    Services count on from where their logs end; the counters of the machine that do so come back.
    """
    entries = list(machine.spec.entries("logs"))
    hours = max((integer(entry, "hours", 24) for entry in entries), default=0)
    past = requests(machine, hours) if any(text(entry, "kind") in _OF_REQUESTS for entry in entries) else []
    # All are made before any is written: some tell of what their service wrote itself.
    made = [(entry, list(_KINDS[text(entry, "kind")](machine, entry, past))) for entry in entries]
    for entry, lines in made:
        _write_log(machine, entry, lines)
    web = application(machine)
    if web is not None and isinstance(web.held, Held):
        since = sum(1 for one in past if one.answer.application and one.at >= web.started)
        served = served_before(past, web.started) + since
        machine.processes.put(web._replace(held=web.held._replace(handled=served)))
    master = next((process for process in machine.processes if process.argv[0].startswith("nginx: master")), None)
    return {connections(master.pid): past[-1].connection} if master is not None and past else {}


_OF_REQUESTS = ("access", "error", "app")


def served_before(past: Past, begin: float) -> int:
    """What an application that began then had served when the known past begins."""
    if not past:
        return 0
    busy = sum(1 for one in past if one.answer.application) / max(past[-1].at - past[0].at, 1.0)
    return int(max(past[0].at - begin, 0.0) * busy)


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


def _access(_machine: Machine, _entry: Mapping[str, Value], past: Past) -> Iterator[Line]:
    """Combined log lines of the system's own clients, with a few scanners between them."""
    for one in past:
        when = f"{_minute(int(one.at) // 60, '%d/%b/%Y:%H:%M')}:{int(one.at) % 60:02d}"
        rest = f'"GET {one.path} HTTP/1.1" {one.answer.status} {one.answer.size} "-" "{one.agent}"'
        yield one.at, f"{one.source} - - [{when} +0000] {rest}"


def _error(machine: Machine, _entry: Mapping[str, Value], past: Past) -> Iterator[Line]:
    """nginx's error log: what it said about those of the requests that it could not answer well."""
    worker = next((process.pid for process in machine.processes if process.argv[0] == "nginx: worker process"), 812)
    for one in past:
        said = error_text(one)
        if said is not None:
            when = f"{datetime.fromtimestamp(one.at, UTC):%Y/%m/%d %H:%M:%S}"
            yield one.at, f"{when} [{said[0]}] {worker}#{worker}: {said[1]}"


def _app(machine: Machine, entry: Mapping[str, Value], past: Past) -> Iterator[Line]:
    """The application's log: what it wrote itself as it came and went, and between that its requests and heartbeats."""
    since = machine.spec.start_time - integer(entry, "hours", 24) * 3600.0
    own = list(_written(machine, text(entry, "path")))
    pid, served = 0, 0
    asked: Iterable[tuple[float, str | Asked]] = ((one.at, one) for one in past)
    for at, what in merge(own, _beats(own, since, machine.spec.start_time), asked, key=_when):
        if isinstance(what, Asked):
            served += 1 if what.answer.application else 0
            said = what.answer.application if at >= since else ()
        elif what == _BEAT:
            said = (("INFO", f"shop: heartbeat: {served} requests served"),)
        else:
            if _LISTENS in what:
                pid, served = int(what.split("[", 1)[1].split("]", 1)[0]), served_before(past, at)
            yield at, what
            continue
        for level, line in said:
            yield at, f"{_comma(at)} {level} [{pid}] {line}"


_LISTENS, _ENDS, _BEAT = ": listening on ", ": shutting down", "heartbeat"


def _when(line: tuple[float, object]) -> float:
    return line[0]


def _written(machine: Machine, path: str) -> Iterator[Line]:
    """The lines of a log that its service wrote itself since the boot, with their times."""
    view = machine.view()
    for line in view.text(path).splitlines() if view.exists(path) else []:
        yield datetime.strptime(f"{line[:23]}000+0000", "%Y-%m-%d %H:%M:%S,%f%z").timestamp(), line


def _beats(own: list[Line], since: float, until: float) -> Iterator[Line]:
    """Every half minute of each of the application's runs, within the log's hours."""
    ends = [at for at, line in own if _ENDS in line]
    for begin in (at for at, line in own if _LISTENS in line):
        end = min((at for at in [*ends, until] if at > begin), default=until)
        at = begin + 30 * max(int((since - begin) // 30), 1)
        while at < end - 1:
            yield at, _BEAT
            at += 30


def _comma(at: float) -> str:
    whole = int(at)
    return f"{_minute(whole // 60, '%Y-%m-%d %H:%M')}:{whole % 60:02d},{int((at - whole) * 1000):03d}"


@lru_cache(maxsize=64)
def _minute(number: int, form: str) -> str:
    return datetime.fromtimestamp(number * 60, UTC).strftime(form)


def _worker(machine: Machine, entry: Mapping[str, Value], _past: Past) -> Iterator[Line]:
    pid = next((process.pid for process in machine.processes if process.program == "shop-worker"), 900)
    for number, at in _moments(machine, entry, 90.0):
        yield at, f"{_comma(at)} INFO [{pid}] worker: processed {1 + mix(f'{number}') % 4} jobs"


def _postgres(machine: Machine, entry: Mapping[str, Value], _past: Past) -> Iterator[Line]:
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


def _redis(machine: Machine, entry: Mapping[str, Value], _past: Past) -> Iterator[Line]:
    pid = next((process.pid for process in machine.processes if process.program == "redis-server"), 690)
    for _, at in _moments(machine, entry, 3600.0):
        moment = datetime.fromtimestamp(at, UTC)
        when = f"{moment:%d %b %Y %H:%M:%S}.{moment.microsecond // 1000:03d}"
        child = pid_at(machine, at)
        yield at, f"{pid}:M {when} * 100 changes in 300 seconds. Saving..."
        yield at + 0.01, f"{pid}:M {when} * Background saving started by pid {child}"
        yield at + 0.02, f"{child}:C {when} * DB saved on disk"
        yield at + 0.1, f"{pid}:M {when} * Background saving terminated with success"


def _dpkg(machine: Machine, _entry: Mapping[str, Value], _past: Past) -> Iterator[Line]:
    for number, package in enumerate(machine.spec.entries("packages")):
        at = machine.clock.boot - 90 * DAY + number * 2.0
        when = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
        name, version = text(package, "name"), text(package, "version")
        yield at, f"{when} install {name}:amd64 <none> {version}"
        yield at + 1, f"{when} status installed {name}:amd64 {version}"


_KINDS: Mapping[str, Callable[[Machine, Mapping[str, Value], Past], Iterator[Line]]] = {
    "access": _access, "error": _error, "app": _app, "worker": _worker, "postgres": _postgres, "redis": _redis,
    "dpkg": _dpkg,
}  # fmt: skip
