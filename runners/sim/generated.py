"""The history that logs hold when a world opens: lines written by rule, the same for everybody.

Nothing here is random: each choice follows from the log's path and the line's number.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping

from runners.formats.crontab import Entry, due
from runners.sim.lifecycle import deliver
from runners.sim.logins import logins
from runners.sim.machine import CronRun, Machine, mix
from runners.sim.programs import cron
from runners.sim.programs.postgres_data import make_cluster
from runners.sim.programs.redis_data import Database, described, encode
from runners.sim.programs.sshd import offered
from runners.sim.request_history import DAY, deployment, stranger
from runners.sim.ssh_keys import accepted, client_port
from runners.sim.systemd import manager
from runners.sim.systemd.journal import log
from runners.sim.users import accounts

Line = tuple[float, str]


def write_data(machine: Machine) -> None:
    """The databases' files, before anything is started."""
    databases = machine.spec.section("databases")
    postgres, redis = databases.get("postgres"), databases.get("redis")
    names = accounts(machine)
    if isinstance(postgres, Mapping) and names.user("postgres") is not None:
        make_cluster(machine, "/var/lib/postgresql/15/main", postgres)
    owner = names.user("redis")
    if isinstance(redis, Mapping) and owner is not None:
        view = machine.view()
        path = "/var/lib/redis/dump.rdb"
        view.write(path, encode({0: Database(described(redis), {})}))
        view.chown(path, owner.uid, owner.gid)
        view.chmod(path, 0o660)


def write_history(machine: Machine) -> None:
    """What happened between the boot and the opening, as the journal and rsyslog's files tell it; rotated each day."""
    events = sorted(_events(machine), key=lambda event: event[0])
    first = machine.spec.start_time - machine.spec.start_time % DAY
    rotations = [first - DAY * days for days in range(6, -1, -1) if first - DAY * days > machine.clock.boot + 60]
    for at, write in events:
        while rotations and rotations[0] <= at:
            machine.clock.now = rotations.pop(0)
            _rotate_syslog(machine)
        machine.clock.now = at
        write(machine)
    for moment in rotations:
        machine.clock.now = moment
        _rotate_syslog(machine)
    machine.processes.next_pid = max(machine.processes.next_pid, LAST_PID + 1)


Event = tuple[float, Callable[[Machine], None]]


def _events(machine: Machine) -> Iterator[Event]:
    opening = machine.spec.start_time
    since = max(opening - 30 * 3600, machine.clock.boot + 120)
    yield from _cron_events(machine, since)
    for login in logins(machine):
        if machine.clock.boot < login.began <= opening:
            yield from _login_events(
                machine, login.user, login.host or "10.0.3.5", login.began, login.ended, login.failed
            )
    for number in range(64):
        at = since + (opening - since) * (number + chance(f"scan{number}") * 0.8) / 64
        yield from _scan_events(stranger(number), at, number)
    yield from _deployment_events(machine)


def _cron_events(machine: Machine, since: float) -> Iterator[Event]:
    opening = machine.spec.start_time
    daemon = next((process for process in machine.processes if process.program == "cron"), None)
    unit = daemon.unit if daemon is not None else None
    found: list[Entry] = []
    for _, entries in cron.tables(machine):
        found += [entry for entry in entries if not entry.reboot]
    minute = since - since % 60 + 60
    while minute < opening:
        machine.clock.now = minute
        for number, entry in enumerate(found):
            if due(entry, machine.clock.time()):
                yield from _cron_run(entry, minute + 1.0 + chance(f"{number} at {minute}") * 0.05, unit)
        minute += 60


def _cron_run(entry: Entry, at: float, unit: str | None) -> Iterator[Event]:
    pid = 0

    def begin(machine: Machine) -> None:
        nonlocal pid
        pid, job = _allocate(machine, 2)
        user = accounts(machine).user(entry.user)
        uid = user.uid if user is not None else 0
        opened = f"pam_unix(cron:session): session opened for user {entry.user}(uid={uid}) by (uid=0)"
        log(machine, "CRON", opened, pid=pid, unit=unit, facility="auth")
        log(machine, "CRON", f"({entry.user}) CMD ({entry.parts[0]})", pid=job, unit=unit, facility="cron")
        machine.cron = (*machine.cron[-200:], CronRun(machine.clock.now, entry.user, entry.command, 0))

    def end(machine: Machine) -> None:
        closed = f"pam_unix(cron:session): session closed for user {entry.user}"
        log(machine, "CRON", closed, pid=pid, unit=unit, facility="auth")

    yield at, begin
    yield at + 0.4, end


