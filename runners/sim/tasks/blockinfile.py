"""blockinfile: a block of lines between two markers is there, or is not."""

from __future__ import annotations

import re

from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.files import find, make_parents, read_text
from runners.sim.tasks.lineinfile import compile_pattern, save, split_lines
from runners.sim.tasks.result import ModuleFailure, TaskResult


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    path = arguments.require_path("path")
    arguments.exclusive("insertbefore", "insertafter")
    is_present = arguments.choice("state", ("present", "absent"), "present") == "present"
    inode = find(machine, path, follow=True)
    if inode is not None and inode.is_dir:
        raise ModuleFailure(f"Path {path} is a directory !", {"rc": 256})
    if inode is None:
        if not arguments.flag("create"):
            raise ModuleFailure(f"Path {path} does not exist !", {"rc": 257})
        if not is_present:
            return TaskResult(msg=f"File {path} not present")
        make_parents(machine, path)
    old = split_lines(read_text(machine, path)) if inode is not None else []
    block = _block(arguments) if is_present else []
    new = _placed(list(old), block, arguments)
    message = "Block inserted" if block else "Block removed"
    if inode is None:
        message = "File created"
    elif new == old:
        message = ""
    return save(machine, arguments, path, old, new, message, {})


def _markers(arguments: Arguments) -> tuple[str, str]:
    marker = arguments.text("marker") or "# {mark} ANSIBLE MANAGED BLOCK"
    begin, end = arguments.text("marker_begin") or "BEGIN", arguments.text("marker_end") or "END"
    return marker.replace("{mark}", begin) + "\n", marker.replace("{mark}", end) + "\n"


def _block(arguments: Arguments) -> list[str]:
    """The block with its markers; an empty one means that there is none."""
    text = arguments.text("block") or ""
    if not text:
        return []
    begin, end = _markers(arguments)
    return [begin, *split_lines(text if text.endswith("\n") else text + "\n"), end]


def _placed(lines: list[str], block: list[str], arguments: Arguments) -> list[str]:
    begin, end = _markers(arguments)
    begins = [index for index, line in enumerate(lines) if line == begin]
    ends = [index for index, line in enumerate(lines) if line == end]
    if begins and ends:
        place, last = min(begins[-1], ends[-1]), max(begins[-1], ends[-1])
        del lines[place : last + 1]
    else:
        place = _place(lines, arguments)
    if place and not lines[place - 1].endswith("\n"):
        lines[place - 1] += "\n"
    lines[place:place] = block
    return lines


def _place(lines: list[str], arguments: Arguments) -> int:
    """Where a new block goes: the last match of the pattern asked for, else the end (or the very beginning)."""
    before, after = arguments.text("insertbefore"), arguments.text("insertafter")
    if before == "BOF":
        return 0
    pattern = compile_pattern(before if before is not None else after if after != "EOF" else None)
    if pattern is None:
        return len(lines)
    if pattern.flags & re.MULTILINE:
        return _place_across(lines, pattern, before=before is not None)
    hits = [index for index, line in enumerate(lines) if pattern.search(line)]
    if not hits:
        return len(lines)
    return hits[-1] if before is not None else hits[-1] + 1


def _place_across(lines: list[str], pattern: re.Pattern[str], *, before: bool) -> int:
    """A pattern with (?m) is looked for in the whole text."""
    text = "".join(lines)
    match = pattern.search(text)
    if match is None:
        return len(lines)
    return text.count("\n", 0, match.start()) if before else text.count("\n", 0, match.end()) + 1
