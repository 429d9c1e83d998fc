"""Access control lists of POSIX 1003.1e draft 17, as acl(5) tells of them: what a mode has no bits for.

With such a list the group bits of a file's mode are its mask, the most that anybody but the owner and the others gets.
So an inode keeps beside its mode only what that cannot say, and chmod changes the mask by itself.
"""

from __future__ import annotations

from typing import NamedTuple

Named = tuple[tuple[int, int], ...]
"""(uid or gid, a sum of READ, WRITE and EXECUTE), by number."""


class Beside(NamedTuple):
    """Of an access list what its file's mode does not say: named users, the owning group, named groups."""

    users: Named
    group: int
    groups: Named


class Acl(NamedTuple):
    """A whole list. `mask` None: there is none, which only a list without named entries may do without."""

    user: int
    users: Named
    group: int
    groups: Named
    mask: int | None
    other: int

    @property
    def extended(self) -> bool:
        """Does it say more than a mode can?"""
        return bool(self.users or self.groups or self.mask is not None)

    @property
    def widest(self) -> int:
        """What a mask has to let through for every entry that it bounds to be in force."""
        found = self.group
        for _, bits in (*self.users, *self.groups):
            found |= bits
        return found


def acl_of(mode: int, beside: Beside | None) -> Acl:
    """The access list of a file with this mode."""
    user, middle, other = mode >> 6 & 7, mode >> 3 & 7, mode & 7
    if beside is None:
        return Acl(user, (), middle, (), None, other)
    return Acl(user, beside.users, beside.group, beside.groups, middle, other)


def split(acl: Acl, mode: int) -> tuple[int, Beside | None]:
    """The mode that a file gets from an access list, its type and special bits kept, and what is kept beside it."""
    middle = acl.group if acl.mask is None else acl.mask
    mode = mode & ~0o777 | acl.user << 6 | middle << 3 | acl.other
    return mode, Beside(acl.users, acl.group, acl.groups) if acl.extended else None


def inherited(default: Acl, mode: int) -> tuple[int, Beside | None]:
    """Mode and list of a file that is made with `mode`, no umask taken off, in a directory with this default list."""
    middle = mode >> 3 & 7
    acl = default._replace(user=default.user & mode >> 6, other=default.other & mode)
    acl = acl._replace(group=acl.group & middle) if acl.mask is None else acl._replace(mask=acl.mask & middle)
    return split(acl, mode)
