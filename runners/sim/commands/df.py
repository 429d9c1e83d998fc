"""df of coreutils 9.1: space and inodes of mounted file systems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options
from runners.sim.files.tree import Mount
from runners.sim.format import human_ceiling
from runners.sim.tool import Tool

_TOOL = Tool(
    "df [OPTION]... [FILE]...",
    "a,all B,block-size= h,human-readable H,si i,inodes k l,local m no-sync output=? P,portability sync total t,type= "
    "T,print-type x,exclude-type= v",
    "df (GNU coreutils) 9.1",
)  # fmt: skip

_FIELDS = (
    "source",
    "fstype",
    "itotal",
    "iused",
    "iavail",
    "ipcent",
    "size",
    "used",
    "avail",
    "pcent",
    "file",
    "target",
)
_TITLES = {
    "source": "Filesystem", "fstype": "Type", "itotal": "Inodes", "iused": "IUsed", "iavail": "IFree",
    "ipcent": "IUse%", "used": "Used", "avail": "Avail", "pcent": "Use%", "file": "File", "target": "Mounted on",
}  # fmt: skip
_MINIMUM = {"source": 14, "fstype": 4, "target": 0, "file": 0, "pcent": 4, "ipcent": 4}
_REMOTE = ("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs")
_SUFFIXES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}


class _Row(NamedTuple):
    source: str
    fstype: str
    target: str
    file: str
    size: int
    used: int
    avail: int
    inodes: int
    inodes_used: int


class _Scale(NamedTuple):
    """How sizes are shown: `human` base (0: blocks of `block` bytes), a suffix after each, and the column's title."""

    human: int
    block: int
    suffix: str
    title: str


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    scale = _scale(ctx, options)
    fields = _fields(ctx, options)
    status = 0
    rows: list[_Row] = []
    if options.operands:
        for path in options.operands:
            try:
                inode = ctx.files.stat(path)
            except OSError as error:
                ctx.err(f"{path}: {error.strerror}")
                status = 1
                continue
            device = [mount for mount in ctx.files.tree.mounts if mount.source == path]
            rows.append(_row(ctx, device[-1] if device else ctx.files.tree.mount_of(inode), path))
    else:
        rows = [_row(ctx, mount, "-") for mount in _visible(ctx, everything=options.has("a"))]
    types, excluded = options.values("t"), options.values("x")
    rows = [
        row for row in rows
        if (not types or row.fstype in types) and row.fstype not in excluded
        and not (options.has("l") and row.fstype in _REMOTE)
    ]  # fmt: skip
    if not rows:
        if status == 0:
            ctx.err("no file systems processed")
        return 1
    if options.has("total"):
        rows.append(_total(rows))
    chosen = options.has("output")
    _print(ctx, rows, fields, scale, portable=options.has("P") and not chosen, long_titles=not chosen)
    return status


def _visible(ctx: Context, *, everything: bool) -> list[Mount]:
    """Mounts in order; without --all only those that hold blocks, and a later mount at a place hides the earlier."""
    by_path: dict[str, Mount] = {}
    for mount in ctx.files.tree.mounts:
        if everything or mount.size:
            by_path.pop(mount.path, None)
            by_path[mount.path] = mount
    return list(by_path.values())


def _row(ctx: Context, mount: Mount, file: str) -> _Row:
    tree = ctx.files.tree
    free = tree.free(mount)
    return _Row(
        mount.source, mount.fstype, mount.path, file, mount.size, mount.size - free.bytes, free.bytes,
        mount.inodes, mount.inodes - free.inodes,
    )  # fmt: skip


def _total(rows: Sequence[_Row]) -> _Row:
    sums = [sum(figures) for figures in zip(*((row[4:]) for row in rows), strict=True)]
    return _Row("total", "-", "-", "-", *sums)


def _scale(ctx: Context, options: Options) -> _Scale:
    for name in reversed([name for name, _ in options.given]):
        if name == "h":
            return _Scale(1024, 0, "", "Size")
        if name == "H":
            return _Scale(1000, 0, "", "Size")
        if name == "k":
            return _Scale(0, 1024, "", "1K-blocks")
        if name == "m":
            return _Scale(0, 1 << 20, "", "1M-blocks")
        if name == "B":
            return _block_size(ctx, options.value("B") or "")
    return _Scale(0, 1024, "", "1024-blocks" if options.has("P") else "1K-blocks")


def _block_size(ctx: Context, text: str) -> _Scale:
    match = re.fullmatch(r"(\d*)([KMGTP]?)(i?B)?", text)
    if match is None or not text or match.group(1) == "0":
        ctx.err(f"invalid -B argument '{text}'")
        raise CommandExit(1)
    count, letter, tail = match.groups()
    unit = (
        {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}[letter]
        if letter and tail == "B"
        else _SUFFIXES.get(letter, 1)
    )
    block = int(count or 1) * unit
    suffix = "" if count else letter + (tail or "")
    return _Scale(0, block, suffix, f"{count or 1}{letter}{tail if letter and tail else '' if letter else 'B'}-blocks")


def _fields(ctx: Context, options: Options) -> list[str]:
    if options.has("output"):
        text = options.value("output")
        fields = text.split(",") if text else list(_FIELDS)
        for field in fields:
            if field not in _FIELDS:
                ctx.err(f"option --output: field '{field}' unknown")
                ctx.stderr.write(b"Try 'df --help' for more information.\n")
                raise CommandExit(1)
        return fields
    counts = ["itotal", "iused", "iavail", "ipcent"] if options.has("i") else ["size", "used", "avail", "pcent"]
    return ["source", *(["fstype"] if options.has("T") else []), *counts, "target"]


def _print(
    ctx: Context, rows: Sequence[_Row], fields: Sequence[str], scale: _Scale, *, portable: bool, long_titles: bool
) -> None:
    titles = dict(_TITLES)
    titles["size"] = scale.title
    if not scale.human and long_titles:
        titles["avail"] = "Available"
    if portable:
        titles["pcent"] = "Capacity"
    lines = [[titles[field] for field in fields]]
    lines += [[_cell(row, field, scale) for field in fields] for row in rows]
    widths = [
        max(_MINIMUM.get(field, 5), *(len(line[column]) for line in lines)) for column, field in enumerate(fields)
    ]
    for line in lines:
        cells = [
            cell if field in ("target", "file") and column == len(fields) - 1
            else f"{cell:<{width}}" if field in ("source", "fstype", "target", "file") else f"{cell:>{width}}"
            for column, (cell, field, width) in enumerate(zip(line, fields, widths, strict=True))
        ]  # fmt: skip
        ctx.line(" ".join(cells))


def _cell(row: _Row, field: str, scale: _Scale) -> str:
    if field in ("source", "fstype", "target", "file"):
        return str(getattr(row, field))
    inodes_free = row.inodes - row.inodes_used
    if field in ("itotal", "iused", "iavail"):
        count = {"itotal": row.inodes, "iused": row.inodes_used, "iavail": inodes_free}[field]
        return human_ceiling(count, base=scale.human) if scale.human else str(count)
    if field == "ipcent":
        return _percent(row.inodes_used, inodes_free)
    if field == "pcent":
        return _percent(row.used, row.avail) if row.size else "-"
    size = {"size": row.size, "used": row.used, "avail": row.avail}[field]
    if scale.human:
        return human_ceiling(size, base=scale.human)
    return f"{-(-size // scale.block)}{scale.suffix}"


def _percent(used: int, free: int) -> str:
    whole = used + free
    return f"{-(-used * 100 // whole)}%" if whole else "-"
