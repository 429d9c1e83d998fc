"""How far a run is, whoever is playing it: counted from its plan and its index, or from the records as they come."""

from __future__ import annotations

import fcntl
import os
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runners.plan import Plan
from runners.record_index import Entry, entries_like
from runners.records_io import Line
from runners.store import read_plan

_WINDOW = 600.0
"""Seconds that a rate looks back."""
_SHORTEST = 1.0
"""Seconds below which a rate says nothing."""


@dataclass(slots=True)
class Row:
    """One agent in one pack. `cost`: what is known of it; `unpriced`: records whose cost is not known.

    errors: Errored trials by whose trouble it was; they may be played again.
    """

    agent: str
    pack: str
    planned: int = 0
    passed: int = 0
    failed: int = 0
    unsupported: int = 0
    carried: int = 0
    retried: int = 0
    tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def errored(self) -> int:
        return self.errors.total()

    @property
    def done(self) -> int:
        """Trials with a record that is no error."""
        return self.passed + self.failed + self.unsupported

    @property
    def open(self) -> int:
        """Trials without any record."""
        return max(self.planned - self.done - self.errored, 0)


class Standing:
    """Counts a run's records, in whatever order they are told. A trial counts once, by its last record."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.rows: dict[tuple[str, str], Row] = dict(_planned(plan))
        self._errored: dict[str, str] = {}
        self._times: deque[float] = deque()

    def add(self, record: Line | Entry, at: float) -> None:
        """One record more, written at that time (seconds since 1970, or 0 where it is not known)."""
        row = self.rows.setdefault((record.agent, record.pack), Row(record.agent, record.pack))
        before = self._errored.pop(record.trial_id, None)
        if before is not None:
            row.errors[before] -= 1
            row.retried += 1
        match record.outcome:
            case "Passed":
                row.passed += 1
            case "Failed":
                row.failed += 1
            case "Unsupported":
                row.unsupported += 1
            case _:
                kind = record.kind or "internal"
                row.errors[kind] += 1
                self._errored[record.trial_id] = kind
        if record.carried:
            row.carried += 1
            return
        row.tokens += record.tokens
        if record.cost is None:
            row.unpriced += 1
        else:
            row.cost += record.cost
        if at:
            self._times.append(at)
            while self._times[0] < at - _WINDOW:
                self._times.popleft()

    @property
    def total(self) -> Row:
        """All rows together."""
        whole = Row("all", "all")
        for row in self.rows.values():
            whole.planned += row.planned
            whole.passed += row.passed
            whole.failed += row.failed
            whole.unsupported += row.unsupported
            whole.carried += row.carried
            whole.retried += row.retried
            whole.tokens += row.tokens
            whole.cost += row.cost
            whole.unpriced += row.unpriced
            whole.errors += row.errors
        return whole

    def rate(self, now: float | None = None) -> float | None:
        """Records a second lately, up to `now` (None: up to the last one); None where that cannot be told."""
        if len(self._times) < 2:
            return None
        seconds = (self._times[-1] if now is None else max(now, self._times[-1])) - self._times[0]
        return len(self._times) / seconds if seconds >= _SHORTEST else None

    def eta(self, now: float | None = None) -> float | None:
        """Seconds until the last trial at that rate; None where that cannot be told."""
        rate = self.rate(now)
        return None if not rate else self.total.open / rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A run's standing as its folder tells it. `running`: somebody is writing there now."""

    standing: Standing
    running: bool
    last: float


def read_status(folder: Path) -> Status:
    """Raises RunFolderError for what is no run folder, RecordsError for a damaged one. Locks nobody out."""
    standing = Standing(read_plan(folder))
    last = 0.0
    # By ordinal, so that an error comes before what was played in its place.
    for entry in sorted(entries_like(folder, ""), key=lambda entry: (entry.at, entry.ordinal, entry.start)):
        standing.add(entry, entry.at)
        last = max(last, entry.at)
    return Status(standing=standing, running=_is_running(folder), last=last)


def as_data(status: Status) -> Mapping[str, object]:
    """What a script reads."""
    standing, now = status.standing, time.time() if status.running else None
    return {
        "plan": standing.plan.name,
        "running": status.running,
        **row_data(standing.total),
        "rate": standing.rate(now),
        "eta_seconds": standing.eta(now) if status.running else None,
        "rows": [{"agent": row.agent, "pack": row.pack, **row_data(row)} for row in standing.rows.values()],
    }


def row_data(row: Row) -> dict[str, object]:
    """A row's figures. `cost` is None where some of it is not known; `cost_known` is the rest."""
    return {
        "planned": row.planned,
        "done": row.done,
        "passed": row.passed,
        "failed": row.failed,
        "unsupported": row.unsupported,
        "errored": row.errored,
        "open": row.open,
        "carried": row.carried,
        "retried": row.retried,
        "tokens": row.tokens,
        "cost": None if row.unpriced else round(row.cost, 9),
        "cost_known": round(row.cost, 9),
        "errors": {kind: count for kind, count in sorted(row.errors.items()) if count},
    }


def _planned(plan: Plan) -> Iterator[tuple[tuple[str, str], Row]]:
    packs: Counter[str] = Counter()
    for scenario in plan.scenarios:
        packs[scenario.pack] += len(scenario.worlds) * len(plan.seeds) * plan.attempts
    for agent in plan.agents:
        for pack, count in packs.items():
            yield (agent.label, pack), Row(agent.label, pack, planned=count)


def _is_running(folder: Path) -> bool:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
