"""dpkg-statoverride of dpkg 1.21.22: owners and modes that packages must leave as they are."""

from __future__ import annotations

import fnmatch

from runners.sim.commands.context import Context
from runners.sim.users import accounts
from runners.text import is_digits

NAMES = ("dpkg-statoverride",)

_FILE = "/var/lib/dpkg/statoverride"
_HINT = "\nUse --help for help about overriding file stat information.\n"


def main(ctx: Context) -> int:
    flags = [word for word in ctx.args if word.startswith("--")]
    words = [word for word in ctx.args if not word.startswith("--")]
    action = next((flag for flag in flags if flag in ("--add", "--remove", "--list")), "")
    if not action:
        return _fail(ctx, f"need an action option\n{_HINT}")
    view = ctx.machine.view()
    lines = view.text(_FILE).splitlines() if view.exists(_FILE) else []
    if action == "--list":
        found = [line for line in lines if not words or fnmatch.fnmatchcase(line.split()[3], words[0])]
        for line in found:
            ctx.line(line)
        return 0 if found else 1
    if len(words) != (4 if action == "--add" else 1):
        needed = "four" if action == "--add" else "a single"
        return _fail(ctx, f"{action} needs {needed} argument{'s' if action == '--add' else ''}")
    path = words[-1]
    known = [line for line in lines if line.split()[3] == path]
    if ctx.cred.uid != 0:
        return _fail(ctx, f"error opening '{_FILE}-new': Permission denied")
    if action == "--remove":
        if not known:
            ctx.stderr.write(b"dpkg-statoverride: warning: no override present\n")
            return 0 if "--force-all" in flags else 1
        return _store(ctx, [line for line in lines if line not in known])
    if known:
        return _fail(
            ctx, f"an override for '{path}' already exists, but --force-statoverride-add not specified; aborting"
        )
    user, group = accounts(ctx.machine).user(words[0]), accounts(ctx.machine).group(words[1])
    if user is None or group is None:
        kind, name = ("user", words[0]) if user is None else ("group", words[1])
        return _fail(ctx, f"{kind} '{name}' does not exist")
    if not is_digits(words[2]) or any(digit in words[2] for digit in "89"):
        return _fail(ctx, f"invalid mode {words[2]}")
    if "--update" in flags:
        if view.exists(path):
            view.chown(path, user.uid, group.gid)
            view.chmod(path, int(words[2], 8))
        else:
            ctx.stderr.write(f"dpkg-statoverride: warning: --update given but {path} does not exist\n".encode())
    return _store(ctx, [*lines, f"{words[0]} {words[1]} {words[2].lstrip('0') or '0'} {path}"])


def _store(ctx: Context, lines: list[str]) -> int:
    ctx.machine.view().write(_FILE, "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
    return 0


def _fail(ctx: Context, text: str) -> int:
    ctx.stderr.write(f"dpkg-statoverride: error: {text}\n".encode("utf-8", "surrogateescape"))
    return 2
