"""fsck of util-linux 2.38.1 with e2fsck 1.47.0 behind it: checks of file systems, which must not be mounted."""

from __future__ import annotations

from runners.sim.block_devices import uuid
from runners.sim.commands.context import Context
from runners.sim.files.tree import Mount
from runners.sim.machine import Machine
from runners.sim.tool import Tool

NAMES = ("fsck", "fsck.ext4", "e2fsck")
PATH = "/sbin/fsck"

_TOOL = Tool(
    "fsck [options] -- [fs-options] [<filesystem> ...]", "A C=? l M N P r=? R s T t= V a p n y f v k c help/? version",
    "fsck from util-linux 2.38.1",
)  # fmt: skip
_USAGE = (
    "Usage: {name} [-panyrcdfktvDFV] [-b superblock] [-B blocksize]\n"
    "\t\t[-l|-L bad_blocks_file] [-C fd] [-j external_journal]\n"
    "\t\t[-E extended-options] [-z undo_file] device\n"
)


def main(ctx: Context) -> int:
    if ctx.name == "fsck":
        return _front(ctx)
    words = [word for word in ctx.args if not word.startswith("-")]
    if "-V" in ctx.args:
        ctx.stderr.write(b"e2fsck 1.47.0 (5-Feb-2023)\n\tUsing EXT2FS Library version 1.47.0, 5-Feb-2023\n")
        return 0
    if not words:
        ctx.stderr.write(_USAGE.replace("{name}", ctx.name).encode("utf-8", "surrogateescape"))
        return 16
    return _check(ctx, words[0], read_only="-n" in ctx.args)


def _front(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if not options.has("T") or options.has("V"):
        ctx.line("fsck from util-linux 2.38.1")
    if options.has("V"):
        return 0
    mounts = {mount.path: mount for mount in ctx.files.tree.mounts if mount.fstype == "ext4"}
    chosen = [_device(ctx.machine, word, mounts) for word in options.operands]
    if not chosen or options.has("A"):
        chosen = [(mount.source, mount.path) for mount in mounts.values()]
        if options.has("R"):
            chosen = [(device, path) for device, path in chosen if path != "/"]
    status = 0
    for number, (device, path) in enumerate(chosen, start=1):
        if options.has("N"):
            ctx.line(f"[/sbin/fsck.ext4 ({number}) -- {path or device}] fsck.ext4 {device} ")
        else:
            status |= _check(ctx, device, read_only=options.has("n"))
    return status


def _device(machine: Machine, word: str, mounts: dict[str, Mount]) -> tuple[str, str]:
    """The device that a word of the command line stands for, and where it is mounted."""
    for path, mount in mounts.items():
        if word in (path, mount.source, f"UUID={uuid(machine, mount.source)}"):
            return mount.source, path
    return word, ""


def _check(ctx: Context, device: str, *, read_only: bool) -> int:
    ctx.stderr.write(b"e2fsck 1.47.0 (5-Feb-2023)\n")
    mount = next((one for one in ctx.files.tree.mounts if one.source == device), None)
    if mount is None:
        reason = "No such file or directory" if not ctx.files.exists(device) else "Bad magic number in super-block"
        ctx.stderr.write(
            f"{ctx.name if ctx.name != 'fsck' else 'fsck.ext4'}: {reason} while trying to open {device}\n"
            "Possibly non-existent device?\n".encode("utf-8", "surrogateescape")
        )
        return 8
    ctx.stderr.write(f"{'Warning!  ' if read_only else ''}{device} is mounted.\n".encode("utf-8", "surrogateescape"))
    if not read_only:
        ctx.stderr.write(b"e2fsck: Cannot continue, aborting.\n\n\n")
        return 8
    usage = ctx.files.tree.usage[mount.dev]
    inodes, blocks = usage.inodes + mount.inodes_reserved, (usage.bytes + mount.reserved) >> 12
    ctx.line("Warning: skipping journal recovery because doing a read-only filesystem check.")
    ctx.line(f"{device}: clean, {inodes}/{mount.inodes} files, {blocks}/{mount.size >> 12} blocks")
    return 0
