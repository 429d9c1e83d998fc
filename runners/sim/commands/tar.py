"""tar: an archiving utility."""

from __future__ import annotations

import fnmatch
import gzip
import io
import lzma
import stat
import tarfile
import zlib
from datetime import UTC, datetime

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import Options, parse
from runners.sim.files.inode import Inode
from runners.sim.users import accounts
from runners.text import is_digits

_MAX = 64 << 20


def main(ctx: Context) -> int:
    arguments = ctx.args
    if arguments and not arguments[0].startswith("-") and arguments[0].isalpha():
        # The old way: letters without a dash, their values following in order.
        letters, rest = arguments[0], list(arguments[1:])
        made = []
        for letter in letters:
            made.append(f"-{letter}")
            if letter in "fCTX" and rest:
                made.append(rest.pop(0))
        arguments = made + rest
    options = parse(
        ctx, "ctxruzjJavf:C:pPhkOT:X:mvwS",
        ["create/c", "list/t", "extract/x", "get/x", "append/r", "gzip/z", "gunzip/z", "bzip2/j", "xz/J",
         "verbose/v", "file=/f",
         "directory=/C", "preserve-permissions/p", "absolute-names/P", "exclude=", "strip-components=", "to-stdout/O",
         "files-from=/T", "exclude-from=/X", "auto-compress/a", "dereference/h", "keep-old-files/k", "wildcards",
         "owner=",
         "group=", "mode=", "numeric-owner", "no-same-owner", "same-owner", "one-file-system", "remove-files",
         "touch/m", "overwrite"],
        status=64, arguments=arguments, usage="Usage: tar [OPTION...] [FILE]...", version="GNU tar) 1.34",
    )  # fmt: skip
    actions = [name for name in "ctxr" if options.has(name)]
    if not actions:
        ctx.err("You must specify one of the '-Acdtrux', '--delete' or '--test-label' options")
        ctx.stderr.write(b"Try 'tar --help' or 'tar --usage' for more information.\n")
        return 2
    if len(actions) > 1:
        ctx.err("You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option")
        ctx.stderr.write(b"Try 'tar --help' or 'tar --usage' for more information.\n")
        return 2
    folder = options.value("C")
    archive = options.value("f") or "-"
    start = ctx.files.cwd
    if actions[0] == "c" or (actions[0] == "r" and not ctx.files.exists(archive)):
        return _create(ctx, options, archive, folder, b"")
    try:
        data = ctx.open(archive).read()
    except OSError as error:
        ctx.err(f"{archive}: Cannot open: {describe(error)}")
        ctx.err("Error is not recoverable: exiting now")
        return 2
    if actions[0] == "r":
        if not _whole(data):
            ctx.err("This does not look like a tar archive")
            ctx.err("Exiting with failure status due to previous errors")
            return 2
        return _create(ctx, options, archive, folder, data)
    if folder is not None and not _enter(ctx, folder):
        return 2
    try:
        return _read(ctx, options, data, extract=actions[0] == "x")
    finally:
        ctx.files.cwd = start


def _whole(data: bytes) -> bool:
    """Is this an archive that more can be added to?"""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            archive.getmembers()
    except tarfile.TarError:
        return False
    return True


def _enter(ctx: Context, folder: str) -> bool:
    try:
        ctx.files.names(folder)
    except OSError as error:
        ctx.err(f"{folder}: Cannot open: {describe(error)}")
        ctx.err("Error is not recoverable: exiting now")
        return False
    ctx.files.cwd = ctx.files.real_path(folder)
    return True


def _info(ctx: Context, name: str, inode: Inode) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    known = accounts(ctx.machine)
    info.mode = inode.permissions
    info.uid, info.gid = inode.uid, inode.gid
    info.uname, info.gname = known.user_name(inode.uid), known.group_name(inode.gid)
    info.mtime = int(inode.mtime)
    if inode.is_dir:
        info.type = tarfile.DIRTYPE
    elif inode.target is not None:
        info.type, info.linkname = tarfile.SYMTYPE, inode.target
    else:
        info.size = inode.size
    return info


