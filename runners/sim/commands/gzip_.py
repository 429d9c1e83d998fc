"""gzip, gunzip, zcat: compress and expand files."""

from __future__ import annotations

import gzip
import zlib

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import Options, parse

NAMES = ("gzip", "gunzip", "zcat")


def main(ctx: Context) -> int:
    options = parse(
        ctx, "cdfhklLnNqrS:tvV123456789",
        ["stdout/c", "to-stdout/c", "decompress/d", "uncompress/d", "force/f", "keep/k", "list/l", "no-name/n",
         "name/N",
         "quiet/q", "recursive/r", "suffix=/S", "test/t", "verbose/v", "fast/1", "best/9"],
        usage=f"Usage: {ctx.name} [OPTION]... [FILE]...\n"
        f"Compress or uncompress FILEs (by default, compress FILES in-place).",
        version="gzip 1.12",
    )  # fmt: skip
    expand = options.has("d", "t", "l") or ctx.name in ("gunzip", "zcat")
    to_stdout = options.has("c") or ctx.name == "zcat"
    status = 0
    for name in options.operands or ["-"]:
        for path in _below(ctx, name) if options.has("r") else [name]:
            status = max(status, _one(ctx, options, path, expand, to_stdout or name == "-"))
    return status


def _below(ctx: Context, path: str) -> list[str]:
    """The file itself, or every file below a folder (-r)."""
    try:
        names = ctx.files.names(path)
    except OSError:
        return [path]
    ctx.spend(1 + len(names))
    return [found for name in names for found in _below(ctx, f"{path.rstrip('/')}/{name}")]


def _say(ctx: Context, text: str) -> None:
    """All three names speak as gzip."""
    ctx.stderr.write(f"gzip: {text}\n".encode("utf-8", "surrogateescape"))


def _one(ctx: Context, options: Options, name: str, expand: bool, to_stdout: bool) -> int:
    suffix = options.value("S") or ".gz"
    files = ctx.files
    if expand and name != "-" and not files.exists(name) and not name.endswith(suffix):
        name += suffix
    try:
        if options.has("r") and name != "-" and files.stat(name, follow=False).is_link:
            _say(ctx, f"{name}: Too many levels of symbolic links")
            return 1
        if name != "-" and files.stat(name).is_dir:
            _say(ctx, f"{name} is a directory -- ignored")
            return 2
        data = ctx.open(name).read()
    except OSError as error:
        _say(ctx, f"{name}: {describe(error)}")
        return 1
    ctx.spend(len(data) >> 5)
    label = "stdin" if name == "-" else name
    if expand:
        target = name.removesuffix(suffix)
        if name.endswith(".tgz"):
            target = name[:-4] + ".tar"
        if target == name and not to_stdout and not options.has("t", "l"):
            _say(ctx, f"{name}: unknown suffix -- ignored")
            return 2
        if not data.startswith(b"\x1f\x8b"):
            if options.has("f") and to_stdout:
                ctx.stdout.write(data)
                return 0
            ctx.stderr.write(
                f"\n"
                f"gzip: {label}: {'unexpected end of file' if not data and name != '-' else 'not in gzip format'}\n"
                f"".encode("utf-8", "surrogateescape")
            )
            return 1
        try:
            result = gzip.decompress(data)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            ctx.stderr.write(f"\ngzip: {label}: unexpected end of file\n".encode("utf-8", "surrogateescape"))
            return 1
    else:
        target = name + suffix
        if name.endswith(suffix) and not to_stdout:
            _say(ctx, f"{name} already has {suffix} suffix -- unchanged")
            return 0
        level = next((int(letter) for letter, _ in reversed(options.given) if letter.isdigit()), 6)
        result = gzip.compress(data, level, mtime=0)
    if options.has("t"):
        return 0
    if options.has("l"):
        ratio = (1 - len(data) / len(result)) * 100 if result else 0.0
        ctx.line("         compressed        uncompressed  ratio uncompressed_name")
        ctx.line(f"{len(data):>19} {len(result):>19} {ratio:>5.1f}% {target}")
        return 0
    if to_stdout:
        ctx.stdout.write(result)
        return 0
    return _replace(ctx, options, name, target, result)


def _replace(ctx: Context, options: Options, name: str, target: str, result: bytes) -> int:
    files = ctx.files
    if files.exists(target) and not options.has("f"):
        ctx.stderr.write(f"gzip: {target} already exists;\tnot overwritten\n".encode("utf-8", "surrogateescape"))
        return 2
    try:
        inode = files.stat(name)
        files.write(target, result)
        made = files.stat(target)
        ctx.machine.files.put(made._replace(mode=inode.mode, uid=inode.uid, gid=inode.gid, mtime=inode.mtime))
        if not options.has("k"):
            files.unlink(name)
    except OSError as error:
        _say(ctx, f"{target}: {describe(error)}")
        return 1
    if options.has("v"):
        verb = "created" if options.has("k") else "replaced with"
        ctx.stderr.write(f"{name}:\t -- {verb} {target}\n".encode("utf-8", "surrogateescape"))
    return 0
