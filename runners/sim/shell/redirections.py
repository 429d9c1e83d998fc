"""Redirections: opening what they name, and putting descriptors back afterwards."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from runners.formats.shell.ast import Redirect
from runners.sim.commands.open_files import Device, open_file
from runners.sim.commands.sockets import AddressError, is_network_path, open_socket
from runners.sim.commands.streams import Buffer, Closed, Stream, release
from runners.sim.files.tree import fail
from runners.sim.machine import Machine
from runners.sim.shell.signals import ExpansionError
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

Saved = list[tuple[int, Stream | None]]
_DESCRIPTOR_PATHS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


class RedirectionError(Exception):
    """A redirection failed; the text is the message."""


def null_device(machine: Machine) -> Stream:
    return Device(machine, "/dev/null", (1, 3))


def apply(shell: Shell, redirects: tuple[Redirect, ...]) -> Saved | None:
    """Carry out redirections in order. None, with a message printed and everything undone, when one fails."""
    saved: Saved = []
    try:
        for redirect in redirects:
            _apply(shell, redirect, saved)
    except ExpansionError as problem:
        restore(shell, saved)
        shell.error(shell.dialect.failure(problem).message)
        return None
    except RedirectionError as problem:
        restore(shell, saved)
        shell.error(str(problem))
        return None
    except OSError as error:
        restore(shell, saved)
        shell.error(shell.dialect.unopened(error, redirect.operator))
        return None
    return saved


def restore(shell: Shell, saved: Saved) -> None:
    for fd, stream in reversed(saved):
        current = shell.fds.pop(fd, None)
        if current is not None:
            release(current)
        if stream is not None:
            shell.fds[fd] = stream


def keep(saved: Saved) -> None:
    """Make redirections permanent, as `exec` does: what was there before is closed."""
    for _, stream in saved:
        if stream is not None:
            release(stream)


def _put(shell: Shell, fd: int, stream: Stream | None, saved: Saved) -> None:
    saved.append((fd, shell.fds.pop(fd, None)))
    if stream is not None:
        shell.fds[fd] = stream


def _target(shell: Shell, redirect: Redirect) -> str:
    fields = shell.expander.words([redirect.target])
    if len(fields) != 1:
        raw = "".join(getattr(part, "text", "") or f"${getattr(part, 'name', '')}" for part in redirect.target.parts)
        raise RedirectionError(f"{raw}: ambiguous redirect")
    return fields[0]


def _apply(shell: Shell, redirect: Redirect, saved: Saved) -> None:
    operator = redirect.operator
    fd = redirect.fd
    shell.spend(20)
    if redirect.variable is not None:
        if operator in (">&", "<&") and redirect.target.literal == "-":
            number = shell.session.get(redirect.variable)
            if number and is_digits(number):
                _put(shell, int(number), None, saved)
            return
        fd = 10
        while fd in shell.fds:
            fd += 1
        shell.assign(redirect.variable, str(fd))
    if operator in ("<<", "<<-", "<<<"):
        text = shell.expander.text(redirect.target) + ("\n" if operator == "<<<" else "")
        _put(shell, 0 if fd is None else fd, Buffer(text.encode("utf-8", "surrogateescape")), saved)
        return
    target = _target(shell, redirect)
    if operator in ("&>", "&>>") or (operator == ">&" and fd is None and not _is_descriptor(target)):
        stream = _opened(shell, target, ">>" if operator == "&>>" else ">")
        stream.users += 1
        _put(shell, 1, stream, saved)
        _put(shell, 2, stream, saved)
        return
    if operator in (">&", "<&"):
        _duplicate(shell, (1 if operator == ">&" else 0) if fd is None else fd, target, saved)
        return
    stream = _opened(shell, target, operator)
    _put(shell, (0 if operator in ("<", "<>") else 1) if fd is None else fd, stream, saved)


def _is_descriptor(target: str) -> bool:
    return target == "-" or is_digits(target.rstrip("-"))


def _duplicate(shell: Shell, fd: int, target: str, saved: Saved) -> None:
    if target == "-":
        _put(shell, fd, None, saved)
        return
    number = target.rstrip("-")
    if not is_digits(number):
        raise RedirectionError(f"{target}: ambiguous redirect")
    stream = shell.fds.get(int(number))
    if stream is None:
        raise RedirectionError(f"{number}: Bad file descriptor")
    stream.users += 1
    _put(shell, fd, stream, saved)
    if target.endswith("-"):
        _put(shell, int(number), None, saved)


def open_target(shell: Shell, redirect: Redirect, path: str) -> Stream:
    """Open a redirection's file. OSError as open(2)."""
    return _open(shell, path, redirect.operator)


def _opened(shell: Shell, target: str, operator: str) -> Stream:
    """What a redirection names: a file, or a place that bash connects to and then says first why it cannot."""
    if not (shell.dialect.connects and is_network_path(target)):
        return _open(shell, target, operator)
    try:
        return open_socket(shell.machine, shell.hub, shell.session.cred, target)
    except AddressError as problem:
        shell.error(str(problem))
        raise fail(errno.EINVAL, target) from None
    except OSError as error:
        shell.write_error(f"{shell.name()}: connect: {error.strerror}\n")
        raise


def _open(shell: Shell, path: str, operator: str) -> Stream:
    number = _DESCRIPTOR_PATHS.get(path)
    if number is None and path.startswith(("/dev/fd/", "/proc/self/fd/")):
        tail = path.rsplit("/", 1)[-1]
        number = int(tail) if is_digits(tail) else None
    if number is not None:
        stream = shell.fds.get(number)
        if stream is None:
            raise fail(errno.ENOENT, path)
        stream.users += 1
        return stream
    view = shell.view
    if operator == "<":
        return open_file(shell.machine, view, path, read=True)
    if operator == "<>":
        return open_file(shell.machine, view, path, read=True, write=True)
    if operator == ">" and "noclobber" in shell.session.options and view.exists(path):
        inode = view.stat(path)
        if inode.is_file:
            raise RedirectionError(f"{path}: cannot overwrite existing file")
    return open_file(
        shell.machine, view, path, write=True, append=operator == ">>", truncate=operator != ">>"
    )  # fmt: skip


CLOSED = Closed("closed")
