"""A world's files, read and written from outside: paths are walked as in the world, and no link of it leads out."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from runners.hosts.kernel import as_identity, open_beneath
from runners.text import is_digits

_LARGEST = 64 << 20
ACCESS_LISTS = ("system.posix_acl_access", "system.posix_acl_default")
"""Where the kernel keeps access control lists, acl(5)."""
Lists = tuple[tuple[str, bytes], ...]


class About(NamedTuple):
    """What a path is. uid and gid are the world's own numbers; `mode` holds the type bits; dev is of this host."""

    mode: int
    uid: int
    gid: int
    size: int
    dev: int
    ino: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One line of the world's passwd, with the numbers of all its groups."""

    name: str
    uid: int
    gid: int
    home: str
    shell: str
    groups: tuple[int, ...]


class Files:
    """The tree that a world's first process sees. `uids`: where the world's user ids begin on this host."""

    def __init__(self, pid: int, uids: int) -> None:
        self._root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self.uids = uids

    def close(self) -> None:
        os.close(self._root)

    def handle(self, path: str, flags: int = os.O_PATH) -> int:
        """An open handle; raises OSError."""
        return open_beneath(self._root, path, flags)

    def stat(self, path: str, *, follow: bool = True) -> About | None:
        """What is there, or None."""
        try:
            handle = self.handle(path, os.O_PATH | (0 if follow else os.O_NOFOLLOW))
        except OSError:
            return None
        try:
            found = os.fstat(handle)
        finally:
            os.close(handle)
        return About(
            found.st_mode, found.st_uid - self.uids, found.st_gid - self.uids, found.st_size, found.st_dev, found.st_ino
        )

    def read(self, path: str) -> bytes | None:
        """The content of a plain file, its last part where it is very long; None where there is none."""
        try:
            handle = self.handle(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            length = os.fstat(handle).st_size
            if length > _LARGEST:
                file.seek(length - _LARGEST)
            return file.read(_LARGEST)

    def text(self, path: str) -> str:
        return (self.read(path) or b"").decode("utf-8", "replace")

    def target(self, path: str) -> str | None:
        """Where a link points, as written."""
        try:
            handle = self.handle(path, os.O_PATH | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            return os.readlink("", dir_fd=handle)
        except OSError:
            return None
        finally:
            os.close(handle)

    def names(self, path: str) -> tuple[str, ...]:
        """The entries of a directory, sorted; none where there is none."""
        try:
            handle = self.handle(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return ()
        try:
            return tuple(sorted(os.listdir(handle)))
        finally:
            os.close(handle)

    def space(self, path: str) -> os.statvfs_result | None:
        try:
            handle = self.handle(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            return os.fstatvfs(handle)
        finally:
            os.close(handle)

    def readable_by(self, path: str, account: Account) -> bool:
        """Could that account open it for reading? The kernel is asked, with the account's rights."""
        found = self.stat(path)
        if found is None:
            return False
        flags = os.O_RDONLY | os.O_NONBLOCK | (os.O_DIRECTORY if stat.S_ISDIR(found.mode) else 0)
        groups = tuple(group + self.uids for group in account.groups)
        with as_identity(account.uid + self.uids, account.gid + self.uids, groups):
            try:
                handle = self.handle(path, flags)
            except OSError:
                return False
        os.close(handle)
        return True

    def account(self, name: str) -> Account | None:
        return next((one for one in self.accounts() if one.name == name), None)

    def accounts(self) -> Iterator[Account]:
        groups = [line.split(":") for line in self.text("/etc/group").splitlines() if line.count(":") == 3]
        for line in self.text("/etc/passwd").splitlines():
            fields = line.split(":")
            if len(fields) == 7 and is_digits(fields[2]) and is_digits(fields[3]):
                own = tuple(int(one[2]) for one in groups if is_digits(one[2]) and fields[0] in one[3].split(","))
                gid = int(fields[3])
                yield Account(
                    name=fields[0], uid=int(fields[2]), gid=gid, home=fields[5], shell=fields[6], groups=(gid, *own)
                )

    def group_names(self) -> dict[int, str]:
        lines = [line.split(":") for line in self.text("/etc/group").splitlines() if line.count(":") == 3]
        return {int(fields[2]): fields[0] for fields in lines if is_digits(fields[2])}

    def user_names(self) -> dict[int, str]:
        return {one.uid: one.name for one in self.accounts()}

    # -- putting things back

    def set_age(self, path: str, seconds: float) -> None:
        """Have a file or folder last changed so long ago. One that is not there is left out."""
        try:
            handle = self.handle(path)
        except OSError:
            return
        try:
            at = time.time() - seconds
            os.utime(f"/proc/self/fd/{handle}", (at, at))
        finally:
            os.close(handle)

    def remove(self, path: str) -> None:
        """Take away a file, a link or an empty directory."""
        folder, name = self._split(path)
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                os.rmdir(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)
        finally:
            os.close(folder)

    def put(self, path: str, mode: int, uid: int, gid: int, data: bytes | None, lists: Lists = ()) -> None:
        """Make a path what it was: a directory (no data), a link to `data`, or a file of `data`, with these access
        control lists."""
        folder, name = self._split(path)
        try:
            if stat.S_ISDIR(mode):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
            elif stat.S_ISLNK(mode):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=folder)
                os.symlink((data or b"").decode("utf-8", "surrogateescape"), name, dir_fd=folder)
            else:
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
                with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
                    file.write(data or b"")
            os.chown(name, uid + self.uids, gid + self.uids, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISLNK(mode):
                os.chmod(name, stat.S_IMODE(mode), dir_fd=folder)
                self._set_lists(folder, name, dict(lists))
        finally:
            os.close(folder)

    @staticmethod
    def _set_lists(folder: int, name: str, lists: dict[str, bytes]) -> None:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            for kept in ACCESS_LISTS:
                if kept in lists:
                    os.setxattr(handle, kept, lists[kept])
                elif kept in os.listxattr(handle):
                    os.removexattr(handle, kept)
        finally:
            os.close(handle)

    def _split(self, path: str) -> tuple[int, str]:
        folder, _, name = path.rpartition("/")
        return self.handle(folder or "/", os.O_RDONLY | os.O_DIRECTORY), name
