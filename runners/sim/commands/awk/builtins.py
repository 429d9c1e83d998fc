"""AWK's functions, as closures. Each entry of `BUILTINS` compiles one from its arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from runners.sim.commands.awk import nodes
from runners.sim.commands.awk.arrays import Array
from runners.sim.commands.awk.formatting import sprintf
from runners.sim.commands.awk.patterns import compiled
from runners.sim.commands.awk.runtime import CONVFMT, FS, RLENGTH, RSTART, Runtime
from runners.sim.commands.awk.substitution import substitute
from runners.sim.commands.awk.values import NOT_A_NUMBER, Input, Value, number, whole
from runners.sim.machine import mix

Compiled = Callable[[Runtime], Value]
Finder = Callable[[Runtime, str], bool]
Arguments = tuple[nodes.Expression, ...] | None


class Compiler(Protocol):
    """What is needed of the compiler of expressions."""

    def expression(self, node: nodes.Expression) -> Compiled: ...

    def store(self, node: nodes.Expression) -> Callable[[Runtime, Value], None]: ...

    def array(self, variable: nodes.Variable) -> Callable[[Runtime], Array]: ...

    def is_array(self, variable: nodes.Variable) -> bool: ...


def _length(compiler: Compiler, arguments: Arguments) -> Compiled:
    if not arguments:
        return lambda rt: float(len(rt.record_text()))
    argument = arguments[0]
    if isinstance(argument, nodes.Variable) and compiler.is_array(argument):
        array = compiler.array(argument)
        return lambda rt: float(len(array(rt).cells))
    value = compiler.expression(argument)
    return lambda rt: float(len(rt.text(value(rt))))


def _substr(compiler: Compiler, arguments: Arguments) -> Compiled:
    text, begin, *rest = [compiler.expression(argument) for argument in arguments or ()]

    def substr(rt: Runtime) -> Value:
        whole_text = rt.text(text(rt))
        start = whole(number(begin(rt)))
        length = whole(number(rest[0](rt))) if rest else len(whole_text) + max(-start, 0)
        if start <= 0:
            # This version of mawk lengthens the piece by what lies before the text.
            length -= start
            start = 1
        return whole_text[start - 1 : start - 1 + length] if length > 0 else ""

    return substr


def _index(compiler: Compiler, arguments: Arguments) -> Compiled:
    text, part = [compiler.expression(argument) for argument in arguments or ()]
    return lambda rt: float(rt.text(text(rt)).find(rt.text(part(rt))) + 1)


def _pattern(compiler: Compiler, node: nodes.Expression) -> Callable[[Runtime], str]:
    """The source of a regex argument: a literal's own, else the text of the value."""
    if isinstance(node, nodes.RegexLiteral):
        source = node.source
        compiled(source)
        return lambda _rt: source
    value = compiler.expression(node)
    return lambda rt: rt.text(value(rt))


def _split(compiler: Compiler, arguments: Arguments) -> Compiled:
    assert arguments is not None
    text = compiler.expression(arguments[0])
    variable = arguments[1]
    assert isinstance(variable, nodes.Variable)
    array = compiler.array(variable)
    separator = _pattern(compiler, arguments[2]) if len(arguments) > 2 else None
    literal = len(arguments) > 2 and isinstance(arguments[2], nodes.RegexLiteral)

    def split(rt: Runtime) -> Value:
        subject = rt.text(text(rt))
        cut = rt.special(FS) if separator is None else separator(rt)
        parts = rt.split_regex(subject, cut) if literal and cut else rt.split(subject, cut)
        rt.budget.spend(1 + (len(parts) >> 3))
        array(rt).fill([Input(part) for part in parts])
        return float(len(parts))

    return split


def _substitution(every: bool) -> Callable[[Compiler, Arguments], Compiled]:
    def build(compiler: Compiler, arguments: Arguments) -> Compiled:
        assert arguments is not None
        pattern = _pattern(compiler, arguments[0])
        replacement = compiler.expression(arguments[1])
        target: nodes.Expression = arguments[2] if len(arguments) > 2 else nodes.Field(nodes.Number(0.0))
        before = compiler.expression(target)
        changeable = isinstance(target, nodes.Variable | nodes.Field | nodes.Element)
        store = compiler.store(target) if changeable else None

        def replace(rt: Runtime) -> Value:
            source, new = pattern(rt), rt.text(replacement(rt))
            text, count = substitute(rt, compiled(source), new, rt.text(before(rt)), every)
            if count and store is not None:
                store(rt, text)
            return float(count)

        return replace

    return build


def _match(compiler: Compiler, arguments: Arguments) -> Compiled:
    assert arguments is not None
    text, pattern = compiler.expression(arguments[0]), _pattern(compiler, arguments[1])

    def match(rt: Runtime) -> Value:
        found = compiled(pattern(rt)).search(rt.checked(rt.text(text(rt))).encode("latin-1"))
        start, length = (0, -1) if found is None else (found.start + 1, found.end - found.start)
        rt.variables[RSTART], rt.variables[RLENGTH] = float(start), float(length)
        return float(start)

    return match


