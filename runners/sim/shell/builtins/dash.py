"""dash's builtins: its own where they differ from bash's, and those of bash that do the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from runners.formats.shell.grammar.dash import DashParser
from runners.sim.commands import test_, testing
from runners.sim.commands.context import CommandExit
from runners.sim.commands.printf import PrintfError, format_all
from runners.sim.shell import conditions, execution
from runners.sim.shell.builtins import flow, getopts, information, jobs, reading, settings, table, variables
from runners.sim.shell.builtins.arguments import options
from runners.sim.shell.builtins.directories import change_to
from runners.sim.shell.builtins.flow import run_inside
from runners.sim.shell.operators import quote
from runners.sim.shell.session import SET_OPTIONS
from runners.sim.shell.signals import Return, ShellExit
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

LETTERS = {letter: SET_OPTIONS[letter] for letter in "aCefmnuvxb"}
OPTIONS = frozenset({*LETTERS.values(), "ignoreeof", "interactive", "stdin", "vi", "emacs", "nolog", "debug"})
_BINARY = frozenset({"=", "!=", "<", ">"}) | testing.NUMERIC.keys() | testing.FILE_PAIRS
_UNARY = frozenset("-" + letter for letter in "bcdefghkLnoOGprsStuwxz") - {"-o"}
_ESCAPE = re.compile(rb"\\(?:([abcefnrtv\\])|(0[0-7]{0,3}|[1-7][0-7]{0,2}))")
_SIMPLE = {
    b"a": b"\a", b"b": b"\b", b"e": b"\x1b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v",
    b"\\": b"\\",
}  # fmt: skip
_KEYWORDS = DashParser.RESERVED
_DIRECTIVE = re.compile(r"%(?:%|[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(.?))", re.DOTALL)


def _wrong(shell: Shell, message: str) -> CommandExit:
    """Say what is wrong; raise what comes back. Where the builtin is a special one, a script ends by it."""
    shell.error(message)
    return CommandExit(2)


def _number(shell: Shell, name: str, text: str) -> int:
    if not (is_digits(text)):
        raise _wrong(shell, f"{name}: Illegal number: {text}")
    return int(text[:18])


# -- text


def echo(shell: Shell, argv: list[str]) -> int:
    silent = argv[1:2] == ["-n"]
    text = " ".join(argv[2:] if silent else argv[1:]) + ("" if silent else "\n")
    data = text.encode("utf-8", "surrogateescape")
    if b"\\" in data:
        data = _unescaped(data)
    stream = shell.fds.get(1)
    if stream is None:
        shell.error("echo: echo: I/O error")
        return 1
    stream.write(data)
    return 0


def _unescaped(data: bytes) -> bytes:
    """Without the escapes that dash's echo always heeds; `\\c` cuts all off behind it."""
    out: list[bytes] = []
    position = 0
    for match in _ESCAPE.finditer(data):
        out.append(data[position : match.start()])
        position = match.end()
        if match[1] == b"c":
            return b"".join(out)
        out.append(bytes([int(match[2], 8) & 0xFF]) if match[2] else _SIMPLE[match[1]])
    return b"".join(out) + data[position:]


def printf(shell: Shell, argv: list[str]) -> int:
    _, rest = options(shell, argv, "")
    if not rest:
        raise _wrong(shell, "printf: usage: printf format [arg ...]")
    for found in _DIRECTIVE.finditer(rest[0]):
        if found[1] == "q":
            raise _wrong(shell, f"printf: {found[0]}: invalid directive")

    def problem(message: str) -> None:
        text = re.sub(r"^(.*): invalid number$", r"\1: expected numeric value", message, flags=re.DOTALL)
        shell.error(f"printf: {text}")

    try:
        data, status = format_all(rest[0], rest[1:], problem, shell.spend, shell.machine.clock.now)
    except PrintfError as error:
        shell.out(error.output.decode("utf-8", "surrogateescape") if error.output else "")
        raise _wrong(shell, f"printf: {error.message}") from None
    if data:
        shell.fds[1].write(data) if 1 in shell.fds else None
    return status


def test(shell: Shell, argv: list[str]) -> int:
    name, words = argv[0], argv[1:]
    if name == "[":
        if not words or words[-1] != "]":
            raise _wrong(shell, "[: missing ]")
        words = words[:-1]
    odd = _unexpected(words)
    if odd is not None:
        raise _wrong(shell, f"{name}: {odd}: unexpected operator")
    try:
        return int(not test_.evaluate(words, shell.view, lambda sign, word: conditions.unary(shell, sign, word)))
    except test_.TestError as problem:
        text = re.sub(r"^(.*): integer expression expected$", r"Illegal number: \1", str(problem), flags=re.DOTALL)
        if text == str(problem):
            text = f"{words[0]}: unexpected operator"
        raise _wrong(shell, f"{name}: {text}") from None


