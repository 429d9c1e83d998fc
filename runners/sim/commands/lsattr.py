"""lsattr and chattr of e2fsprogs: attributes that the file system itself heeds."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.files.inode import Inode

NAMES = ("lsattr", "chattr")


def main(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith(("-", "+", "="))]
    if ctx.name == "lsattr":
        return _lsattr(ctx, words)
    return _chattr(ctx)


_LETTERS = "aAcCdDeFijmPsStTux"


def _chattr(ctx: Context) -> int:
    """Set, add or take away attributes; of these the kernel heeds `i` and `a` here."""
    words = list(ctx.args)
    recursive = False
    while words and words[0] in ("-R", "-V", "-f"):
        recursive = words.pop(0) == "-R" or recursive
    mode = words.pop(0) if words else ""
    if not words or mode[:1] not in ("+", "-", "=") or not set(mode[1:]) <= set(_LETTERS):
        ctx.stderr.write(b"Usage: chattr [-pRVf] [-+=aAcCdDeijPsStTuFx] [-v version] files...\n")
        return 1
    status = 0
    for path in words:
        status |= _mark(ctx, path, mode[0], mode[1:], recursive)
    return status


def _mark(ctx: Context, path: str, how: str, letters: str, recursive: bool) -> int:
    try:
        inode = ctx.files.stat(path, follow=False)
    except OSError as error:
        ctx.err(f"{error.strerror} while trying to stat {path}")
        return 1
    heeded = "".join(letter for letter in letters if letter in "ia")
    if ctx.cred.uid != 0 and (ctx.cred.uid != inode.uid or heeded):
        ctx.err(f"Operation not permitted while setting flags on {path}")
        return 1
    if inode.number < 0 or not (inode.is_file or inode.is_dir):
        ctx.err(f"Operation not supported while reading flags on {path}")
        return 1
    before = "" if how == "=" else inode.attributes
    after = "".join(
        one for one in "ia" if (one in before and not (how == "-" and one in heeded)) or (how != "-" and one in heeded)
    )
    if after != inode.attributes:
        ctx.files.tree.put(inode._replace(attributes=after, ctime=ctx.machine.clock.now))
    status = 0
    for name in ctx.files.names(path) if recursive and inode.is_dir else ():
        status |= _mark(ctx, f"{path.rstrip('/')}/{name}", how, letters, recursive)
    return status


def _flags(inode: Inode) -> str:
    """lsattr's column: a letter at its place for each attribute; all files here have extents."""
    immutable, growing = ("i" if "i" in inode.attributes else "-"), ("a" if "a" in inode.attributes else "-")
    return f"----{immutable}{growing}--------e-------"


def _lsattr(ctx: Context, words: list[str]) -> int:
    status = 0
    alone = any("d" in word for word in ctx.args if word.startswith("-"))
    hidden = any("a" in word for word in ctx.args if word.startswith("-"))
    for path in words or ["."]:
        try:
            inode = ctx.files.stat(path)
            if inode.is_dir and not alone:
                for name in sorted(one for one in ctx.files.names(path) if hidden or not one.startswith(".")):
                    inner = f"{path.rstrip('/')}/{name}"
                    ctx.line(f"{_flags(ctx.files.stat(inner, follow=False))} {inner}")
            else:
                ctx.line(f"{_flags(inode)} {path}")
        except OSError as error:
            ctx.err(f"{error.strerror} while trying to stat {path}")
            status = 1
    return status
