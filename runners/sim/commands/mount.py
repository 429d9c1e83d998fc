"""mount of util-linux 2.38.1: list, mount and remount file systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.options import Options
from runners.sim.files.tree import Mount
from runners.sim.tool import Tool
from runners.text import is_digits

NAMES = ("mount", "umount")
PATH = "/bin/mount"

_MOUNT = Tool(
    "mount [-lhV] | mount -a [options] | mount [options] <source> <directory>",
    "a,all c,no-canonicalize f,fake F,fork T,fstab= i,internal-only l,show-labels m,mkdir=? n,no-mtab o,options= "
    "O,test-opts= r,read-only t,types= source= target= v,verbose w,rw L,label= U,uuid= B,bind M,move R,rbind V,version",
    "mount from util-linux 2.38.1",
)  # fmt: skip
_UMOUNT = Tool(
    "umount [-hV] | umount -a [options] | umount [options] <source> | <directory>",
    "a,all A,all-targets c,no-canonicalize d,detach-loop fake f,force i,internal-only n,no-mtab l,lazy O,test-opts= "
    "R,recursive r,read-only t,types= v,verbose q,quiet V,version",
    "umount from util-linux 2.38.1",
)  # fmt: skip
_NOT_STORED = frozenset(
    {"defaults", "auto", "noauto", "user", "users", "nouser", "nofail", "_netdev", "remount", "bind", "rbind"}
)
_OPPOSITES = {
    "rw": "ro",
    "ro": "rw",
    "exec": "noexec",
    "noexec": "exec",
    "suid": "nosuid",
    "nosuid": "suid",
    "dev": "nodev",
    "nodev": "dev",
    "atime": "noatime",
    "noatime": "relatime",
    "relatime": "noatime",
}
_DEFAULTS = frozenset({"exec", "suid", "dev", "async", "atime"})


class _Line(NamedTuple):
    """One line of /etc/fstab."""

    source: str
    target: str
    fstype: str
    options: tuple[str, ...]


def main(ctx: Context) -> int:
    if ctx.name == "umount":
        return _umount(ctx)
    options = _MOUNT.parse(ctx)
    if options.has("V"):
        ctx.line(
            "mount from util-linux 2.38.1 (libmount 2.38.1: selinux, smack, btrfs, verity, namespaces, assert, debug)"
        )
        return 0
    wanted = [word for value in options.values("o") for word in value.split(",") if word]
    if options.has("r"):
        wanted.append("ro")
    if options.has("w"):
        wanted.append("rw")
    if options.has("B", "R"):
        wanted.append("bind")
    if options.has("a"):
        return _mount_all(ctx, options)
    if not options.operands and not options.has("L", "U", "source", "target"):
        types = options.value("t")
        for mount in ctx.files.tree.mounts:
            if types is None or mount.fstype in types.split(","):
                ctx.line(f"{mount.source} on {mount.path} type {mount.fstype} ({','.join(mount.options)})")
        return 0
    if ctx.cred.uid != 0:
        ctx.err(f"{options.operands[-1] if options.operands else ''}: must be superuser to use mount.")
        ctx.stderr.write(b"       dmesg(1) may have more information after failed mount system call.\n")
        return 32
    return _mount_one(ctx, options, wanted)


def _fstab(ctx: Context) -> list[_Line]:
    try:
        text = ctx.machine.view().text("/etc/fstab")
    except OSError:
        return []
    lines = []
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and not words[0].startswith("#"):
            words += ["auto", "defaults"][len(words) - 2 :]
            lines.append(_Line(words[0], words[1], words[2], tuple(words[3].split(","))))
    return lines


def _mounted(ctx: Context, path: str) -> Mount | None:
    found = None
    for mount in ctx.files.tree.mounts:
        if path in (mount.path, mount.source):
            found = mount
    return found


def _mount_all(ctx: Context, options: Options) -> int:
    status = 0
    for line in _fstab(ctx):
        if line.fstype == "swap" or "noauto" in line.options or line.target in ("none", "swap"):
            continue
        if _mounted(ctx, line.target) is not None:
            if options.has("v"):
                ctx.line(f"{line.target:<25}: already mounted")
            continue
        problem = _attach(ctx, line.source, line.target, line.fstype, line.options)
        if problem and "nofail" not in line.options:
            ctx.err(problem)
            status = 32
    return status


def _mount_one(ctx: Context, options: Options, wanted: Sequence[str]) -> int:
    operands = [value for value in (options.value("source"), options.value("target")) if value] + options.operands
    if not operands:
        ctx.err("bad usage")
        ctx.stderr.write(b"Try 'mount --help' for more information.\n")
        return 1
    fstype = options.value("t") or "auto"
    target = ctx.files.absolute(operands[-1])
    if "remount" in wanted:
        mount = _mounted(ctx, target)
        if mount is None:
            ctx.err(f"{operands[-1]}: mount point not mounted or bad option.")
            return 32
        if "ro" in wanted and _writers(ctx, mount):
            ctx.err(f"{operands[-1]}: mount point is busy.")
            ctx.stderr.write(b"       dmesg(1) may have more information after failed mount system call.\n")
            return 32
        changed = _changed(mount.options, wanted)
        if any(word.startswith("size=") for word in wanted):
            size = _bytes([word[5:] for word in wanted if word.startswith("size=")][-1], mount.size)
            ctx.files.tree.update_mount(mount.path, options=changed, size=size)
        else:
            ctx.files.tree.update_mount(mount.path, options=changed)
        return 0
    if len(operands) == 1:
        lines = [line for line in _fstab(ctx) if operands[0] in (line.source, line.target) or target == line.target]
        if not lines:
            ctx.err(f"{operands[0]}: can't find in /etc/fstab.")
            return 1
        line = lines[0]
        problem = _attach(ctx, line.source, line.target, line.fstype, [*line.options, *wanted])
    else:
        problem = _attach(ctx, operands[0], target, fstype, wanted)
    if problem:
        ctx.err(problem)
        if "system call" in problem or "wrong fs type" in problem or "already mounted" in problem:
            ctx.stderr.write(b"       dmesg(1) may have more information after failed mount system call.\n")
        return 32
    return 0


def _attach(ctx: Context, source: str, target: str, fstype: str, wanted: Sequence[str]) -> str:
    """Mount something new. Returns mount's complaint, or nothing."""
    try:
        over = ctx.files.stat(target)
    except OSError:
        return f"{target}: mount point does not exist."
    if not over.is_dir:
        return f"{target}: mount point is not a directory."
    tree = ctx.files.tree
    if fstype in ("tmpfs", "ramfs", "proc", "sysfs", "devpts"):
        size = next((word[5:] for word in wanted if word.startswith("size=")), "")
        total = _bytes(size, 2 << 30) if fstype == "tmpfs" else 0
        options = _changed(("rw", "relatime"), wanted)
        dev = max(mount.dev for mount in tree.mounts) + 1
        tree.mount(Mount(dev, target, source, fstype, total, 200_000, 0, options), over)
        return ""
    if "bind" in wanted:
        return f"{target}: mount(2) system call failed: Operation not permitted."
    busy = _mounted(ctx, source)
    if busy is not None:
        return f"{target}: {source} already mounted on {busy.path}."
    if not ctx.files.exists(source) and not source.startswith(("UUID=", "LABEL=", "PARTUUID=")):
        if ":" in source or source.startswith("//"):
            return (
                f"{target}: bad option; for several filesystems (e.g. nfs, cifs) you might need a "
                "/sbin/mount.<type> helper program."
            )
        return f"{target}: special device {source} does not exist."
    if "=" in source:
        return f"{target}: can't find {source}."
    return (
        f"{target}: wrong fs type, bad option, bad superblock on {source}, missing codepage or helper program, "
        "or other error."
    )


