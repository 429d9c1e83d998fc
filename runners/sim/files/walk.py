"""From a path to what it names: directories, mounts, links and made-up file systems on the way."""

from __future__ import annotations

import errno
from functools import lru_cache
from typing import NamedTuple

from runners.sim.files.inode import EXECUTE, Cred, Inode, permits
from runners.sim.files.tree import FileTree, Way, fail

_MAX_LINKS = 40
_LONGEST_PATH = 4096
"""Bytes of a path, with the folder that it begins in."""
_MOST_PARTS = 500
"""Names in a path, likewise. This bound is ours alone: every step costs each walk, and nobody nests folders so deep
but to hold us up."""
_LONGEST_NAME = 255
_ALL_MAY = 0o111
"""A directory with these bits, and no list beside them, lets everybody through."""


class Found(NamedTuple):
    """Where a path leads: the directory, the last name in it, and what is there (None: nothing yet).

    `path` is absolute, without links in its directory part.
    """

    parent: Inode
    name: str
    inode: Inode | None
    path: str


@lru_cache(maxsize=4096)
def _plain_parts(path: str) -> tuple[tuple[str, ...], str] | None:
    """The folders' names and the last one, of an absolute path whose parts are plain names; None for any other."""
    if path[0] != "/" or path[-1] == "/" or len(path) >= _LONGEST_PATH or path.count("/") > _MOST_PARTS:
        return None
    parts = path[1:].split("/")
    if any(name in ("", ".", "..") or len(name) > _LONGEST_NAME // 4 for name in parts):
        return None
    return tuple(parts[:-1]), parts[-1]


def straight(tree: FileTree, cred: Cred, path: str) -> Found | None:
    """The quick way, for an absolute path without links, `..` or made-up files on it; None when it is not so.

    A made-up file system is only ever entered by what it is mounted over.
    """
    plain = _plain_parts(path)
    if plain is None:
        if path == "/":
            root = tree.inodes[tree.mounts[0].root]
            return Found(root, "/", root, path)
        return None
    folders, last = plain
    inodes, covered, ask = tree.inodes, tree.covered, cred.uid != 0
    known = tree.ways.get(folders)
    if known is None:
        known = _way(tree, folders)
        if known is None:
            return None
        tree.remember(folders, known)
    number, guarded = known
    here = inodes[number]
    if here.dev in tree.synthetic:
        return None
    if ask:
        for above in guarded:
            if not permits(inodes[above], cred, EXECUTE):
                return None
        if (here.mode & _ALL_MAY != _ALL_MAY or here.acl is not None) and not permits(here, cred, EXECUTE):
            return None
    assert here.entries is not None
    entry = here.entries.get(last)
    if entry is None:
        return Found(here, last, None, path)
    child = inodes[tree.top_of(entry) if entry in covered else entry]
    if child.target is not None or child.dev in tree.synthetic:
        return None
    return Found(here, last, child, path)


def _way(tree: FileTree, folders: tuple[str, ...]) -> Way | None:
    """Down the folders, whoever goes there; None where one is missing, is no folder, or is on a made-up file system."""
    here = tree.inodes[tree.mounts[0].root]
    guarded: list[int] = []
    for name in folders:
        if here.entries is None:
            return None
        if here.mode & _ALL_MAY != _ALL_MAY or here.acl is not None:
            guarded.append(here.number)
        number = here.entries.get(name)
        if number is None:
            return None
        here = tree.inodes[tree.top_of(number)]
        if here.dev in tree.synthetic:
            return None
    return (here.number, tuple(guarded)) if here.entries is not None else None


def walk(tree: FileTree, cred: Cred, cwd: str, path: str, follow: bool) -> Found:
    """Any path, as namei(7) goes through it. OSError as the kernel would give."""
    begin = "" if path.startswith("/") else cwd
    if len(path) + len(begin) >= _LONGEST_PATH or path.count("/") + begin.count("/") > _MOST_PARTS:
        raise fail(errno.ENAMETOOLONG, path)
    links = 0
    root = tree.inodes[tree.mounts[0].root]
    # Walked as a stack, because `..` of a link's target is not the text before it.
    stack: list[tuple[str, Inode]] = [("", root)]
    pending = [part for part in reversed(path.split("/")) if part and part != "."]
    if not path.startswith("/"):
        pending += [part for part in reversed(cwd.split("/")) if part]
    must_be_dir = path.endswith(("/", "/."))
    while pending:
        name = pending.pop()
        here = stack[-1][1]
        if here.entries is None:
            raise fail(errno.ENOTDIR, path)
        if not permits(here, cred, EXECUTE):
            raise fail(errno.EACCES, path)
        if name == "..":
            if len(stack) > 1:
                stack.pop()
            continue
        if len(name) > _LONGEST_NAME // 4 and len(name.encode("utf-8", "surrogateescape")) > _LONGEST_NAME:
            raise fail(errno.ENAMETOOLONG, path)
        child = _child(tree, stack, here, name)
        if child is None:
            if pending:
                raise fail(errno.ENOENT, path)
            return Found(here, name, None, _join(stack, name))
        if child.target is not None and (pending or follow or must_be_dir):
            links += 1
            if links > _MAX_LINKS:
                raise fail(errno.ELOOP, path)
            if child.target.startswith("/"):
                stack = [("", root)]
            pending += [part for part in reversed(child.target.split("/")) if part and part != "."]
            continue
        stack.append((name, child))
    last_name, last = stack[-1]
    if must_be_dir and last.entries is None:
        raise fail(errno.ENOTDIR, path)
    parent = stack[-2][1] if len(stack) > 1 else root
    return Found(parent, last_name or "/", last, _join(stack[:-1], last_name))


def _child(tree: FileTree, stack: list[tuple[str, Inode]], here: Inode, name: str) -> Inode | None:
    synthetic = tree.synthetic.get(here.dev)
    if synthetic is None:
        return tree.child(here, name)
    mount = tree.mount_of(here)
    inside = [part for part, _ in stack[mount.path.count("/") + 1 :]]
    return synthetic.lookup("/".join([*inside, name]))


def _join(stack: list[tuple[str, Inode]], name: str) -> str:
    return "/".join([part for part, _ in stack] + [name]) or "/"
