"""Inodes and credentials: immutable records, replaced when they change."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from typing import NamedTuple

from runners.formats.accounts import Cred as Cred
from runners.sim.files.acl import Acl, Beside
from runners.sim.files.content import EMPTY, Content

READ, WRITE, EXECUTE = 4, 2, 1


ROOT = Cred(0, 0)


class Inode(NamedTuple):
    """One file of any kind. `mode` holds the type bits too, as in stat(2); times are seconds since the epoch.

    `entries` (name -> inode number) is set for directories and never written to; `target` for symbolic links;
    `device` (major, minor) for device files. `dev` is the mount it lives on. `attributes`: letters of chattr that the
    kernel heeds: `i` nothing about it may change, `a` it may only grow. `acl`: what its access list says beside the
    mode; `default_acl`: the list that is inherited by what is made in a directory.
    """

    number: int
    dev: int
    mode: int
    uid: int
    gid: int
    nlink: int
    mtime: float
    ctime: float
    content: Content = EMPTY
    entries: Mapping[str, int] | None = None
    target: str | None = None
    device: tuple[int, int] | None = None
    attributes: str = ""
    acl: Beside | None = None
    default_acl: Acl | None = None

    def written(self, content: Content, at: float) -> Inode:
        """The same file with other content, as a write at that time leaves it."""
        # What `_replace` does, at a third of its price: every line of every log comes this way.
        return tuple.__new__(Inode, (*self[:6], at, at, content, *self[9:]))

    @property
    def serial(self) -> int:
        """The number that tools show: of what /proc makes up, 1 for its root and large ones for the rest."""
        if self.number >= 0:
            return self.number
        made = -self.number % 1_000_000
        return 1 if made == 1 else 4026531840 + made

    @property
    def is_dir(self) -> bool:
        return self.entries is not None

    @property
    def is_link(self) -> bool:
        return self.target is not None

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_char(self) -> bool:
        return stat.S_ISCHR(self.mode)

    @property
    def permissions(self) -> int:
        return self.mode & 0o7777

    @property
    def size(self) -> int:
        if self.entries is not None:
            return 4096
        return len(self.target) if self.target is not None else self.content.size

    @property
    def blocks(self) -> int:
        """Bytes taken on disk: whole 4 KiB blocks; short links live in the inode."""
        if self.entries is not None:
            return 4096
        return 0 if self.target is not None else -(-(self.content.size - self.content.hole) // 4096) * 4096


def permits(inode: Inode, cred: Cred, want: int) -> bool:
    """Do mode and list allow `want` (a sum of READ, WRITE, EXECUTE)? Root needs one x bit to execute a file."""
    if cred.uid == 0:
        return not (want & EXECUTE) or inode.is_dir or bool(inode.mode & 0o111)
    # Where the mask is empty, the kernel does not look at the list at all: a named user is one of the others then.
    if inode.acl is not None and inode.mode & 0o070 and cred.uid != inode.uid:
        return _listed(inode.acl, inode, cred, want)
    if cred.uid == inode.uid:
        bits = inode.mode >> 6
    elif inode.gid == cred.gid or inode.gid in cred.groups:
        bits = inode.mode >> 3
    else:
        bits = inode.mode
    return (bits & want) == want


def _listed(acl: Beside, inode: Inode, cred: Cred, want: int) -> bool:
    """What the list says of somebody who is not the owner: the entry of that user alone, else any entry of a group of
    theirs that allows it, and the mask does too; only who is in none of the groups is one of the others."""
    mask = inode.mode >> 3
    for uid, bits in acl.users:
        if uid == cred.uid:
            return bits & mask & want == want
    belongs = False
    for gid, bits in ((inode.gid, acl.group), *acl.groups):
        if gid == cred.gid or gid in cred.groups:
            belongs = True
            if bits & want == want:
                return mask & want == want
    return not belongs and inode.mode & want == want
