"""xz, unxz, xzcat: compress or decompress .xz files."""

from __future__ import annotations

import lzma

from runners.sim.commands import children
from runners.sim.commands.context import Context
from runners.sim.commands.options import Options, parse

NAMES = ("xz", "unxz", "xzcat", "lzma", "unlzma", "lzcat")

_LONG = (
    "compress/z", "decompress/d", "uncompress/d", "test/t", "list/l", "keep/k", "force/f", "stdout/c", "to-stdout/c",
    "quiet/q", "verbose/v", "threads=/T", "extreme/e", "suffix=/S", "format=/F", "check=/C",
)  # fmt: skip
_VERSION = "xz (XZ Utils) 5.4.1\nliblzma 5.4.1"
_USAGE = "Usage: xz [OPTION]... [FILE]...\nCompress or decompress FILEs in the .xz format."


def main(ctx: Context) -> int:
    options = parse(ctx, "zdtlkfcqvT:eS:F:C:0123456789", _LONG, usage=_USAGE, version=_VERSION)
    unpack = options.has("d", "t") or ctx.name in ("unxz", "xzcat", "unlzma", "lzcat")
    to_stdout = options.has("c", "t") or ctx.name in ("xzcat", "lzcat")
    suffix = ".lzma" if ctx.name.startswith("lz") or options.value("F") == "lzma" else ".xz"
    status = 0
    for name in options.operands or ["-"]:
        problem = _one(ctx, options, name, unpack, to_stdout or name == "-", suffix)
        if problem is not None:
            ctx.err(problem)
            status = 2 if problem.endswith("suffix, skipping") else 1
    return status


def _one(ctx: Context, options: Options, name: str, unpack: bool, to_stdout: bool, suffix: str) -> str | None:
    """Treat one file; the complaint, if there is one."""
    shown = "(stdin)" if name == "-" else name
    known_suffix = name.endswith((".xz", ".lzma", ".txz"))
    if not unpack and not to_stdout and name.endswith(suffix):
        return f"{shown}: File already has `{suffix}' suffix, skipping"
    try:
        if name != "-" and ctx.files.stat(name).is_dir:
            return f"{shown}: Is a directory, skipping"
        reader = ctx.open(name)
        data = reader.read()
        children.finish(ctx, reader)
    except OSError as error:
        return f"{shown}: {error.strerror}"
    ctx.spend(1 + (len(data) >> 4))
    try:
        result = lzma.decompress(data) if unpack else _pack(data, suffix)
    except (lzma.LZMAError, EOFError):
        known = data.startswith((b"\xfd7zXZ\0", b"]\0\0"))
        return f"{shown}: {'Unexpected end of input' if known else 'File format not recognized'}"
    if options.has("t"):
        return None
    if unpack and not to_stdout and not known_suffix:
        return f"{shown}: Filename has an unknown suffix, skipping"
    if to_stdout:
        ctx.stdout.write(result)
        return None
    target = name.rsplit(".", 1)[0] + (".tar" if name.endswith(".txz") else "") if unpack else name + suffix
    if ctx.files.exists(target) and not options.has("f"):
        return f"{target}: File exists"
    try:
        _replace(ctx, name, target, result, keep=options.has("k"))
    except OSError as error:
        return f"{target}: {error.strerror}"
    return None


def _pack(data: bytes, suffix: str) -> bytes:
    if suffix == ".lzma":
        return lzma.compress(data, format=lzma.FORMAT_ALONE, preset=6)
    return lzma.compress(data, check=lzma.CHECK_CRC64, preset=6)


def _replace(ctx: Context, name: str, target: str, data: bytes, *, keep: bool) -> None:
    """Put the result beside the original, with its owner, mode and time, and take the original away."""
    inode = ctx.files.stat(name)
    ctx.files.write(target, data)
    ctx.files.chmod(target, inode.permissions)
    if ctx.cred.uid == 0:
        ctx.files.chown(target, inode.uid, inode.gid)
    ctx.files.touch(target, inode.mtime)
    if not keep:
        ctx.files.unlink(name)
