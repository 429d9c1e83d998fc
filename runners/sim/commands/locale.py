"""locale of glibc: the names of the locale in force."""

from __future__ import annotations

from runners.sim.commands.context import Context

_NAMES = (
    "LC_CTYPE",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_COLLATE",
    "LC_MONETARY",
    "LC_MESSAGES",
    "LC_PAPER",
    "LC_NAME",
    "LC_ADDRESS",
    "LC_TELEPHONE",
    "LC_MEASUREMENT",
    "LC_IDENTIFICATION",
)


def main(ctx: Context) -> int:
    if ctx.args and ctx.args[0] in ("-a", "--all-locales"):
        ctx.line("C\nC.utf8\nPOSIX")
        return 0
    if ctx.args and ctx.args[0] in ("-m", "--charmaps"):
        ctx.line("ANSI_X3.4-1968\nISO-8859-1\nUTF-8")
        return 0
    if ctx.args and ctx.args[0] == "charmap":
        ctx.line("UTF-8")
        return 0
    language = ctx.environment.get("LANG", "")
    everything = ctx.environment.get("LC_ALL", "")
    ctx.line(f"LANG={language}\nLANGUAGE={ctx.environment.get('LANGUAGE', '')}")
    for name in _NAMES:
        own = ctx.environment.get(name)
        ctx.line(f"{name}={own}" if own and not everything else f'{name}="{everything or language or "POSIX"}"')
    ctx.line(f"LC_ALL={everything}")
    return 0
