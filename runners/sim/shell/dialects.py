"""The two kinds of shell: bash, and dash, which is /bin/sh. One runs like the other but for what is asked here."""

from __future__ import annotations

import errno
import re
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from runners.formats.shell.ast import SyntaxProblem
from runners.formats.shell.grammar.dash import DashParser
from runners.formats.shell.parser import Parser
from runners.sim.commands.context import CommandExit
from runners.sim.shell.builtins.arguments import show_usage
from runners.sim.shell.builtins.dash import DASH_BUILTINS
from runners.sim.shell.builtins.jobs import state_of
from runners.sim.shell.builtins.table import BUILTINS, SPECIAL, Builtin
from runners.sim.shell.session import BackgroundJob
from runners.sim.shell.signals import Abandon, ExpansionError, ShellExit

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

_COMPUTED = frozenset(
    {"RANDOM", "SRANDOM", "SECONDS", "LINENO", "BASHPID", "EPOCHSECONDS", "EPOCHREALTIME", "HOSTNAME", "BASH_COMMAND",
     "BASH_SUBSHELL", "SHELLOPTS", "FUNCNAME", "PIPESTATUS", "BASH_SOURCE", "DIRSTACK", "GROUPS", "BASH_LINENO"}
)  # fmt: skip
_CONSTANT = re.compile(r"\s*[-+]?(?:0[xX][0-9A-Fa-f]+|0[0-7]*|[1-9][0-9]*)?\s*")
_NO_CONSTANT = re.compile(r"(?<![\w])0[0-9]*[89]|#|,")


class Failure(NamedTuple):
    """Of an expansion. `fatal`: a script ends there."""

    message: str
    status: int
    fatal: bool


class Dialect:
    """bash: its grammar, its builtins, its words."""

    parser: type[Parser] = Parser
    builtins: Mapping[str, Builtin] = BUILTINS
    computed: Container[str] = _COMPUTED
    """Variables that have a value only when they are read."""
    connects = True
    """Are there /dev/tcp and /dev/udp?"""
    special: frozenset[str] = frozenset()
    """Builtins with which assignments last, and whose failure ends a script."""

    traces_plainly = False
    """Does `set -x` show words without the quotes that they would need?"""

    # -- messages

    def prefix(self, shell: Shell, line: int) -> str:
        """What a message begins with."""
        session = shell.session
        if session.mode == "interactive" and not shell.sourced:
            return "bash: "
        return f"{session.source_name}: line {max(line + session.line_offset, 1)}: "

    def report(self, shell: Shell, problem: SyntaxProblem, label: str = "") -> None:
        """A text does not parse; `label`: the builtin that it was given to."""
        session = shell.session
        if session.mode == "interactive" and not shell.sourced:
            start, shown = "bash: ", problem.shown if label else None
        elif label:
            start = f"{session.source_name}: {label}: line {problem.line + max(shell.line - 1, 0)}: "
            shown = problem.shown
        else:
            middle = "-c: " if session.mode == "command" and not shell.sourced else ""
            start = f"{session.source_name}: {middle}line {problem.line + session.line_offset}: "
            shown = problem.shown
        shell.write_error(f"{start}{problem.message}\n")
        if shown is not None:
            shell.write_error(f"{start}`{shown}'\n")

    # -- jobs

    announces_jobs = True
    """Does it say the number of a job that it starts?"""

    def listed(self, jobs: Sequence[BackgroundJob]) -> Sequence[BackgroundJob]:
        """In the order in which they are shown."""
        return jobs

    def job(
        self,
        shell: Shell,  # noqa: ARG002 (the interface)
        job: BackgroundJob,
        mark: str,
        *,
        with_pid: bool = False,
        stopped: bool = False,
    ) -> str:
        """A job's line."""
        pid = f" {job.pid} " if with_pid else "  "
        state = state_of(job, stopped=stopped, exited="Exit {}") + (" (signal)" if stopped and with_pid else "")
        tail = " &" if job.status is None and not stopped else ""
        return f"[{job.number}]{mark}{pid}{state:<23} {job.text}{tail}\n"

    # -- failures

    def failure(self, problem: ExpansionError) -> Failure:
        return Failure(problem.message, problem.status if problem.fatal else 1, problem.fatal)

    def unopened(self, error: OSError, operator: str) -> str:  # noqa: ARG002 (dash tells reading from making)
        """The message for a redirection's file that cannot be opened."""
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)

    def not_redirected(self, shell: Shell, name: str) -> int:  # noqa: ARG002 (the interface)
        """The status of a command, the builtin `name` or any other, whose redirection failed."""
        return 1

    def builtin_failed(self, shell: Shell, name: str, status: int) -> int:  # noqa: ARG002 (the interface)
        """A builtin was called wrongly."""
        return status

    def bad_option(self, shell: Shell, name: str, option: str, *, lacking: bool = False) -> CommandExit:
        """Say that a builtin has no such option, or lacks its argument; raise what comes back."""
        shell.error(f"{name}: {option}: {'option requires an argument' if lacking else 'invalid option'}")
        show_usage(shell, name)
        return CommandExit(2)

    def not_run(self, shell: Shell, name: str, error: OSError, path: str = "") -> int:
        """The status where a command was not found or could not be run; `path`: the file that was tried."""
        if error.errno == errno.ENOEXEC:
            shell.error(f"{path}: cannot execute binary file: Exec format error")
            return 126
        if error.filename2 and error.errno == errno.ENOENT:
            shell.error(f"{path}: cannot execute: required file not found")
            return 127
        if error.filename2:
            shell.write_error(f"{shell.name()}: {path}: {error.filename2}: bad interpreter: {error.strerror}\n")
            return 126
        if error.errno == errno.EISDIR:
            shell.error(f"{name}: Is a directory")
            return 126
        if error.errno == errno.ENOENT:
            shell.error(f"{name}: {'No such file or directory' if '/' in name else 'command not found'}")
            return 127
        shown = error.filename if error.filename and "/" not in name else name
        shell.error(f"{shown}: {error.strerror}")
        return 126

    # -- arithmetic

    def expression(self, text: str) -> str:
        """An arithmetic expression in bash's language."""
        return text

    def operand(self, value: str) -> str:
        """What a variable holds, as an operand."""
        return value

    def arithmetic_problem(self, message: str, text: str) -> str:  # noqa: ARG002 (the interface)
        return message