def _create(ctx: Context, options: Options, archive: str, folder: str | None, before: bytes) -> int:
    """-c, or -r with the archive as it was `before`."""
    operands = list(options.operands)
    listing = options.value("T")
    if listing is not None:
        operands += ctx.open(listing).read().decode("utf-8", "surrogateescape").split("\n")
        operands = [name for name in operands if name]
    if not operands:
        ctx.err("Cowardly refusing to create an empty archive")
        ctx.stderr.write(b"Try 'tar --help' or 'tar --usage' for more information.\n")
        return 2
    compress = options.has("z") or (options.has("a") and archive.endswith((".gz", ".tgz")))
    out = ctx.stdout
    try:
        if archive != "-":
            out = ctx.create(archive)
    except OSError as error:
        ctx.err(f"{archive}: Cannot open: {describe(error)}")
        ctx.err("Error is not recoverable: exiting now")
        return 2
    own = ctx.files.absolute(archive) if archive != "-" else ""
    start = ctx.files.cwd
    if folder is not None and not _enter(ctx, folder):
        return 2
    buffer = io.BytesIO(before)
    status = 0
    excluded = options.values("exclude")
    log = (
        (lambda text: ctx.stderr.write((text + "\n").encode("utf-8", "surrogateescape")))
        if archive == "-"
        else ctx.line
    )
    with tarfile.open(fileobj=buffer, mode="a" if before else "w", format=tarfile.GNU_FORMAT) as made:
        stripped = False
        pending = list(reversed(operands))
        total = 0
        while pending:
            path = pending.pop()
            ctx.spend(10)
            name = path
            if name.startswith("/") and not options.has("P"):
                if not stripped:
                    ctx.err("Removing leading `/' from member names")
                stripped = True
                name = name.lstrip("/") or "."
            if any(
                fnmatch.fnmatchcase(name, pattern)
                or fnmatch.fnmatchcase(name.rpartition("/")[2], pattern)
                or name.startswith(pattern.rstrip("/") + "/")
                for pattern in excluded
            ):
                continue
            try:
                inode = ctx.files.stat(path, follow=options.has("h"))
                if ctx.files.absolute(path) == own:
                    ctx.err(f"{path}: file is the archive; not dumped")
                    continue
                info = _info(ctx, name.rstrip("/") if name.rstrip("/") else name, inode)
                if inode.is_dir:
                    names = ctx.files.names(path)
                    made.addfile(info)
                    pending += [f"{path.rstrip('/') or ''}/{child}" for child in reversed(names)]
                elif inode.is_file:
                    content = ctx.files.read(path)
                    total += len(content)
                    if total > _MAX:
                        raise OSError(28, "File too large", path)
                    made.addfile(info, io.BytesIO(content))
                elif inode.is_link:
                    made.addfile(info)
                if options.has("v"):
                    log(name.rstrip("/") + "/" if inode.is_dir else name)
            except OSError as error:
                ctx.err(f"{path}: Cannot {'stat' if error.errno == 2 else 'open'}: {describe(error)}")
                status = 2
    data = buffer.getvalue()
    ctx.spend(len(data) >> 6)
    ctx.files.cwd = start
    if options.has("J") or (options.has("a") and archive.endswith((".xz", ".txz"))):
        data = lzma.compress(data, check=lzma.CHECK_CRC64)
    out.write(gzip.compress(data, mtime=0) if compress else data)
    if options.has("remove-files"):
        for path in operands:
            ctx.run(["rm", "-rf", "--", path])
    if status:
        ctx.err("Exiting with failure status due to previous errors")
    return status


