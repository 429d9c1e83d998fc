"""systemd-cgls, systemd-cgtop of systemd 252: control groups, and what they use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runners.sim.commands.context import Context
from runners.sim.format import human_systemd
from runners.sim.process_info import control_groups
from runners.sim.processes import Process
from runners.sim.systemctl import facts
from runners.sim.systemctl.status import tree_lines
from runners.sim.systemd.manager import full_name
from runners.sim.tool import Tool

NAMES = ("systemd-cgls", "systemd-cgtop")
_VERSION = "systemd 252 (252.22-1~deb12u1)"
_LIST = Tool(
    "systemd-cgls [OPTIONS...] [CGROUP...]",
    "no-pager a,all l,full u,unit=? user-unit=? k x,xattr c,cgroup-id M,machine= h,help version",
    _VERSION, hinted=False,
)  # fmt: skip
_TOP = Tool(
    "systemd-cgtop [OPTIONS...] [CGROUP]",
    "p,order-path t,order-tasks c,order-cpu m,order-memory i,order-io order= r,raw cpu=? P k recursive= "
    "n,iterations= 1 d,delay= b,batch M,machine= depth= h,help version",
    _VERSION, hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    return _top(ctx) if ctx.name == "systemd-cgtop" else _list(ctx)


def _groups(ctx: Context) -> dict[str, Sequence[Process]]:
    """Without the kernel's own."""
    return {path: inside for path, inside in control_groups(ctx.machine).items() if path}


def _list(ctx: Context) -> int:
    options = _LIST.parse(ctx)
    groups = _groups(ctx)
    wanted = [name for name in (options.value("u"), *options.operands) if name]
    if not options.has("u") and not options.operands:
        ctx.line("Control group /:")
        ctx.line("-.slice")
        for line in _below(groups, ""):
            ctx.line(line)
        return 0
    for name in wanted:
        unit = full_name(name.rsplit("/", 1)[-1])
        path = next((path for path in groups if path.rsplit("/", 1)[-1] == unit), None)
        if path is None:
            ctx.stderr.write(
                f"Failed to query unit control group path: Unit {unit} not found.\n".encode("utf-8", "surrogateescape")
            )
            return 1
        ctx.line(f"Unit {unit} (/{path}):" if options.has("u") else f"Control group /{path}:")
        for line in tree_lines(groups[path], ""):
            ctx.line(line)
    return 0


def _below(groups: dict[str, Sequence[Process]], prefix: str) -> Iterator[str]:
    """The groups inside one, indented, each with its processes."""
    inside = {path[len(prefix) :].split("/", 1)[0] for path in groups if path.startswith(prefix) and path != prefix}
    names = sorted(inside, key=lambda name: (name != "user.slice", name != "init.scope", name))
    for number, name in enumerate(names):
        last = number == len(names) - 1
        yield ("└─" if last else "├─") + name + " "
        lead = "  " if last else "│ "
        path = prefix + name
        for line in [*tree_lines(groups[path], "")] if path in groups else _below(groups, path + "/"):
            yield lead + line


def _top(ctx: Context) -> int:
    options = _TOP.parse(ctx)
    groups = _groups(ctx)
    rows = {path: (len(members), facts.memory(members)) for path, members in groups.items()}
    for path, members in groups.items():
        above = path
        while "/" in above:
            above = above.rpartition("/")[0]
            tasks, used = rows.get(above, (0, 0))
            rows[above] = (tasks + len(members), used + facts.memory(members))
    whole = [process for members in groups.values() for process in members]
    table = [("/", len(whole), facts.memory(whole)), *((path, tasks, used) for path, (tasks, used) in rows.items())]
    by_memory = options.has("m") or options.value("order") == "memory"
    table.sort(key=lambda row: (-row[2] if by_memory else 0, row[0]))
    ctx.line(f"{'Control Group':<55} {'Tasks':>6} {'%CPU':>8} {'Memory':>8} {'Input/s':>8} {'Output/s':>8}")
    for path, tasks, used in table:
        ctx.line(f"{path:<55} {tasks:>6} {'-':>8} {human_systemd(used):>8} {'-':>8} {'-':>8}")
    return 0
