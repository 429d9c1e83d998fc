"""Compound commands: one function for each kind. Each leaves the shell as it found it, however it is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runners.formats.shell.ast import (
    ArithmeticCommand,
    ArithmeticFor,
    Body,
    Case,
    ConditionCommand,
    For,
    Function,
    Group,
    If,
    Select,
    Subshell,
    While,
)
from runners.sim.shell import conditions, tracing
from runners.sim.shell.patterns import matcher
from runners.sim.shell.signals import Abandon, ExpansionError, LoopControl
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell


def group(shell: Shell, node: Group) -> int:
    return shell.redirected(node.redirects, lambda: shell.run_body(node.body))


def subshell(shell: Shell, node: Subshell) -> int:
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


def if_(shell: Shell, node: If) -> int:
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


def while_(shell: Shell, node: While) -> int:
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


def for_(shell: Shell, node: For) -> int:
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
                if tracing.traced(shell):
                    tracing.trace(shell, f"for {node.name} in {node.text}")
                shell.assign(node.name, item)
                status, ended = _turn(shell, node.body)
                if ended:
                    return status
            return status
        finally:
            shell.loops -= 1

    return shell.redirected(node.redirects, lambda: _reporting(shell, run))


def arithmetic_for(shell: Shell, node: ArithmeticFor) -> int:
    expander = shell.expander

    def value(word: Any, empty: int) -> int:
        text = expander.text(word)
        if not text.strip():
            return empty
        if tracing.traced(shell):
            tracing.trace(shell, f"(( {text.strip()} ))")
        return expander.arithmetic(text)

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
        raise shell.expansion_failed(problem) from None


def select(shell: Shell, node: Select) -> int:
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
                chosen = items[int(reply) - 1] if is_digits(reply) and 0 < int(reply) <= len(items) else ""
                shell.assign(node.name, chosen)
                status, ended = _turn(shell, node.body)
                if ended:
                    return status
            return status
        finally:
            shell.loops -= 1

    return shell.redirected(node.redirects, lambda: _reporting(shell, run))


def case(shell: Shell, node: Case) -> int:
    def run() -> int:
        subject = shell.expander.text(node.subject)
        if tracing.traced(shell):
            tracing.trace(shell, f"case {node.text} in")
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


def function(shell: Shell, node: Function) -> int:
    shell.session.functions[node.name] = node
    return 0


def arithmetic(shell: Shell, node: ArithmeticCommand) -> int:
    def run() -> int:
        shell.line = node.line
        try:
            expression = shell.expander.text(node.expression)
            if tracing.traced(shell):
                tracing.trace(shell, f"(( {expression} ))")
            return int(shell.expander.arithmetic(expression) == 0)
        except ExpansionError as problem:
            shell.error(problem.message if problem.fatal else f"((: {problem.message}")
            if problem.fatal:
                raise Abandon(problem.status, fatal=True) from None
            return 1

    status = shell.redirected(node.redirects, run)
    shell.session.status = status
    shell.failed(status)
    return status


def condition_command(shell: Shell, node: ConditionCommand) -> int:
    def run() -> int:
        shell.line = node.line
        return conditions.evaluate(shell, node.condition)

    status = shell.redirected(node.redirects, lambda: _reporting(shell, run))
    shell.session.status = status
    shell.failed(status)
    return status