class Dash(Dialect):
    """dash. Its failures end a script more often: those of an expansion, and of a builtin that POSIX calls special."""

    parser = DashParser
    builtins = DASH_BUILTINS
    computed = frozenset({"LINENO"})
    connects = False
    traces_plainly = True
    special = SPECIAL

    def prefix(self, shell: Shell, line: int) -> str:
        session = shell.session
        inside = f"{session.source_name}: " if session.source_name != session.name else ""
        return f"{session.name}: {max(line + session.line_offset, 1)}: {inside}"

    def report(self, shell: Shell, problem: SyntaxProblem, label: str = "") -> None:  # noqa: ARG002 (the prefix knows)
        shell.write_error(f"{self.prefix(shell, problem.line)}{problem.message}\n")
        if shell.session.mode != "interactive":
            raise ShellExit(2)

    announces_jobs = False

    def listed(self, jobs: Sequence[BackgroundJob]) -> Sequence[BackgroundJob]:
        return jobs[::-1]

    def job(self, shell: Shell, job: BackgroundJob, mark: str, *, with_pid: bool = False, stopped: bool = False) -> str:
        state = state_of(job, stopped=stopped, exited="Done({})") + (" (signal)" if stopped else "")
        start = f"[{job.number}] {mark} {f'{job.pid} ' if with_pid else ''}{state}"
        return f"{start:<33}{job.text if 'monitor' in shell.session.options else ''}\n"

    def failure(self, problem: ExpansionError) -> Failure:
        return Failure(problem.dash, 2, True)

    def unopened(self, error: OSError, operator: str) -> str:
        made = operator not in ("<", "<>")
        words = {
            errno.ENOENT: "Directory nonexistent" if made else "No such file",
            errno.ENOTDIR: "Directory nonexistent" if made else "No such file",
        }
        said = words.get(error.errno or 0, error.strerror)
        return f"cannot {'create' if made else 'open'} {error.filename}: {said}"

    def not_redirected(self, shell: Shell, name: str) -> int:
        return self.builtin_failed(shell, name, 2)

    def builtin_failed(self, shell: Shell, name: str, status: int) -> int:
        if name in self.special:
            raise Abandon(status) if shell.session.mode == "interactive" else ShellExit(status)
        return status

    def bad_option(self, shell: Shell, name: str, option: str, *, lacking: bool = False) -> CommandExit:
        shell.error(f"{name}: " + (f"No arg for {option} option" if lacking else f"Illegal option {option}"))
        return CommandExit(2)

    def not_run(self, shell: Shell, name: str, error: OSError, path: str = "") -> int:  # noqa: ARG002 (the interface)
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            shell.error(f"{name}: not found")
            return 127
        said = {errno.EISDIR: "Permission denied", errno.ENOEXEC: "Exec format error"}
        shell.error(f"{name}: {said.get(error.errno or 0, error.strerror)}")
        return 126

    def expression(self, text: str) -> str:
        if _NO_CONSTANT.search(text):
            raise ExpansionError(f'arithmetic expression: expecting EOF: "{text}"')
        # It has none of the operators `**`, `++` and `--`: there are two in a row.
        return text.replace("**", "* *").replace("++", "+ +").replace("--", "- -")

    def operand(self, value: str) -> str:
        if _CONSTANT.fullmatch(value) is None:
            raise ExpansionError(f"Illegal number: {value}")
        return value

    def arithmetic_problem(self, message: str, text: str) -> str:
        kind = "division by zero" if "division by 0" in message else "expecting primary"
        return f'arithmetic expression: {kind}: "{text}"'


DIALECTS: Mapping[str, Dialect] = {"bash": Dialect(), "dash": Dash()}
