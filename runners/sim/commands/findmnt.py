"""findmnt of util-linux 2.38.1: mounted file systems as a tree or a list."""

from __future__ import annotations

from runners.sim.block_devices import numbers, uuid
from runners.sim.columns import Column, Node, pairs, render, rows_of
from runners.sim.commands.context import Context
from runners.sim.files.tree import Mount
from runners.sim.format import human_lsblk
from runners.sim.tool import Tool

NAMES = ("findmnt", "mountpoint")

_TOOL = Tool(
    "findmnt [options] [<device>|<mountpoint>]",
    "s,fstab m,mtab k,kernel A,all a,ascii b,bytes D,df d,direction= e,evaluate F,tab-file= f,first-only i,invert "
    "J,json l,list n,noheadings o,output= output-all P,pairs r,raw real pseudo R,submounts S,source= T,target= "
    "M,mountpoint= t,types= O,options= u,notruncate U,uniq v,nofsroot x,verify V,version",
    "findmnt from util-linux 2.38.1",
)  # fmt: skip
_MOUNTPOINT = Tool(
    "mountpoint [-qd] /path/to/directory",
    "q,quiet nofollow d,fs-devno x,devno V,version",
    "mountpoint from util-linux 2.38.1",
)
_COLUMNS = {
    "TARGET": False, "SOURCE": False, "FSTYPE": False, "OPTIONS": False, "SIZE": True, "USED": True, "AVAIL": True,
    "USE%": True, "UUID": False, "LABEL": False, "MAJ:MIN": False, "VFS-OPTIONS": False, "FS-OPTIONS": False,
    "PROPAGATION": False, "ID": True, "PARENT": True,
}  # fmt: skip


def main(ctx: Context) -> int:
    if ctx.name == "mountpoint":
        return _mountpoint(ctx)
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.line("findmnt from util-linux 2.38.1")
        return 0
    mounts = _fstab(ctx) if options.has("s") else list(ctx.files.tree.mounts)
    chosen = [
        mount for mount in mounts if _matches(ctx, mount, options.values("t"), options.value("S"), options.value("M"))
    ]
    target = options.value("T")
    if target is not None:
        try:
            chosen = [ctx.files.tree.mount_of(ctx.files.stat(target))]
        except OSError:
            return 1
    if options.operands:
        wanted = options.operands[0]
        paths = {wanted, wanted.rstrip("/") or "/", ctx.files.absolute(wanted)}
        chosen = [mount for mount in chosen if mount.path in paths or mount.source in paths]
        if len(options.operands) > 1:
            chosen = [mount for mount in chosen if mount.path == options.operands[1]]
    if options.has("f"):
        chosen = chosen[:1]
    if not chosen:
        return 1
    names = ["TARGET", "SOURCE", "FSTYPE", "OPTIONS"]
    if options.has("D"):
        names = ["SOURCE", "FSTYPE", "SIZE", "USED", "AVAIL", "USE%", "TARGET"]
        chosen = [mount for mount in chosen if mount.size]
    output = options.value("o")
    if output is not None:
        names = [name.upper() for name in output.lstrip("+").split(",")]
        for name in names:
            if name not in _COLUMNS:
                ctx.err(f"unknown column: {name.lower()}")
                return 1
        if output.startswith("+"):
            names = ["TARGET", "SOURCE", "FSTYPE", "OPTIONS", *names]
    columns = [Column(name, _COLUMNS[name]) for name in names]
    filtered = options.has("t", "S", "M", "T", "s", "f", "l", "r", "P", "D", "n", "i") or options.operands
    if filtered or names[0] != "TARGET":
        rows = [[_cell(ctx, mount, name, options.has("b")) for name in names] for mount in chosen]
    else:
        rows = rows_of(_forest(ctx, chosen, names, options.has("b")), ascii_only=options.has("a"))
    if options.has("P"):
        for row in rows:
            ctx.line(pairs(columns, row))
        return 0
    if options.has("r"):
        for row in ([] if options.has("n") else [names]) + rows:
            ctx.line(" ".join(row))
        return 0
    for line in render(columns, rows, headings=not options.has("n")):
        ctx.line(line)
    return 0