def _sprintf(compiler: Compiler, arguments: Arguments) -> Compiled:
    form, *values = [compiler.expression(argument) for argument in arguments or ()]

    def formatted(rt: Runtime) -> Value:
        text, problem = sprintf(rt.text(form(rt)), [value(rt) for value in values], rt.special(CONVFMT), "sprintf")
        if problem is not None:
            raise problem
        return rt.checked(text)

    return formatted


def _numeric(function: Callable[[float], float]) -> Callable[[Compiler, Arguments], Compiled]:
    def build(compiler: Compiler, arguments: Arguments) -> Compiled:
        assert arguments is not None
        value = compiler.expression(arguments[0])

        def calculate(rt: Runtime) -> Value:
            try:
                return function(number(value(rt)))
            except OverflowError:
                return math.inf
            except ValueError:
                return NOT_A_NUMBER

        return calculate

    return build


def _log(value: float) -> float:
    return -math.inf if value == 0.0 else math.log(value)


def _integer(value: float) -> float:
    return value if value != value or value in (math.inf, -math.inf) else float(math.trunc(value))


def _atan2(compiler: Compiler, arguments: Arguments) -> Compiled:
    y, x = [compiler.expression(argument) for argument in arguments or ()]
    return lambda rt: math.atan2(number(y(rt)), number(x(rt)))


def _rand(_compiler: Compiler, _arguments: Arguments) -> Compiled:
    def rand(rt: Runtime) -> Value:
        rt.state += 1
        return float(mix(f"{rt.seed}:{rt.state}") >> 11) / 2.0**53

    return rand


def _srand(compiler: Compiler, arguments: Arguments) -> Compiled:
    seed = compiler.expression(arguments[0]) if arguments else None

    def srand(rt: Runtime) -> Value:
        before = rt.seed
        rt.seed = int(rt.ctx.machine.clock.now) if seed is None else whole(number(seed(rt)))
        rt.state = 0
        return float(before)

    return srand


def _text(change: Callable[[str], str]) -> Callable[[Compiler, Arguments], Compiled]:
    def build(compiler: Compiler, arguments: Arguments) -> Compiled:
        assert arguments is not None
        value = compiler.expression(arguments[0])
        return lambda rt: change(rt.text(value(rt)))

    return build


_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _system(compiler: Compiler, arguments: Arguments) -> Compiled:
    assert arguments is not None
    command = compiler.expression(arguments[0])

    def system(rt: Runtime) -> Value:
        status = rt.streams.system(rt.text(command(rt)))
        # A command that a signal ended: mawk adds 256 to its number.
        return float(status - 128 + 256 if status > 128 else status)

    return system


def _close(compiler: Compiler, arguments: Arguments) -> Compiled:
    assert arguments is not None
    name = compiler.expression(arguments[0])
    return lambda rt: float(rt.streams.close(rt.text(name(rt))))


def _fflush(_compiler: Compiler, _arguments: Arguments) -> Compiled:
    def fflush(rt: Runtime) -> Value:
        rt.streams.flush()
        return 0.0

    return fflush


def _strftime(compiler: Compiler, arguments: Arguments) -> Compiled:
    values = [compiler.expression(argument) for argument in arguments or ()]

    def strftime(rt: Runtime) -> Value:
        form = rt.text(values[0](rt)) if values else "%c"
        at = number(values[1](rt)) if len(values) > 1 else rt.ctx.machine.clock.now
        try:
            moment = datetime.fromtimestamp(int(at), UTC)
        except (ValueError, OverflowError, OSError):
            return ""
        form = form.replace("%c", "%a %b %e %H:%M:%S %Y").replace("%s", str(int(at))).replace("%Z", "UTC")
        return moment.strftime(form.encode("ascii", "replace").decode())

    return strftime


def _systime(_compiler: Compiler, _arguments: Arguments) -> Compiled:
    return lambda rt: float(int(rt.ctx.machine.clock.now))


def _mktime(compiler: Compiler, arguments: Arguments) -> Compiled:
    assert arguments is not None
    value = compiler.expression(arguments[0])

    def mktime(rt: Runtime) -> Value:
        parts = [whole(number(Input(part))) for part in rt.text(value(rt)).split()[:6]]
        if len(parts) < 6:
            return -1.0
        year, month, day, hour, minute, second = parts
        try:
            start = datetime(year + (month - 1) // 12, (month - 1) % 12 + 1, 1, tzinfo=UTC).timestamp()
        except (ValueError, OverflowError):
            return -1.0
        return start + (day - 1) * 86400.0 + hour * 3600.0 + minute * 60.0 + second

    return mktime


BUILTINS: dict[str, Callable[[Compiler, Arguments], Compiled]] = {
    "length": _length, "substr": _substr, "index": _index, "split": _split, "sub": _substitution(False),
    "gsub": _substitution(True), "match": _match, "sprintf": _sprintf, "sin": _numeric(math.sin),
    "cos": _numeric(math.cos), "atan2": _atan2, "exp": _numeric(math.exp), "log": _numeric(_log),
    "sqrt": _numeric(math.sqrt), "int": _numeric(_integer), "rand": _rand, "srand": _srand,
    "tolower": _text(lambda text: text.translate(_LOWER)), "toupper": _text(lambda text: text.translate(_UPPER)),
    "system": _system, "close": _close, "fflush": _fflush, "strftime": _strftime, "systime": _systime,
    "mktime": _mktime,
}  # fmt: skip