def _unexpected(words: list[str]) -> str | None:
    """The word behind which an operator is missing, among those that only bash knows too."""
    words = words[1:] if words[:1] == ["!"] and len(words) > 2 else words
    if len(words) == 2 and words[0] != "!" and words[0] not in _UNARY:
        return words[0]
    if len(words) == 3 and words[1] not in _BINARY | {"-a", "-o"} and words[0] not in ("(", "!"):
        return words[0]
    return next((words[at - 1] for at in range(1, len(words) - 1) if words[at] == "==" and len(words) > 3), None)


# -- flow


def exit_(shell: Shell, argv: list[str]) -> int:
    raise ShellExit(_number(shell, argv[0], argv[1]) & 0xFF if len(argv) > 1 else shell.session.status)


def return_(shell: Shell, argv: list[str]) -> int:
    status = _number(shell, argv[0], argv[1]) & 0xFF if len(argv) > 1 else shell.session.status
    if not shell.function_depth and not shell.sourced:
        raise ShellExit(status)
    raise Return(status)


def loop_control(shell: Shell, argv: list[str]) -> int:
    if len(argv) > 1 and _number(shell, argv[0], argv[1]) < 1:
        raise _wrong(shell, f"{argv[0]}: Illegal number: {argv[1]}")
    return flow.loop_control(shell, argv) if shell.loops else 0


def eval_(shell: Shell, argv: list[str]) -> int:
    text = " ".join(argv[1:])
    if not text.strip():
        return 0
    session = shell.session
    saved, session.source_name = session.source_name, "eval"
    line, session.line_offset = shell.line, session.line_offset + max(shell.line - 1, 0)
    session.status = 0
    try:
        return run_inside(shell, text)
    finally:
        session.source_name = saved
        session.line_offset -= max(line - 1, 0)
        shell.line = line


def dot(shell: Shell, argv: list[str]) -> int:
    if len(argv) < 2:
        return 0
    name = argv[1]
    if "/" not in name:
        folders = (shell.session.get("PATH") or "").split(":")
        found = next((f"{folder}/{name}" for folder in folders if shell.view.exists(f"{folder}/{name}")), None)
        if found is None:
            raise _wrong(shell, f".: {name}: not found")
        argv = [argv[0], found]
    try:
        shell.view.content(argv[1])
    except OSError as error:
        raise _wrong(shell, f".: {shell.dialect.unopened(error, '<')}") from None
    offset, shell.session.line_offset = shell.session.line_offset, 0
    try:
        return flow.source(shell, argv[:2])
    finally:
        shell.session.line_offset = offset


def trap(shell: Shell, argv: list[str]) -> int:
    bad = [name for name in argv[2:] if flow.signal_name(name) in (None, "ERR", "DEBUG", "RETURN")]
    if bad:
        shell.write_error(f"trap: {bad[0]}: bad trap\n")
        return 1
    if len(argv) == 1:
        traps = shell.session.traps
        for name in sorted(traps, key=flow.signal_order):
            shell.out(f"trap -- {quote(traps[name])} {name.removeprefix('SIG')}\n")
        return 0
    return flow.trap(shell, argv)


def shift(shell: Shell, argv: list[str]) -> int:
    count = _number(shell, argv[0], argv[1]) if len(argv) > 1 else 1
    if count > len(shell.session.positional):
        raise _wrong(shell, "shift: can't shift that many")
    del shell.session.positional[:count]
    return 0


# -- folders, variables, settings


def cd(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "LP")
    session = shell.session
    target = rest[0] if rest else session.get("HOME") or ""
    back = target == "-"
    if back:
        target = session.get("OLDPWD") or ""
    if not target and not rest:
        return 0
    if not change_to(shell, target, None, physical=any(letter == "P" for letter, _ in given)):
        raise _wrong(shell, f"{argv[0]}: can't cd to {target}")
    if back:
        shell.out(session.cwd + "\n")
    return 0


def _marked(shell: Shell, argv: list[str], *, exported: bool) -> int:
    _, rest = options(shell, argv, "p")
    if rest:
        return (variables.export if exported else variables.readonly)(shell, [argv[0], *rest])
    for name in sorted(shell.session.variables):
        variable = shell.session.variables[name]
        if variable.exported if exported else variable.readonly:
            value = variable.scalar()
            shell.out(f"{argv[0]} {name}" + (f"={_quoted(value)}" if value is not None else "") + "\n")
    return 0


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\"'\"'") + "'"


def export(shell: Shell, argv: list[str]) -> int:
    return _marked(shell, argv, exported=True)


def readonly(shell: Shell, argv: list[str]) -> int:
    return _marked(shell, argv, exported=False)


def local(shell: Shell, argv: list[str]) -> int:
    if not shell.function_depth:
        shell.error("local: not in a function")
        raise ShellExit(2)
    return variables.local(shell, [argv[0], "--", *argv[1:]])


