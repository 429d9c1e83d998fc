"""cron: the jobs that a living cron would run, from the tables it trusts, and the runs it remembers."""

from __future__ import annotations

from collections.abc import Iterator

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.programs.cron import CrontabError, Entry, parse, tables
from runners.worlds import Observation


def cron(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """Jobs of the user's own table, of /etc/crontab and of /etc/cron.d; a table that cron refuses holds none."""
    seen, name, pattern = Seen(), arguments.require("user"), arguments.require("command")
    jobs = [entry for entry in _entries(machine) if entry.user == name and found(pattern, entry.command)]
    schedule = arguments.text("schedule")
    matching = [entry for entry in jobs if schedule is None or entry.schedule == " ".join(schedule.split())]
    fact = f"{name} has the job {jobs[0].schedule} {jobs[0].command}" if jobs else f"{name} has no job /{pattern}/"
    seen.expect(arguments.flag("present") is bool(matching), fact)
    within = arguments.number("succeeded_within")
    if within is not None:
        runs = [run for run in machine.cron if run.user == name and found(pattern, run.command)]
        good = [run for run in runs if run.status == 0 and run.at >= machine.clock.now - within]
        last = f"its last run ended with {runs[-1].status}" if runs else "it has not run"
        seen.expect(bool(good), "it ran well" if good else last)
    return seen.observation()


def _entries(machine: Machine) -> Iterator[Entry]:
    for _, user, text in tables(machine):
        try:
            yield from parse(text, user)
        except CrontabError:
            continue
