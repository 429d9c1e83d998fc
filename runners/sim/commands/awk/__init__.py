"""awk: pattern scanning and text processing, as Debian 12's mawk 1.3.4 does it."""

from __future__ import annotations

import re

from runners.sim.commands.awk.arrays import Array
from runners.sim.commands.awk.formatting import RunError
from runners.sim.commands.awk.lexer import AwkError
from runners.sim.commands.awk.runtime import Runtime
from runners.sim.commands.awk.statements import Exit, Next, Program, compile_program
from runners.sim.commands.awk.streams import internal
from runners.sim.commands.awk.usage import LIMITS, USAGE, VERSION
from runners.sim.commands.context import Context

NAMES = ("awk", "mawk")

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)=(.*)", re.DOTALL)
_FAILURE = 2


def main(ctx: Context) -> int:
    try:
        return _main(ctx)
    except AwkError as error:
        ctx.stderr.write(f"{ctx.name}: {error}\n".encode("latin-1", "replace"))
        return _FAILURE


def _main(ctx: Context) -> int:
    separator: str | None = None
    assignments: list[tuple[str, str]] = []
    files: list[str] = []
    words = list(ctx.args)
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        letter, value = word[1], word[2:]
        if letter not in "FvfW":
            ctx.stderr.write(f"{ctx.name}: not an option: {word}\n".encode("utf-8", "surrogateescape"))
            return _FAILURE
        if not value:
            if not words:
                ctx.err(f"option {word} lacks argument")
                return _FAILURE
            value = words.pop(0)
        if letter == "F":
            separator = value
        elif letter == "f":
            files.append(value)
        elif letter == "W":
            if value in ("version", "v", "V"):
                ctx.out(VERSION)
                ctx.stderr.write(LIMITS.encode("utf-8", "surrogateescape"))
                return 0
            if value in ("help", "usage", "h", "u"):
                ctx.stderr.write(USAGE.replace("mawk", ctx.name, 1).encode("utf-8", "surrogateescape"))
                return 0
        else:
            found = _ASSIGNMENT.fullmatch(value)
            if found is None:
                ctx.err(f"improper assignment: -v {value}")
                return _FAILURE
            assignments.append((found[1], found[2]))
    if files:
        text = "\n".join(_source(ctx, name) for name in files)
    elif words:
        text = internal(words.pop(0))
    else:
        ctx.stderr.write(USAGE.replace("mawk", ctx.name, 1).encode("utf-8", "surrogateescape"))
        return 0
    return _start(ctx, text, separator, assignments, words)


def _source(ctx: Context, name: str) -> str:
    try:
        return ctx.open(name).read().decode("latin-1")
    except OSError as error:
        raise AwkError(f"cannot open {name} ({error.strerror})") from None


def _start(
    ctx: Context, text: str, separator: str | None, assignments: list[tuple[str, str]], operands: list[str]
) -> int:
    named = [found[1] for operand in operands if (found := _ASSIGNMENT.fullmatch(operand))]
    program = compile_program(text, tuple([name for name, _ in assignments] + named))
    rt = Runtime(ctx, program.slots, {name: Array() for name in program.arrays})
    rt.fill_arrays(operands)
    if separator is not None:
        rt.assign("FS", internal(separator))
    for name, value in assignments:
        rt.assign(name, internal(value))
    return _execute(rt, program)


def _execute(rt: Runtime, program: Program) -> int:
    """BEGIN, the records, END; what was printed comes out even when a run time error ends it."""
    status = 0
    try:
        try:
            for block in program.begin:
                block(rt)
            if program.rules or program.end:
                _records(rt, program)
        except Exit as ended:
            status = ended.status or 0
        try:
            for block in program.end:
                block(rt)
        except Exit as ended:
            status = status if ended.status is None else ended.status
    except (AwkError, Next) as problem:
        rt.streams.close_all()
        if isinstance(problem, Next):
            problem = AwkError("improper use of next")
        if isinstance(problem, RunError):
            problem = AwkError(f"run time error: {problem}\n{rt.where()}")
        raise problem from None
    rt.streams.close_all()
    return status


def _records(rt: Runtime, program: Program) -> None:
    opened: set[int] = set()
    rules = program.rules
    while True:
        record = rt.next_record()
        if record is None:
            return
        rt.set_record(record)
        try:
            for rule in rules:
                rule(rt, opened)
        except Next as jump:
            rt.frame = []
            if jump.file:
                rt.skip_file()
