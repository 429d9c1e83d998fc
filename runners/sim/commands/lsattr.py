"""lsattr, chattr, getfacl and setfacl: what a file has beside its mode. No file here carries more than extents."""

from __future__ import annotations

import stat

from runners.sim.commands.context import Context
from runners.sim.users import accounts

NAMES = ("lsattr", "chattr", "getfacl")


def main(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith(("-", "+", "="))]
    if ctx.name == "lsattr":
        return _lsattr(ctx, words)
    if ctx.name == "getfacl":
        return _getfacl(ctx, words)
    if len(ctx.args) < 2:
        ctx.stderr.write(b"Usage: chattr [-pRVf] [-+=aAcCdDeijPsStTuFx] [-v version] files...\n")
        return 1
    status = 0
    for path in words:
        try:
            inode = ctx.files.stat(path, follow=False)
        except OSError as error:
            ctx.err(f"{error.strerror} while trying to stat {path}")
            status = 1
            continue
        if ctx.cred.uid not in (0, inode.uid) or ctx.cred.uid != 0:
            ctx.err(f"Operation not permitted while setting flags on {path}")
            status = 1
    return status


def _lsattr(ctx: Context, words: list[str]) -> int:
    status = 0
    alone = any("d" in word for word in ctx.args if word.startswith("-"))
    for path in words or ["."]:
        try:
            inode = ctx.files.stat(path)
            if inode.is_dir and not alone:
                for name in sorted(one for one in ctx.files.names(path) if not one.startswith(".")):
                    ctx.line(f"--------------e------- {path.rstrip('/')}/{name}")
            else:
                ctx.line(f"--------------e------- {path}")
        except OSError as error:
            ctx.err(f"{error.strerror} while trying to stat {path}")
            status = 1
    return status


def _getfacl(ctx: Context, words: list[str]) -> int:
    known = accounts(ctx.machine)
    status = 0
    for path in words:
        try:
            inode = ctx.files.stat(path)
        except OSError as error:
            ctx.err(f"{path}: {error.strerror}")
            status = 1
            continue
        if path.startswith("/"):
            ctx.stderr.write(b"getfacl: Removing leading '/' from absolute path names\n")
        bits = stat.filemode(inode.mode)[1:].replace("s", "x").replace("t", "x")
        ctx.line(
            f"# file: {path.lstrip('/')}\n# owner: {known.user_name(inode.uid)}\n# group: {known.group_name(inode.gid)}"
        )
        ctx.line(f"user::{bits[:3]}\ngroup::{bits[3:6]}\nother::{bits[6:]}\n")
    return status
