"""Accounts as /etc/passwd, /etc/group and /etc/shadow name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from runners.text import is_digits


class Cred(NamedTuple):
    """Who asks: effective uid and gid, and supplementary groups."""

    uid: int
    gid: int
    groups: frozenset[int] = frozenset()


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


def _users(text: str) -> Iterator[User]:
    for line in text.splitlines():
        fields = line.split(":")
        if len(fields) == 7 and is_digits(fields[2]) and is_digits(fields[3]):
            name, password, uid, gid, comment, home, shell = fields
            yield User(name, password, int(uid), int(gid), comment, home, shell or "/bin/sh")


def _groups(text: str) -> Iterator[Group]:
    for line in text.splitlines():
        fields = line.split(":")
        if len(fields) == 4 and is_digits(fields[2]):
            yield Group(fields[0], int(fields[2]), tuple(name for name in fields[3].split(",") if name), fields[1])


def _shadow(text: str) -> Iterator[Shadow]:
    for line in text.splitlines():
        fields = line.split(":")
        if len(fields) == 9:
            yield Shadow(*fields)
