"""cron: a user's jobs, and how they ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.worlds import Observation


class CronJob(NamedTuple):
    """One job of the tables that cron trusts. schedule: its five fields, or a word such as `@daily`."""

    user: str
    schedule: str
    command: str


class CronRun(NamedTuple):
    """One job that cron ran: when, whose, what, and the status it ended with."""

    at: float
    user: str
    command: str
    status: int


def judge(jobs: Iterable[CronJob], runs: Iterable[CronRun], now: float, arguments: Arguments) -> Observation:
    """`runs`: in the order in which they were."""
    seen, name, pattern = Seen(), arguments.require("user"), arguments.require("command")
    own = [job for job in jobs if job.user == name and found(pattern, job.command)]
    schedule = arguments.text("schedule")
    matching = [job for job in own if schedule is None or job.schedule == " ".join(schedule.split())]
    fact = f"{name} has the job {own[0].schedule} {own[0].command}" if own else f"{name} has no job /{pattern}/"
    seen.expect(arguments.flag("present") is bool(matching), fact)
    within = arguments.number("succeeded_within")
    if within is not None:
        ended = [run for run in runs if run.user == name and found(pattern, run.command)]
        good = any(run.status == 0 and run.at >= now - within for run in ended)
        last = f"its last run ended with {ended[-1].status}" if ended else "it has not run"
        seen.expect(good, "it ran well" if good else last)
    return seen.observation()
