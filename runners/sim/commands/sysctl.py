"""sysctl of procps-ng 4.0.2: kernel settings."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context
from runners.sim.commands.options import Options
from runners.sim.kernelfs.settings import set_sysctl
from runners.sim.tool import Tool

PATH = "/sbin/sysctl"

_TOOL = Tool(
    "sysctl [options] [variable[=value] ...]",
    "a,all A X deprecated dry-run b,binary e,ignore N,names n,values p,load=? f system r,pattern= "
"q,quiet w,write o x d V,version h,help",
    "sysctl from procps-ng 4.0.2", hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    arguments = list(ctx.args)
    # -p may stand before its file with a blank between.
    for index, word in enumerate(arguments[:-1]):
        if word == "-p" and not arguments[index + 1].startswith("-"):
            arguments[index : index + 2] = [f"-p{arguments[index + 1]}"]
            break
    options = _TOOL.parse(ctx, arguments)
    if options.has("V"):
        ctx.line("sysctl from procps-ng 4.0.2")
        return 0
    if options.has("system"):
        return _system(ctx, options)
    if options.has("p"):
        return _load(ctx, options, options.value("p") or "/etc/sysctl.conf")
    if options.has("a", "A", "X"):
        pattern = options.value("r")
        for name in sorted(ctx.machine.network.sysctl):
            if pattern is None or re.search(pattern, name):
                _show(ctx, options, name, ctx.machine.network.sysctl[name])
        return 0
    if not options.operands:
        ctx.stderr.write(
            f"\nUsage:\n {_TOOL.usage}\n\nFor more details see sysctl(8).\n".encode("utf-8", "surrogateescape")
        )
        return 1
    status = 0
    for operand in options.operands:
        status |= _one(ctx, options, operand)
    return status


def _show(ctx: Context, options: Options, name: str, value: str) -> None:
    if not options.has("q"):
        ctx.line(name if options.has("N") else value if options.has("n") else f"{name} = {value}")


def _one(ctx: Context, options: Options, text: str) -> int:
    name, equals, value = text.partition("=")
    name = name.strip().replace("/", ".")
    table = ctx.machine.network.sysctl
    if name not in table:
        below = [key for key in sorted(table) if key.startswith(name + ".")]
        if below and not equals:
            for key in below:
                _show(ctx, options, key, table[key])
            return 0
        if not options.has("e"):
            ctx.err(f"cannot stat /proc/sys/{name.replace('.', '/')}: No such file or directory")
            return 1
        return 0
    if not equals and not options.has("w"):
        _show(ctx, options, name, table[name])
        return 0
    if not equals:
        ctx.err(f'"{text}" must be of the form name=value')
        return 1
    if ctx.cred.uid != 0:
        ctx.err(f'permission denied on key "{name}"')
        return 1
    if re.fullmatch(r"-?\d+", table[name]) and not re.fullmatch(r"-?\d+", value.strip()):
        ctx.err(f'setting key "{name}": Invalid argument')
        return 1
    set_sysctl(ctx.machine, name, value.strip())
    _show(ctx, options, name, value.strip())
    return 0


def _load(ctx: Context, options: Options, path: str) -> int:
    try:
        text = ctx.stdin.read().decode("utf-8", "replace") if path == "-" else ctx.files.text(path)
    except OSError as error:
        ctx.err(f'cannot open "{path}": {error.strerror}')
        return 1
    status = 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if "=" not in line:
            ctx.err(f"{path}({number}): invalid syntax, continuing...")
            continue
        name, _, value = line.partition("=")
        status |= _one(ctx, options, f"{name.strip().lstrip('-')}={value.strip()}")
    return status


def _system(ctx: Context, options: Options) -> int:
    status = 0
    found: dict[str, str] = {}
    for folder in ("/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"):
        try:
            names = ctx.files.names(folder)
        except OSError:
            continue
        for name in names:
            if name.endswith(".conf"):
                found.setdefault(name, f"{folder}/{name}")
    for name in sorted(found):
        ctx.line(f"* Applying {found[name]} ...")
        status |= _load(ctx, options, found[name])
    if ctx.files.exists("/etc/sysctl.conf"):
        ctx.line("* Applying /etc/sysctl.conf ...")
        status |= _load(ctx, options, "/etc/sysctl.conf")
    return status
