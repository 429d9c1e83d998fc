"""What the healthy machine was like, as far as probes need it to tell the genuine from the pretended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runners.probes.processes import WILD
from runners.sim.machine import Machine
from runners.sim.processes import Process


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """listeners: (protocol, port) -> the program that listens there; outside: ports that other machines reach;
    mains: unit -> the program of its main process; names: a running program's name -> what it is; processes: each
    command line and its program; devices: where -> the number of what is mounted there; machine: itself, for what has
    to be asked."""

    listeners: Mapping[tuple[str, int], str] = field(default_factory=dict)
    outside: frozenset[int] = frozenset()
    mains: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    processes: tuple[tuple[str, str], ...] = ()
    devices: Mapping[str, int] = field(default_factory=dict)
    machine: Machine | None = None

    @classmethod
    def of(cls, machine: Machine) -> Baseline:
        """Of a machine that is known to be healthy."""
        listeners: dict[tuple[str, int], str] = {}
        outside: set[int] = set()
        for process in machine.processes:
            for socket in process.sockets:
                if socket.port and socket.state in ("LISTEN", ""):
                    listeners.setdefault((socket.protocol, socket.port), process.program)
                    if socket.address in WILD or not socket.address.startswith("127."):
                        outside.add(socket.port)
        mains = {}
        for name, state in machine.systemd.units.items():
            main = machine.processes.get(state.main_pid) if state.main_pid else None
            if main is not None:
                mains[name] = main.program
        names = {process.name: process.program for process in machine.processes if process.program}
        return cls(
            listeners=listeners,
            outside=frozenset(outside),
            mains=mains,
            names=names,
            processes=tuple((" ".join(process.argv), process.program) for process in machine.processes),
            devices={mount.path: mount.dev for mount in machine.files.mounts},
            machine=machine,
        )

    def genuine_listener(self, protocol: str, port: int, process: Process) -> bool:
        """Is it the program that listens there on the healthy machine? A port that nobody had there takes anyone."""
        known = self.listeners.get((protocol, port))
        return known is None or known == process.program

    def is_named(self, name: str, process: Process) -> bool:
        """Is it the program of that name? A name that ran on the healthy machine stands for what ran by it there."""
        known = self.names.get(name)
        return process.program == known if known is not None else name in (process.program, process.name)


NOTHING_KNOWN = Baseline()
