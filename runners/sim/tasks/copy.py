"""copy: put text, or a file of the machine, in a place."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping

from runners.sim.files.content import Content
from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.files import find, make_parents, replace_file, set_attributes
from runners.sim.tasks.result import ModuleFailure, TaskResult
from scenario_dsl.values import Value, thaw


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    """`src` is a path on the machine itself, as under a local connection."""
    destination = arguments.require_path("dest")
    arguments.exclusive("content", "src")
    if "content" in arguments:
        here = find(machine, destination, follow=True)
        if destination.endswith("/") or (here is not None and here.is_dir):
            raise ModuleFailure("can not use content with a dir as dest")
        return put(machine, arguments, destination, Content.of(_text(arguments.value("content"))))
    source = arguments.path("src")
    if source is None:
        raise ModuleFailure("src (or content) is required")
    inode = find(machine, source, follow=True)
    if inode is None:
        raise ModuleFailure(f"Could not find or access '{source}'")
    if inode.is_dir:
        raise ModuleFailure(f"copying a directory is not part of the subset: {source}")
    place = into_directory(machine, destination, source)
    return put(machine, arguments, place, inode.content, mode=inode.permissions)


def into_directory(machine: Machine, destination: str, source: str) -> str:
    """A destination that is a directory, or is written as one, takes the source's own name in it."""
    here = find(machine, destination, follow=True)
    if destination.endswith("/") and here is None:
        make_parents(machine, posixpath.join(destination, "x"))
        return posixpath.join(destination, posixpath.basename(source))
    if here is not None and here.is_dir:
        return posixpath.join(destination, posixpath.basename(source))
    return destination


def put(
    machine: Machine, arguments: Arguments, destination: str, content: Content, *, mode: int | None = None
) -> TaskResult:
    """Make `destination` hold `content` with the attributes asked for. `mode`: what `mode: preserve` means."""
    here = find(machine, destination)
    folder = find(machine, posixpath.dirname(destination) or "/", follow=True)
    if folder is None:
        raise ModuleFailure(f"Destination directory {posixpath.dirname(destination)} does not exist")
    if not folder.is_dir:
        raise ModuleFailure(f"Destination {posixpath.dirname(destination)} is not a directory")
    values: dict[str, Value] = {"dest": destination, "size": content.size}
    if here is not None and not arguments.flag("force", True):
        return TaskResult(changed=False, values=values)
    changed = False
    if here is None or here.is_link or not _same(here.content, content):
        if here is not None and here.is_link:
            machine.view().unlink(destination)
        replace_file(machine, destination, content)
        changed = True
    changed |= set_attributes(machine, destination, arguments, follow=False)
    if mode is not None and arguments.value("mode") == "preserve":
        now = find(machine, destination)
        if now is not None and now.permissions != mode:
            machine.view().chmod(destination, mode)
            changed = True
    return TaskResult(changed=changed, values=values)


def _same(one: Content, other: Content) -> bool:
    return one.size == other.size and one.program == other.program and one.digest() == other.digest()


def _text(value: Value) -> bytes:
    if isinstance(value, tuple | Mapping):
        return json.dumps(thaw(value)).encode()
    return ("" if value is None else str(value)).encode("utf-8", "surrogateescape")
