"""Job control: jobs, fg, bg, wait, disown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.sim.commands.waiting import Killed
from runners.sim.lifecycle import CONT, SIGNALS, signal
from runners.sim.shell.builtins.arguments import options
from runners.sim.shell.session import BackgroundJob
from runners.sim.shell.trapping import heed
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell


def find_job(shell: Shell, spec: str) -> BackgroundJob | None:
    """The job that `%1`, `%%`, `%-` or `%name` means; finished ones that were told of do not count."""
    jobs = [job for job in shell.session.jobs if job.status is None or not job.reported]
    if not jobs:
        return None
    text = spec.removeprefix("%")
    if text in ("", "%", "+"):
        return jobs[-1]
    if text == "-":
        return jobs[-2] if len(jobs) > 1 else jobs[-1]
    for job in jobs:
        if (is_digits(text) and job.number == int(text)) or (not is_digits(text) and job.text.startswith(text)):
            return job
    return None


def is_stopped(shell: Shell, job: BackgroundJob) -> bool:
    """A shell learns of it with job control alone."""
    process = shell.machine.processes.get(job.pid)
    return job.status is None and process is not None and process.state == "T" and "monitor" in shell.session.options


def state_of(job: BackgroundJob, *, stopped: bool, exited: str) -> str:
    """What is said of it; `exited`: the words for a status that is not 0."""
    if stopped:
        return "Stopped"
    if job.status is None:
        return "Running"
    if job.status == 0:
        return "Done"
    if job.status > 128 and job.status - 128 in SIGNALS:
        return {15: "Terminated", 9: "Killed", 1: "Hangup", 2: "Interrupt"}.get(job.status - 128, "Terminated")
    return exited.format(job.status)


def mark_of(jobs: list[BackgroundJob], job: BackgroundJob) -> str:
    if job is jobs[-1]:
        return "+"
    return "-" if len(jobs) > 1 and job is jobs[-2] else " "


def report_finished(shell: Shell) -> None:
    """What an interactive bash says before its next prompt."""
    session = shell.session
    listed = [job for job in session.jobs if not job.reported]
    for job in shell.dialect.listed(listed):
        if job.status is not None:
            shell.write_error(shell.dialect.job(shell, job, mark_of(listed, job)))
    session.jobs = [job for job in session.jobs if job.status is None]


def jobs(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "lnprsx")
    flags = {letter for letter, _ in given}
    session = shell.session
    shell.hub.settle()
    listed = [job for job in session.jobs if not job.reported]
    status = 0
    chosen = listed
    if rest:
        chosen = []
        for spec in rest:
            job = find_job(shell, spec)
            if job is None:
                shell.error(f"jobs: {spec}: no such job")
                status = 1
            else:
                chosen.append(job)
    for job in shell.dialect.listed(chosen):
        stopped = is_stopped(shell, job)
        if ("r" in flags and (stopped or job.status is not None)) or ("s" in flags and not stopped):
            continue
        if "p" in flags:
            shell.out(f"{job.pid}\n")
        else:
            shell.out(shell.dialect.job(shell, job, mark_of(listed, job), with_pid="l" in flags, stopped=stopped))
    session.jobs = [job for job in session.jobs if job.status is None]
    return status


def _done(shell: Shell, pid: int) -> int | None:
    for job in shell.session.jobs:
        if job.pid == pid:
            return job.status
    return 127


def _await(shell: Shell, pid: int) -> int:
    if any(job.pid == pid and job.inherited for job in shell.session.jobs):
        # Only its parent can wait for a process.
        return 127
    try:
        shell.hub.wait(lambda: _done(shell, pid) is not None)
    except Killed as killed:
        return heed(shell, killed)
    status = _done(shell, pid)
    shell.session.jobs = [job._replace(reported=True) if job.pid == pid else job for job in shell.session.jobs]
    return 127 if status is None else status


def wait(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "fnp:")
    session = shell.session
    if any(letter == "n" for letter, _ in given):
        running = [job.pid for job in session.jobs if not job.reported and not job.inherited]
        if not running:
            return 127
        shell.hub.wait(lambda: any(_done(shell, pid) is not None for pid in running))
        finished = next(pid for pid in running if _done(shell, pid) is not None)
        return _await(shell, finished)
    if not rest:
        for pid in [job.pid for job in session.jobs]:
            _await(shell, pid)
        session.jobs = []
        return 0
    status = 0
    for spec in rest:
        if spec.startswith("%"):
            job = find_job(shell, spec)
            if job is None:
                shell.error(f"wait: {spec}: no such job")
                status = 127
                continue
            status = _await(shell, job.pid)
        elif is_digits(spec):
            if _done(shell, int(spec)) == 127 and all(job.pid != int(spec) for job in session.jobs):
                shell.error(f"wait: pid {spec} is not a child of this shell")
                status = 127
                continue
            status = _await(shell, int(spec))
        else:
            shell.error(f"wait: `{spec}': not a pid or valid job spec")
            status = 1
    return status


def foreground(shell: Shell, argv: list[str]) -> int:
    if "monitor" not in shell.session.options:
        shell.error("fg: no job control")
        return 1
    spec = argv[1] if len(argv) > 1 else "%%"
    job = find_job(shell, spec)
    if job is None:
        shell.error(f"fg: {'current' if len(argv) < 2 else spec}: no such job")
        return 1
    shell.out(job.text + "\n")
    _go_on(shell, job)
    status = _await(shell, job.pid)
    shell.session.jobs = [known for known in shell.session.jobs if known.pid != job.pid]
    return status


def background(shell: Shell, argv: list[str]) -> int:
    if "monitor" not in shell.session.options:
        shell.error("bg: no job control")
        return 1
    spec = argv[1] if len(argv) > 1 else "%%"
    job = find_job(shell, spec)
    if job is None:
        shell.error(f"bg: {'current' if len(argv) < 2 else spec}: no such job")
        return 1
    if is_stopped(shell, job):
        _go_on(shell, job)
        shell.out(f"[{job.number}]{mark_of(shell.session.jobs, job)} {job.text} &\n")
    elif job.status is None:
        shell.error(f"bg: job {job.number} already in background")
    return 0


def _go_on(shell: Shell, job: BackgroundJob) -> None:
    if is_stopped(shell, job):
        signal(shell.machine, job.pid, CONT)


def disown(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "har")
    session = shell.session
    if any(letter == "a" for letter, _ in given) or not rest:
        if not rest and not given and not session.jobs:
            shell.error("disown: current: no such job")
            return 1
        session.jobs = [] if given else session.jobs[:-1]
        return 0
    for spec in rest:
        job = find_job(shell, spec)
        if job is None:
            shell.error(f"disown: {spec}: no such job")
            return 1
        session.jobs = [known for known in session.jobs if known.pid != job.pid]
    return 0
