"""template: render a template file of the machine into a place."""

from __future__ import annotations

from collections.abc import Mapping

from runners.sim.files.content import Content
from runners.sim.machine import Machine
from runners.sim.tasks.arguments import ATTRIBUTES, Arguments
from runners.sim.tasks.copy import into_directory, put
from runners.sim.tasks.files import find, read_text
from runners.sim.tasks.result import ModuleFailure, TaskResult
from runners.sim.tasks.templating import render_file

ACCEPTED = ("src", "dest", "force", "follow", *ATTRIBUTES)
ALIASES: Mapping[str, str] = {}


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    """`src` is a path on the machine itself, as under a local connection; it sees registered variables."""
    source, destination = arguments.require_path("src"), arguments.require_path("dest")
    if find(machine, source, follow=True) is None:
        raise ModuleFailure(f"Could not find or access '{source}'")
    text = render_file(read_text(machine, source), arguments.variables)
    place = into_directory(machine, destination, source)
    return put(machine, arguments, place, Content.of(text.encode("utf-8", "surrogateescape")))
