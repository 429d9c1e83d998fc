"""The accounts of a machine, as its own files name them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from runners.formats.accounts import Accounts
from runners.sim.files.inode import ROOT, Inode
from runners.sim.files.view import FileView
from runners.sim.machine import Machine


class _Read(NamedTuple):
    """Accounts that were read, and what they stay the same with: all files, and what is mounted over which."""

    inodes: object
    covered: object
    accounts: Accounts


def accounts(machine: Machine) -> Accounts:
    """The accounts as the files are now. Missing or garbled files and lines are treated as empty."""
    last, tree = machine.accounts, machine.files
    if isinstance(last, _Read) and last.inodes is tree.inodes and last.covered is tree.covered:
        return last.accounts
    machine.accounts = _Read(tree.inodes, tree.covered, found := _read(machine))
    return found


def _read(machine: Machine) -> Accounts:
    view = machine.view(ROOT)
    try:
        folder = view.stat("/etc")
    except OSError:
        return _parse(b"", b"", b"")
    return _parse(_bytes(view, folder, "passwd"), _bytes(view, folder, "group"), _bytes(view, folder, "shadow"))


def _bytes(view: FileView, folder: Inode, name: str) -> bytes:
    # Accounts are asked for all the time: what lies in the folder itself needs no walk from the root.
    inode = view.tree.child(folder, name) if folder.is_dir else None
    try:
        return inode.content.read() if inode is not None and inode.is_file else view.read(f"/etc/{name}")
    except OSError:
        return b""


@lru_cache(maxsize=16)
def _parse(passwd: bytes, group: bytes, shadow: bytes) -> Accounts:
    return Accounts(*(data.decode("utf-8", "surrogateescape") for data in (passwd, group, shadow)))