def _read(ctx: Context, options: Options, data: bytes, *, extract: bool) -> int:
    ctx.spend(len(data) >> 6)
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            ctx.stderr.write(b"\ngzip: stdin: unexpected end of file\n")
            ctx.err("Child returned status 1")
            ctx.err("Error is not recoverable: exiting now")
            return 2
    elif data.startswith(b"\xfd7zXZ"):
        try:
            data = lzma.decompress(data)
        except (lzma.LZMAError, EOFError):
            ctx.stderr.write(b"xz: (stdin): Unexpected end of input\n")
            ctx.err("Child returned status 1")
            ctx.err("Error is not recoverable: exiting now")
            return 2
    elif options.has("z"):
        ctx.stderr.write(b"\ngzip: stdin: not in gzip format\n")
        ctx.err("Child returned status 1")
        ctx.err("Error is not recoverable: exiting now")
        return 2
    try:
        archive = tarfile.open(fileobj=io.BytesIO(data), mode="r:")  # noqa: SIM115 (closed with its buffer)
        members = archive.getmembers()
    except tarfile.TarError:
        ctx.err("This does not look like a tar archive")
        ctx.err("Exiting with failure status due to previous errors")
        return 2
    wanted = [name.rstrip("/") for name in options.operands]
    found: set[str] = set()
    excluded = options.values("exclude")
    text = options.value("strip-components") or "0"
    if not is_digits(text):
        ctx.err(f"{text}: Invalid number of elements")
        ctx.stderr.write(b"Try 'tar --help' or 'tar --usage' for more information.\n")
        return 2
    strip = int(text[:9])
    status = 0
    for member in members:
        ctx.spend(10)
        name = member.name
        matching = [
            want
            for want in wanted
            if name == want
            or name.startswith(want + "/")
            or (options.has("wildcards") and fnmatch.fnmatchcase(name, want))
        ]
        if wanted and not matching:
            continue
        found |= set(matching)
        if any(
            fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name.rpartition("/")[2], pattern)
            for pattern in excluded
        ):
            continue
        shown = name + "/" if member.isdir() and not name.endswith("/") else name
        if not extract:
            ctx.line(_long(member, shown) if options.has("v") else shown)
            continue
        if strip:
            parts = name.split("/")[strip:]
            if not parts or parts == [""]:
                continue
            name = "/".join(parts)
        if options.has("v"):
            ctx.line(shown)
        content = archive.extractfile(member) if member.isfile() else None
        body = content.read() if content is not None else b""
        if options.has("O"):
            ctx.stdout.write(body)
            continue
        try:
            _extract(ctx, options, member, name.lstrip("/") if not options.has("P") else name, body)
        except OSError as error:
            ctx.err(
                f"{name}: Cannot open: {describe(error)}"
                if member.isfile()
                else f"{name}: Cannot mkdir: {describe(error)}"
            )
            status = 2
    for want in wanted:
        if want not in found:
            ctx.err(f"{want}: Not found in archive")
            status = 2
    if status:
        ctx.err("Exiting with failure status due to previous errors")
    return status


def _long(member: tarfile.TarInfo, shown: str) -> str:
    kind = stat.S_IFDIR if member.isdir() else stat.S_IFLNK if member.issym() else stat.S_IFREG
    at = datetime.fromtimestamp(member.mtime, UTC)
    owner = f"{member.uname or member.uid}/{member.gname or member.gid}"
    size = str(0 if not member.isfile() else member.size)
    width = max(19 - len(owner), 1 + len(size))
    target = f" -> {member.linkname}" if member.issym() else ""
    return f"{stat.filemode(kind | member.mode)} {owner}{size:>{width}} {at:%Y-%m-%d %H:%M} {shown}{target}"


def _extract(ctx: Context, options: Options, member: tarfile.TarInfo, name: str, body: bytes) -> None:
    files = ctx.files
    parts = name.rstrip("/").split("/")
    if ".." in parts:
        raise OSError(22, "Member name contains '..'", name)
    for count in range(1, len(parts)):
        path = "/".join(parts[:count])
        if path and not files.exists(path):
            files.mkdir(path)
    if member.isdir():
        if not files.exists(name):
            files.mkdir(name.rstrip("/"))
    elif member.issym():
        if files.exists(name):
            files.unlink(name)
        files.symlink(member.linkname, name)
        return
    elif member.isfile():
        if options.has("k") and files.exists(name):
            raise OSError(17, "File exists", name)
        if files.exists(name):
            files.unlink(name)
        files.write(name, body)
    else:
        return
    mode = member.mode if ctx.cred.uid == 0 or options.has("p") else member.mode & ~files.umask
    files.chmod(name, mode)
    if ctx.cred.uid == 0 and not options.has("no-same-owner"):
        files.chown(name, member.uid, member.gid)
    if not options.has("m"):
        inode = files.stat(name)
        ctx.machine.files.put(inode._replace(mtime=float(member.mtime)))
