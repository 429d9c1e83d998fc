"""replace: every match of a regular expression in a file becomes something else."""

from __future__ import annotations

import re

from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.files import find, read_text
from runners.sim.tasks.lineinfile import compile_pattern, save
from runners.sim.tasks.result import ModuleFailure, TaskResult


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    path = arguments.require_path("path")
    regexp = compile_pattern(arguments.require("regexp"), re.MULTILINE)
    assert regexp is not None
    inode = find(machine, path, follow=True)
    if inode is None:
        raise ModuleFailure(f"Path {path} does not exist !", {"rc": 257})
    if inode.is_dir:
        raise ModuleFailure(f"Path {path} is a directory !", {"rc": 256})
    text = read_text(machine, path)
    start, stop = 0, len(text)
    after, before = arguments.text("after"), arguments.text("before")
    if after or before:
        section = re.compile(
            f"{after or ''}(?P<subsection>.*{'?' if after and before else ''}){before or ''}", re.DOTALL
        )
        match = section.search(text)
        if match is None:
            return TaskResult(
                msg=f"Pattern for before/after params did not match the given file: {section.pattern}",
                values={"rc": 0},
            )
        start, stop = match.span("subsection")
    try:
        made, count = regexp.subn(arguments.text("replace") or "", text[start:stop])
    except (re.error, IndexError) as error:
        raise ModuleFailure(f"Unable to process replace due to error: {error}") from error
    new = text[:start] + made + text[stop:]
    message = f"{count} replacements made" if new != text else ""
    return save(machine, arguments, path, [text], [new], message, {"rc": 0})
