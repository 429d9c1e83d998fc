"""type, command, builtin, hash, history, help."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runners.sim.shell import execution
from runners.sim.shell.builtins.arguments import USAGE, options
from runners.sim.shell.operators import quote
from runners.sim.shell.session import DEFAULT_PATH
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

_KEYWORDS = frozenset(
    ["if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
     "function", "time", "{", "}", "!", "[[", "]]", "coproc"]
)  # fmt: skip


def _kind(shell: Shell, name: str, *, functions: bool = True) -> str | None:
    session = shell.session
    if name in session.aliases and "expand_aliases" in session.shopt:
        return "alias"
    if name in _KEYWORDS:
        return "keyword"
    if functions and name in session.functions:
        return "function"
    if name in shell.builtins:
        return "builtin"
    return "file" if _path(shell, name) is not None else None


def _path(shell: Shell, name: str, search: str | None = None) -> str | None:
    try:
        return execution.find_program(shell.view, name, search or shell.session.get("PATH") or "").path
    except OSError:
        return None


def _all_paths(shell: Shell, name: str) -> list[str]:
    found = []
    for folder in (shell.session.get("PATH") or "").split(":"):
        path = _path(shell, f"{folder}/{name}")
        if path is not None:
            found.append(path)
    return found


def type_(shell: Shell, argv: list[str]) -> int:
    given, names = options(shell, argv, "afptP")
    flags = {letter for letter, _ in given}
    status = 0
    for name in names:
        kind = _kind(shell, name, functions="f" not in flags)
        if flags & {"p", "P"}:
            path = _path(shell, name) if "P" in flags or kind == "file" else None
            if path is not None:
                shell.out(path + "\n")
            elif kind is None or "P" in flags:
                status = 1
            continue
        if kind is None:
            if "t" not in flags:
                shell.error(f"type: {name}: not found")
            status = 1
        elif "t" in flags:
            shell.out(kind + "\n")
        else:
            _describe(shell, name, kind)
            if "a" in flags:
                for path in _all_paths(shell, name)[1 if kind == "file" else 0 :]:
                    shell.out(f"{name} is {path}\n")
    return status


def _describe(shell: Shell, name: str, kind: str) -> None:
    session = shell.session
    if kind == "alias":
        shell.out(f"{name} is aliased to `{session.aliases[name]}'\n")
    elif kind == "keyword":
        shell.out(f"{name} is a shell keyword\n")
    elif kind == "function":
        shell.out(f"{name} is a function\n{session.functions[name].text}\n")
    elif kind == "builtin":
        shell.out(f"{name} is a shell builtin\n")
    elif name in session.hashed:
        shell.out(f"{name} is hashed ({session.hashed[name]})\n")
    else:
        shell.out(f"{name} is {_path(shell, name)}\n")


def command(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "pVv")
    flags = {letter for letter, _ in given}
    if not rest:
        return 0
    if flags & {"v", "V"}:
        status = 0
        for name in rest:
            kind = _kind(shell, name)
            if kind is None:
                if "V" in flags:
                    shell.error(f"command: {name}: not found")
                status = 1
            elif "V" in flags:
                _describe(shell, name, kind)
            elif kind == "alias":
                shell.out(f"alias {name}={quote(shell.session.aliases[name])}\n")
            else:
                shell.out((_path(shell, name) or name if kind == "file" else name) + "\n")
        return status
    if rest[0] in shell.builtins:
        return shell.run_builtin(rest)
    return execution.external(shell, rest, {"PATH": DEFAULT_PATH} if "p" in flags else {})


def builtin(shell: Shell, argv: list[str]) -> int:
    _, rest = options(shell, argv, "")
    if not rest:
        return 0
    if rest[0] not in shell.builtins:
        shell.error(f"builtin: {rest[0]}: not a shell builtin")
        return 1
    return shell.run_builtin(rest)


def hash_(shell: Shell, argv: list[str]) -> int:
    given, names = options(shell, argv, "lrdtp:")
    flags = {letter for letter, _ in given}
    hashed = shell.session.hashed
    if "r" in flags:
        hashed.clear()
    elif not names:
        if not hashed:
            shell.out("hash: hash table empty\n")
            return 0
        shell.out("hits\tcommand\n")
        for known in hashed.values():
            shell.out(f"   1\t{known}\n")
    status = 0
    for name in names:
        path = _path(shell, name)
        if path is None:
            shell.error(f"hash: {name}: not found")
            status = 1
        elif "t" in flags:
            shell.out(path + "\n")
        elif "d" in flags:
            hashed.pop(name, None)
        elif name not in shell.builtins:
            hashed[name] = path
    return status


def history(shell: Shell, argv: list[str]) -> int:
    session = shell.session
    if argv[0] == "fc":
        argv = ["history"]
    given, rest = options(shell, argv, "cd:anrwps")
    flags = dict(given)
    if "c" in flags:
        session.history.clear()
        return 0
    if "d" in flags:
        text = flags["d"] or ""
        if not re.fullmatch(r"-?\d+", text) or not 0 < int(text) <= len(session.history):
            shell.error(f"history: {text}: history position out of range")
            return 1
        del session.history[int(text) - 1]
        return 0
    if "s" in flags:
        session.history.append(" ".join(rest))
        return 0
    if flags.keys() & {"w", "a"}:
        home = session.get("HOME") or ""
        path = rest[0] if rest else session.get("HISTFILE") or f"{home}/.bash_history"
        text = "".join(line + "\n" for line in session.history)
        try:
            shell.view.write(path, text.encode("utf-8", "surrogateescape"), mode=0o600)
        except OSError as error:
            shell.error(f"history: {path}: cannot create: {error.strerror}")
            return 1
        return 0
    if flags:
        return 0
    count = len(session.history)
    if rest:
        if not is_digits(rest[0]):
            shell.error(f"history: {rest[0]}: numeric argument required")
            return 1
        count = int(rest[0])
    start = max(len(session.history) - count, 0)
    for number, line in enumerate(session.history[start:], start + 1):
        shell.out(f"{number:>5}  {line}\n")
    return 0


def help_(shell: Shell, argv: list[str]) -> int:
    names = [name for name in argv[1:] if not name.startswith("-")]
    if not names:
        shell.out("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n")
        shell.out("These shell commands are defined internally.  Type `help' to see this list.\n")
        shell.out("Type `help name' to find out more about the function `name'.\n")
        for name in sorted(USAGE):
            shell.out(f" {USAGE[name]}\n")
        return 0
    status = 0
    for name in names:
        if name in shell.builtins:
            shell.out(f"{name}: {USAGE.get(name, name)}\n")
        else:
            shell.error(f"help: no help topics match `{name}'.  Try `help help' or `man -k {name}' or `info {name}'.")
            status = 1
    return status


def times(shell: Shell, _argv: list[str]) -> int:
    shell.out("0m0.004s 0m0.002s\n0m0.003s 0m0.001s\n")
    return 0


def caller(shell: Shell, _argv: list[str]) -> int:
    if not shell.session.frames:
        return 1
    shell.out(f"{shell.line} {shell.session.source_name}\n")
    return 0


def nothing(_shell: Shell, _argv: list[str]) -> int:
    """Line editing and completion: accepted, without effect where nobody types at a terminal."""
    return 0
