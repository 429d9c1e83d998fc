"""ip of iproute2 6.1: addresses, links, routes and neighbours."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.ip_links import address, link
from runners.sim.commands.ip_routes import neighbour, route

PATH = "/bin/ip"

_USAGE = """Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }
       ip [ -force ] -batch filename
where  OBJECT := { address | link | neighbour | route | rule | netns }
       OPTIONS := { -V[ersion] | -s[tatistics] | -d[etails] | -h[uman-readable] |
                    -4 | -6 | -j[son] | -p[retty] | -br[ief] | -o[neline] | -c[olor] }
"""
_OBJECTS = ("address", "link", "route", "neighbour", "neighbor", "rule", "netns", "maddress", "tunnel", "monitor")
_FLAGS = (
    "brief",
    "oneline",
    "json",
    "pretty",
    "statistics",
    "details",
    "color",
    "human-readable",
    "resolve",
    "4",
    "6",
    "Version",
    "all",
    "force",
)


def main(ctx: Context) -> int:
    words = list(ctx.args)
    flags: set[str] = set()
    while words and words[0].startswith("-"):
        text = words.pop(0).lstrip("-")
        name = text.split("=")[0]
        full = next((flag for flag in _FLAGS if name and flag.startswith(name)), None)
        if text in ("h", "help"):
            ctx.out(_USAGE)
            return 255
        if text == "family" and words:
            flags.add("6" if words.pop(0) == "inet6" else "4")
        elif full is None:
            ctx.stderr.write(f'Option "-{text}" is unknown, try "ip -help".\n'.encode("utf-8", "surrogateescape"))
            return 255
        else:
            flags.add(full)
    if "Version" in flags:
        ctx.line("ip utility, iproute2-6.1.0, libbpf 1.1.0")
        return 0
    if not words or words[0] == "help":
        ctx.stderr.write(_USAGE.encode("utf-8", "surrogateescape"))
        return 255
    target, *rest = words
    kind = next((name for name in _OBJECTS if name.startswith(target)), None)
    if target in ("n", "neigh"):
        kind = "neighbour"
    if kind == "address":
        return address(ctx, flags, rest)
    if kind == "link":
        return link(ctx, flags, rest)
    if kind == "route":
        return route(ctx, flags, rest)
    if kind in ("neighbour", "neighbor"):
        return neighbour(ctx, rest)
    if kind == "rule":
        ctx.out("0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n")
        return 0
    if kind is None:
        ctx.stderr.write(f'Object "{target}" is unknown, try "ip help".\n'.encode("utf-8", "surrogateescape"))
        return 1
    return 0
