"""slurp: the content of a file, in base64."""

from __future__ import annotations

import base64

from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.result import ModuleFailure, TaskResult


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    source = arguments.require_path("src")
    try:
        inode = machine.view().stat(source)
        if inode.is_dir:
            raise ModuleFailure(f"source is a directory and must be a file: {source}")
        data = inode.content.read()
    except OSError as error:
        raise ModuleFailure(f"unable to slurp file: {error.strerror}: {source}") from error
    return TaskResult(
        values={"content": base64.b64encode(data).decode(), "encoding": "base64", "source": source},
    )
