"""Simple commands: assignments, redirections, and finding out what the first word names."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from runners.formats.shell.ast import ArrayLiteral, Function, Simple
from runners.sim.commands.context import CommandExit
from runners.sim.shell import assignment, execution, redirections, tracing
from runners.sim.shell.session import Variable
from runners.sim.shell.signals import Abandon, ExpansionError, Return
from runners.sim.shell.subshells import drop_temporary

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

_MAX_FUNCTIONS = 2500


def run(shell: Shell, node: Simple) -> int:
    """Expand, redirect, run. Sets `$?`; applies `set -e`."""
    shell.line = node.line
    shell.spend(10)
    shell.substitution_status = None
    outer, shell.temporary = shell.temporary, []
    try:
        argv = shell.expander.words(node.words)
        status = _command(shell, node, argv) if argv else _assignments_only(shell, node)
    except ExpansionError as problem:
        raise shell.expansion_failed(problem) from None
    finally:
        if shell.temporary:
            drop_temporary(shell)
        shell.temporary = outer
    shell.session.status = status
    if status:
        shell.failed(status)
    return status


def _assignments_only(shell: Shell, node: Simple) -> int:
    traced = tracing.traced(shell)
    for each in node.assignments:
        mark = tracing.mark(shell) if traced else ""
        assignment.assign(shell, each)
        if traced and not isinstance(each.value, ArrayLiteral):
            tracing.trace_assignment(shell, each.name, shell.session.get(each.name) or "", mark)
    status = shell.substitution_status or 0
    if node.redirects:
        saved = redirections.apply(shell, node.redirects)
        if saved is None:
            return shell.dialect.not_redirected(shell, "")
        redirections.restore(shell, saved)
    return status


def _command(shell: Shell, node: Simple, argv: list[str]) -> int:
    session = shell.session
    name = argv[0]
    function = session.functions.get(name) if session.functions else None
    builtin = shell.dialect.builtins.get(name) if function is None else None
    values: list[tuple[str, str]] = []
    for each in node.assignments:
        if not isinstance(each.value, ArrayLiteral):
            text = shell.expander.text(each.value)
            if each.append:
                text = (session.get(each.name) or "") + text
            known = session.variables.get(each.name)
            if known is not None and known.readonly:
                raise ExpansionError(f"{each.name}: readonly variable", dash=f"{each.name}: is read only")
            values.append((each.name, text))
    if tracing.traced(shell):
        for key, value in values:
            tracing.trace_assignment(shell, key, value, tracing.mark(shell))
        tracing.trace_words(shell, argv)
    if name == "exec" and builtin is not None and len(argv) == 1:
        saved = redirections.apply(shell, node.redirects)
        if saved is None:
            return shell.dialect.not_redirected(shell, name)
        redirections.keep(saved)
        return 0
    saved = redirections.apply(shell, node.redirects) if node.redirects else []
    if saved is None:
        return shell.dialect.not_redirected(shell, name if builtin is not None else "")
    try:
        if shell.starting:
            shell.started()
        if function is not None:
            return _with_variables(shell, values, lambda: call_function(shell, function, argv))
        if builtin is not None:
            if values and name in shell.dialect.special:
                for key, value in values:
                    shell.assign(key, value)
            elif values:
                return _with_variables(shell, values, lambda: run_builtin(shell, argv))
            return run_builtin(shell, argv)
        session.last_argument = argv[-1]
        return execution.external(shell, argv, dict(values), in_place=node is shell.lone)
    finally:
        if saved:
            redirections.restore(shell, saved)


def _with_variables(shell: Shell, values: Sequence[tuple[str, str]], run_it: Callable[[], int]) -> int:
    """Run with temporary variables in force, exported."""
    variables = shell.session.variables
    before: dict[str, Variable | None] = {}
    for key, value in values:
        before.setdefault(key, variables.get(key))
        variables[key] = Variable(value, exported=True)
    shell.session.environment_cache = None
    try:
        return run_it()
    finally:
        for key, known in before.items():
            if known is None:
                variables.pop(key, None)
            else:
                variables[key] = known
        shell.session.environment_cache = None


def run_builtin(shell: Shell, argv: list[str]) -> int:
    """Run a builtin with the shell's current descriptors."""
    name = argv[0]
    shell.session.last_argument = argv[-1]
    try:
        return shell.dialect.builtins[name](shell, argv)
    except CommandExit as ended:
        return shell.dialect.builtin_failed(shell, name, ended.status)
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        shell.error(f"{name}: write error: {error.strerror}")
        return 1


def call_function(shell: Shell, function: Function, argv: list[str]) -> int:
    """Call a function with its own positional parameters and local variables."""
    session = shell.session
    if shell.function_depth >= _MAX_FUNCTIONS:
        shell.error(f"{argv[0]}: maximum function nesting level exceeded ({_MAX_FUNCTIONS})")
        raise Abandon(1)
    shell.spend(10)
    saved_positional, session.positional = session.positional, argv[1:]
    session.frames.append(argv[0])
    session.saved.append({})
    shell.function_depth += 1
    loops, shell.loops = shell.loops, 0
    try:
        return shell.execute(function.body)
    except Return as returned:
        return returned.status
    finally:
        shell.loops = loops
        shell.function_depth -= 1
        session.frames.pop()
        session.drop_locals()
        session.positional = saved_positional
