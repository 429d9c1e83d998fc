"""lsblk and blkid of util-linux 2.38.1: block devices."""

from __future__ import annotations

from runners.sim.block_devices import Disk, Partition, disks, uuid
from runners.sim.columns import Column, Node, pairs, render, rows_of
from runners.sim.commands.context import Context
from runners.sim.files.tree import Mount
from runners.sim.format import human_lsblk
from runners.sim.tool import Tool

NAMES = ("lsblk", "blkid")

_LSBLK = Tool(
    "lsblk [options] [<device> ...]",
    "A,noempty D,discard E,dedup= I,include= J,json M,merge O,output-all P,pairs S,scsi N,nvme T,tree=? "
"V,version a,all b,bytes "
    "d,nodeps e,exclude= f,fs i,ascii l,list m,perms n,noheadings o,output= p,paths r,raw s,inverse "
"t,topology w,width= "
    "x,sort= z,zoned",
    "lsblk from util-linux 2.38.1",
)  # fmt: skip
_BLKID = Tool(
    "blkid [options] [<device> ...]",
    "s,match-tag= o,output= p,probe g,garbage-collect L,label= U,uuid= k l V,version",
    "blkid from util-linux 2.38.1",
)
_DEFAULT = ["NAME", "MAJ:MIN", "RM", "SIZE", "RO", "TYPE", "MOUNTPOINTS"]
_FS = ["NAME", "FSTYPE", "FSVER", "LABEL", "UUID", "FSAVAIL", "FSUSE%", "MOUNTPOINTS"]
_RIGHT = frozenset({"RM", "SIZE", "RO", "FSAVAIL", "FSUSE%", "FSSIZE", "FSUSED"})
_KNOWN = frozenset(
    {
        *_DEFAULT,
        *_FS,
        "MOUNTPOINT",
        "MODEL",
        "PATH",
        "KNAME",
        "PKNAME",
        "FSSIZE",
        "FSUSED",
        "PARTUUID",
        "ROTA",
        "STATE",
        "OWNER",
        "GROUP",
        "MODE",
        "SERIAL",
        "VENDOR",
        "TRAN",
        "HCTL",
    }
)


def main(ctx: Context) -> int:
    if ctx.name == "blkid":
        return _blkid(ctx)
    options = _LSBLK.parse(ctx)
    if options.has("V"):
        ctx.line("lsblk from util-linux 2.38.1")
        return 0
    names = list(_FS if options.has("f") else _DEFAULT)
    output = options.value("o")
    if output is not None:
        wanted = [name.upper() for name in output.lstrip("+").split(",")]
        names = names + wanted if output.startswith("+") else wanted
        for name in names:
            if name not in _KNOWN:
                ctx.err(f"unknown column: {name}")
                return 1
    there = disks(ctx.machine)
    nodes = [_disk(ctx, disk, names, options.has("b"), options.has("p"), options.has("d")) for disk in there]
    status = 0
    if options.operands:
        by_name = {disk.name: node for disk, node in zip(there, nodes, strict=True)}
        for disk, top in zip(there, nodes, strict=True):
            # With -d the disks stand alone, but a partition that is named is shown.
            below = top.children or _disk(ctx, disk, names, options.has("b"), options.has("p"), False).children
            by_name |= {part.name: node for part, node in zip(disk.partitions, below, strict=True)}
        nodes = []
        for operand in options.operands:
            node = by_name.get(operand.removeprefix("/dev/"))
            if node is None:
                ctx.err(f"{operand}: not a block device")
                status = 32
            else:
                nodes.append(node)
    columns = [Column(name, name in _RIGHT) for name in names]
    flat = options.has("l", "r", "P")
    rows = (
        [list(node.cells) for top in nodes for node in (top, *top.children)]
        if flat
        else rows_of(nodes, ascii_only=options.has("i"))
    )
    if names[0] != "NAME" and not flat:
        rows = [list(node.cells) for top in nodes for node in (top, *top.children)]
    if status and not nodes:
        return status
    if options.has("P"):
        for row in rows:
            ctx.line(pairs(columns, [cell.strip() for cell in row]))
    elif options.has("r"):
        for row in ([] if options.has("n") else [names]) + rows:
            ctx.line(" ".join(cell.strip() for cell in row))
    else:
        for line in render(columns, rows, headings=not options.has("n")):
            ctx.line(line)
    return status


