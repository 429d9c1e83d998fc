"""How ps lays out its rows: forests, and columns that push each other on."""

from __future__ import annotations

from collections.abc import Sequence

from runners.sim.process_info import KTHREADD
from runners.sim.processes import Process
from runners.sim.ps_columns import Column


def forest(processes: Sequence[Process], *, plain: bool) -> tuple[list[Process], dict[int, str]]:
    """Parents before children, and the branch drawn before each command. `plain` (-H) draws by indentation alone.

    The children of init stand on their own, and kthreadd's tree comes before init.
    """
    shown = {process.pid for process in processes}
    children: dict[int, list[Process]] = {}
    roots = []
    for process in processes:
        if process.ppid in shown and process.ppid not in (1, process.pid):
            children.setdefault(process.ppid, []).append(process)
        else:
            roots.append(process)
    roots.sort(key=lambda process: process.pid != KTHREADD)
    ordered: list[Process] = []
    indents: dict[int, str] = {}
    # A stack in place of recursion: a chain of processes may be longer than Python's.
    stack = [(root, "", "") for root in reversed(roots)]
    while stack:
        process, branch, lead = stack.pop()
        ordered.append(process)
        indents[process.pid] = branch
        below = children.get(process.pid, [])
        for index in range(len(below) - 1, -1, -1):
            bar = "    " if index == len(below) - 1 else " |  "
            stack.append((below[index], branch + "  " if plain else lead + " \\_ ", "" if plain else lead + bar))
    return ordered, indents


def row_line(row: Sequence[str], columns: Sequence[tuple[Column, str | None]], widths: Sequence[int]) -> str:
    """One line. A cell that is too wide pushes the next ones on, and they take the room back where they can."""
    text = ""
    target = 0
    for index, (cell, (column, _), width) in enumerate(zip(row, columns, widths, strict=True)):
        if index:
            text += " "
            target += 1
        room = max(target + width - len(text), 0)
        last = index == len(row) - 1
        if column.right:
            text += cell.rjust(room)
        else:
            if column.cut and not last:
                cell = cell[:width]
            text += cell if last else cell.ljust(room)
        target += width
    return text
