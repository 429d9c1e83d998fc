"""stat: what is at a path. Never fails because nothing is there."""

from __future__ import annotations

import hashlib
import stat

from runners.sim.files.inode import Inode
from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.files import find
from runners.sim.tasks.result import TaskResult
from runners.sim.users import accounts
from scenario_dsl.values import Value

_ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    path = arguments.require_path("path")
    follow = arguments.flag("follow")
    algorithm = arguments.choice("checksum_algorithm", _ALGORITHMS, "sha1")
    assert algorithm is not None
    inode = find(machine, path, follow=follow)
    if inode is None:
        return TaskResult(values={"stat": {"exists": False}})
    values = _facts(machine, path, inode)
    if inode.is_file and arguments.flag("get_checksum", True):
        digest = hashlib.new(algorithm, usedforsecurity=False)
        for chunk in inode.content.chunks(1 << 20):
            machine.budget.spend(64)
            digest.update(chunk)
        values["checksum"] = digest.hexdigest()
    return TaskResult(values={"stat": values})


def _facts(machine: Machine, path: str, inode: Inode) -> dict[str, Value]:
    mode = inode.mode
    values: dict[str, Value] = {
        "exists": True,
        "path": path,
        "mode": f"{inode.permissions:04o}",
        "isdir": inode.is_dir,
        "isreg": inode.is_file,
        "islnk": inode.is_link,
        "ischr": inode.is_char,
        "isblk": stat.S_ISBLK(mode),
        "isfifo": stat.S_ISFIFO(mode),
        "issock": stat.S_ISSOCK(mode),
        "uid": inode.uid,
        "gid": inode.gid,
        "size": inode.size,
        "inode": inode.number,
        "dev": inode.dev,
        "nlink": inode.nlink,
        "mtime": inode.mtime,
        "ctime": inode.ctime,
        "isuid": bool(mode & stat.S_ISUID),
        "isgid": bool(mode & stat.S_ISGID),
        # Tasks run as root, who may read and write everything and execute what anybody may.
        "readable": True,
        "writeable": True,
        "executable": inode.is_dir or bool(mode & 0o111),
    }
    letters = stat.filemode(mode)[1:]
    for index, right in enumerate(("rusr", "wusr", "xusr", "rgrp", "wgrp", "xgrp", "roth", "woth", "xoth")):
        values[right] = bool(mode & (0o400 >> index)) and letters[index] != "-"
    known = accounts(machine)
    owner, group = known.user(inode.uid), known.group(inode.gid)
    if owner is not None:
        values["pw_name"] = owner.name
    if group is not None:
        values["gr_name"] = group.name
    if inode.target is not None:
        values["lnk_target"] = inode.target
        found = machine.view().find(path)
        values["lnk_source"] = found.path
    return values
