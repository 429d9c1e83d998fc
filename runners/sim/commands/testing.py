"""The tests of `test`, `[` and `[[` on files, strings and numbers."""

from __future__ import annotations

import operator
import stat
from collections.abc import Callable

from runners.sim.files.inode import EXECUTE, READ, WRITE, Inode
from runners.sim.files.view import FileView

NUMERIC: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq, "-ne": operator.ne, "-lt": operator.lt, "-le": operator.le, "-gt": operator.gt,
    "-ge": operator.ge,
}  # fmt: skip
FILE_PAIRS = frozenset({"-nt", "-ot", "-ef"})
UNARY = frozenset("-" + letter for letter in "bcdefghknoprstuvwxzGLNORS")


def _inode(view: FileView, path: str, *, follow: bool = True) -> Inode | None:
    try:
        return view.find(path, follow=follow).inode
    except OSError:
        return None


def unary(view: FileView, test: str, operand: str) -> bool:
    """One of the unary tests that need nothing but files and text."""
    if test == "-z":
        return operand == ""
    if test == "-n":
        return operand != ""
    if test in ("-h", "-L"):
        inode = _inode(view, operand, follow=False)
        return inode is not None and inode.is_link
    inode = _inode(view, operand)
    if inode is None:
        return False
    if test in ("-r", "-w", "-x"):
        return view.access(operand, {"-r": READ, "-w": WRITE, "-x": EXECUTE}[test])
    kinds = {"-f": stat.S_ISREG, "-d": stat.S_ISDIR, "-b": stat.S_ISBLK, "-c": stat.S_ISCHR, "-p": stat.S_ISFIFO}
    kinds |= {"-S": stat.S_ISSOCK}
    if test in kinds:
        return kinds[test](inode.mode)
    if test == "-s":
        return inode.size > 0
    bits = {"-g": stat.S_ISGID, "-u": stat.S_ISUID, "-k": stat.S_ISVTX}
    if test in bits:
        return bool(inode.mode & bits[test])
    if test == "-O":
        return inode.uid == view.cred.uid
    if test == "-G":
        return inode.gid == view.cred.gid
    return test in ("-a", "-e")


def files(view: FileView, test: str, left: str, right: str) -> bool:
    """-nt, -ot, -ef: a missing file is older than any."""
    first, second = _inode(view, left), _inode(view, right)
    if test == "-ef":
        return first is not None and second is not None and first.number == second.number
    if test == "-ot":
        first, second = second, first
    if first is None:
        return False
    return second is None or first.mtime > second.mtime
