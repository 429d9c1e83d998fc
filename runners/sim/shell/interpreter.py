"""One running shell: what it stands on, how it runs a tree, and what becomes of a failure.

What the kinds of commands do is in `simple`, `pipelines` and `compound`; they know a Shell by its methods alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runners.formats.shell.ast import (
    Body,
    Command,
    ProcessSubstitution,
    Program,
    Redirect,
    SyntaxProblem,
)
from runners.formats.shell.parser import parse
from runners.sim.commands.streams import Stream, release
from runners.sim.commands.waiting import Hub, Killed
from runners.sim.files.view import FileView
from runners.sim.machine import Machine
from runners.sim.shell import assignment, redirections, simple, subshells
from runners.sim.shell.dialects import DIALECTS
from runners.sim.shell.dispatch import EXECUTE
from runners.sim.shell.expansion import Expander
from runners.sim.shell.session import Session
from runners.sim.shell.signals import Abandon, ExpansionError, LoopControl, Return, ShellExit


class Shell:
    """One running shell process: a session's state, its descriptors, and where it stands."""

    __slots__ = (
        "_view", "checked", "depth", "dialect", "fds", "function_depth", "hub", "line", "lone", "loops", "machine",
        "session", "sourced", "starting", "subshell_depth", "substitution_status", "temporary", "text_depth",
    )  # fmt: skip

    def __init__(self, machine: Machine, session: Session, fds: dict[int, Stream], hub: Hub) -> None:
        self.machine = machine
        self.session = session
        self.fds = fds
        self.hub = hub
        self.dialect = DIALECTS[session.dialect]
        self.line = 0
        self.depth = 0
        # The one command that this shell was made for: its process becomes the program that is run.
        self.lone: Command | None = None
        # A background job opens its files at once, and runs its first command when others have had a turn.
        self.starting = False
        self.loops = 0
        self.function_depth = 0
        self.sourced = 0
        self.subshell_depth = 0
        # Texts run inside texts: substitutions, eval, source, traps.
        self.text_depth = 0
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
    def expander(self) -> Expander:
        return Expander(self)

    @property
    def builtins(self) -> Mapping[str, object]:
        return self.dialect.builtins

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

    def name(self) -> str:
        """What messages call this shell, where no line is to blame."""
        session = self.session
        return "bash" if session.mode == "interactive" and not self.sourced else session.source_name

    def prefix(self) -> str:
        return self.dialect.prefix(self, self.line)

    def expansion_failed(self, problem: ExpansionError) -> Abandon:
        """Say so; what is to be raised then."""
        message, status, fatal = self.dialect.failure(problem)
        self.error(message)
        self.session.status = status
        return Abandon(status, fatal=fatal)

    def assign(self, name: str, value: str, *, subscript: str | None = None, append: bool = False) -> None:
        """Set a variable or an element, by its attributes. ExpansionError for readonly ones and bad subscripts."""
        assignment.assign_text(self, name, value, subscript=subscript, append=append)

    def command_substitution(self, program: Program) -> str:
        """The output of `$(…)` without its trailing newlines."""
        return subshells.substitute_command(self, program)

    def process_substitution(self, part: ProcessSubstitution) -> str:
        """Start the commands of `<(…)` or `>(…)`; gives the /dev/fd path of the pipe to them."""
        return subshells.substitute_process(self, part)

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
        self.dialect.report(self, problem)

    def run_text(self, text: str) -> int:
        """Parse and run a text in this shell (eval, source, traps)."""
        self.text_depth += 1
        try:
            return self.run_program(self.parse(text))
        finally:
            self.text_depth -= 1

    def parse(self, text: str) -> Program:
        session = self.session
        aliases = (
            tuple(sorted(session.aliases.items())) if session.aliases and "expand_aliases" in session.shopt else ()
        )
        return parse(text, "extglob" in session.shopt, aliases, self.dialect.parser)  # type: ignore[arg-type]  # (a class is hashable)

    def run_body(self, body: Body) -> int:
        for statement in body.statements:
            if statement.background:
                subshells.start_job(self, statement)
            else:
                self.execute(statement.command)
        return self.session.status

    def execute(self, command: Command) -> int:
        """Run one command of any kind; sets and returns `$?`."""
        self.depth += 1
        if self.depth > subshells.MAX_DEPTH:
            self.depth = 0
            raise ShellExit(139)
        try:
            status = EXECUTE[type(command)](self, command)
        finally:
            self.depth -= 1
        self.session.status = status
        return status

    # -- failures and traps

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

    def subshell(self, fds: Mapping[int, Stream] | None = None, *, knows_jobs: bool = False) -> Shell:
        """A forked copy. It holds its own references to the descriptors: `release` gives them back.

        knows_jobs: `jobs` in it still lists this shell's.
        """
        session = self.session.fork()
        session.pid = self.machine.processes.allocate()
        session.traps = {name: action for name, action in session.traps.items() if action == ""}
        session.jobs = [job._replace(inherited=True) for job in session.jobs] if knows_jobs else []
        taken = dict(self.fds if fds is None else fds)
        for stream in taken.values():
            stream.users += 1
        child = Shell(self.machine, session, taken, self.hub)
        child.line = self.line
        child.depth = self.depth + subshells.FORK_DEPTH
        child.loops = self.loops
        child.function_depth = self.function_depth
        child.sourced = self.sourced
        child.subshell_depth = self.subshell_depth + 1
        child.text_depth = self.text_depth
        child.checked = self.checked
        child.starting = self.starting
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
                session.status = self.expansion_failed(problem).status
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

    def started(self) -> None:
        """All is opened for the first command of what may be a background job."""
        if self.starting:
            self.starting = False
            self.hub.pause()

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
                return self.dialect.not_redirected(self, "")
            try:
                self.started()
                return run()
            finally:
                redirections.restore(self, saved)
        finally:
            self.temporary = held
            if held:
                subshells.drop_temporary(self)
            self.temporary = outer
