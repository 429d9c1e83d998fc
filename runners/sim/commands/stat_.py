"""stat: display file or file system status."""

from __future__ import annotations

import re
import stat
from datetime import UTC, datetime

from runners.sim.block_devices import numbers
from runners.sim.commands.context import Context
from runners.sim.commands.echo import unescape
from runners.sim.commands.inputs import describe, quoted, shell_style
from runners.sim.commands.options import parse, usage_error
from runners.sim.files.inode import Inode
from runners.sim.users import accounts

_DEFAULT = (
    "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-10i  Links: {links}\n"
    "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: %w\n"
)
_DIRECTIVE = re.compile(r"%([-0 #+]*)(\d*)(?:\.(\d+))?([HL]?[a-zA-Z%])")
_FS_DEFAULT = (
    '  File: "%n"\n    ID: %-8i Namelen: %-7l Type: %T\nBlock size: %-10s Fundamental block size: %S\n'
    "Blocks: Total: %-10b Free: %-10f Available: %a\nInodes: Total: %-10c Free: %d\n"
)


def kind(inode: Inode) -> str:
    mode = inode.mode
    if stat.S_ISREG(mode):
        return "regular file" if inode.size else "regular empty file"
    names = (
        (stat.S_ISDIR, "directory"), (stat.S_ISLNK, "symbolic link"), (stat.S_ISCHR, "character special file"),
        (stat.S_ISBLK, "block special file"), (stat.S_ISFIFO, "fifo"), (stat.S_ISSOCK, "socket"),
    )  # fmt: skip
    return next((name for test, name in names if test(mode)), "weird file")


def _time(moment: float) -> str:
    at = datetime.fromtimestamp(moment, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{int(moment % 1 * 1e9):09d} +0000"


def _value(ctx: Context, path: str, inode: Inode, letter: str) -> str:
    known = accounts(ctx.machine)
    mount = ctx.machine.files.mount_of(inode)
    target = f" -> {quoted(inode.target)}" if inode.target is not None else ""
    major, minor = numbers(ctx.machine, inode.dev)
    device = major << 8 | minor
    # A file is at least as old as its content and its latest change: there is no older trace of it here.
    birth = min(inode.mtime, inode.ctime)
    values = {
        "n": path, "N": shell_style(path) + target if target == "" else quoted(path) + target, "s": str(inode.size),
        "b": str(inode.blocks // 512), "B": "512", "o": "4096", "F": kind(inode), "d": str(device),
        "D": f"{device:x}", "Hd": str(major), "Ld": str(minor), "i": str(inode.serial), "h": str(inode.nlink),
        "a": f"{inode.permissions:o}", "A": stat.filemode(inode.mode), "f": f"{inode.mode:x}", "u": str(inode.uid),
        "U": known.user_name(inode.uid), "g": str(inode.gid), "G": known.group_name(inode.gid),
        "x": _time(inode.mtime), "y": _time(inode.mtime), "z": _time(inode.ctime), "w": _time(birth),
        "X": str(int(inode.mtime)), "Y": str(int(inode.mtime)), "Z": str(int(inode.ctime)), "W": str(int(birth)),
        "m": mount.path, "t": f"{inode.device[0]:x}" if inode.device else "0",
        "T": f"{inode.device[1]:x}" if inode.device else "0", "%": "%", "C": "?",
    }  # fmt: skip
    return values.get(letter, "?")


def _filesystem(ctx: Context, path: str, inode: Inode, letter: str) -> str:
    tree = ctx.machine.files
    mount = tree.mount_of(inode)
    free = tree.free(mount)
    types = {"ext4": "ext2/ext3"}
    values = {
        "n": path, "i": f"{mount.dev:x}", "l": "255", "T": types.get(mount.fstype, mount.fstype), "s": "4096",
        "S": "4096", "b": str(mount.size // 4096), "f": str(free.bytes // 4096), "a": str(free.bytes // 4096),
        "c": str(mount.inodes), "d": str(free.inodes), "%": "%", "t": "ef53",
    }  # fmt: skip
    return values.get(letter, "?")


def main(ctx: Context) -> int:
    options = parse(
        ctx, "Lfc:t", ["dereference/L", "file-system/f", "format=/c", "printf=", "terse/t", "cached="],
        usage="Usage: stat [OPTION]... FILE...\nDisplay file or file system status.",
    )  # fmt: skip
    if not options.operands:
        usage_error(ctx, "missing operand")
    form = options.last("c", "printf")
    value = _filesystem if options.has("f") else _value
    status = 0
    for path in options.operands:
        try:
            inode = ctx.files.stat(path, follow=options.has("L", "f"))
        except OSError as error:
            verb = "cannot read file system information for" if options.has("f") else "cannot statx"
            ctx.err(f"{verb} {quoted(path)}: {describe(error)}")
            status = 1
            continue
        if form == "printf":
            data, _ = unescape((options.value("printf") or "").encode("utf-8", "surrogateescape"))
            template = data.decode("utf-8", "surrogateescape")
        elif form == "c":
            template = (options.value("c") or "") + "\n"
        elif options.has("t"):
            template = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n"
        elif options.has("f"):
            template = _FS_DEFAULT
        else:
            template = _DEFAULT.replace("{links}", "%-5h Device type: %t,%T" if inode.device else "%h")

        def fill(match: re.Match[str], path: str = path, inode: Inode = inode) -> str:
            flags, width, precision, letter = match.groups()
            text = value(ctx, path, inode, letter)
            if letter == "a" and "#" in flags:
                text = "0" + text
            if precision:
                text = text[: int(precision)]
            if width:
                fill_char = "0" if "0" in flags else " "
                text = text.ljust(int(width)) if "-" in flags else text.rjust(int(width), fill_char)
            return text

        ctx.out(_DIRECTIVE.sub(fill, template))
    return status
