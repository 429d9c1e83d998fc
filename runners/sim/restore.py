"""Putting a machine's lasting state back to what it was: the rollback of somebody who wrote none."""

from __future__ import annotations

import errno
import posixpath
import stat
from collections.abc import Mapping

from runners.sim.facts import persistent_facts
from runners.sim.files.acl import acl_of
from runners.sim.files.inode import Inode
from runners.sim.files.tree import FileTree
from runners.sim.machine import Machine


def restore(machine: Machine, facts: Mapping[str, str], then: Machine) -> tuple[str, ...]:
    """Make the lasting files and the packet filter what they were on the machine `then`, whose facts are `facts`.

    Returns what still differs, such as files for which there was no room.
    """
    machine.network.tables = then.network.tables
    _restore_files(machine, facts, then.files)
    return _different(persistent_facts(machine), facts)


def _restore_files(machine: Machine, facts: Mapping[str, str], then: FileTree) -> None:
    paths = [name for name in _different(persistent_facts(machine), facts) if name.startswith("/")]
    # Away with what is new or of another kind, deepest first; then back with what was, from the top.
    for path in reversed(paths):
        if path not in facts or _kind_changed(machine.files, then, path):
            _remove(machine, path)
    for path in paths:
        old = _inode(then, path)
        if path in facts and old is not None:
            _put_back(machine, path, old)


def _different(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(sorted({name for name, _ in one.items() ^ other.items()}))


def _inode(tree: FileTree, path: str) -> Inode | None:
    """What is at a path, no link followed."""
    here: Inode | None = tree.get(tree.mounts[0].root)
    for part in path.split("/"):
        if part:
            if here is None or here.entries is None:
                return None
            here = tree.child(here, part)
    return here


def _kind_changed(now: FileTree, then: FileTree, path: str) -> bool:
    one, other = _inode(now, path), _inode(then, path)
    return one is None or other is None or stat.S_IFMT(one.mode) != stat.S_IFMT(other.mode) or one.is_link


def _remove(machine: Machine, path: str) -> None:
    """Take away what is at a path. A directory that still holds something volatile stays."""
    inode = _inode(machine.files, path)
    if inode is None:
        return
    try:
        machine.view().rmdir(path) if inode.is_dir else machine.view().unlink(path)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EBUSY):
            raise


def _put_back(machine: Machine, path: str, old: Inode) -> None:
    view = machine.view()
    try:
        if _inode(machine.files, path) is None:
            if old.is_dir:
                view.mkdir(path)
            elif old.target is not None:
                view.symlink(old.target, path)
            else:
                view.write(path, b"")
        if old.target is not None:
            view.chown(path, old.uid, old.gid, follow=False)
            return
        folder, name = posixpath.split(path)
        # Through the directory's real path, so that no link at the end is followed to somewhere else.
        real = posixpath.join(view.real_path(folder), name) if name else path
        if old.is_file:
            view.write(real, old.content)
        view.chown(real, old.uid, old.gid)
        view.chmod(real, old.permissions)
        if (old.acl, old.default_acl) != (view.stat(real).acl, view.stat(real).default_acl):
            view.set_acl(real, acl_of(old.mode, old.acl), old.default_acl)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
