"""The history that logs hold when a world opens: lines written by rule, the same for everybody.

Nothing here is random: each choice follows from the log's path and the line's number.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping

from runners.sim.lifecycle import deliver
from runners.sim.logins import logins
from runners.sim.machine import CronRun, Machine, mix
from runners.sim.programs import cron
from runners.sim.programs.postgres_data import make_cluster
from runners.sim.programs.redis_data import described, encode
from runners.sim.ssh_keys import accepted, client_port
from runners.sim.systemd.journal import log
from runners.sim.users import accounts

DAY = 86400.0
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
        view.write(path, encode(described(redis)))
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


def _cron_events(machine: Machine, since: float) -> Iterator[Event]:
    opening = machine.spec.start_time
    daemon = next((process for process in machine.processes if process.program == "cron"), None)
    unit = daemon.unit if daemon is not None else None
    found: list[cron.Entry] = []
    for _, user, table in cron.tables(machine):
        found += [entry for entry in cron.parse(table, user) if not entry.reboot]
    minute = since - since % 60 + 60
    pid = 9200
    while minute < opening:
        machine.clock.now = minute
        for entry in found:
            if cron.due(entry, machine):
                pid += 3 + mix(f"{entry.command}{minute}") % 7
                yield from _cron_run(entry, minute + 1.0 + chance(f"{pid}") * 0.05, pid, unit)
        minute += 60


def _cron_run(entry: cron.Entry, at: float, pid: int, unit: str | None) -> Iterator[Event]:
    def begin(machine: Machine) -> None:
        user = accounts(machine).user(entry.user)
        uid = user.uid if user is not None else 0
        opened = f"pam_unix(cron:session): session opened for user {entry.user}(uid={uid}) by (uid=0)"
        log(machine, "CRON", opened, pid=pid, unit=unit, facility="auth")
        log(machine, "CRON", f"({entry.user}) CMD ({entry.command})", pid=pid + 1, unit=unit, facility="cron")
        machine.cron = (*machine.cron[-200:], CronRun(machine.clock.now, entry.user, entry.command, 0))

    def end(machine: Machine) -> None:
        closed = f"pam_unix(cron:session): session closed for user {entry.user}"
        log(machine, "CRON", closed, pid=pid, unit=unit, facility="auth")

    yield at, begin
    yield at + 0.4, end


def _login_events(
    machine: Machine, user: str, host: str, began: float, ended: float | None, failed: bool
) -> Iterator[Event]:
    pid = 5000 + mix(f"{user}{began}") % 4000
    port = client_port(user, began)
    account = accounts(machine).user(user)
    uid = account.uid if account is not None else 0

    def say(*texts: str) -> Callable[[Machine], None]:
        def write(machine: Machine) -> None:
            for one in texts:
                log(machine, "sshd", one, pid=pid, unit="ssh.service")

        return write

    if failed:
        yield began, say(f"Failed password for {user} from {host} port {port} ssh2")
        return
    yield (
        began,
        say(
            accepted(machine, user, host, port),
            f"pam_unix(sshd:session): session opened for user {user}(uid={uid}) by (uid=0)",
        ),
    )
    if ended is not None and ended < machine.spec.start_time:
        yield (
            ended,
            say(
                f"Received disconnect from {host} port {port}:11: disconnected by user",
                f"Disconnected from user {user} {host} port {port}",
                f"pam_unix(sshd:session): session closed for user {user}",
            ),
        )


def _scan_events(address: str, at: float, number: int) -> Iterator[Event]:
    pid = 12000 + number * 7
    port = 30000 + mix(f"port{number}") % 30000
    name = ("admin", "test", "oracle", "ubuntu", "git", "user", "pi", "ftpuser")[number % 8]

    def write(machine: Machine) -> None:
        log(machine, "sshd", f"Invalid user {name} from {address} port {port}", pid=pid, unit="ssh.service")
        log(
            machine,
            "sshd",
            f"Connection closed by invalid user {name} {address} port {port} [preauth]",
            pid=pid,
            unit="ssh.service",
        )

    yield at, write


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


def stranger(number: int) -> str:
    """An address from somewhere on the Internet."""
    parts = (
        45 + mix(f"x{number}") % 150,
        mix(f"y{number}") % 250,
        mix(f"z{number}") % 250,
        1 + mix(f"w{number}") % 250,
    )
    return ".".join(str(part) for part in parts)


def chance(what: str) -> float:
    """A number in [0, 1) that follows from the text."""
    return mix(what) / 2**64
