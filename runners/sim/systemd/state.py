"""What systemd and its journal remember: immutable records in handles that fork."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple


class Ran(NamedTuple):
    """A command of a unit that has ended: its key (ExecStartPre, ExecReload, or ExecStart of a forking service), what
    stands there, its process, and how it ended, as the journal puts that (`code=exited, status=0/SUCCESS`)."""

    key: str
    command: str
    pid: int
    ended: str


class UnitState(NamedTuple):
    """The run-time state of one unit. Times are seconds since the epoch, 0 for never.

    active: inactive, active, activating, deactivating, failed; sub: dead, running, exited, failed, auto-restart,
    waiting, …; result: success, exit-code, signal, core-dump, timeout, resources, protocol, oom-kill, start-limit-hit.
    exit_code/exit_status describe the last main process (`code`: exited, killed, dumped); `ran`: the commands around it
    that have ended since the start was begun;
    `starts`: times of recent starts, for the rate limit; `restarts`: automatic ones, since the last manual start;
    `cpu`: seconds used by processes of this run that have ended; `status_text`: what the service last told of itself;
    `generation`: how often unit files had been read when it started (what control processes did is forgotten then).
    """

    name: str
    active: str = "inactive"
    sub: str = "dead"
    result: str = "success"
    main_pid: int = 0
    exec_pid: int = 0
    exec_started: float = 0.0
    exec_ended: float = 0.0
    exit_code: str = ""
    exit_status: int = 0
    ran: tuple[Ran, ...] = ()
    active_since: float = 0.0
    inactive_since: float = 0.0
    changed: float = 0.0
    starts: tuple[float, ...] = ()
    restarts: int = 0
    restart_order: int = -1
    invocation: str = ""
    condition_failed: str = ""
    cpu: float = 0.0
    status_text: str = ""
    generation: int = 0


class SystemdState:
    """Run-time state of all units by full name; `loaded`: unit files as last read (see `unitfile`).

    `last_exit`: the last process of a unit that ended (a `lifecycle.Exit`); `picture`: what the unit folders held when
    they were last read as a whole, so that reading them again costs no more than what changed in them.
    """

    __slots__ = ("generation", "last_exit", "loaded", "picture", "units")

    def __init__(self) -> None:
        self.units: Mapping[str, UnitState] = {}
        self.loaded: Mapping[str, object] = {}
        self.last_exit: object = None
        self.picture: object = None
        self.generation = 0

    def fork(self) -> SystemdState:
        other = SystemdState()
        other.units = self.units
        other.loaded = self.loaded
        other.last_exit = self.last_exit
        other.picture = self.picture
        other.generation = self.generation
        return other

    def get(self, name: str) -> UnitState:
        state = self.units.get(name)
        return state if state is not None else UnitState(name)

    def put(self, state: UnitState) -> UnitState:
        self.units = {**self.units, state.name: state}
        return state


class Entry(NamedTuple):
    """One journal entry. `priority` is syslog's (3 err, 4 warning, 5 notice, 6 info); `transport`: kernel, journal,
    stdout or syslog; `unit` is the unit it is about or from."""

    at: float
    identifier: str
    pid: int
    message: str
    unit: str | None = None
    priority: int = 6
    uid: int = 0
    transport: str = "syslog"
    boot: int = 0


_CHUNK = 64


class _Chunk:
    """Entries that stay together for good, and once somebody asked: which of them are whose."""

    __slots__ = ("_by_unit", "entries")

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self.entries = entries
        self._by_unit: Mapping[str | None, list[Entry]] | None = None

    def of(self, unit: str) -> list[Entry]:
        if self._by_unit is None:
            found: dict[str | None, list[Entry]] = {}
            for entry in self.entries:
                found.setdefault(entry.unit, []).append(entry)
            self._by_unit = found
        return self._by_unit.get(unit, [])


class Journal:
    """Entries in order. Full chunks are shared between forks, so that adding one costs no more than a short tuple.

    `dropped`: what the machine's users have had removed. No tool shows it; who judges the machine can still ask.
    """

    __slots__ = ("_chunks", "_tail", "dropped")

    def __init__(self) -> None:
        self._chunks: tuple[_Chunk, ...] = ()
        self._tail: tuple[Entry, ...] = ()
        self.dropped: tuple[Entry, ...] = ()

    def fork(self) -> Journal:
        other = Journal()
        other._chunks = self._chunks
        other._tail = self._tail
        other.dropped = self.dropped
        return other

    def append(self, entry: Entry) -> None:
        self._tail = (*self._tail, entry)
        if len(self._tail) >= _CHUNK:
            self._chunks = (*self._chunks, _Chunk(self._tail))
            self._tail = ()

    def insert(self, entries: Sequence[Entry]) -> None:
        """Add entries where their times belong."""
        kept = tuple(sorted([*self, *entries], key=lambda entry: entry.at))
        self._chunks, self._tail = (_Chunk(kept),), ()

    def __iter__(self) -> Iterator[Entry]:
        return chain(*[chunk.entries for chunk in self._chunks], self._tail)

    def __reversed__(self) -> Iterator[Entry]:
        yield from reversed(self._tail)
        for chunk in reversed(self._chunks):
            yield from reversed(chunk.entries)

    def __len__(self) -> int:
        return sum([len(chunk.entries) for chunk in self._chunks]) + len(self._tail)

    def of_unit(self, unit: str) -> list[Entry]:
        """The entries of one unit, in order, without a look at all the others."""
        found = [entry for chunk in self._chunks for entry in chunk.of(unit)]
        return found + [entry for entry in self._tail if entry.unit == unit]

    def drop_before(self, at: float) -> int:
        """Forget entries older than `at` (journalctl --vacuum-time); how many went."""
        kept = tuple(entry for entry in self if entry.at >= at)
        gone = tuple(entry for entry in self if entry.at < at)
        self.dropped = (*self.dropped, *gone)
        self._chunks, self._tail = (_Chunk(kept),) if kept else (), ()
        return len(gone)
