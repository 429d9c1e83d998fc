"""set, shopt, umask, ulimit, alias, enable."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runners.sim.commands.modes import ModeError, change_mode
from runners.sim.shell.builtins.arguments import options, show_usage, usage_error
from runners.sim.shell.builtins.variables import SAFE_WORD
from runners.sim.shell.operators import quote
from runners.sim.shell.session import LONG_OPTIONS, SET_OPTIONS, SHOPT_OPTIONS
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

_LIMITS: Mapping[str, tuple[str, str, str]] = {
    "R": ("real-time non-blocking time", "microseconds, -R", "unlimited"),
    "c": ("core file size", "blocks, -c", "0"),
    "d": ("data seg size", "kbytes, -d", "unlimited"),
    "e": ("scheduling priority", "-e", "0"),
    "f": ("file size", "blocks, -f", "unlimited"),
    "i": ("pending signals", "-i", "31452"),
    "l": ("max locked memory", "kbytes, -l", "1014976"),
    "m": ("max memory size", "kbytes, -m", "unlimited"),
    "n": ("open files", "-n", "1024"),
    "p": ("pipe size", "512 bytes, -p", "8"),
    "q": ("POSIX message queues", "bytes, -q", "819200"),
    "r": ("real-time priority", "-r", "0"),
    "s": ("stack size", "kbytes, -s", "8192"),
    "t": ("cpu time", "seconds, -t", "unlimited"),
    "u": ("max user processes", "-u", "31452"),
    "v": ("virtual memory", "kbytes, -v", "unlimited"),
    "x": ("file locks", "-x", "unlimited"),
}
_HARD = {"n": "1048576", "s": "unlimited", "c": "unlimited"}


def set_(shell: Shell, argv: list[str]) -> int:
    session = shell.session
    if len(argv) == 1:
        for name in sorted(session.variables):
            value = session.variables[name].value
            if isinstance(value, str):
                shown = value if SAFE_WORD.fullmatch(value) or not value else quote(value)
                shell.out(f"{name}={shown}\n")
            elif isinstance(value, dict):
                inside = " ".join(f'[{key}]="{text}"' for key, text in value.items())
                shell.out(f"{name}=({inside})\n")
        return 0
    index = 1
    while index < len(argv):
        word = argv[index]
        if word in ("--", "-"):
            session.positional = argv[index + 1 :] if word == "--" or argv[index + 1 :] else session.positional
            return 0
        if word[:1] not in ("-", "+") or len(word) < 2:
            session.positional = argv[index:]
            return 0
        on = word[0] == "-"
        index += 1
        for letter in word[1:]:
            if letter == "o":
                if index >= len(argv):
                    _list_options(shell, on)
                    break
                if argv[index] not in LONG_OPTIONS:
                    shell.error(f"set: {argv[index]}: invalid option name")
                    return 2
                _switch(session.options, argv[index], on)
                index += 1
            elif letter in SET_OPTIONS:
                _switch(session.options, SET_OPTIONS[letter], on)
            else:
                raise usage_error(shell, "set", f"{word[0]}{letter}: invalid option")
    return 0


def _switch(known: set[str], name: str, on: bool) -> None:
    if on:
        known.add(name)
    else:
        known.discard(name)


def _list_options(shell: Shell, readable: bool) -> None:
    for name in sorted({*LONG_OPTIONS, "interactive-comments", "nolog", "privileged", "onecmd"}):
        on = name in shell.session.options or name == "interactive-comments"
        if readable:
            shell.out(f"{name:<15}\t{'on' if on else 'off'}\n")
        else:
            shell.out(f"set {'-' if on else '+'}o {name}\n")


def shopt(shell: Shell, argv: list[str]) -> int:
    given, names = options(shell, argv, "pqsuo")
    flags = {letter for letter, _ in given}
    session = shell.session
    known = LONG_OPTIONS if "o" in flags else frozenset(SHOPT_OPTIONS)
    state = session.options if "o" in flags else session.shopt
    status = 0
    if not names:
        for name in sorted(known):
            on = name in state
            if ("s" in flags and not on) or ("u" in flags and on):
                continue
            if "p" in flags:
                shell.out(f"shopt {'-s' if on else '-u'} {name}\n")
            elif "q" not in flags:
                shell.out(f"{name:<15}\t{'on' if on else 'off'}\n")
        return 0
    for name in names:
        if name not in known:
            shell.error(f"shopt: {name}: invalid shell option name")
            status = 1
        elif "s" in flags or "u" in flags:
            _switch(state, name, "s" in flags)
        else:
            on = name in state
            status = status or int(not on)
            if "p" in flags:
                shell.out(f"shopt {'-s' if on else '-u'} {name}\n")
            elif "q" not in flags:
                shell.out(f"{name:<15}\t{'on' if on else 'off'}\n")
    return status


def umask(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "pS")
    flags = {letter for letter, _ in given}
    session = shell.session
    if not rest:
        if "S" in flags:
            allowed = 0o777 & ~session.umask
            groups = [
                name + "=" + "".join(letter for bit, letter in ((4, "r"), (2, "w"), (1, "x")) if allowed >> shift & bit)
                for name, shift in (("u", 6), ("g", 3), ("o", 0))
            ]
            shell.out(("umask -S " if "p" in flags else "") + ",".join(groups) + "\n")
        else:
            shell.out(("umask " if "p" in flags else "") + f"{session.umask:04o}\n")
        return 0
    text = rest[0]
    if is_digits(text[:1]) or not text:
        if not re.fullmatch(r"[0-7]+", text) or int(text, 8) > 0o777:
            shell.error(f"umask: {text}: octal number out of range")
            return 1
        session.umask = int(text, 8)
        return 0
    try:
        session.umask = 0o777 & ~change_mode(text, 0o777 & ~session.umask, directory=False, umask=0)
    except ModeError:
        shell.error(f"umask: `{text[:1]}': invalid symbolic mode operator")
        return 1
    return 0


def ulimit(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "SHabcdefiklmnpqrstuvxPRT")
    letters = [letter for letter, _ in given if letter not in "SHa"]
    session = shell.session
    hard = any(letter == "H" for letter, _ in given)

    def current(letter: str) -> str:
        default = _HARD.get(letter) if hard else None
        return session.get(f"_ulimit_{letter}") or default or _LIMITS[letter][2]

    if any(letter == "a" for letter, _ in given):
        for letter, (title, unit, _) in _LIMITS.items():
            shell.out(_limit_line(title, unit, current(letter)))
        return 0
    letter = letters[-1] if letters else "f"
    if letter not in _LIMITS:
        raise usage_error(shell, "ulimit", f"-{letter}: invalid option")
    if not rest:
        shell.out(current(letter) + "\n")
        return 0
    value = rest[0]
    if value not in ("unlimited", "hard", "soft") and not is_digits(value):
        shell.error(f"ulimit: {value}: invalid number")
        return 1
    if (
        session.cred.uid != 0
        and is_digits(value)
        and is_digits(_HARD.get(letter, ""))
        and int(value) > int(_HARD[letter])
    ):
        shell.error(f"ulimit: {_LIMITS[letter][0]}: cannot modify limit: Operation not permitted")
        return 1
    session.set(f"_ulimit_{letter}", value)
    return 0


def _limit_line(title: str, unit: str, value: str) -> str:
    label = f"({unit})"
    return f"{title}{label:>{36 - len(title)}} {value}\n"


def alias(shell: Shell, argv: list[str]) -> int:
    _, rest = options(shell, argv, "p")
    aliases = shell.session.aliases
    status = 0
    if not rest:
        for name in sorted(aliases):
            shell.out(f"alias {name}={quote(aliases[name])}\n")
        return 0
    for word in rest:
        name, equals, value = word.partition("=")
        if equals and name:
            aliases[name] = value
        elif name in aliases:
            shell.out(f"alias {name}={quote(aliases[name])}\n")
        else:
            shell.error(f"alias: {name}: not found")
            status = 1
    return status


def unalias(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "a")
    if given:
        shell.session.aliases.clear()
        return 0
    if not rest:
        show_usage(shell, "unalias")
        return 2
    missing = without_alias(shell, rest)
    for name in missing:
        shell.error(f"unalias: {name}: not found")
    return int(bool(missing))


def without_alias(shell: Shell, names: Sequence[str]) -> list[str]:
    """Take these aliases away; returns the names that were none."""
    return [name for name in names if shell.session.aliases.pop(name, None) is None]


def enable(_shell: Shell, _argv: list[str]) -> int:
    return 0
