"""Perl's functions on values: text, numbers, lists, hashes, time. Each is given its arguments as nodes."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime

from runners.sim.commands.perl.lists import (
    defined_,
    delete_,
    each_,
    exists_,
    found_first,
    gathered,
    grep_,
    hash_values,
    keys_,
    map_,
    pop_,
    push_,
    reference,
    reverse_,
    shift_,
    sort_,
    splice_,
    split_,
    undef_,
    unique,
    unshift_,
)
from runners.sim.commands.perl.nodes import ArrayNode, Constant, Node, Scalar
from runners.sim.commands.perl.runtime import Runtime
from runners.sim.commands.perl.values import (
    Died,
    Reference,
    Value,
    formatted,
    integer,
    lower,
    number,
    plus,
    text,
    upper,
)

Function = Callable[[Runtime, Sequence[Node], int], Value]
"""Gives a value, or a list where it is one of LISTS."""


def _first(rt: Runtime, arguments: Sequence[Node]) -> Value:
    return arguments[0].scalar(rt)


def _textual(change: Callable[[str], Value]) -> Function:
    return lambda rt, arguments, _line: change(text(_first(rt, arguments)))


def _numeric(change: Callable[[float], Value]) -> Function:
    def run(rt: Runtime, arguments: Sequence[Node], line: int) -> Value:
        try:
            return change(number(_first(rt, arguments)))
        except ValueError:
            raise rt.die(f"Can't take {change.__name__} of {text(_first(rt, arguments))}", line) from None
        except OverflowError:
            return math.inf

    return run


def _length(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    value = _first(rt, arguments)
    return None if value is None else len(text(value))


def _substr(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    whole = text(_first(rt, arguments))
    start = integer(arguments[1].scalar(rt))
    start = max(start + len(whole), 0) if start < 0 else start
    if start > len(whole):
        return None
    length = arguments[2].scalar(rt) if len(arguments) > 2 else None
    end = len(whole) if length is None else integer(length)
    end = end if length is None else start + end if end >= 0 else len(whole) + end
    end = max(end, start)
    if len(arguments) > 3:
        arguments[0].assign(rt, whole[:start] + text(arguments[3].scalar(rt)) + whole[end:])
    return whole[start:end]


def _index(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    whole, part = text(_first(rt, arguments)), text(arguments[1].scalar(rt))
    start = integer(arguments[2].scalar(rt)) if len(arguments) > 2 else 0
    return whole.find(part, max(start, 0))


def _rindex(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    whole, part = text(_first(rt, arguments)), text(arguments[1].scalar(rt))
    if len(arguments) > 2:
        return whole.rfind(part, 0, max(integer(arguments[2].scalar(rt)), 0) + len(part))
    return whole.rfind(part)


def _join(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    between, *parts = gathered(rt, arguments)
    return text(between).join(map(text, parts))


def _sprintf(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    pattern, *rest = gathered(rt, arguments) or [""]
    return formatted(text(pattern), rest)


def _chomp(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    ending = rt.find("$/").value
    removed = 0
    for argument in arguments:
        node = getattr(argument, "place", None)
        if node is not None:
            argument.scalar(rt)
        node = node if node is not None else argument
        if isinstance(node, ArrayNode):
            array = node.array(rt)
            array[:] = [text(value).removesuffix("\n") for value in array]
            continue
        value = node.scalar(rt)
        if value is not None and ending is not None and text(value).endswith(text(ending)):
            size = len(text(ending)) or len(text(value)) - len(text(value).rstrip("\n"))
            node.assign(rt, text(value)[: len(text(value)) - size])
            removed += size
    return removed


def _chop(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    value = text(_first(rt, arguments))
    arguments[0].assign(rt, value[:-1])
    return value[-1:]


def _octal(value: str) -> Value:
    digits = value.strip().lower().replace("_", "")
    for prefix, base in (("0x", 16), ("x", 16), ("0b", 2), ("b", 2), ("0o", 8)):
        if digits.startswith(prefix):
            return _based(digits[len(prefix) :], base)
    return _based(digits, 8)


def _based(digits: str, base: int) -> int:
    known = "0123456789abcdef"[:base]
    found = re.match(f"[{known}]*", digits)
    return int(found[0] or "0", base) if found else 0


def _scalar(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    return _first(rt, arguments)


def _random(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    return rt.ctx.machine.random("perl") * (number(_first(rt, arguments)) or 1 if arguments else 1)


_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def moment(rt: Runtime, arguments: Sequence[Node]) -> datetime:
    return rt.ctx.machine.clock.time(number(_first(rt, arguments)) if arguments else rt.ctx.machine.clock.now)


def local_time(when: datetime, many: bool) -> Value:
    """localtime: nine numbers, or a line such as `Sat Mar 14 09:24:17 2026`."""
    if many:
        return [when.second, when.minute, when.hour, when.day, when.month - 1, when.year - 1900,
                (when.weekday() + 1) % 7, when.timetuple().tm_yday - 1, 0]  # fmt: skip
    return f"{_DAYS[when.weekday()]} {_MONTHS[when.month - 1]} {when.day:2d} {when:%H:%M:%S %Y}"


def _strftime(rt: Runtime, arguments: Sequence[Node], line: int) -> Value:
    pattern, *parts = gathered(rt, arguments)
    second, minute, hour, day, month, year = (integer(part) for part in [*parts, *[0] * 6][:6])
    try:
        when = datetime(year + 1900, month + 1, day or 1, hour, minute, second)
    except ValueError:
        raise rt.die("strftime: time out of range", line) from None
    return when.strftime(
        text(pattern).replace("%e", f"{when.day:2d}").replace("%s", str(int(rt.ctx.machine.clock.now)))
    )


def _folded(change: Callable[[float, float], float]) -> Function:
    def run(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
        values = [number(value) for value in gathered(rt, arguments)]
        return functools.reduce(change, values) if values else None

    return run


def _eval_die(rt: Runtime, arguments: Sequence[Node], line: int) -> Value:
    values = gathered(rt, arguments)
    if len(values) == 1 and isinstance(values[0], Reference):
        raise Died(values[0])
    raise rt.die("".join(map(text, values)) or "Died", line)


def _warn(rt: Runtime, arguments: Sequence[Node], line: int) -> Value:
    rt.warn(rt.located("".join(map(text, gathered(rt, arguments))) or "Warning: something's wrong", line))
    return 1


def _position(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    node = arguments[0]
    known = node.box(rt).position if isinstance(node, Scalar) else None
    return known[1] if known is not None else None


FUNCTIONS: dict[str, Function] = {
    "length": _length, "substr": _substr, "index": _index, "rindex": _rindex, "join": _join, "sprintf": _sprintf,
    "uc": _textual(upper), "lc": _textual(lower), "ucfirst": _textual(lambda one: upper(one[:1]) + one[1:]),
    "lcfirst": _textual(lambda one: lower(one[:1]) + one[1:]), "chomp": _chomp, "chop": _chop,
    "chr": lambda rt, arguments, _line: chr(max(integer(_first(rt, arguments)), 0) & 255),
    "ord": _textual(lambda one: ord(one[0]) if one else 0), "oct": _textual(_octal),
    "hex": _textual(lambda one: _based(one.lower().removeprefix("0x").replace("_", ""), 16)),
    "quotemeta": _textual(lambda one: re.sub(r"([^A-Za-z0-9_])", r"\\\1", one)),
    "int": lambda rt, arguments, _line: _truncated(number(_first(rt, arguments))),
    "abs": _numeric(abs), "sqrt": _numeric(math.sqrt), "sin": _numeric(math.sin), "cos": _numeric(math.cos),
    "exp": _numeric(math.exp), "log": _numeric(math.log), "rand": _random, "srand": lambda _rt, _arguments, _line: 0,
    "atan2": lambda rt, arguments, _line: math.atan2(number(_first(rt, arguments)), number(arguments[1].scalar(rt))),
    "push": push_, "unshift": unshift_, "pop": pop_, "shift": shift_, "splice": splice_, "keys": keys_,
    "values": hash_values, "each": each_, "exists": exists_, "delete": delete_, "defined": defined_, "undef": undef_,
    "ref": reference, "reverse": reverse_, "map": map_, "grep": grep_, "sort": sort_, "scalar": _scalar,
    "split": split_, "die": _eval_die, "warn": _warn, "pos": _position,
    "wantarray": lambda rt, _arguments, _line: None if not rt.calls else 1 if rt.calls[-1] else 0,
    "time": lambda rt, _arguments, _line: int(rt.ctx.machine.clock.now),
}  # fmt: skip
LISTS = frozenset({"splice", "keys", "values", "each", "delete", "reverse", "map", "grep", "sort", "split", "uniq"})
"""Those that give a list; in scalar context `counted` says what it becomes."""
MODULES: dict[str, dict[str, Function]] = {
    "POSIX": {
        "floor": _numeric(lambda one: math.floor(one)), "ceil": _numeric(lambda one: math.ceil(one)),
        "strftime": _strftime, "fmod": _folded(math.fmod), "pow": _folded(lambda one, other: one**other),
    },
    "List::Util": {
        "sum": _folded(plus), "sum0": lambda rt, arguments, line: _folded(plus)(rt, arguments, line) or 0,
        "max": _folded(max), "min": _folded(min), "product": _folded(lambda one, other: one * other),
        "uniq": unique, "first": found_first,
    },
    "Time::HiRes": {"time": lambda rt, _arguments, _line: rt.ctx.machine.clock.now},
    "Scalar::Util": {"looks_like_number": _textual(lambda one: 1 if _NUMBER.fullmatch(one) else "")},
}  # fmt: skip
QUIET = frozenset({"strict", "warnings", "utf8", "feature", "vars", "bytes", "lib", "open", "diagnostics", "re"})
"""Modules that ask for nothing that matters here."""


def _truncated(value: float) -> Value:
    return value if type(value) is int or math.isinf(value) or math.isnan(value) else int(value)


def counted(name: str, found: list[Value]) -> Value:
    """A list where one value is wanted."""
    if name in ("keys", "values", "map", "grep", "split", "uniq"):
        return len(found)
    if name == "reverse":
        return "".join(map(text, reversed(found)))[::-1]
    return found[-1] if found and name != "each" else found[0] if found else None


class Called(Node):
    """A function that is built in."""

    __slots__ = ("arguments", "function", "name")

    def __init__(self, name: str, function: Function, arguments: Sequence[Node]) -> None:
        super().__init__()
        self.name = name
        self.function = function
        self.arguments = tuple(arguments)

    def scalar(self, rt: Runtime) -> Value:
        found = self.function(rt, self.arguments, self.line)
        if self.name == "reverse" and not found:
            found = [rt.topic.value]
        return counted(self.name, found) if self.name in LISTS else found

    def values(self, rt: Runtime) -> list[Value]:
        found = self.function(rt, self.arguments, self.line)
        return found if self.name in LISTS else [found]

    def assign(self, rt: Runtime, value: Value) -> None:
        if self.name != "substr":
            super().assign(rt, value)
        _substr(
            rt, [*self.arguments, *([Constant(None)] if len(self.arguments) < 3 else []), Constant(value)], self.line
        )


class LocalTime(Node):
    """localtime and gmtime: the machine keeps UTC."""

    __slots__ = ("arguments",)

    def __init__(self, arguments: Sequence[Node]) -> None:
        super().__init__()
        self.arguments = tuple(arguments)

    def scalar(self, rt: Runtime) -> Value:
        return local_time(moment(rt, self.arguments), False)

    def values(self, rt: Runtime) -> list[Value]:
        found = local_time(moment(rt, self.arguments), True)
        assert isinstance(found, list)
        return found