def _matches(ctx: Context, mount: Mount, types: list[str], source: str | None, point: str | None) -> bool:
    wanted = {one for value in types for one in value.split(",")}
    if wanted and mount.fstype not in wanted:
        return False
    if source is not None and mount.source != source:
        return False
    return point is None or mount.path == ctx.files.absolute(point)


def _cell(ctx: Context, mount: Mount, name: str, raw: bool) -> str:
    tree = ctx.files.tree
    if name in ("SIZE", "USED", "AVAIL", "USE%"):
        if mount.dev < 0:
            return ""
        free = tree.free(mount).bytes
        used = mount.size - free
        if name == "USE%":
            return f"{-(-used * 100 // mount.size)}%" if mount.size else "-"
        value = {"SIZE": mount.size, "USED": used, "AVAIL": free}[name]
        return str(value) if raw else human_lsblk(value) if value else "0"
    if name in ("UUID", "LABEL"):
        return uuid(ctx.machine, mount.source) if name == "UUID" and mount.source.startswith("/dev/") else ""
    vfs = [word for word in mount.options if word in ("rw", "ro", "relatime", "noatime", "nosuid", "nodev", "noexec")]
    rest = [word for word in mount.options if word not in vfs]
    return {
        "TARGET": mount.path, "SOURCE": mount.source, "FSTYPE": mount.fstype, "OPTIONS": ",".join(mount.options),
        "MAJ:MIN": "{}:{}".format(*numbers(ctx.machine, mount.dev)), "VFS-OPTIONS": ",".join(vfs),
        "FS-OPTIONS": ",".join([vfs[0] if vfs else "rw", *rest]), "PROPAGATION": "shared",
        "ID": str(20 + mount.dev), "PARENT": "1" if mount.path == "/" else "21",
    }[name]  # fmt: skip


def _forest(ctx: Context, mounts: list[Mount], names: list[str], raw: bool) -> list[Node]:
    """Mounts under the mount that holds their folder."""

    def parent(mount: Mount) -> Mount | None:
        holders = [
            other for other in mounts
            if other is not mount and (mount.path.startswith(other.path.rstrip("/") + "/") and other.path != mount.path)
        ]  # fmt: skip
        return max(holders, key=lambda holder: len(holder.path), default=None)

    below: dict[int | None, list[Mount]] = {}
    for mount in mounts:
        above = parent(mount)
        below.setdefault(above.dev if above is not None else None, []).append(mount)

    def node(mount: Mount) -> Node:
        cells = tuple(_cell(ctx, mount, name, raw) for name in names)
        return Node(cells, tuple(node(child) for child in below.get(mount.dev, [])))

    return [node(mount) for mount in below.get(None, [])]


def _fstab(ctx: Context) -> list[Mount]:
    try:
        lines = ctx.files.text("/etc/fstab").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        words = line.split()
        if len(words) >= 4 and not words[0].startswith("#"):
            found.append(Mount(-1, words[1], words[0], words[2], 0, 0, 0, tuple(words[3].split(","))))
    return found


def _mountpoint(ctx: Context) -> int:
    options = _MOUNTPOINT.parse(ctx)
    if len(options.operands) != 1:
        _MOUNTPOINT.fail(ctx, "bad usage")
    path = options.operands[0]
    quiet = options.has("q")
    try:
        inode = ctx.files.stat(path)
    except OSError as error:
        if not quiet:
            ctx.err(f"{path}: {error.strerror}")
        return 1
    is_top = any(mount.root == inode.number for mount in ctx.files.tree.mounts)
    if not quiet:
        ctx.line(f"{path} is {'' if is_top else 'not '}a mountpoint")
    return 0 if is_top else 32
