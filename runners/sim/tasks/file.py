"""file: a file, directory or link exists with the right attributes, or does not exist."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from runners.sim.files.inode import Inode
from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.files import find, kind, remove_tree, set_attributes
from runners.sim.tasks.result import ModuleFailure, TaskResult
from scenario_dsl.values import Value

_STATES = ("absent", "directory", "file", "hard", "link", "touch")


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    path = arguments.require_path("path")
    state = arguments.choice("state", _STATES)
    source = arguments.path("src")
    recurse = arguments.flag("recurse")
    if source is not None and state not in ("link", "absent"):
        inside = find(machine, path, follow=True)
        if inside is not None and inside.is_dir:
            path = posixpath.join(path, posixpath.basename(source))
    before = find(machine, path)
    if state is None:
        state = kind(before) if before is not None else ("directory" if recurse else "file")
    if recurse and state != "directory":
        raise ModuleFailure("recurse option requires state to be 'directory'")
    if source is not None and state not in ("link", "hard"):
        raise ModuleFailure("src option requires state to be 'link' or 'hard'")
    try:
        if state == "absent":
            return _absent(machine, path, before)
        if state == "touch":
            return _touch(machine, arguments, path, before)
        if state == "directory":
            return _directory(machine, arguments, path, recurse)
        if state == "link":
            return _link(machine, arguments, path, source, before)
        if state == "hard":
            return _hard(machine, arguments, path, source, before)
        return _file(machine, arguments, path, before)
    except OSError as error:
        raise ModuleFailure(f"{error.strerror}: {path}") from error


def _absent(machine: Machine, path: str, before: Inode | None) -> TaskResult:
    if before is not None:
        remove_tree(machine, path)
    return TaskResult(changed=before is not None, values={"path": path, "state": "absent"})


def _touch(machine: Machine, arguments: Arguments, path: str, before: Inode | None) -> TaskResult:
    preserved = [arguments.text(name) == "preserve" for name in ("modification_time", "access_time")]
    changed = before is None
    if before is None or not preserved[0]:
        machine.view().touch(path)
    changed |= set_attributes(machine, path, arguments, follow=arguments.flag("follow", True))
    return TaskResult(changed=changed or not all(preserved), values={"dest": path})


def _file(machine: Machine, arguments: Arguments, path: str, before: Inode | None) -> TaskResult:
    if before is not None and before.is_link and arguments.flag("follow", True):
        path = machine.view().real_path(path)
        before = find(machine, path)
    if kind(before) not in ("file", "hard"):
        raise ModuleFailure(f"file ({path}) is {kind(before)}, cannot continue", {"path": path, "state": kind(before)})
    return TaskResult(changed=set_attributes(machine, path, arguments), values={"path": path})


def _directory(machine: Machine, arguments: Arguments, path: str, recurse: bool) -> TaskResult:
    follow = arguments.flag("follow", True)
    before = find(machine, path)
    if before is not None and before.is_link and follow:
        path = machine.view().real_path(path)
        before = find(machine, path)
    values: Mapping[str, Value] = {"path": path}
    if before is None:
        _make(machine, arguments, path)
        return TaskResult(changed=True, values=values)
    if not before.is_dir:
        raise ModuleFailure(f"{path} already exists as a {kind(before)}", values)
    changed = set_attributes(machine, path, arguments)
    if recurse:
        changed |= _recurse(machine, arguments, path, follow)
    return TaskResult(changed=changed, values=values)


def _make(machine: Machine, arguments: Arguments, path: str) -> None:
    """Make a directory and what is missing above it, all with the attributes asked for."""
    view = machine.view()
    made = "/" if path.startswith("/") else ""
    for part in path.strip("/").split("/"):
        made = posixpath.join(made, part)
        if find(machine, made, follow=True) is None:
            try:
                view.mkdir(made)
            except OSError as error:
                raise ModuleFailure(
                    f"There was an issue creating {made} as requested: {error.strerror}", {"path": path}
                ) from error
            set_attributes(machine, made, arguments)


def _recurse(machine: Machine, arguments: Arguments, path: str, follow: bool) -> bool:
    """Attributes for everything below; links are followed to what they name, one level, when that is asked for."""
    changed = False
    view = machine.view()
    for name in view.names(path):
        inside = posixpath.join(path, name)
        inode = view.stat(inside, follow=False)
        changed |= set_attributes(machine, inside, arguments, follow=False)
        if inode.is_dir:
            changed |= _recurse(machine, arguments, inside, follow)
        elif inode.is_link and follow:
            target = find(machine, inside, follow=True)
            if target is not None:
                changed |= set_attributes(machine, inside, arguments)
                if target.is_dir:
                    changed |= _recurse(machine, arguments, inside, follow)
    return changed


def _link(machine: Machine, arguments: Arguments, path: str, source: str | None, before: Inode | None) -> TaskResult:
    view = machine.view()
    follow, force, state = arguments.flag("follow", True), arguments.flag("force"), kind(before)
    if source is None and before is not None and before.is_link and follow and find(machine, path, follow=True):
        source = before.target
    if source is not None and not force:
        beside = path if before is not None and before.is_dir else posixpath.dirname(path)
        whole = posixpath.join(beside, source)
        if find(machine, whole, follow=True) is None:
            raise ModuleFailure(
                f"src file does not exist, use 'force=yes' if you really want to create the link: {whole}",
                {"path": path, "src": source},
            )
    if state in ("directory", "file", "hard") and not force:
        raise ModuleFailure(f"refusing to convert from {state} to symlink for {path}", {"path": path})
    if before is not None and before.entries:
        raise ModuleFailure(f"the directory {path} is not empty, refusing to convert it", {"path": path})
    if source is None and state != "link":
        raise ModuleFailure("src is required for creating new symlinks")
    changed = before is None or (source is not None and before.target != source)
    if changed and source is not None:
        if before is not None:
            remove_tree(machine, path)
        view.symlink(source, path)
    if not follow or find(machine, path, follow=True) is not None:
        changed |= set_attributes(machine, path, arguments, follow=follow)
    return TaskResult(changed=changed, values={"dest": path, "src": source})


def _hard(machine: Machine, arguments: Arguments, path: str, source: str | None, before: Inode | None) -> TaskResult:
    state = kind(before)
    if source is None and state != "hard":
        raise ModuleFailure("src is required for creating new hardlinks")
    origin = find(machine, source, follow=True) if source is not None else before
    if origin is None:
        raise ModuleFailure("src does not exist", {"dest": path, "src": source})
    changed = before is None or before.number != origin.number
    if changed and source is not None:
        if before is not None and not before.is_link and not arguments.flag("force"):
            what = "different hard link" if state == "hard" else state
            raise ModuleFailure(f"Cannot link, {what} exists at destination", {"dest": path, "src": source})
        if before is not None:
            remove_tree(machine, path)
        machine.view().link(machine.view().real_path(source), path)
    changed |= set_attributes(machine, path, arguments)
    return TaskResult(changed=changed, values={"dest": path, "src": source})
