"""`[[ … ]]`, and the file and string tests it shares with `test`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.formats.shell.ast import CondBinary, CondBoth, Condition, CondNot, CondUnary
from runners.sim.commands import testing
from runners.sim.regexes import RegexError, extended
from runners.sim.shell import tracing
from runners.sim.shell.expansion import Expander
from runners.sim.shell.patterns import matcher
from runners.sim.shell.session import Variable
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell


def evaluate(shell: Shell, condition: Condition) -> int:
    """The exit status: 0 true, 1 false, 2 for a bad regular expression."""
    if isinstance(condition, CondNot):
        status = evaluate(shell, condition.condition)
        return status if status > 1 else 1 - status
    if isinstance(condition, CondBoth):
        left = evaluate(shell, condition.left)
        if left > 1 or (left == 0) != (condition.operator == "&&"):
            return left
        return evaluate(shell, condition.right)
    if isinstance(condition, CondUnary):
        operand = shell.expander.text(condition.operand)
        if tracing.traced(shell):
            tracing.trace(shell, f"[[ {condition.operator} {operand or tracing.quoted(operand)} ]]")
        return int(not unary(shell, condition.operator, operand))
    return _binary(shell, condition)


def unary(shell: Shell, operator: str, operand: str) -> bool:
    """The tests that need the shell (-v, -o, -R) and those that only need files."""
    session = shell.session
    if operator == "-v":
        name, bracket, inner = operand.partition("[")
        if bracket and inner[:-1] in ("@", "*"):
            return bool(shell.expander.parameters.items(name))
        return shell.expander.parameters.element(name, inner[:-1] if bracket else None) is not None
    if operator == "-o":
        return operand in session.options
    if operator == "-R":
        variable = session.variables.get(operand)
        return variable is not None and variable.nameref
    if operator == "-t":
        stream = shell.fds.get(int(operand)) if is_digits(operand) else None
        return stream is not None and stream.is_terminal
    return testing.unary(shell.view, operator, operand)


def _binary(shell: Shell, condition: CondBinary) -> int:
    operator = condition.operator
    expander = shell.expander
    left = expander.text(condition.left)
    ignore_case = "nocasematch" in shell.session.shopt
    if tracing.traced(shell):
        right = _shown(expander, condition)
        tracing.trace(shell, f"[[ {left or tracing.quoted(left)} {operator} {right or tracing.quoted(right)} ]]")
    if operator in ("==", "=", "!="):
        pattern = expander.pattern(condition.right)
        shell.spend(1 + (len(left) >> 6))
        matched = matcher(pattern, shell.spend, ignore_case=ignore_case).fullmatch(left) is not None
        return int(matched == (operator == "!="))
    if operator == "=~":
        return _regex(shell, left, expander.regex(condition.right), ignore_case)
    right = expander.text(condition.right)
    if operator in ("<", ">"):
        return int(not (left < right if operator == "<" else left > right))
    if operator in testing.NUMERIC:
        first, second = expander.arithmetic(left), expander.arithmetic(right)
        return int(not testing.NUMERIC[operator](first, second))
    return int(not testing.files(shell.view, operator, left, right))


def _shown(expander: Expander, condition: CondBinary) -> str:
    """The right side as a trace has it."""
    if condition.operator in ("==", "=", "!="):
        return expander.pattern(condition.right)
    if condition.operator == "=~":
        return expander.regex(condition.right)
    return expander.text(condition.right)


def _regex(shell: Shell, text: str, pattern: str, ignore_case: bool) -> int:
    try:
        expression = extended(pattern, ignore_case=ignore_case)
    except RegexError:
        return 2
    shell.spend(1 + (len(text) >> 4))
    match = expression.search(text.encode("utf-8", "surrogateescape"))
    if match is None:
        shell.session.variables["BASH_REMATCH"] = Variable({}, kind="a")
        return 1
    groups = {
        number: match.group(number).decode("utf-8", "surrogateescape") for number in range(expression.groups + 1)
    }  # fmt: skip
    shell.session.variables["BASH_REMATCH"] = Variable(groups, kind="a")
    return 0
