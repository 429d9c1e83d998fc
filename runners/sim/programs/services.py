"""Small daemons that keep running and do little that anybody sees, and programs that only wait."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from runners.sim.lifecycle import deliver
from runners.sim.machine import Machine, Program, Say
from runners.sim.processes import Process
from runners.sim.programs.descriptors import bind, hold
from runners.sim.systemd.unitfile import signal_number, timespan
from runners.text import is_digits


class Steady(NamedTuple):
    """What a quiet daemon takes: resident bytes, share of a processor, and (protocol, address, port) it listens on.

    `notifies`: see `Program`.
    """

    rss: int
    share: float = 0.0
    listens: tuple[tuple[str, str, int], ...] = ()
    notifies: bool = False


class Service(Program):
    """A daemon that starts, stays, and ends when told. SIGHUP only makes it read its files again."""

    reloads = True

    def __init__(self, steady: Steady) -> None:
        self.steady = steady
        self.notifies = steady.notifies

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        for protocol, address, port in self.steady.listens:
            problem = bind(machine, process, address, port, protocol=protocol)
            if problem is not None:
                say(f"{process.name}: bind {address}:{port}: {problem.strerror}")
                return 1
        hold(machine, process, None, rss=self.steady.rss, share=self.steady.share)
        return None


class Waiting(Program):
    """sleep and the like, run as a process of its own: nothing happens until the time is over."""

    ends_on = frozenset()

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        total = 0.0
        words = process.argv[1:]
        if not words:
            say("sleep: missing operand")
            return 1
        for word in words:
            span = float("inf") if word == "infinity" else timespan(word)
            if span is None:
                say(f"sleep: invalid time interval \u2018{word}\u2019")
                return 1
            total += span
        if total != float("inf"):
            machine.schedule(total, "process-ends", (process.pid, 0))
        hold(machine, process, None, rss=1 << 20)
        return None


class StartStop(Program):
    """start-stop-daemon, as far as units use it: `--stop --pidfile FILE [--retry SIGNAL/…]`."""

    ends_on = frozenset()

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        words = process.argv[1:]
        options = dict(pairwise(words))
        path = options.get("--pidfile", "")
        try:
            text = machine.view(process.cred).text(path).strip()
        except OSError as error:
            if "--quiet" not in words:
                say(f"start-stop-daemon: unable to open pidfile {path} for reading ({error.strerror})")
            return 1
        target = machine.processes.get(int(text)) if is_digits(text) else None
        if target is None:
            return 1
        name = options.get("--retry", options.get("--signal", "TERM")).split("/")[0]
        deliver(machine, target, signal_number(name))
        return 0


_MB = 1 << 20
PROGRAMS = {
    "sleep": Waiting(),
    "start-stop-daemon": StartStop(),
    "systemd-journald": Service(Steady(22 * _MB, 0.0004, notifies=True)),
    "systemd-udevd": Service(Steady(7 * _MB, 0.00001, notifies=True)),
    "systemd-logind": Service(Steady(8 * _MB, 0.00002, notifies=True)),
    "systemd-timesyncd": Service(Steady(7 * _MB, 0.00001, notifies=True)),
    "dbus-daemon": Service(Steady(5 * _MB, 0.00002, notifies=True)),
    "agetty": Service(Steady(2 * _MB)),
    "node_exporter": Service(Steady(19 * _MB, 0.0011, (("tcp", "127.0.0.1", 9100),))),
    "unattended-upgrade-shutdown": Service(Steady(21 * _MB, 0.00001)),
}
