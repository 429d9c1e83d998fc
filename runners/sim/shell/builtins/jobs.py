"""Job control: jobs, fg, bg, wait, kill, disown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.sim.commands import COMMANDS
from runners.sim.lifecycle import SIGNALS
from runners.sim.shell.builtins.arguments import options
from runners.sim.shell.builtins.context import builtin_context
from runners.sim.shell.session import BackgroundJob
from runners.sim.shell.signals import ShellExit

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
        if (text.isdigit() and job.number == int(text)) or (not text.isdigit() and job.text.startswith(text)):
            return job
    return None


def describe(job: BackgroundJob, mark: str, *, with_pid: bool = False) -> str:
    pid = f"{job.pid} " if with_pid else ""
    if job.status is None:
        state = "Running"
    elif job.status == 0:
        state = "Done"
    elif job.status > 128 and job.status - 128 in SIGNALS:
        state = {15: "Terminated", 9: "Killed", 1: "Hangup", 2: "Interrupt"}.get(job.status - 128, "Terminated")
    else:
        state = f"Exit {job.status}"
    tail = " &" if job.status is None else ""
    return f"[{job.number}]{mark}  {pid}{state:<23} {job.text}{tail}\n"


def mark_of(jobs: list[BackgroundJob], job: BackgroundJob) -> str:
    if job is jobs[-1]:
        return "+"
    return "-" if len(jobs) > 1 and job is jobs[-2] else " "


def report_finished(shell: Shell) -> None:
    """What an interactive bash says before its next prompt."""
    session = shell.session
    listed = [job for job in session.jobs if not job.reported]
    for job in listed:
        if job.status is not None:
            shell.write_error(describe(job, mark_of(listed, job)))
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
    for job in chosen:
        if ("r" in flags and job.status is not None) or "s" in flags:
            continue
        if "p" in flags:
            shell.out(f"{job.pid}\n")
        else:
            shell.out(describe(job, mark_of(listed, job), with_pid="l" in flags))
    session.jobs = [job for job in session.jobs if job.status is None]
    return status


def _done(shell: Shell, pid: int) -> int | None:
    for job in shell.session.jobs:
        if job.pid == pid:
            return job.status
    return 127


def _await(shell: Shell, pid: int) -> int:
    shell.hub.wait(lambda: _done(shell, pid) is not None)
    status = _done(shell, pid)
    shell.session.jobs = [job._replace(reported=True) if job.pid == pid else job for job in shell.session.jobs]
    return 127 if status is None else status


def wait(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "fnp:")
    session = shell.session
    if any(letter == "n" for letter, _ in given):
        running = [job.pid for job in session.jobs if not job.reported]
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
        elif spec.isdigit():
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
    if job.status is None:
        shell.error(f"bg: job {job.number} already in background")
    return 0


def kill(shell: Shell, argv: list[str]) -> int:
    """Job specifications become process numbers; the rest is the kill command's."""
    command = COMMANDS.get("kill")
    words = [argv[0]]
    number = 15
    for index, word in enumerate(argv[1:], 1):
        if word.startswith("%"):
            job = find_job(shell, word)
            if job is None:
                shell.error(f"kill: {word}: no such job")
                return 1
            words.append(str(job.pid))
            continue
        if word.startswith("-") and index == 1 and word not in ("-l", "-L", "-s", "-n", "--"):
            found = _number(word[1:])
            number = number if found is None else found
        elif index == 2 and argv[1] in ("-s", "-n"):
            found = _number(word)
            number = number if found is None else found
        words.append(word)
    pids = [int(word) for word in words[1:] if word.isdigit()]
    if number == 0 and pids and all(pid in (shell.session.pid, shell.session.home_pid) for pid in pids):
        return 0
    if pids and pids[-1] == shell.session.pid and number in SIGNALS:
        return _signal_self(shell, number)
    gone = [pid for pid in pids if pid > 0 and shell.machine.processes.get(pid) is None]
    if gone and "-l" not in argv and all(word.isdigit() for word in words[2:]):
        for pid in gone:
            shell.error(f"kill: ({pid}) - No such process")
        words = [word for word in words if not word.isdigit() or int(word) not in gone]
        if not any(word.isdigit() for word in words):
            return 1
    for pid in pids:
        if any(job.pid == pid for job in shell.session.jobs):
            shell.hub.signals[pid] = number
    if command is None:
        return 127
    ctx = builtin_context(shell, words)
    ctx.environment = shell.session.environment()
    return command.main(ctx)


def _number(text: str) -> int | None:
    name = text.upper().removeprefix("SIG")
    if name.isdigit():
        return int(name)
    return next((number for number, known in SIGNALS.items() if known == name), None)


def _signal_self(shell: Shell, number: int) -> int:
    """A signal to the shell itself: its trap, or its end."""
    action = shell.session.traps.get(f"SIG{SIGNALS[number]}")
    if action is not None and number not in (9, 19):
        if action:
            shell.run_trap(action)
        return 0
    if number in (17, 18, 23, 28) or (shell.session.mode == "interactive" and number in (2, 3, 15)):
        return 0
    if number == 9:
        shell.session.traps.pop("EXIT", None)
    raise ShellExit(128 + number)


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