def _bytes(text: str, default: int) -> int:
    units = {"k": 10, "m": 20, "g": 30}
    if is_digits(text):
        return int(text)
    if is_digits(text[:-1]) and text[-1].lower() in units:
        return int(text[:-1]) << units[text[-1].lower()]
    return default


def _changed(old: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Options after those of the command line, read-write first as the kernel lists them."""
    options = list(old)
    for word in wanted:
        if word in _NOT_STORED:
            continue
        name = word.split("=", 1)[0]
        opposite = _OPPOSITES.get(word)
        options = [one for one in options if one not in (opposite, word) and one.split("=", 1)[0] != name]
        if word in ("rw", "ro"):
            options.insert(0, word)
        elif word not in _DEFAULTS:
            options.append(word)
    return tuple(options)


def _writers(ctx: Context, mount: Mount) -> bool:
    inodes = ctx.files.tree.inodes
    for process in ctx.machine.processes:
        for file in process.files:
            inode = inodes.get(file.inode)
            if inode is not None and inode.dev == mount.dev and file.mode != "r":
                return True
    return False


def _users(ctx: Context, mount: Mount) -> bool:
    inodes = ctx.files.tree.inodes
    for process in ctx.machine.processes:
        if (process.cwd + "/").startswith(mount.path.rstrip("/") + "/") and process.cwd != "/":
            return True
        for file in process.files:
            inode = inodes.get(file.inode)
            if inode is not None and inode.dev == mount.dev:
                return True
    return (ctx.files.cwd + "/").startswith(mount.path.rstrip("/") + "/")


def _umount(ctx: Context) -> int:
    options = _UMOUNT.parse(ctx)
    if not options.operands and not options.has("a"):
        _UMOUNT.fail(ctx, "bad usage")
    status = 0
    for operand in options.operands:
        path = ctx.files.absolute(operand)
        mount = _mounted(ctx, path) or _mounted(ctx, operand)
        if mount is None:
            if ctx.files.exists(operand):
                ctx.err(f"{operand}: not mounted.")
            else:
                ctx.err(f"{operand}: no mount point specified.")
            status = 32
        elif ctx.cred.uid != 0:
            ctx.err(f"{operand}: must be superuser to unmount.")
            status = 32
        elif mount.path == "/" or (_users(ctx, mount) and not options.has("l")) or _below(ctx, mount):
            ctx.err(f"{operand}: target is busy.")
            status = 32
        else:
            ctx.files.tree.unmount(mount.path)
            if options.has("v"):
                ctx.line(f"umount: {mount.path} unmounted")
    return status


def _below(ctx: Context, mount: Mount) -> bool:
    return any(other.path.startswith(mount.path.rstrip("/") + "/") for other in ctx.files.tree.mounts)
