"""exit, return, break, eval, source, exec, trap, shift, true and false."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from runners.sim.lifecycle import SIGNALS
from runners.sim.shell import execution
from runners.sim.shell.builtins.arguments import options, show_usage
from runners.sim.shell.builtins.kill import signal_table
from runners.sim.shell.operators import quote
from runners.sim.shell.signals import Abandon, LoopControl, Return, ShellExit
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell


def true(_shell: Shell, _argv: list[str]) -> int:
    return 0


def false(_shell: Shell, _argv: list[str]) -> int:
    return 1


def _status(shell: Shell, argv: list[str]) -> int:
    """The status argument of exit and return."""
    if len(argv) < 2:
        return shell.session.status
    text = argv[1]
    digits = text.lstrip("+-")
    if not (is_digits(digits)):
        shell.error(f"{argv[0]}: {text}: numeric argument required")
        return 2
    return int(text[:30]) & 0xFF


def exit_(shell: Shell, argv: list[str]) -> int:
    session = shell.session
    if argv[0] == "logout" and not session.login and not session.name.startswith("-"):
        shell.error("logout: not login shell: use `exit'")
        return 1
    if len(argv) > 2 and is_digits(argv[1].lstrip("+-")):
        shell.error("exit: too many arguments")
        return 1
    raise ShellExit(_status(shell, argv))


def return_(shell: Shell, argv: list[str]) -> int:
    if not shell.function_depth and not shell.sourced:
        shell.error("return: can only `return' from a function or sourced script")
        return 2
    if len(argv) > 2:
        shell.error("return: too many arguments")
        return 1
    raise Return(_status(shell, argv))


def loop_control(shell: Shell, argv: list[str]) -> int:
    if not shell.loops:
        shell.error(f"{argv[0]}: only meaningful in a `for', `while', or `until' loop")
        return 0
    levels = 1
    if len(argv) > 1:
        if not is_digits(argv[1].lstrip("-")):
            shell.error(f"{argv[0]}: {argv[1]}: numeric argument required")
            raise ShellExit(128)
        levels = int(argv[1][:18])
        if levels < 1:
            shell.error(f"{argv[0]}: {argv[1]}: loop count out of range")
            raise LoopControl("break", shell.loops)
    raise LoopControl(argv[0], min(levels, shell.loops))


def eval_(shell: Shell, argv: list[str]) -> int:
    words = argv[2:] if argv[1:2] == ["--"] else argv[1:]
    text = " ".join(words)
    if not text.strip():
        return 0
    shell.session.status = 0
    return run_inside(shell, text)


def run_inside(shell: Shell, text: str) -> int:
    """What eval does with its text."""
    shell.spend(2 * len(text))
    program = shell.parse(text)
    session = shell.session
    shell.text_depth += 1
    try:
        for body in program.bodies:
            shell.run_body(body)
    finally:
        shell.text_depth -= 1
    if program.problem is not None:
        shell.dialect.report(shell, program.problem, "eval")
        return 2 if program.problem.shown is not None else 1
    return session.status


def source(shell: Shell, argv: list[str]) -> int:
    _, rest = options(shell, argv, "")
    if not rest:
        shell.error(f"{argv[0]}: filename argument required")
        show_usage(shell, argv[0])
        return 2
    name = rest[0]
    session = shell.session
    path = name
    if "/" not in name:
        for folder in (session.get("PATH") or "").split(":"):
            if shell.view.exists(f"{folder}/{name}"):
                path = f"{folder}/{name}"
                break
    try:
        if path.startswith("/dev/fd/") and is_digits(path[8:]) and int(path[8:]) in shell.fds:
            text = shell.fds[int(path[8:])].read().decode("utf-8", "surrogateescape")
        else:
            text = shell.view.text(path)
    except OSError as error:
        if error.errno == errno.EISDIR:
            shell.error(f"{argv[0]}: {name}: is a directory")
        else:
            shell.error(f"{name}: {error.strerror}")
        return 1
    saved_positional, saved_name, saved_line = session.positional, session.source_name, shell.line
    if len(rest) > 1:
        session.positional = rest[1:]
    session.source_name = name
    shell.sourced += 1
    shell.depth += 5
    session.status = 0
    try:
        return shell.run_text(text)
    except Return as returned:
        return returned.status
    finally:
        shell.depth -= 5
        shell.sourced -= 1
        session.source_name = saved_name
        shell.line = saved_line
        if len(rest) > 1:
            session.positional = saved_positional


def exec_(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "cla:")
    if not rest:
        return 0
    if not execution.is_there(shell, rest[0]):
        shell.error(f"exec: {rest[0]}: not found")
        if shell.session.mode == "interactive":
            return 127
        raise ShellExit(127)
    status = execution.external(
        shell, rest, {}, in_place=shell.session.mode != "interactive" or shell.subshell_depth > 0
    )
    if status in (126, 127) and shell.session.mode == "interactive":
        return status
    del given
    raise ShellExit(status)


_PSEUDO_SIGNALS = {"EXIT": 0, "ERR": 99, "DEBUG": 98, "RETURN": 100}
_SIGNAL_NAMES = {f"SIG{name}": number for number, name in SIGNALS.items()}


def signal_name(text: str) -> str | None:
    """`EXIT`, `ERR`, `SIGINT`: the canonical name of what trap takes."""
    upper = text.upper()
    if upper in ("EXIT", "0"):
        return "EXIT"
    if upper in ("ERR", "DEBUG", "RETURN"):
        return upper
    if is_digits(text):
        name = SIGNALS.get(int(text))
        return f"SIG{name}" if name else None
    full = upper if upper.startswith("SIG") else f"SIG{upper}"
    return full if full in _SIGNAL_NAMES else None


def signal_order(name: str) -> int:
    """What traps are listed by."""
    return _PSEUDO_SIGNALS.get(name, _SIGNAL_NAMES.get(name, 50))


def trap(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "lp")
    flags = {letter for letter, _ in given}
    traps = shell.session.traps
    if "l" in flags:
        shell.out(signal_table())
        return 0
    if "p" in flags or not rest:
        wanted = [signal_name(name) or "" for name in rest] if "p" in flags and rest else list(traps)
        known = [name for name in wanted if name in traps]
        for known_name in sorted(known, key=signal_order):
            shell.out(f"trap -- {quote(traps[known_name])} {known_name}\n")
        return 0
    action: str | None = rest[0]
    names = rest[1:]
    if not names:
        if signal_name(rest[0]) is None:
            show_usage(shell, "trap")
            return 2
        names, action = rest, "-"
    status = 0
    for text in names:
        name = signal_name(text)
        if name is None:
            shell.error(f"trap: {text}: invalid signal specification")
            status = 1
            continue
        if action == "-":
            traps.pop(name, None)
        else:
            traps[name] = action or ""
        number = _SIGNAL_NAMES.get(name)
        if number:
            shell.hub.ignore(shell.session.pid, number, action == "")
    return status


def shift(shell: Shell, argv: list[str]) -> int:
    count = 1
    if len(argv) > 1:
        if not is_digits(argv[1].lstrip("-")):
            shell.error(f"shift: {argv[1]}: numeric argument required")
            if shell.session.mode != "interactive":
                raise Abandon(1)
            return 1
        count = int(argv[1][:18])
    if count < 0:
        shell.error(f"shift: {argv[1]}: shift count out of range")
        return 1
    if count > len(shell.session.positional):
        return 1
    del shell.session.positional[:count]
    return 0
