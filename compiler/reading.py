"""Reading files that somebody may have tampered with: each byte once, into memory, and no link is ever followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from compiler.layout import LARGEST_FILE, LARGEST_TOTAL, MOST_FILES
from compiler.refusals import EmptyFolder, Missing, NotAPlainFile, TooLarge, TooMany, Unreadable

_DEEPEST = 12
# Without O_NONBLOCK, opening a fifo would wait for a writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def read_file(path: Path, *, limit: int = LARGEST_FILE) -> bytes:
    """The bytes of one plain file. Raises Missing, NotAPlainFile, TooLarge or Unreadable, naming it as given."""
    return _read(str(path), None, str(path), limit)


def names_in(folder: Path) -> tuple[str, ...]:
    """The names in a folder, sorted. Raises Missing or Unreadable."""
    try:
        return tuple(sorted(os.listdir(folder)))
    except FileNotFoundError as error:
        raise Missing(str(folder)) from error
    except OSError as error:
        raise Unreadable(str(folder), error.strerror or str(error)) from error


def read_tree(folder: Path) -> Mapping[str, bytes]:
    """Every file below `folder`, as path from there -> bytes, sorted.

    Refuses links (symbolic and hard), devices, fifos, sockets, empty folders, and more than a bundle may hold.
    """
    files: dict[str, bytes] = {}
    total = 0
    for path, data in _walk(str(folder), None, "", folder.name):
        files[path] = data
        total += len(data)
        if len(files) > MOST_FILES:
            raise TooMany(folder.name, MOST_FILES)
        if total > LARGEST_TOTAL:
            raise TooLarge(folder.name, LARGEST_TOTAL)
    return dict(sorted(files.items()))


def _walk(name: str, parent: int | None, path: str, shown: str) -> Iterator[tuple[str, bytes]]:
    """Files below the folder `name` (relative to the open folder `parent`); `shown` is what errors call it."""
    try:
        here = os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError as error:
        raise Missing(shown) from error
    except NotADirectoryError as error:
        raise NotAPlainFile(shown, "file or link where a folder belongs") from error
    except OSError as error:
        raise Unreadable(shown, error.strerror or str(error)) from error
    try:
        entries = sorted(os.listdir(here))
        if not entries:
            raise EmptyFolder(shown)
        if path.count("/") >= _DEEPEST:
            raise TooMany(shown, _DEEPEST)
        for entry in entries:
            below = f"{path}{entry}"
            if stat.S_ISDIR(os.stat(entry, dir_fd=here, follow_symlinks=False).st_mode):
                yield from _walk(entry, here, f"{below}/", below)
            else:
                yield below, _read(entry, here, below, LARGEST_FILE)
    except OSError as error:
        raise Unreadable(shown, error.strerror or str(error)) from error
    finally:
        os.close(here)


def _read(name: str, parent: int | None, shown: str, limit: int) -> bytes:
    try:
        kind = _kind(os.stat(name, dir_fd=parent, follow_symlinks=False))
        if kind is not None:
            raise NotAPlainFile(shown, kind)
        handle = os.open(name, _FILE, dir_fd=parent)
    except FileNotFoundError as error:
        raise Missing(shown) from error
    except OSError as error:
        raise Unreadable(shown, error.strerror or str(error)) from error
    with os.fdopen(handle, "rb") as file:
        # Asked again of the open file: between the two looks the name may have come to mean another.
        kind = _kind(os.fstat(file.fileno()))
        if kind is not None:
            raise NotAPlainFile(shown, kind)
        try:
            data = file.read(limit + 1)
        except OSError as error:
            raise Unreadable(shown, error.strerror or str(error)) from error
    if len(data) > limit:
        raise TooLarge(shown, limit)
    return data


def _kind(status: os.stat_result) -> str | None:
    """What makes this no plain file of its own, or None."""
    mode = status.st_mode
    kinds = (
        (stat.S_ISLNK, "symbolic link"),
        (stat.S_ISDIR, "folder"),
        (stat.S_ISFIFO, "fifo"),
        (stat.S_ISSOCK, "socket"),
        (stat.S_ISCHR, "device"),
        (stat.S_ISBLK, "device"),
    )
    for matches, kind in kinds:
        if matches(mode):
            return kind
    return "hard link" if status.st_nlink > 1 else None