def _disk(ctx: Context, disk: Disk, names: list[str], raw: bool, paths: bool, alone: bool) -> Node:
    cells = tuple(
        _cell(ctx, name, disk.name, (disk.major, disk.minor), disk.size, "disk", disk.mount, None, raw, paths)
        for name in names
    )
    parts = tuple(
        Node(
            tuple(
                _cell(
                    ctx,
                    name,
                    part.name,
                    (disk.major, disk.minor + part.minor),
                    part.size,
                    "part",
                    part.mount,
                    part,
                    raw,
                    paths,
                    disk.name,
                )
                for name in names
            )
        )
        for part in disk.partitions
    )
    return Node(cells, () if alone else parts)


def _cell(
    ctx: Context, column: str, name: str, number: tuple[int, int], size: int, kind: str, mount: Mount | None,
    part: Partition | None, raw: bool, paths: bool, parent: str = "",
) -> str:  # fmt: skip
    swap = part is not None and part.swap
    tree = ctx.files.tree
    if column in ("FSAVAIL", "FSUSE%", "FSSIZE", "FSUSED"):
        if mount is None:
            return ""
        free = tree.free(mount).bytes
        used = mount.size - free
        if column == "FSUSE%":
            return f"{used * 100 // mount.size}%" if mount.size else ""
        value = {"FSAVAIL": free, "FSSIZE": mount.size, "FSUSED": used}[column]
        return str(value) if raw else human_lsblk(value)
    versions = {"ext4": "1.0", "swap": "1", "vfat": "FAT32"}
    fstype = mount.fstype if mount is not None else "swap" if swap else ""
    places = [other.path for other in tree.mounts if mount is not None and other.source == mount.source]
    return {
        "NAME": f"/dev/{name}" if paths else name, "KNAME": name, "PATH": f"/dev/{name}", "PKNAME": parent,
        "MAJ:MIN": f"{number[0]:>3}:{number[1]:<3}", "RM": "0",
        "SIZE": str(size) if raw else human_lsblk(size), "RO": "0", "TYPE": kind,
        "MOUNTPOINTS": ", ".join(places) if places else "[SWAP]" if swap else "",
        "MOUNTPOINT": places[-1] if places else "[SWAP]" if swap else "", "FSTYPE": fstype,
        "FSVER": versions.get(fstype, ""), "LABEL": "",
        "UUID": uuid(ctx.machine, f"/dev/{name}") if fstype else "", "PARTUUID": "",
        "ROTA": "0", "STATE": "running" if kind == "disk" else "", "OWNER": "root", "GROUP": "disk",
        "MODE": "brw-rw----", "MODEL": "", "SERIAL": "", "VENDOR": "", "TRAN": "", "HCTL": "",
    }[column]  # fmt: skip


def _blkid(ctx: Context) -> int:
    options = _BLKID.parse(ctx)
    if ctx.cred.uid != 0:
        return 2
    found = False
    for disk in disks(ctx.machine):
        for part in disk.partitions:
            path = f"/dev/{part.name}"
            if options.operands and path not in options.operands:
                continue
            fstype = part.mount.fstype if part.mount is not None else "swap"
            block = ' BLOCK_SIZE="4096"' if fstype == "ext4" else ""
            values = {"UUID": uuid(ctx.machine, path), "TYPE": fstype}
            tag = options.value("s")
            if options.value("o") == "value":
                ctx.line(values.get(tag, "") if tag else "\n".join(values.values()))
            elif tag:
                ctx.line(f'{path}: {tag}="{values.get(tag, "")}"')
            else:
                ctx.line(f'{path}: UUID="{values["UUID"]}"{block} TYPE="{fstype}"')
            found = True
    return 0 if found else 2
