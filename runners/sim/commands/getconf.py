"""getconf of glibc: what the system is configured to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runners.sim.commands.context import Context
from runners.sim.process_info import meminfo
from runners.sim.ps_columns import cpu_count

_VALUES: Mapping[str, Callable[[Context], object]] = {
    "ARG_MAX": lambda _ctx: 2097152, "CHILD_MAX": lambda _ctx: 31452, "CLK_TCK": lambda _ctx: 100,
    "GNU_LIBC_VERSION": lambda _ctx: "glibc 2.36", "GNU_LIBPTHREAD_VERSION": lambda _ctx: "NPTL 2.36",
    "HOST_NAME_MAX": lambda _ctx: 64, "INT_MAX": lambda _ctx: 2147483647, "IOV_MAX": lambda _ctx: 1024,
    "LEVEL1_DCACHE_LINESIZE": lambda _ctx: 64, "LINE_MAX": lambda _ctx: 2048, "LOGIN_NAME_MAX": lambda _ctx: 256,
    "LONG_BIT": lambda _ctx: 64, "NGROUPS_MAX": lambda _ctx: 65536, "OPEN_MAX": lambda _ctx: 1024,
    "PAGESIZE": lambda _ctx: 4096, "PAGE_SIZE": lambda _ctx: 4096, "PATH": lambda _ctx: "/bin:/usr/bin",
    "UINT_MAX": lambda _ctx: 4294967295, "WORD_BIT": lambda _ctx: 32,
    "_AVPHYS_PAGES": lambda ctx: meminfo(ctx.machine)["MemFree"] // 4,
    "_NPROCESSORS_CONF": lambda ctx: cpu_count(ctx.machine), "_NPROCESSORS_ONLN": lambda ctx: cpu_count(ctx.machine),
    "_PHYS_PAGES": lambda ctx: meminfo(ctx.machine)["MemTotal"] // 4,
}  # fmt: skip
_OF_PATHS = {
    "LINK_MAX": 65000, "NAME_MAX": 255, "PATH_MAX": 4096, "PIPE_BUF": 4096, "FILESIZEBITS": 64, "MAX_CANON": 255,
}  # fmt: skip
_USAGE = """Usage: getconf [-v SPEC] VAR
  or:  getconf [-v SPEC] PATH_VAR PATH
"""


def main(ctx: Context) -> int:
    words = ctx.args
    if words[:1] == ["-v"]:
        words = words[2:]
    if words[:1] == ["-a"]:
        for name in sorted({*_VALUES, *_OF_PATHS}):
            ctx.line(f"{name:<33}  {_VALUES[name](ctx) if name in _VALUES else _OF_PATHS[name]}")
        return 0
    if not words or len(words) > 2:
        ctx.stderr.write(_USAGE.encode())
        return 2
    name = words[0].removeprefix("_SC_") if words[0].removeprefix("_SC_") in _VALUES else words[0]
    if len(words) == 1 and name in _VALUES:
        ctx.line(str(_VALUES[name](ctx)))
        return 0
    if name in _OF_PATHS and len(words) == 2:
        ctx.line(str(_OF_PATHS[name]))
        return 0
    if name in _OF_PATHS:
        ctx.stderr.write(_USAGE.encode())
        return 2
    ctx.stderr.write(f"getconf: Unrecognized variable `{words[0]}'\n".encode("utf-8", "surrogateescape"))
    return 2
