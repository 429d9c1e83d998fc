"""Accounts as the machine's own files name them: /etc/passwd, /etc/group and /etc/shadow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from runners.sim.files.inode import ROOT, Cred, Inode
from runners.sim.files.view import FileView
from runners.sim.machine import Machine


class User(NamedTuple):
    name: str
    password: str
    uid: int
    gid: int
    comment: str
    home: str
    shell: str


class Group(NamedTuple):
    name: str
    gid: int
    members: tuple[str, ...]
    password: str = "x"  # noqa: S105 (it says that the password is elsewhere)


class Shadow(NamedTuple):
    """One line of /etc/shadow. Days are days since 1970, empty where the line says nothing."""

    name: str
    password: str
    changed: str
    minimum: str
    maximum: str
    warn: str
    inactive: str
    expires: str
    reserved: str = ""

    @property
    def locked(self) -> bool:
        return self.password.startswith(("!", "*"))


class Accounts:
    """Users and groups in the order of their files. The first line of a name or number wins, as in glibc."""

    __slots__ = ("_creds", "_groups_by_gid", "_users_by_uid", "groups", "shadow", "users")

    def __init__(self, passwd: str, group: str, shadow: str) -> None:
        users: dict[str, User] = {}
        by_uid: dict[int, User] = {}
        for user in _users(passwd):
            users.setdefault(user.name, user)
            by_uid.setdefault(user.uid, user)
        groups: dict[str, Group] = {}
        by_gid: dict[int, Group] = {}
        for entry in _groups(group):
            groups.setdefault(entry.name, entry)
            by_gid.setdefault(entry.gid, entry)
        self.users: Mapping[str, User] = users
        self.groups: Mapping[str, Group] = groups
        self.shadow: Mapping[str, Shadow] = {line.name: line for line in _shadow(shadow)}
        self._users_by_uid = by_uid
        self._groups_by_gid = by_gid
        self._creds: dict[str, Cred] = {}

    def user(self, who: str | int) -> User | None:
        """By name, or by uid when `who` is a number."""
        return self._users_by_uid.get(who) if isinstance(who, int) else self.users.get(who)

    def group(self, which: str | int) -> Group | None:
        return self._groups_by_gid.get(which) if isinstance(which, int) else self.groups.get(which)

    def user_name(self, uid: int) -> str:
        """What ls and ps show for a uid: its name, or the number itself."""
        user = self._users_by_uid.get(uid)
        return user.name if user is not None else str(uid)

    def group_name(self, gid: int) -> str:
        group = self._groups_by_gid.get(gid)
        return group.name if group is not None else str(gid)

    def cred(self, who: str | int, gid: int | None = None) -> Cred:
        """The credentials of a log-in session of that user; KeyError when there is no such user.

        gid: a group that takes the place of their own. As initgroups(3) has it, they are in that one and in those that
        list them.
        """
        user = self.user(who)
        if user is None:
            raise KeyError(who)
        known = self._creds.get(user.name) if gid is None else None
        if known is None:
            own = user.gid if gid is None else gid
            listed = (group.gid for group in self.groups.values() if user.name in group.members)
            known = Cred(user.uid, own, frozenset({own, *listed}))
            if gid is None:
                self._creds[user.name] = known
        return known


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


def _users(text: str) -> Iterator[User]:
    for line in text.splitlines():
        fields = line.split(":")
        if len(fields) == 7 and fields[2].isdigit() and fields[3].isdigit():
            name, password, uid, gid, comment, home, shell = fields
            yield User(name, password, int(uid), int(gid), comment, home, shell or "/bin/sh")


def _groups(text: str) -> Iterator[Group]:
    for line in text.splitlines():
        fields = line.split(":")
        if len(fields) == 4 and fields[2].isdigit():
            yield Group(fields[0], int(fields[2]), tuple(name for name in fields[3].split(",") if name), fields[1])


def _shadow(text: str) -> Iterator[Shadow]:
    for line in text.splitlines():
        fields = line.split(":")
        if len(fields) == 9:
            yield Shadow(*fields)
