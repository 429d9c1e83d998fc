"""cd, pwd and the directory stack."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from runners.sim.files.inode import EXECUTE, permits
from runners.sim.shell.builtins.arguments import options
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell


def change_to(shell: Shell, target: str, label: str | None, *, physical: bool = False) -> bool:
    """Make `target` the working folder; False when that cannot be, with bash's message by `label` (None: without)."""
    session = shell.session
    view = shell.view
    logical = posixpath.normpath(posixpath.join(session.cwd, target)) if target else session.cwd
    if logical.startswith("//"):
        logical = logical[1:]
    problem: str | None = None
    path = logical
    try:
        inode = view.stat(target or ".")
        if not inode.is_dir:
            problem = "Not a directory"
        elif not permits(inode, session.cred, EXECUTE):
            problem = "Permission denied"
        elif physical or "physical" in session.options:
            path = view.real_path(target or ".")
    except OSError as error:
        problem = error.strerror
    if problem is not None:
        if label is not None:
            shell.error(f"{label}: {target}: {problem}")
        return False
    session.set("OLDPWD", session.cwd)
    session.variables["OLDPWD"].exported = True
    session.cwd = path
    session.set("PWD", path)
    return True


def cd(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "LPe@")
    session = shell.session
    if len(rest) > 1:
        shell.error("cd: too many arguments")
        return 1
    physical = any(letter == "P" for letter, _ in given)
    if not rest:
        home = session.get("HOME")
        if home is None:
            shell.error("cd: HOME not set")
            return 1
        return int(not change_to(shell, home, "cd", physical=physical))
    target = rest[0]
    if target == "-":
        old = session.get("OLDPWD")
        if old is None:
            shell.error("cd: OLDPWD not set")
            return 1
        if not change_to(shell, old, "cd", physical=physical):
            return 1
        shell.out(session.cwd + "\n")
        return 0
    cdpath = session.get("CDPATH")
    if cdpath and not target.startswith(("/", "./", "../")) and target not in (".", ".."):
        for folder in cdpath.split(":"):
            path = f"{folder}/{target}" if folder else target
            if shell.view.exists(path) and shell.view.stat(path).is_dir:
                changed = change_to(shell, path, "cd", physical=physical)
                if changed and folder:
                    shell.out(session.cwd + "\n")
                return int(not changed)
    return int(not change_to(shell, target, "cd", physical=physical))


def pwd(shell: Shell, argv: list[str]) -> int:
    given, _ = options(shell, argv, "LP")
    path = shell.session.cwd
    if given and given[-1][0] == "P":
        path = shell.view.real_path(path)
    shell.out(path + "\n")
    return 0


def _shown(shell: Shell, path: str) -> str:
    home = shell.session.get("HOME")
    if home and home != "/" and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    return path


def dirs(shell: Shell, argv: list[str]) -> int:
    given, _ = options(shell, argv, "clpv")
    flags = {letter for letter, _ in given}
    session = shell.session
    if "c" in flags:
        session.directories.clear()
        return 0
    stack = [session.cwd, *session.directories]
    shown = stack if "l" in flags else [_shown(shell, path) for path in stack]
    if "v" in flags:
        for index, path in enumerate(shown):
            shell.out(f"{index:>2}  {path}\n")
    elif "p" in flags:
        shell.out("".join(path + "\n" for path in shown))
    else:
        shell.out(" ".join(shown) + "\n")
    return 0


def pushd(shell: Shell, argv: list[str]) -> int:
    session = shell.session
    rest = argv[1:]
    here = session.cwd
    if not rest:
        if not session.directories:
            shell.error("pushd: no other directory")
            return 1
        target = session.directories[0]
        if not change_to(shell, target, "pushd"):
            return 1
        session.directories[0] = here
    elif rest[0][:1] in "+-" and is_digits(rest[0][1:]):
        stack = [here, *session.directories]
        number = int(rest[0][1:])
        if number >= len(stack):
            shell.error(f"pushd: {rest[0]}: directory stack index out of range")
            return 1
        index = number if rest[0][0] == "+" else len(stack) - 1 - number
        stack = stack[index:] + stack[:index]
        if not change_to(shell, stack[0], "pushd"):
            return 1
        session.directories = stack[1:]
    else:
        if not change_to(shell, rest[0], "pushd"):
            return 1
        session.directories.insert(0, here)
    return dirs(shell, ["dirs"])


def popd(shell: Shell, argv: list[str]) -> int:
    session = shell.session
    if not session.directories:
        shell.error("popd: directory stack empty")
        return 1
    if len(argv) > 1 and argv[1][:1] in "+-" and is_digits(argv[1][1:]):
        stack = [session.cwd, *session.directories]
        number = int(argv[1][1:])
        index = number if argv[1][0] == "+" else len(stack) - 1 - number
        if not 0 <= index < len(stack):
            shell.error(f"popd: {argv[1]}: directory stack index out of range")
            return 1
        if index > 0:
            del session.directories[index - 1]
            return dirs(shell, ["dirs"])
    target = session.directories[0]
    if not change_to(shell, target, "popd"):
        return 1
    session.directories.pop(0)
    return dirs(shell, ["dirs"])