def read(shell: Shell, argv: list[str]) -> int:
    given, names = options(shell, argv, "p:r")
    if not names:
        raise _wrong(shell, "read: arg count")
    flags = [f"-{letter}" for letter, _ in given if letter == "r"]
    return reading.read(shell, [argv[0], *flags, "--", *names])


def set_(shell: Shell, argv: list[str]) -> int:
    if len(argv) == 1:
        for name in sorted(shell.session.variables):
            shell.out(f"{name}={_quoted(shell.session.variables[name].scalar() or '')}\n")
        return 0
    for at, word in enumerate(argv[1:], 1):
        if word[:1] not in ("-", "+") or len(word) < 2 or word == "--":
            if at > 1 and argv[at - 1][:1] in ("-", "+") and argv[at - 1].endswith("o"):
                if word not in OPTIONS:
                    raise _wrong(shell, f"set: Illegal option -o {word}")
                continue
            break
        odd = next((letter for letter in word[1:] if letter not in LETTERS and letter != "o"), None)
        if odd is not None:
            raise _wrong(shell, f"set: Illegal option {word[0]}{odd}")
    return settings.set_(shell, argv)


def alias(shell: Shell, argv: list[str]) -> int:
    aliases = shell.session.aliases
    status = 0
    for word in argv[1:] or sorted(aliases):
        name, equals, value = word.partition("=")
        if equals and name:
            aliases[name] = value
        elif name in aliases:
            shell.out(f"{name}={_quoted(aliases[name])}\n")
        else:
            shell.write_error(f"alias: {name} not found\n")
            status = 1
    return status


def unalias(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "a")
    if given:
        shell.session.aliases.clear()
    missing = settings.without_alias(shell, rest)
    for name in missing:
        shell.write_error(f"unalias: {name} not found\n")
    return int(bool(missing))


def type_(shell: Shell, argv: list[str]) -> int:
    status = 0
    for name in argv[1:]:
        said = _described(shell, name)
        shell.out(f"{name}{said or ': not found'}\n")
        status = status if said else 127
    return status


def _described(shell: Shell, name: str) -> str:
    session = shell.session
    if name in _KEYWORDS:
        return " is a shell keyword"
    if name in session.aliases:
        return f" is an alias for {session.aliases[name]}"
    if name in session.functions:
        return " is a shell function"
    if name in DASH_BUILTINS:
        return f" is a {'special ' if name in table.SPECIAL else ''}shell builtin"
    if name in session.hashed:
        return f" is a tracked alias for {session.hashed[name]}"
    try:
        return f" is {execution.find_program(shell.view, name, session.get('PATH') or '').path}"
    except OSError:
        return ""


def command(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "pVv")
    letters = {letter for letter, _ in given}
    if "V" in letters:
        return type_(shell, ["type", *rest])
    status = information.command(shell, argv)
    return 127 if "v" in letters and status else status


def hash_(shell: Shell, argv: list[str]) -> int:
    missing = [name for name in argv[1:] if name != "-r" and not execution.is_there(shell, name)]
    if missing:
        shell.error(f"hash: {missing[0]}: not found")
        return 1
    return information.hash_(shell, argv)


def no_job(shell: Shell, argv: list[str]) -> int:
    """fg and bg."""
    if "monitor" in shell.session.options and shell.session.jobs:
        return (jobs.foreground if argv[0] == "fg" else jobs.background)(shell, argv)
    raise _wrong(shell, f"{argv[0]}: {'No current job' if len(argv) < 2 else f'No such job: {argv[1]}'}")


def wait(shell: Shell, argv: list[str]) -> int:
    for spec in argv[1:]:
        if spec.startswith("%") and jobs.find_job(shell, spec) is None:
            raise _wrong(shell, f"wait: No such job: {spec}")
    known = {str(job.pid) for job in shell.session.jobs}
    if len(argv) > 1 and all(is_digits(spec) and spec not in known for spec in argv[1:]):
        return 127
    return jobs.wait(shell, argv)


_SAME = (":", "true", "false", "exec", "unset", "pwd", "umask", "ulimit", "times", "jobs", "kill")
DASH_BUILTINS: Mapping[str, table.Builtin] = {
    **{name: table.BUILTINS[name] for name in _SAME},
    "exit": exit_, "return": return_, "break": loop_control, "continue": loop_control, "eval": eval_, ".": dot,
    "trap": trap, "shift": shift, "export": export, "readonly": readonly, "local": local, "read": read,
    "getopts": getopts.getopts, "cd": cd, "chdir": cd, "set": set_, "alias": alias, "unalias": unalias, "type": type_,
    "command": command, "hash": hash_, "fg": no_job, "bg": no_job, "wait": wait, "echo": echo, "printf": printf,
    "test": test, "[": test,
}  # fmt: skip
