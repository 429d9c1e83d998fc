"""Commands that run another command: how many of their words come before it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from runners.typed.values import Value

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class Wrapper(NamedTuple):
    """`valued`: its options that take the next word. `operands`: how many words of its own follow the options.

    `assigns`: variables may stand before the command.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    assigns: bool = False


def _valued(text: str, operands: int = 0, *, assigns: bool = False) -> Wrapper:
    return Wrapper(frozenset(text.split()), operands, assigns)


WRAPPERS: Mapping[str, Wrapper] = {
    "sudo": _valued(
        "-u -g -h -p -C -r -t -T -D -R -U --user --group --host --prompt --chdir --chroot --role --type", assigns=True
    ),
    "doas": _valued("-u -C", assigns=True),
    "env": _valued("-u --unset -C --chdir", assigns=True),
    "nice": _valued("-n --adjustment"),
    "ionice": _valued("-c -n -p --class --classdata"),
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "stdbuf": _valued("-i -o -e --input --output --error"),
    "timeout": _valued("-k -s --kill-after --signal", 1),
    "time": _valued("-f -o --format --output"),
    "chroot": _valued("", 1),
    "taskset": _valued("", 1),
    "chrt": _valued("", 1),
    "unshare": Wrapper(),
    "nsenter": _valued("-t --target -S -G --setuid --setgid"),
    "strace": _valued("-e -o -p -s -u"),
    "ltrace": _valued("-e -o -p -s -u"),
    "command": Wrapper(),
    "builtin": Wrapper(),
    "exec": _valued("-a"),
    "busybox": Wrapper(),
    "unbuffer": Wrapper(),
    "systemd-run": _valued("-p --property -u --unit -E --setenv -M --slice --uid --gid", assigns=False),
    "systemd-inhibit": _valued("--what --who --why --mode"),
    "flock": _valued("-w --timeout -E", 1),
    "xargs": _valued("-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --replace --max-lines"),
    "parallel": _valued("-j --jobs -a --colsep"),
}
SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "rbash"})
TAKE_TEXT: Mapping[str, frozenset[str]] = {
    "su": frozenset({"-c", "--command"}),
    "runuser": frozenset({"-c", "--command"}),
    "script": frozenset({"-c", "--command"}),
    "flock": frozenset({"-c", "--command"}),
    "watch": frozenset(),
}
"""Commands that hand a text to a shell, by the options that come before it; none: what follows is the text."""


def inner(name: str, arguments: Sequence[Value]) -> tuple[Value, ...]:
    """The words of the command that a wrapper of that name runs; empty where it runs none."""
    wrapper = WRAPPERS[name]
    index = 0
    while index < len(arguments):
        text = arguments[index].text
        if text == "--":
            index += 1
            break
        if name == "env" and text in ("-S", "--split-string"):
            rest = arguments[index + 1].text.split() if index + 1 < len(arguments) else []
            return (*(Value(word) for word in rest), *arguments[index + 2 :])
        if name in ("command", "exec", "builtin") and text in ("-v", "-V"):
            return ()
        if text.startswith("-") and len(text) > 1:
            index += 2 if text in wrapper.valued else 1
        elif wrapper.assigns and _ASSIGNMENT.match(text):
            index += 1
        else:
            break
    return tuple(arguments[index + wrapper.operands :])


def shell_text(arguments: Sequence[Value]) -> tuple[Value | None, tuple[Value, ...]]:
    """What a shell is told by -c, and its further arguments; without -c the first of these names a script."""
    index = 0
    told = False
    while index < len(arguments) and (text := arguments[index].text)[:1] in ("-", "+") and len(text) > 1:
        index += 1
        if text == "--":
            break
        if not text.startswith("--"):
            told = told or "c" in text[1:]
            index += text[-1] in "oO"
        elif text in ("--rcfile", "--init-file"):
            index += 1
    rest = tuple(arguments[index:])
    if told:
        return (rest[0] if rest else None), rest[1:]
    return None, rest


def handed_text(options: frozenset[str], arguments: Sequence[Value]) -> str | None:
    """The text that is handed to a shell: what follows one of the options, or all that is no option."""
    if not options:
        rest = [value.text for value in arguments]
        while rest and rest[0].startswith("-"):
            rest = rest[2:] if rest[0] in ("-n", "--interval") else rest[1:]
        return " ".join(rest)
    for index, value in enumerate(arguments[:-1]):
        if value.text in options:
            return arguments[index + 1].text
    return None
