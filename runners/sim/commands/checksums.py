"""md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, b2sum: compute and check message digests."""

from __future__ import annotations

import hashlib
import re

from runners.sim.commands import children
from runners.sim.commands.context import Context, Reader
from runners.sim.commands.options import Options, parse, usage_error

_ALGORITHMS = {
    "md5sum": ("md5", "MD5"), "sha1sum": ("sha1", "SHA1"), "sha224sum": ("sha224", "SHA224"),
    "sha256sum": ("sha256", "SHA256"), "sha384sum": ("sha384", "SHA384"), "sha512sum": ("sha512", "SHA512"),
    "b2sum": ("blake2b", "BLAKE2b"),
}  # fmt: skip
NAMES = tuple(_ALGORITHMS)

_LONG = (
    "binary/b", "check/c", "tag", "text/t", "zero/z", "ignore-missing", "quiet", "status", "strict", "warn/w",
)  # fmt: skip
_CHUNK = 1 << 20
_LINE = re.compile(r"\\?([0-9a-fA-F]+) [ *](.+)")
_TAGGED = re.compile(r"(\w+) \((.+)\) = ([0-9a-fA-F]+)")


def main(ctx: Context) -> int:
    name = ctx.name if ctx.name in _ALGORITHMS else "md5sum"
    algorithm, label = _ALGORITHMS[name]
    usage = f"Usage: {name} [OPTION]... [FILE]...\nPrint or check {label} checksums."
    options = parse(ctx, "bctwz", _LONG, usage=usage)
    if options.has("c"):
        return _check(ctx, options, algorithm, label)
    for option in ("ignore-missing", "quiet", "status", "strict", "w"):
        if options.has(option):
            long = {"w": "warn"}.get(option, option)
            usage_error(ctx, f"the --{long} option is meaningful only when verifying checksums")
    status = 0
    for operand in options.operands or ["-"]:
        try:
            digest = _digest(ctx, algorithm, operand)
        except OSError as error:
            ctx.err(f"{operand}: {error.strerror}")
            status = 1
            continue
        ctx.out(_shown(options, label, digest, operand))
    return status


def _shown(options: Options, label: str, digest: str, operand: str) -> str:
    end = "\0" if options.has("z") else "\n"
    if options.has("tag"):
        return f"{label} ({operand}) = {digest}{end}"
    mark = ""
    if not options.has("z") and ("\\" in operand or "\n" in operand):
        operand = operand.replace("\\", "\\\\").replace("\n", "\\n")
        mark = "\\"
    return f"{mark}{digest} {'*' if options.last('b', 't') == 'b' else ' '}{operand}{end}"


def _digest(ctx: Context, algorithm: str, operand: str) -> str:
    reader = ctx.open(operand)
    try:
        return _of(ctx, algorithm, reader)
    finally:
        children.finish(ctx, reader)


def _of(ctx: Context, algorithm: str, reader: Reader) -> str:
    hasher = hashlib.new(algorithm, usedforsecurity=False)
    while data := reader.read(_CHUNK):
        ctx.spend(1 + (len(data) >> 9))
        hasher.update(data)
    return hasher.hexdigest()


def _check(ctx: Context, options: Options, algorithm: str, label: str) -> int:
    length = len(hashlib.new(algorithm, usedforsecurity=False).hexdigest())
    failed = False
    for operand in options.operands or ["-"]:
        try:
            text = ctx.open(operand).read().decode("utf-8", "surrogateescape")
        except OSError as error:
            ctx.err(f"{operand}: {error.strerror}")
            failed = True
            continue
        failed |= not _check_list(ctx, options, algorithm, label, length, operand, text)
    return 1 if failed else 0


def _check_list(
    ctx: Context, options: Options, algorithm: str, label: str, length: int, operand: str, text: str
) -> bool:
    shown = "standard input" if operand == "-" else operand
    status, quiet = options.has("status"), options.has("quiet")
    formatted = bad = wrong = missing = verified = 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        parsed = _parsed(line, label, length)
        if parsed is None:
            bad += 1
            if options.has("w"):
                ctx.err(f"{shown}: {number}: improperly formatted {label} checksum line")
            continue
        formatted += 1
        expected, name = parsed
        try:
            actual = _digest(ctx, algorithm, name)
        except OSError as error:
            if options.has("ignore-missing") and error.errno == 2:
                continue
            missing += 1
            ctx.err(f"{name}: {error.strerror}")
            if not status:
                ctx.line(f"{name}: FAILED open or read")
            continue
        verified += actual == expected
        if actual != expected:
            wrong += 1
            if not status:
                ctx.line(f"{name}: FAILED")
        elif not quiet and not status:
            ctx.line(f"{name}: OK")
    if not formatted:
        ctx.err(f"{shown}: no properly formatted checksum lines found")
        return False
    if not status:
        for count, one, many in (
            (bad, "line is improperly formatted", "lines are improperly formatted"),
            (missing, "listed file could not be read", "listed files could not be read"),
            (wrong, "computed checksum did NOT match", "computed checksums did NOT match"),
        ):
            if count:
                ctx.err(f"WARNING: {count} {one if count == 1 else many}")
    if options.has("ignore-missing") and not verified and not wrong:
        ctx.err(f"{shown}: no file was verified")
        return False
    return not (wrong or missing or (bad and options.has("strict")))


def _parsed(line: str, label: str, length: int) -> tuple[str, str] | None:
    """The digest and the name that a line of a list gives."""
    tagged = _TAGGED.fullmatch(line)
    if tagged is not None and tagged[1] == label and len(tagged[3]) == length:
        return tagged[3].lower(), tagged[2]
    plain = _LINE.fullmatch(line)
    if plain is None or len(plain[1]) != length:
        return None
    name = plain[2]
    if line.startswith("\\"):
        name = name.replace("\\n", "\n").replace("\\\\", "\\")
    return plain[1].lower(), name