def _login_events(
    machine: Machine, user: str, host: str, began: float, ended: float | None, failed: bool
) -> Iterator[Event]:
    pid = 0
    port = client_port(user, began)
    account = accounts(machine).user(user)
    uid = account.uid if account is not None else 0

    def say(machine: Machine, *texts: str) -> None:
        for one in texts:
            log(machine, "sshd", one, pid=pid, unit="ssh.service")

    def begin(machine: Machine) -> None:
        nonlocal pid
        pid = _allocate(machine)[0]
        if failed:
            say(machine, *refusal(machine, user, host, port))
            return
        opened = f"pam_unix(sshd:session): session opened for user {user}(uid={uid}) by (uid=0)"
        say(machine, accepted(machine, user, host, port), opened)

    def end(machine: Machine) -> None:
        say(
            machine,
            f"Received disconnect from {host} port {port}:11: disconnected by user",
            f"Disconnected from user {user} {host} port {port}",
            f"pam_unix(sshd:session): session closed for user {user}",
        )

    yield began, begin
    if ended is not None and ended < machine.spec.start_time:
        yield ended, end


_GUESSED = ("root", "admin", "test", "root", "oracle", "ubuntu", "git", "root", "user", "pi", "ftpuser")


def _scan_events(address: str, at: float, number: int) -> Iterator[Event]:
    """Somebody from outside tries a name at the door."""
    port = 30000 + mix(f"port{number}") % 30000
    name = _GUESSED[number % len(_GUESSED)]

    def write(machine: Machine) -> None:
        pid = _allocate(machine)[0]
        for line in refusal(machine, name, address, port):
            log(machine, "sshd", line, pid=pid, unit="ssh.service")

    yield at, write


def refusal(machine: Machine, user: str, address: str, port: int) -> tuple[str, ...]:
    """What sshd logs of a client without a key: a wrong password where it takes any, else that the client gave up."""
    server = next((process for process in machine.processes if process.program == "sshd"), None)
    known = accounts(machine).user(user) is not None
    ways = offered(machine, server, user, address) if server is not None else ()
    invalid = () if known else (f"Invalid user {user} from {address} port {port}",)
    if "password" in ways:
        of = "" if known else "invalid user "
        return (*invalid, f"Failed password for {of}{user} from {address} port {port} ssh2")
    kind = "authenticating" if known else "invalid"
    return (*invalid, f"Connection closed by {kind} user {user} {address} port {port} [preauth]")


def _deployment_events(machine: Machine) -> Iterator[Event]:
    deployed = deployment(machine)
    if deployed is not None:
        yield deployed.stopped, lambda machine: _change(machine, manager.stop, deployed.unit)
        yield deployed.started, lambda machine: _change(machine, manager.start, deployed.unit)


def _change(machine: Machine, act: Callable[[Machine, str], object], unit: str) -> None:
    _count_on(machine)
    act(machine, unit)


LAST_PID = 18230
"""The newest process when a world opens."""


def pid_at(machine: Machine, at: float) -> int:
    """The newest process id at a time of the past: they are used up evenly between the boot and the opening."""
    first = 700
    share = (at - machine.clock.boot) / max(machine.spec.start_time - machine.clock.boot, 1.0)
    return first + int((LAST_PID - first) * share)


def _count_on(machine: Machine) -> None:
    machine.processes.next_pid = max(machine.processes.next_pid, pid_at(machine, machine.clock.now))


def _allocate(machine: Machine, number: int = 1) -> list[int]:
    """Process ids of that moment, never used before and rising with time."""
    _count_on(machine)
    return [machine.processes.allocate() for _ in range(number)]


def _rotate_syslog(machine: Machine) -> None:
    view = machine.view()
    for path in ("/var/log/syslog", "/var/log/auth.log", "/var/log/cron.log", "/var/log/kern.log", "/var/log/user.log"):
        if not view.exists(path):
            continue
        if view.exists(f"{path}.2.gz"):
            view.rename(f"{path}.2.gz", f"{path}.3.gz")
        if view.exists(f"{path}.1"):
            data = gzip.compress(view.read(f"{path}.1"), mtime=0)
            inode = view.stat(f"{path}.1")
            view.write(f"{path}.2.gz", data)
            view.chown(f"{path}.2.gz", inode.uid, inode.gid)
            view.chmod(f"{path}.2.gz", 0o640)
            view.unlink(f"{path}.1")
        view.rename(path, f"{path}.1")
    daemon = next((process for process in machine.processes if process.program == "rsyslogd"), None)
    if daemon is not None:
        deliver(machine, daemon, 1)


def chance(what: str) -> float:
    """A number in [0, 1) that follows from the text."""
    return mix(what) / 2**64
