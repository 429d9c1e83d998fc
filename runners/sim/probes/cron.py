"""cron: the jobs that a living cron would run, from the tables it trusts, and the runs it remembers."""

from __future__ import annotations

from collections.abc import Iterator

from runners.probes.arguments import Arguments
from runners.probes.cron import CronJob, CronRun, judge
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.programs.cron import tables
from runners.worlds import Observation


def cron(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """Jobs of the user's own table, of /etc/crontab and of /etc/cron.d; a table that cron refuses holds none."""
    return judge(_jobs(machine), (CronRun(*run) for run in machine.cron), machine.clock.now, arguments)


def _jobs(machine: Machine) -> Iterator[CronJob]:
    for _, entries in tables(machine):
        yield from (CronJob(entry.user, entry.schedule, entry.command) for entry in entries)
