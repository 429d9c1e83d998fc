"""whereis of util-linux 2.38.1: a command's binary, sources and manual."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.tool import Tool

_TOOL = Tool(
    "whereis [options] [-BMS <dir>... -f] <name>", "b m s u g l h,help V,version", "whereis from util-linux 2.38.1"
)
_BINARIES = (
    "/usr/bin", "/usr/sbin", "/usr/lib/x86_64-linux-gnu", "/usr/lib", "/usr/lib64", "/etc", "/usr/games",
    "/usr/local/bin", "/usr/local/sbin", "/usr/local/etc", "/usr/local/lib", "/usr/include", "/usr/local",
    "/usr/libexec", "/usr/share", "/opt",
)  # fmt: skip
_ALIASES = {"/bin": "/usr/bin", "/sbin": "/usr/sbin", "/lib": "/usr/lib"}


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if not options.operands:
        _TOOL.fail(ctx, "not enough arguments")
    only_manuals = options.has("m", "s") and not options.has("b")
    for operand in options.operands:
        name = operand.rsplit("/", 1)[-1].partition(".")[0]
        found = [] if only_manuals else [path for folder in _folders(ctx) for path in _matches(ctx, folder, name)]
        manuals = [] if options.has("b", "s") and not options.has("m") else _manuals(ctx, name)
        ctx.line(" ".join([f"{name}:", *dict.fromkeys([*found, *manuals])]))
    return 0


def _folders(ctx: Context) -> list[str]:
    given = [_ALIASES.get(folder, folder) for folder in ctx.environment.get("PATH", "").split(":") if folder]
    return list(dict.fromkeys([*_BINARIES, *given]))


def _matches(ctx: Context, folder: str, name: str) -> list[str]:
    """What is called so there, whatever its ending."""
    try:
        names = ctx.files.names(folder)
    except OSError:
        return []
    return [f"{folder}/{one}" for one in sorted(names) if one == name or one.startswith(f"{name}.")]


def _manuals(ctx: Context, name: str) -> list[str]:
    return [path for section in range(1, 9) for path in _matches(ctx, f"/usr/share/man/man{section}", name)]
