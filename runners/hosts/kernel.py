"""System calls that Python has no name for, each in the one form that is needed here (Linux, x86-64 and arm64)."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

_LIBC = ctypes.CDLL(None, use_errno=True)
_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS, _RESOLVE_IN_ROOT = 0x02, 0x10
_CLONE_NEWNET = 0x40000000
_SETRESUID, _SETRESGID, _SETGROUPS = {"x86_64": (117, 119, 116), "aarch64": (147, 149, 159)}[os.uname().machine]


_MOVE_MOUNT, _FSOPEN, _FSCONFIG, _FSMOUNT = 429, 430, 431, 432
_CLOEXEC, _SET_STRING, _CREATE, _FROM_HANDLE, _HERE = 1, 1, 6, 4, -100
_MOUNT_NOSUID, _MOUNT_NODEV = 2, 4
_CLONE_FS, _CLONE_NEWNS = 0x200, 0x20000


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_beneath(root: int, path: str, flags: int) -> int:
    """Open `path` as a process whose root is the directory `root` would: no link, however it is made, leads out.

    Raises OSError.
    """
    how = _How(flags | os.O_CLOEXEC, 0, _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS)
    found = _LIBC.syscall(_OPENAT2, root, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), path)
    return int(found)


def own_network() -> int:
    """This thread's network namespace, as a handle."""
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def new_network() -> int:
    """A network namespace that lives as long as the handle that is returned (or anything in it)."""
    before = own_network()
    try:
        _check(_LIBC.unshare(_CLONE_NEWNET))
        try:
            return own_network()
        finally:
            _check(_LIBC.setns(before, _CLONE_NEWNET))
    finally:
        os.close(before)


@contextmanager
def in_network(handle: int) -> Iterator[None]:
    """This thread, and the sockets and processes that it makes meanwhile, in another network namespace."""
    before = own_network()
    try:
        _check(_LIBC.setns(handle, _CLONE_NEWNET))
        try:
            yield
        finally:
            _check(_LIBC.setns(before, _CLONE_NEWNET))
    finally:
        os.close(before)


def detached_mount(kind: str, source: str, *, nosuid: bool) -> int:
    """A mounted file system that is nowhere yet, as a handle. Raises OSError."""
    opened = _check(_LIBC.syscall(_FSOPEN, kind.encode(), _CLOEXEC))
    try:
        _check(_LIBC.syscall(_FSCONFIG, opened, _SET_STRING, b"source", source.encode(), 0))
        _check(_LIBC.syscall(_FSCONFIG, opened, _CREATE, None, None, 0))
        flags = _MOUNT_NODEV | (_MOUNT_NOSUID if nosuid else 0)
        return _check(_LIBC.syscall(_FSMOUNT, opened, _CLOEXEC, flags))
    finally:
        os.close(opened)


def attach_mount(mount: int, pid: int, path: str) -> None:
    """Put a detached mount at a path of a process's mounts. The thread that does it stays there and has to end.

    Raises OSError.
    """
    there = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_LIBC.unshare(_CLONE_FS))
        _check(_LIBC.setns(there, _CLONE_NEWNS))
        _check(_LIBC.syscall(_MOVE_MOUNT, mount, b"", _HERE, path.encode(), _FROM_HANDLE))
    finally:
        os.close(there)


@contextmanager
def as_user(uid: int) -> Iterator[None]:
    """This thread alone, for a moment, with another effective user: what a unix socket's other end is told."""
    _check(_LIBC.syscall(_SETRESUID, -1, uid, -1))
    try:
        yield
    finally:
        _check(_LIBC.syscall(_SETRESUID, -1, 0, -1))


@contextmanager
def as_identity(uid: int, gid: int, groups: tuple[int, ...]) -> Iterator[None]:
    """This thread alone, for a moment, with the rights of another user and no others."""
    before = tuple(os.getgroups())
    _set_groups(groups)
    try:
        _check(_LIBC.syscall(_SETRESGID, -1, gid, -1))
        try:
            with as_user(uid):
                yield
        finally:
            _check(_LIBC.syscall(_SETRESGID, -1, 0, -1))
    finally:
        _set_groups(before)


def _set_groups(groups: tuple[int, ...]) -> None:
    _check(_LIBC.syscall(_SETGROUPS, len(groups), (ctypes.c_uint32 * max(1, len(groups)))(*groups)))


def _check(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code or errno.EIO, os.strerror(code))
    return result
