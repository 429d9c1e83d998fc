"""file: determine file type."""

from __future__ import annotations

import re
import stat

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import parse
from runners.sim.files.inode import READ, Inode

_MAGIC = (
    (b"\x7fELF\x02\x01\x01\x03",
     "ELF 64-bit LSB shared object, x86-64, version 1 (GNU/Linux), dynamically linked, stripped"),
    (b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x01",
     "ELF 64-bit LSB relocatable, x86-64, version 1 (SYSV), not stripped"),
    (b"\x7fELF", "ELF 64-bit LSB pie executable, x86-64, version 1 (SYSV), dynamically linked, interpreter "
                 "/lib64/ld-linux-x86-64.so.2, for GNU/Linux 3.2.0, stripped"),
    (b"\x1f\x8b", "gzip compressed data, from Unix"), (b"BZh", "bzip2 compressed data, block size = 900k"),
    (b"\xfd7zXZ", "XZ compressed data, checksum CRC64"), (b"PK\x03\x04", "Zip archive data, at least v2.0 to extract"),
    (b"\x89PNG", "PNG image data"), (b"%PDF-", "PDF document, version 1.4"), (b"GIF8", "GIF image data"),
    (b"-----BEGIN CERTIFICATE-----", "PEM certificate"), (b"-----BEGIN PRIVATE KEY-----", "ASCII text"),
    (b"-----BEGIN OPENSSH PRIVATE KEY-----", "OpenSSH private key"), (b"SQLite format 3", "SQLite 3.x database"),
)  # fmt: skip
_MIME = {
    "empty": "inode/x-empty",
    "ELF": "application/x-pie-executable",
    "gzip": "application/gzip",
    "JSON": "application/json",
    "XML": "text/xml",
    "HTML": "text/html",
    "text": "text/plain",
}


def describe_file(ctx: Context, path: str, inode: Inode) -> str:
    mode = inode.mode
    if inode.target is not None:
        known = ctx.files.exists(path)
        return f"{'' if known else 'broken '}symbolic link to {inode.target}"
    if inode.is_dir:
        return "sticky, directory" if mode & stat.S_ISVTX else "directory"
    if inode.device is not None:
        kind = "character" if inode.is_char else "block"
        return f"{kind} special ({inode.device[0]}/{inode.device[1]})"
    if stat.S_ISFIFO(mode):
        return "fifo (named pipe)"
    if stat.S_ISSOCK(mode):
        return "socket"
    if not ctx.files.access(path, READ):
        return "regular file, no read permission"
    prefix = "setuid " if mode & stat.S_ISUID else ""
    if inode.size == 0:
        return prefix + "empty"
    return prefix + describe_data(inode.content.read(0, min(inode.size, 65536)))


def describe_data(data: bytes) -> str:
    for magic, text in _MAGIC:
        if data.startswith(magic):
            return text
    if data[257:262] == b"ustar":
        return "POSIX tar archive (GNU)"
    first = data.split(b"\n", 1)[0]
    encoding = "ASCII text"
    if re.search(rb"[\x00-\x06\x0e-\x1a\x7f]", data):
        return "data"
    if any(byte >= 128 for byte in data):
        try:
            data.decode("utf-8")
            encoding = "Unicode text, UTF-8 text"
        except UnicodeDecodeError:
            encoding = "ISO-8859 text"
    if any(len(line) > 300 for line in data.split(b"\n")):
        encoding += ", with very long lines"
    if b"\r\n" in data:
        encoding += ", with CRLF line terminators"
    elif b"\n" not in data:
        encoding += ", with no line terminators"
    if first.startswith(b"#!"):
        words = first[2:].decode("utf-8", "replace").split()
        program = words[0] if words else ""
        name = program.rsplit("/", 1)[-1]
        names = {"bash": "Bourne-Again shell script", "sh": "POSIX shell script", "python3": "Python script"}
        if name == "env" and len(words) > 1:
            name = words[1]
        return f"{names.get(name, f'a {program} script')}, {encoding} executable"
    stripped = data.lstrip()
    if stripped.startswith(b"<?xml"):
        version = re.match(rb"<\?xml version=.([\d.]+)", stripped)
        return f"XML {version[1].decode() if version else '1.0'} document, {encoding}"
    if stripped[:1] in (b"{", b"[") and stripped.rstrip()[-1:] in (b"}", b"]") and b'"' in stripped:
        return "JSON text data"
    if stripped.lower().startswith((b"<!doctype html", b"<html")):
        return f"HTML document, {encoding}"
    return encoding


def main(ctx: Context) -> int:
    options = parse(
        ctx, "bihLsz", ["brief/b", "mime/i", "mime-type", "no-dereference/h", "dereference/L"],
        usage="Usage: file [OPTION...] [FILE...]\nDetermine type of FILEs.", version="file-5.44",
    )  # fmt: skip
    if not options.operands:
        ctx.stderr.write(b"Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]\n")
        return 1
    width = max(len(name) for name in options.operands) + 1
    for name in options.operands:
        try:
            inode = ctx.files.stat(name, follow=options.has("L"))
            text = describe_file(ctx, name, inode)
        except OSError as error:
            text = f"cannot open `{name}' ({describe(error)})"
        if options.has("i", "mime-type"):
            short = next(
                (mime for key, mime in _MIME.items() if key in text),
                "inode/directory" if text.endswith("directory") else "application/octet-stream",
            )
            text = (
                short if options.has("mime-type") else f"{short}; charset={'us-ascii' if 'ASCII' in text else 'binary'}"
            )
        label = "/dev/stdin" if name == "-" else name
        ctx.line(text if options.has("b") else f"{label + ':':<{width}} {text}")
    return 0
