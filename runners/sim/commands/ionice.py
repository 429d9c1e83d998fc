"""ionice and taskset of util-linux 2.38.1: a process's class for the disks, and the processors it may run on."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context
from runners.sim.commands.wrappers import run
from runners.sim.lifecycle import may_signal
from runners.sim.ps_columns import cpu_count
from runners.sim.tool import Tool
from runners.text import is_digits

NAMES = ("ionice", "taskset")

_IONICE = Tool(
    "ionice [options] -p <pid>...", "c,class= n,classdata= p,pid= P,pgid= t,ignore u,uid= h,help V,version",
    "ionice from util-linux 2.38.1", permute=False,
)  # fmt: skip
_TASKSET = Tool(
    "taskset [options] [mask | cpu-list] [pid|cmd [args...]]", "a,all-tasks p,pid c,cpu-list h,help V,version",
    "taskset from util-linux 2.38.1", permute=False,
)  # fmt: skip
_CLASSES = ("none", "realtime", "best-effort", "idle")


def main(ctx: Context) -> int:
    return _ionice(ctx) if ctx.name == "ionice" else _taskset(ctx)


def _ionice(ctx: Context) -> int:
    options = _IONICE.parse(ctx)
    given, level = options.value("c"), options.value("n")
    kind = _CLASSES.index(given) if given in _CLASSES else int(given) if given and is_digits(given) else None
    if given is not None and kind not in range(4):
        ctx.err(f"unknown scheduling class: '{given}'" if not is_digits(given) else f"bad prio class {given}")
        return 1
    if level is not None and not is_digits(level):
        ctx.err(f"invalid class data argument: '{level}'")
        return 1
    first = options.value("p")
    if first is not None:
        for word in (first, *options.operands):
            if not is_digits(word):
                ctx.err(f"invalid PID argument: '{word}'")
                return 1
            if not _one_of(ctx, int(word), kind, level):
                return 1
        return 0
    if options.operands:
        return run(ctx, options.operands, message="failed to execute {name}: {problem}", in_place=True)
    return 0 if _one_of(ctx, ctx.pid, kind, level) else 1


def _one_of(ctx: Context, pid: int, kind: int | None, level: str | None) -> bool:
    process = ctx.machine.processes.get(pid)
    if process is None:
        ctx.err(f"ioprio_{'get' if kind is None else 'set'} failed: No such process")
        return False
    name = f"ioprio of {pid}"
    if kind is None and level is None:
        kept = ctx.machine.counters.get(name, 0)
        shown = _CLASSES[kept >> 3]
        ctx.line(shown if kept >> 3 == 3 else f"{shown}: prio {kept & 7}")
        return True
    if not may_signal(ctx.cred, process) or (kind == 1 and ctx.cred.uid != 0):
        ctx.err("ioprio_set failed: Operation not permitted")
        return False
    wanted = (kind if kind is not None else 2) << 3 | min(int(level) if level else 4 * (kind not in (0, 3)), 7)
    ctx.machine.counters = {**ctx.machine.counters, name: wanted}
    return True


def _taskset(ctx: Context) -> int:
    options = _TASKSET.parse(ctx)
    words, listed = list(options.operands), options.has("c")
    if not words:
        _TASKSET.fail(ctx, "bad usage")
    count = cpu_count(ctx.machine)
    if options.has("p") and len(words) == 1:
        return _affinity(ctx, words[0], None, listed)
    mask = _list_of(words[0]) if listed else int(words[0], 16) if re.fullmatch(r"(0x)?[0-9a-fA-F]+", words[0]) else None
    if mask is None:
        ctx.err(f"failed to parse CPU {'list' if listed else 'mask'}: {words[0]}")
        return 1
    if options.has("p"):
        return _affinity(ctx, words[1], mask, listed)
    if len(words) < 2:
        _TASKSET.fail(ctx, "bad usage")
    if not mask & ((1 << count) - 1):
        ctx.err("failed to set pid 0's affinity: Invalid argument")
        return 1
    return run(ctx, words[1:], message="failed to execute {name}: {problem}", in_place=True)


def _affinity(ctx: Context, word: str, mask: int | None, listed: bool) -> int:
    if not is_digits(word):
        ctx.err(f"invalid PID argument: '{word}'")
        return 1
    process = ctx.machine.processes.get(int(word))
    if process is None:
        ctx.err(f"failed to get pid {word}'s affinity: No such process")
        return 1
    everywhere = (1 << cpu_count(ctx.machine)) - 1
    name = f"affinity of {process.pid}"
    kept = ctx.machine.counters.get(name, everywhere)
    what = "list" if listed else "mask"
    ctx.line(f"pid {word}'s current affinity {what}: {_shown(kept, listed)}")
    if mask is None:
        return 0
    problem = "" if mask & everywhere else "Invalid argument"
    if not may_signal(ctx.cred, process):
        problem = "Operation not permitted"
    if problem:
        ctx.err(f"failed to set pid {word}'s affinity: {problem}")
        return 1
    ctx.machine.counters = {**ctx.machine.counters, name: mask & everywhere}
    ctx.line(f"pid {word}'s new affinity {what}: {_shown(mask & everywhere, listed)}")
    return 0


def _list_of(text: str) -> int | None:
    """`0,2-3` as a mask."""
    mask = 0
    for part in text.split(","):
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if found is None:
            return None
        for number in range(int(found[1]), int(found[2] or found[1]) + 1):
            mask |= 1 << min(number, 4096)
    return mask


def _shown(mask: int, listed: bool) -> str:
    if not listed:
        return f"{mask:x}"
    numbers = [number for number in range(mask.bit_length()) if mask >> number & 1]
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs)
