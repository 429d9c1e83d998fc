"""Runs the syntax tree: lists, pipelines, compound commands. Simple commands are in `simple`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runners.sim.budget import BudgetExceeded
from runners.sim.commands.streams import Capture, Pipe, PipeReader, PipeWriter, Stream, release
from runners.sim.commands.waiting import Hub, Killed
from runners.sim.files.view import FileView
from runners.sim.machine import Machine
from runners.sim.processes import Process
from runners.sim.shell import conditions, redirections, simple
from runners.sim.shell.ast import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    ArrayLiteral,
    Assignment,
    Body,
    Case,
    Command,
    ConditionCommand,
    For,
    Function,
    Group,
    If,
    Pipeline,
    ProcessSubstitution,
    Program,
    Redirect,
    Select,
    Simple,
    Statement,
    Subshell,
    SyntaxProblem,
    While,
)
from runners.sim.shell.builtins.table import BUILTINS
from runners.sim.shell.expansion import Expander
from runners.sim.shell.parameters import MAX_TEXT
from runners.sim.shell.parser import parse
from runners.sim.shell.patterns import matcher
from runners.sim.shell.session import BackgroundJob, Session, Variable
from runners.sim.shell.signals import Abandon, ExpansionError, LoopControl, Return, ShellExit

MAX_DEPTH = 1000
"""Nested functions, substitutions and compound commands; bash itself ends with a segmentation fault further down."""
_MAX_PROCESSES = 3000


class Shell:
    """One running shell process: a session's state, its descriptors, and where it stands."""

    __slots__ = (
        "_view", "checked", "depth", "expander", "fds", "function_depth", "hub", "line", "loops", "machine", "session",
        "sourced", "subshell_depth", "substitution_status", "temporary",
    )  # fmt: skip

    def __init__(self, machine: Machine, session: Session, fds: dict[int, Stream], hub: Hub) -> None:
        self.machine = machine
        self.session = session
        self.fds = fds
        self.hub = hub
        self.expander = Expander(self)
        self.line = 0
        self.depth = 0
        self.loops = 0
        self.function_depth = 0
        self.sourced = 0
        self.subshell_depth = 0
        # Greater than zero where a failure is being looked at (if, while, &&, !), so that `set -e` does not apply.
        self.checked = 0
        self.substitution_status: int | None = None
        self.temporary: list[Stream] = []
        self._view: FileView | None = None

    # -- small things everybody needs

    def spend(self, steps: int) -> None:
        self.machine.budget.spend(steps)

    @property
    def view(self) -> FileView:
        view = self._view
        session = self.session
        if view is None or view.cwd != session.cwd or view.cred is not session.cred or view.umask != session.umask:
            view = self._view = FileView(self.machine.files, session.cred, session.cwd, session.umask)
        return view

    @property
    def builtins(self) -> Mapping[str, object]:
        return BUILTINS

    def run_builtin(self, argv: list[str]) -> int:
        return simple.run_builtin(self, argv)

    def hostname(self) -> str:
        return self.machine.spec.hostname

    def out(self, text: str) -> None:
        self.fds[1].write(text.encode("utf-8", "surrogateescape"))

    def error(self, message: str) -> None:
        """A line on standard error in the form that fits how this shell is used."""
        self.write_error(f"{self.prefix()}{message}\n")

    def write_error(self, text: str) -> None:
        stream = self.fds.get(2)
        if stream is not None:
            try:
                stream.write(text.encode("utf-8", "surrogateescape"))
            except OSError:
                return

    def prefix(self) -> str:
        session = self.session
        if session.mode == "interactive" and not self.sourced:
            return "bash: "
        return f"{session.source_name}: line {max(self.line + session.line_offset, 1)}: "

    # -- variables

    def assign(self, name: str, value: str, *, subscript: str | None = None, append: bool = False) -> None:
        """Set a variable or an element, by its attributes. ExpansionError for readonly ones and bad subscripts."""
        session = self.session
        variable = session.variables.get(name)
        if variable is not None and variable.nameref and isinstance(variable.value, str) and variable.value != name:
            target, _, inner = variable.value.partition("[")
            self.assign(target, value, subscript=inner[:-1] if inner else subscript, append=append)
            return
        if variable is not None:
            if variable.readonly:
                raise ExpansionError(f"{name}: readonly variable")
            if variable.integer:
                number = self.expander.arithmetic(value)
                if append:
                    number += int(self.expander.parameters.element(name, subscript) or 0)
                    append = False
                value = str(number)
            if variable.case:
                value = value.upper() if variable.case == "u" else value.lower()
        if len(value) > 4096:
            self.spend(len(value) >> 8)
            if len(value) > MAX_TEXT:
                raise BudgetExceeded
        if subscript is not None:
            self._assign_element(name, variable, value, subscript, append)
            return
        if variable is None:
            session.variables[name] = Variable(value, exported="allexport" in session.options)
            if name == "SECONDS":
                session.variables.pop(name)
                session.started = self.machine.clock.now
                session.seconds_base = int(value) if value.isdigit() else 0
            elif name == "RANDOM":
                session.variables.pop(name)
                session.random = int(value) if value.isdigit() else 0
            if "allexport" in session.options:
                session.environment_cache = None
            return
        if isinstance(variable.value, dict) or variable.kind:
            self._assign_element(name, variable, value, "0", append)
            return
        if append and variable.value is not None:
            value = variable.value + value
            if len(value) > MAX_TEXT:
                raise BudgetExceeded
        changed = variable.copy()
        changed.value = value
        session.variables[name] = changed
        if changed.exported:
            session.environment_cache = None
        if name == "PATH":
            session.hashed.clear()

    def _assign_element(self, name: str, variable: Variable | None, value: str, subscript: str, append: bool) -> None:
        session = self.session
        if variable is None or not isinstance(variable.value, dict):
            made = variable.copy() if variable is not None else Variable(None)
            made.kind = made.kind or "a"
            old = made.value
            made.value = {0: old} if isinstance(old, str) else {}
            session.variables[name] = variable = made
        items = session.elements(name)
        key: int | str
        if variable.kind == "A":
            key = subscript
            if not subscript:
                raise ExpansionError(f"{name}[]: bad array subscript")
        else:
            key = self.expander.arithmetic(subscript)
            if key < 0:
                key += max(items, default=-1) + 1
                if key < 0:
                    raise ExpansionError(f"{name}[{subscript}]: bad array subscript")
        items[key] = items.get(key, "") + value if append else value
        self.spend(1)

    def assign_array(self, assignment: Assignment, *, kind: str = "") -> None:
        """`name=(…)` and `name+=(…)`."""
        session = self.session
        literal = assignment.value
        assert isinstance(literal, ArrayLiteral)
        known = session.variables.get(assignment.name)
        if known is not None and known.readonly:
            raise ExpansionError(f"{assignment.name}: readonly variable")
        made = known.copy() if known is not None else Variable(None)
        made.kind = kind or made.kind or "a"
        items: Any = {}
        if assignment.append and made.value is not None:
            items = dict(made.value) if isinstance(made.value, dict) else {0: made.value}
        position = max((key for key in items if isinstance(key, int)), default=-1) + 1
        expander = self.expander
        if made.kind == "A" and literal.items and all(key is None for key, _ in literal.items):
            flat = [text for _, word in literal.items for text in expander.words([word])]
            for index in range(0, len(flat), 2):
                items[flat[index]] = flat[index + 1] if index + 1 < len(flat) else ""
        else:
            for key, word in literal.items:
                if key is not None:
                    text = expander.text(key)
                    place: int | str = text if made.kind == "A" else expander.arithmetic(text)
                    items[place] = expander.text(word)
                    position = place + 1 if isinstance(place, int) else position
                    continue
                for text in expander.words([word]):
                    items[position] = text
                    position += 1
        if made.integer:
            items = {key: str(expander.arithmetic(text)) for key, text in items.items()}
        made.value = items
        session.variables[assignment.name] = made
        self.spend(1 + len(items) // 4)

    # -- programs and lists

    def run_program(self, program: Program) -> int:
        """All commands of a text. Raises ShellExit; a syntax error is reported after what came before it has run."""
        for body in program.bodies:
            try:
                self.run_body(body)
            except Abandon as abandoned:
                self.session.status = abandoned.status
                if abandoned.fatal and self.session.mode != "interactive":
                    raise ShellExit(abandoned.status) from None
            if "noexec" in self.session.options and self.session.mode != "interactive":
                break
        if program.problem is not None:
            self.report_problem(program.problem)
            self.session.status = 2
        return self.session.status

    def report_problem(self, problem: SyntaxProblem) -> None:
        session = self.session
        if session.mode == "interactive" and not self.sourced:
            self.write_error(f"bash: {problem.message}\n")
            return
        middle = "-c: " if session.mode == "command" and not self.sourced else ""
        start = f"{session.source_name}: {middle}line {problem.line + session.line_offset}: "
        self.write_error(f"{start}{problem.message}\n")
        if problem.shown is not None:
            self.write_error(f"{start}`{problem.shown}'\n")

    def run_text(self, text: str) -> int:
        """Parse and run a text in this shell (eval, source, traps)."""
        return self.run_program(self.parse(text))

    def parse(self, text: str) -> Program:
        session = self.session
        aliases = (
            tuple(sorted(session.aliases.items())) if session.aliases and "expand_aliases" in session.shopt else ()
        )
        return parse(text, "extglob" in session.shopt, aliases)

    def run_body(self, body: Body) -> int:
        for statement in body.statements:
            if statement.background:
                self._background(statement)
            else:
                self.execute(statement.command)
        return self.session.status

    def execute(self, command: Command) -> int:
        """Run one command of any kind; sets and returns `$?`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.depth = 0
            raise ShellExit(139)
        try:
            status = _EXECUTE[type(command)](self, command)
        finally:
            self.depth -= 1
        self.session.status = status
        return status

    def failed(self, status: int) -> None:
        """A command ended with `status`: the ERR trap and `set -e`, where they apply."""
        if status == 0 or self.checked:
            return
        session = self.session
        trap = session.traps.get("ERR")
        if trap and (not self.function_depth or "errtrace" in session.options):
            session.status = status
            self.run_trap(trap)
        if "errexit" in session.options:
            raise ShellExit(status)

    def run_trap(self, text: str) -> None:
        """Run a trap's commands; `$?` is kept."""
        status = self.session.status
        saved, self.session.traps = self.session.traps, {
            name: action for name, action in self.session.traps.items() if name != "ERR"
        }  # fmt: skip
        try:
            self.run_text(text)
        finally:
            for name, action in saved.items():
                self.session.traps.setdefault(name, action)
        self.session.status = status

    def exit_trap(self) -> None:
        """What `trap … EXIT` asks for, once, as the shell ends."""
        action = self.session.traps.pop("EXIT", None)
        if action:
            self.run_text(action)

    # -- subshells

    def subshell(self, fds: Mapping[int, Stream] | None = None) -> Shell:
        """A forked copy. It holds its own references to the descriptors: `release` gives them back."""
        session = self.session.fork()
        session.pid = self.machine.processes.allocate()
        session.traps = {name: action for name, action in session.traps.items() if action == ""}
        session.jobs = []
        taken = dict(self.fds if fds is None else fds)
        for stream in taken.values():
            stream.users += 1
        child = Shell(self.machine, session, taken, self.hub)
        child.line = self.line
        child.depth = self.depth
        child.loops = self.loops
        child.function_depth = self.function_depth
        child.sourced = self.sourced
        child.subshell_depth = self.subshell_depth + 1
        child.checked = self.checked
        return child

    def release(self) -> None:
        """Give up all descriptors, as a process does when it ends."""
        for stream in self.fds.values():
            release(stream)
        self.fds = {}

    def isolated(self, run: Callable[[Shell], object]) -> int:
        """Run something as the whole life of this (sub)shell: its end, its traps, its unwinding stay inside."""
        session = self.session
        try:
            try:
                run(self)
            except ShellExit as ended:
                session.status = ended.status
            except Abandon as abandoned:
                session.status = abandoned.status
            except ExpansionError as problem:
                self.error(problem.message)
                session.status = problem.status if problem.fatal else 1
            except Return as returned:
                session.status = returned.status
            except LoopControl:
                session.status = 0
            except Killed as killed:
                session.status = 128 + killed.signal
            except OSError as error:
                session.status = 141 if error.errno == 32 else 1
            try:
                self.exit_trap()
            except ShellExit as ended:
                session.status = ended.status
            except (Abandon, ExpansionError, Return, LoopControl, OSError):
                session.status = 1
        finally:
            self.release()
        return session.status

    def command_substitution(self, program: Program) -> str:
        """The output of `$(…)` without its trailing newlines."""
        self.spend(20)
        if self.depth > MAX_DEPTH - 20:
            raise ShellExit(139)
        quick = self._file_substitution(program)
        if quick is not None:
            return quick
        capture = Capture(self.machine)
        child = self.subshell({**self.fds, 1: capture})
        child.depth += 3
        child.checked = 0 if "inherit_errexit" in self.session.shopt else child.checked
        if "inherit_errexit" not in self.session.shopt:
            child.session.options = child.session.options - {"errexit"}
        status = child.isolated(lambda shell: shell.run_program(program))
        self.substitution_status = status
        self.session.status = status
        data = bytes(capture.data)
        if b"\0" in data:
            self.error("warning: command substitution: ignored null byte in input")
            data = data.replace(b"\0", b"")
        return data.decode("utf-8", "surrogateescape").rstrip("\n")

    def _file_substitution(self, program: Program) -> str | None:
        """`$(< file)`."""
        if len(program.bodies) != 1 or len(program.bodies[0].statements) != 1:
            return None
        only = program.bodies[0].statements[0].command
        if type(only) is not Simple or only.words or only.assignments or len(only.redirects) != 1:
            return None
        redirect = only.redirects[0]
        if redirect.operator != "<" or redirect.fd not in (None, 0):
            return None
        try:
            stream = redirections.open_target(self, redirect, self.expander.text(redirect.target))
            data = stream.read()
        except OSError as error:
            self.error(f"{error.filename or self.expander.text(redirect.target)}: {error.strerror}")
            self.substitution_status = 1
            return ""
        self.substitution_status = 0
        return data.decode("utf-8", "surrogateescape").replace("\0", "").rstrip("\n")

    def process_substitution(self, part: ProcessSubstitution) -> str:
        """Start the commands beside this one; gives the /dev/fd path of the pipe to them."""
        self._check_processes()
        pipe = Pipe(self.hub)
        reader, writer = PipeReader(pipe), PipeWriter(pipe)
        ours, theirs, fd = (reader, writer, 1) if part.direction == "<" else (writer, reader, 0)
        child = self.subshell({**self.fds, fd: theirs})
        release(theirs)
        self.hub.spawn(child.session.pid, lambda: _ignore(child.isolated(lambda shell: shell.run_program(part.body))))
        number = 63
        while number in self.fds:
            number -= 1
        self.fds[number] = ours
        self.temporary.append(ours)
        return f"/dev/fd/{number}"

    def drop_temporary(self) -> None:
        """Close what process substitutions opened for the command that has ended."""
        streams, self.temporary = self.temporary, []
        for stream in streams:
            for number, known in list(self.fds.items()):
                if known is stream:
                    del self.fds[number]
            release(stream)
            if isinstance(stream, PipeWriter):
                # bash does not wait for >(…), but a reader of its output would: let it finish.
                self.hub.settle()

    def _check_processes(self) -> None:
        if len(self.hub.tasks) >= _MAX_PROCESSES:
            self.error("fork: retry: Resource temporarily unavailable")
            raise BudgetExceeded

    def _background(self, statement: Statement) -> None:
        session = self.session
        self._check_processes()
        self.spend(30)
        fds = dict(self.fds)
        child = self.subshell(fds)
        if "monitor" not in session.options and 0 in child.fds:
            release(child.fds[0])
            child.fds[0] = redirections.null_device(self.machine)
        pid = child.session.pid
        child.session.options.discard("monitor")
        number = max((job.number for job in session.jobs if job.status is None or not job.reported), default=0) + 1
        job = BackgroundJob(number, pid, statement.text.removesuffix("&").strip())
        session.jobs.append(job)
        session.last_background = pid
        self.machine.processes.put(
            self.process_record(pid, tuple(statement.text.split()[:8]) or ("bash",), "/usr/bin/bash")
        )
        if session.mode == "interactive" and not self.subshell_depth:
            self.write_error(f"[{number}] {pid}\n")
        child.temporary = []

        def ended(status: int) -> None:
            self.machine.processes.remove(pid)
            for index, known in enumerate(session.jobs):
                if known.pid == pid:
                    session.jobs[index] = known._replace(status=status)

        def body() -> None:
            ended(child.isolated(lambda shell: shell.execute(statement.command)))

        def never_begun(signal: int) -> None:
            child.release()
            ended(128 + signal)

        self.hub.spawn(pid, body, listed=True, killed_before=never_begun)
        session.status = 0

    def process_record(self, pid: int, argv: tuple[str, ...], exe: str, program: str = "bash") -> Process:
        session = self.session
        return Process(
            pid=pid, ppid=session.pid, cred=session.cred, argv=argv, exe=exe, program=program, cwd=session.cwd,
            started=self.machine.clock.now, state="S", tty=session.tty,
        )  # fmt: skip

    # -- redirections around compound commands

    def redirected(self, redirects: tuple[Redirect, ...], run: Callable[[], int]) -> int:
        if not redirects:
            return run()
        outer, self.temporary = self.temporary, []
        saved = redirections.apply(self, redirects)
        # Process substitutions named here live as long as the whole command.
        held, self.temporary = self.temporary, []
        try:
            if saved is None:
                return 1
            try:
                return run()
            finally:
                redirections.restore(self, saved)
        finally:
            self.temporary = held
            if held:
                self.drop_temporary()
            self.temporary = outer


def _ignore(_status: int) -> None:
    """A status nobody asks for."""


# -- one function for each kind of command


def _pipeline(shell: Shell, node: Pipeline) -> int:
    started = shell.machine.clock.now
    if node.negated:
        shell.checked += 1
    try:
        status = shell.execute(node.commands[0]) if len(node.commands) == 1 else _stages(shell, node)
    finally:
        if node.negated:
            shell.checked -= 1
    if node.timed:
        _report_time(shell, shell.machine.clock.now - started, node.timed)
    if node.negated:
        return int(status == 0)
    if len(node.commands) > 1:
        shell.session.status = status
        shell.failed(status)
    return status


def _report_time(shell: Shell, seconds: float, form: str) -> None:
    busy = min(seconds, 0.002)
    if form == "time -p":
        shell.write_error(f"real {seconds:.2f}\nuser {busy:.2f}\nsys 0.00\n")
        return
    minutes, rest = divmod(seconds, 60)
    shell.write_error(f"\nreal\t{int(minutes)}m{rest:.3f}s\nuser\t0m{busy:.3f}s\nsys\t0m0.001s\n")


def _stages(shell: Shell, node: Pipeline) -> int:
    count = len(node.commands)
    statuses = [0] * count
    hub = shell.hub
    shell.spend(20 * count)
    shell._check_processes()
    tasks = []
    previous: Stream | None = None
    last_here = "lastpipe" in shell.session.shopt and "monitor" not in shell.session.options
    for index, command in enumerate(node.commands):
        fds = dict(shell.fds)
        following: Stream | None = None
        if previous is not None:
            fds[0] = previous
        if index < count - 1:
            pipe = Pipe(hub)
            writer, following = PipeWriter(pipe), PipeReader(pipe)
            fds[1] = writer
            if node.merged[index]:
                fds[2] = writer
        if last_here and index == count - 1:
            saved = shell.fds
            shell.fds = fds
            try:
                statuses[index] = shell.execute(command)
            finally:
                shell.fds = saved
            if previous is not None:
                release(previous)
            continue
        child = shell.subshell(fds)
        # What was made for this stage belongs to it alone.
        if previous is not None:
            release(previous)
        if index < count - 1:
            release(writer)

        def body(child: Shell = child, command: Command = command, index: int = index) -> None:
            statuses[index] = child.isolated(lambda running: running.execute(command))

        tasks.append(hub.spawn(child.session.pid, body))
        previous = following
    hub.wait(lambda: all(task.done for task in tasks))
    shell.session.pipe_status = tuple(statuses)
    if "pipefail" in shell.session.options:
        return next((status for status in reversed(statuses) if status), 0)
    return statuses[-1]


def _and_or(shell: Shell, node: AndOr) -> int:
    shell.checked += 1
    try:
        status = shell.execute(node.first)
    finally:
        shell.checked -= 1
    for index, (operator, command) in enumerate(node.rest):
        if (status == 0) != (operator == "&&"):
            continue
        last = index == len(node.rest) - 1
        if last:
            return shell.execute(command)
        shell.checked += 1
        try:
            status = shell.execute(command)
        finally:
            shell.checked -= 1
    return status


def _group(shell: Shell, node: Group) -> int:
    return shell.redirected(node.redirects, lambda: shell.run_body(node.body))


def _subshell(shell: Shell, node: Subshell) -> int:
    shell.spend(20)
    child = shell.subshell()

    def run(running: Shell) -> int:
        return running.redirected(node.redirects, lambda: running.run_body(node.body))

    status = child.isolated(run)
    shell.session.status = status
    shell.failed(status)
    return status


def _condition(shell: Shell, body: Body) -> bool:
    shell.checked += 1
    try:
        return shell.run_body(body) == 0
    finally:
        shell.checked -= 1


def _if(shell: Shell, node: If) -> int:
    def run() -> int:
        for condition, body in node.branches:
            if _condition(shell, condition):
                return shell.run_body(body)
        if node.otherwise is not None:
            return shell.run_body(node.otherwise)
        return 0

    return shell.redirected(node.redirects, run)


def _turn(shell: Shell, body: Body) -> tuple[int, bool]:
    """One turn of a loop: its status, and whether the loop ends."""
    shell.spend(5)
    try:
        return shell.run_body(body), False
    except LoopControl as control:
        if control.levels > 1 and shell.loops > 1:
            raise LoopControl(control.kind, control.levels - 1) from None
        return 0, control.kind == "break"


def _while(shell: Shell, node: While) -> int:
    def run() -> int:
        status = 0
        shell.loops += 1
        try:
            while True:
                shell.spend(5)
                try:
                    if _condition(shell, node.condition) == node.until:
                        return status
                except LoopControl as control:
                    if control.levels > 1 and shell.loops > 1:
                        raise LoopControl(control.kind, control.levels - 1) from None
                    if control.kind == "break":
                        return 0
                    continue
                status, ended = _turn(shell, node.body)
                if ended:
                    return status
        finally:
            shell.loops -= 1

    return shell.redirected(node.redirects, run)


def _for(shell: Shell, node: For) -> int:
    def run() -> int:
        shell.line = node.line
        if not node.name.isidentifier():
            shell.error(f"`{node.name}': not a valid identifier")
            raise Abandon(1, fatal=True)
        items = list(shell.session.positional) if node.words is None else shell.expander.words(node.words)
        status = 0
        shell.loops += 1
        try:
            for item in items:
                shell.assign(node.name, item)
                status, ended = _turn(shell, node.body)
                if ended:
                    return status
            return status
        finally:
            shell.loops -= 1

    return shell.redirected(node.redirects, lambda: _reporting(shell, run))


def _arithmetic_for(shell: Shell, node: ArithmeticFor) -> int:
    expander = shell.expander

    def value(word: Any, empty: int) -> int:
        text = expander.text(word)
        return expander.arithmetic(text) if text.strip() else empty

    def run() -> int:
        status = 0
        value(node.start, 0)
        shell.loops += 1
        try:
            while value(node.condition, 1):
                status, ended = _turn(shell, node.body)
                if ended:
                    return status
                value(node.step, 0)
            return status
        finally:
            shell.loops -= 1

    return shell.redirected(node.redirects, lambda: _reporting(shell, run))


def _reporting(shell: Shell, run: Callable[[], int]) -> int:
    """Run; an expansion that fails is reported and abandons the line."""
    try:
        return run()
    except ExpansionError as problem:
        shell.error(problem.message)
        raise Abandon(problem.status, fatal=problem.fatal) from None


def _select(shell: Shell, node: Select) -> int:
    def run() -> int:
        items = list(shell.session.positional) if node.words is None else shell.expander.words(node.words)
        status = 0
        show = True
        shell.loops += 1
        try:
            while items:
                if show:
                    width = len(str(len(items)))
                    for index, item in enumerate(items, 1):
                        shell.write_error(f"{index:>{width}}) {item}\n")
                shell.write_error(shell.session.get("PS3") or "#? ")
                line = shell.fds[0].readline()
                if not line:
                    shell.out("\n") if shell.session.mode == "interactive" else shell.write_error("\n")
                    return 1
                reply = line.decode("utf-8", "surrogateescape").rstrip("\n")
                shell.assign("REPLY", reply)
                show = reply == ""
                if show:
                    continue
                chosen = items[int(reply) - 1] if reply.isdigit() and 0 < int(reply) <= len(items) else ""
                shell.assign(node.name, chosen)
                status, ended = _turn(shell, node.body)
                if ended:
                    return status
            return status
        finally:
            shell.loops -= 1

    return shell.redirected(node.redirects, lambda: _reporting(shell, run))


def _case(shell: Shell, node: Case) -> int:
    def run() -> int:
        subject = shell.expander.text(node.subject)
        shell.spend((len(subject) >> 6) * len(node.items))
        ignore_case = "nocasematch" in shell.session.shopt
        status = 0
        falling = False
        for item in node.items:
            if not falling and not any(
                matcher(shell.expander.pattern(pattern), shell.spend, ignore_case=ignore_case).fullmatch(subject)
                for pattern in item.patterns
            ):
                continue
            status = shell.run_body(item.body) if item.body.statements else 0
            if item.terminator == ";;":
                return status
            falling = item.terminator == ";&"
        return status

    return shell.redirected(node.redirects, lambda: _reporting(shell, run))


def _function(shell: Shell, node: Function) -> int:
    shell.session.functions[node.name] = node
    return 0


def _arithmetic(shell: Shell, node: ArithmeticCommand) -> int:
    def run() -> int:
        shell.line = node.line
        try:
            return int(shell.expander.arithmetic(shell.expander.text(node.expression)) == 0)
        except ExpansionError as problem:
            shell.error(problem.message if problem.fatal else f"((: {problem.message}")
            if problem.fatal:
                raise Abandon(problem.status, fatal=True) from None
            return 1

    status = shell.redirected(node.redirects, run)
    shell.session.status = status
    shell.failed(status)
    return status


def _condition_command(shell: Shell, node: ConditionCommand) -> int:
    def run() -> int:
        shell.line = node.line
        return conditions.evaluate(shell, node.condition)

    status = shell.redirected(node.redirects, lambda: _reporting(shell, run))
    shell.session.status = status
    shell.failed(status)
    return status


_EXECUTE: Mapping[type, Callable[[Shell, Any], int]] = {
    Simple: simple.run,
    Pipeline: _pipeline,
    AndOr: _and_or,
    Group: _group,
    Subshell: _subshell,
    If: _if,
    While: _while,
    For: _for,
    ArithmeticFor: _arithmetic_for,
    Select: _select,
    Case: _case,
    Function: _function,
    ArithmeticCommand: _arithmetic,
    ConditionCommand: _condition_command,
}
