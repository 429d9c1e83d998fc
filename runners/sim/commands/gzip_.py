"""gzip, gunzip, zcat: compress and expand files."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

from runners.sim.commands.context import Context, Reader
from runners.sim.commands.gzip_ropes import compress as compress_rope
from runners.sim.commands.gzip_ropes import expand as expand_rope
from runners.sim.commands.inputs import describe
from runners.sim.commands.open_files import FileStream
from runners.sim.commands.options import Options, parse
from runners.sim.files.content import Content
from runners.sim.files.counting import DISK_SPEED, repeats_lines
from runners.text import is_digits

_PIECE = 65536
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
        reader = ctx.open(name)
        large = _large(ctx, reader, options, expand)
        if large is not None:
            return _pass_on(ctx, options, name, suffix, large, expand, to_stdout)
        data = reader.read()
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
            if to_stdout and not options.has("t", "l"):
                for chunk in _expanded(ctx, data):
                    ctx.stdout.write(chunk)
                return 0
            result = b"".join(_expanded(ctx, data))
        except (EOFError, zlib.error):
            ctx.stderr.write(f"\ngzip: {label}: unexpected end of file\n".encode("utf-8", "surrogateescape"))
            return 1
    else:
        target = name + suffix
        if name.endswith(suffix) and not to_stdout:
            _say(ctx, f"{name} already has {suffix} suffix -- unchanged")
            return 0
        level = next((int(letter) for letter, _ in reversed(options.given) if is_digits(letter)), 6)
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


def _expanded(ctx: Context, data: bytes) -> Iterator[bytes]:
    """The bytes of all members, a piece at a time. EOFError when the last one is cut off; zlib.error."""
    while data.startswith(b"\x1f\x8b"):
        stream = zlib.decompressobj(31)
        while not stream.eof:
            piece = stream.decompress(data, _PIECE)
            ctx.spend(1 + (len(piece) >> 5))
            yield piece
            data = stream.unconsumed_tail
            if not piece and not data and not stream.eof:
                raise EOFError
        data = stream.unused_data


def _large(ctx: Context, reader: Reader, options: Options, expand: bool) -> Content | None:
    """What a large file of repeated lines comes to; None for others, whose bytes are gone through."""
    if not isinstance(reader, FileStream) or reader.offset or options.has("t", "l"):
        return None
    content = reader.content
    if expand:
        made = expand_rope(content)
        work = made.size if made is not None else 0
    else:
        level = next((int(letter) for letter, _ in reversed(options.given) if is_digits(letter)), 6)
        made = compress_rope(content, level) if repeats_lines(content) else None
        work = 4 * content.size
    if made is not None:
        ctx.sleep(work / DISK_SPEED)
    return made


def _pass_on(
    ctx: Context, options: Options, name: str, suffix: str, made: Content, expand: bool, to_stdout: bool
) -> int:
    if to_stdout:
        for chunk in made.chunks():
            ctx.stdout.write(chunk)
        return 0
    target = name.removesuffix(suffix) if expand else name + suffix
    if target == name or (not expand and name.endswith(suffix)):
        _say(
            ctx, f"{name}: unknown suffix -- ignored" if expand else f"{name} already has {suffix} suffix -- unchanged"
        )
        return 2 if expand else 0
    return _replace(ctx, options, name, target, made)


def _replace(ctx: Context, options: Options, name: str, target: str, result: bytes | Content) -> int:
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
