"""dd: convert and copy a file."""

from __future__ import annotations

import errno
from typing import NamedTuple

from runners.sim.commands.context import CommandExit, Context, Reader, Writer
from runners.sim.commands.dd_blocks import Blocks, Counts, zeros
from runners.sim.commands.inputs import describe, quoted, size
from runners.sim.commands.open_files import Device, Directory, FileStream, open_file
from runners.sim.commands.options import usage_error
from runners.text import is_digits

_OPERAND_LIST = "if of bs ibs obs cbs count skip seek iseek oseek conv status iflag oflag"
_CONVERSION_LIST = (
    "ascii ebcdic ibm block unblock lcase ucase sparse swab sync excl nocreat notrunc noerror fdatasync fsync"
)
_FLAG_LIST = (
    "append direct directory dsync sync fullblock nonblock noatime nocache noctty nofollow count_bytes skip_bytes "
    "seek_bytes"
)
_OPERANDS = frozenset(_OPERAND_LIST.split())
_CONVERSIONS = frozenset(_CONVERSION_LIST.split())
_FLAGS = frozenset(_FLAG_LIST.split())
_USAGE = "Usage: dd [OPERAND]...\n  or:  dd OPTION\nCopy a file, converting and formatting according to the operands."
_BYTES_A_SECOND = 500e6
_AT_ONCE = 65536
_WITHOUT_END = 1 << 40


class _Plan(NamedTuple):
    """What the operands asked for. Offsets and `limit` are in bytes where the flags said so."""

    values: dict[str, str]
    ibs: int
    obs: int
    limit: int | None
    limit_bytes: bool
    skip: int
    seek: int
    conversions: frozenset[str]
    input_flags: frozenset[str]
    output_flags: frozenset[str]


def main(ctx: Context) -> int:
    if ctx.args in (["--help"], ["--version"]):
        ctx.line(_USAGE if ctx.args == ["--help"] else "dd (coreutils) 9.1")
        return 0
    plan = _plan(ctx)
    reader = _input(ctx, plan)
    writer = _output(ctx, plan)
    counts, problem = _copy(ctx, plan, reader, writer)
    seconds = counts.copied / _BYTES_A_SECOND
    ctx.sleep(seconds)
    if problem is not None:
        ctx.err(problem)
    status = plan.values.get("status")
    if status != "none":
        ctx.stderr.write(_report(counts, seconds, brief=status == "noxfer").encode("utf-8", "surrogateescape"))
    return int(problem is not None)


def _plan(ctx: Context) -> _Plan:
    values: dict[str, str] = {}
    for word in ctx.args:
        key, equals, value = word.partition("=")
        if not equals or key not in _OPERANDS:
            usage_error(ctx, f"unrecognized operand ‘{word}’")
        values[{"iseek": "skip", "oseek": "seek"}.get(key, key)] = value
    conversions = _listed(ctx, values, "conv", _CONVERSIONS, "conversion")
    input_flags = _listed(ctx, values, "iflag", _FLAGS, "input flag")
    output_flags = _listed(ctx, values, "oflag", _FLAGS, "output flag")
    if values.get("status") not in (None, "none", "noxfer", "progress"):
        usage_error(ctx, f"invalid status level: ‘{values['status']}’")
    both = _number(ctx, values, "bs", None, least=1)
    ibs = both or _number(ctx, values, "ibs", 512, least=1) or 512
    obs = both or _number(ctx, values, "obs", 512, least=1) or 512
    count = _number(ctx, values, "count", None)
    skip, seek = _number(ctx, values, "skip", 0) or 0, _number(ctx, values, "seek", 0) or 0
    return _Plan(
        values, ibs, obs, count,
        "count_bytes" in input_flags or values.get("count", "").endswith("B"),
        skip if "skip_bytes" in input_flags or values.get("skip", "").endswith("B") else skip * ibs,
        seek if "seek_bytes" in output_flags or values.get("seek", "").endswith("B") else seek * obs,
        conversions, input_flags, output_flags,
    )  # fmt: skip


def _listed(ctx: Context, values: dict[str, str], key: str, known: frozenset[str], what: str) -> frozenset[str]:
    words = [word for word in values.get(key, "").split(",") if word]
    for word in words:
        if word not in known:
            usage_error(ctx, f"invalid {what}: ‘{word}’")
    return frozenset(words)


def _number(ctx: Context, values: dict[str, str], key: str, default: int | None, *, least: int = 0) -> int | None:
    """A size, perhaps a product such as 2x512."""
    text = values.get(key)
    if text is None:
        return default
    total = 1
    for factor in text.split("x"):
        found = size(factor.removesuffix("B") if is_digits(factor[-2:-1]) else factor)
        if found is None:
            ctx.die(f"invalid number: ‘{text}’")
        total *= found
    if total < least:
        ctx.die(f"invalid number: ‘{text}’")
    return total


def _input(ctx: Context, plan: _Plan) -> Reader:
    name = plan.values.get("if")
    if name is None:
        return ctx.stdin
    try:
        if name in ("-", "/dev/stdin") or name.startswith("/dev/fd/"):
            return ctx.open(name if name != "-" else "./-")
        if ctx.files.stat(name).is_dir:
            return Directory(name)
        return ctx.open(name)
    except OSError as error:
        ctx.die(f"failed to open {quoted(name)}: {describe(error)}")


def _output(ctx: Context, plan: _Plan) -> Writer:
    name = plan.values.get("of")
    if name is None:
        return ctx.stdout
    conversions = plan.conversions
    try:
        if name in ("/dev/stdout", "/dev/stderr"):
            return ctx.create(name)
        if "nocreat" in conversions:
            ctx.files.stat(name)
        stream = open_file(
            ctx.machine, ctx.files, name, write=True, append="append" in plan.output_flags,
            exclusive="excl" in conversions,
            truncate="notrunc" not in conversions and not plan.seek,
        )  # fmt: skip
        ctx.opened.append(stream)
        if isinstance(stream, FileStream) and plan.seek:
            if "notrunc" not in conversions:
                ctx.files.truncate(name, plan.seek)
            stream.offset = plan.seek
        return stream
    except OSError as error:
        ctx.die(f"failed to open {quoted(name)}: {describe(error)}")


def _copy(ctx: Context, plan: _Plan, reader: Reader, writer: Writer) -> tuple[Counts, str | None]:
    """Copy block by block; the counts so far and the complaint that ended it."""
    name, target = plan.values.get("if", "standard input"), plan.values.get("of", "standard output")
    counts = Counts()
    if isinstance(reader, Directory):
        return counts, f"error reading {quoted(name)}: Is a directory"
    if plan.skip:
        skipped = _skip(reader, plan.skip)
        if skipped < plan.skip:
            ctx.err(f"{name}: cannot skip to specified offset")
    whole = not plan.limit_bytes and not plan.conversions & {"sync", "swab", "block"}
    if whole and isinstance(reader, Device) and reader.is_zero and isinstance(writer, FileStream):
        # Without a limit, until the disk is full.
        limit = _WITHOUT_END if plan.limit is None else plan.limit
        if plan.ibs == plan.obs and plan.ibs * limit > _AT_ONCE:
            problem = zeros(writer, plan.ibs, limit, counts)
            return counts, None if problem is None else f"error writing {quoted(target)}: {describe(problem)}"
    blocks = Blocks(writer, counts, plan.obs, plan.conversions, direct=plan.ibs == plan.obs)
    try:
        _loop(ctx, plan, reader, blocks)
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise CommandExit(141) from None
        return counts, f"error writing {quoted(target)}: {describe(error)}"
    return counts, None


def _skip(reader: Reader, amount: int) -> int:
    if isinstance(reader, FileStream):
        reader.offset = amount
        return min(amount, reader.content.size)
    return len(reader.read(amount))


def _loop(ctx: Context, plan: _Plan, reader: Reader, blocks: Blocks) -> None:
    left = plan.limit
    while left is None or left > 0:
        want = plan.ibs if not plan.limit_bytes or left is None else min(plan.ibs, left)
        ctx.spend(2 + (want >> 8))
        data = reader.read(want)
        while "fullblock" in plan.input_flags and 0 < len(data) < want and (more := reader.read(want - len(data))):
            data += more
        if not data:
            break
        if left is not None:
            left -= len(data) if plan.limit_bytes else 1
        blocks.take(data, plan.ibs)
    blocks.finish()


def _report(counts: Counts, seconds: float, *, brief: bool) -> str:
    text = f"{counts.full_in}+{counts.partial_in} records in\n{counts.full_out}+{counts.partial_out} records out\n"
    if brief:
        return text
    copied = counts.copied
    elapsed = max(seconds, 0.000_12)
    sizes = f"{copied} byte{'' if copied == 1 else 's'}"
    if copied >= 1000:
        sizes += f" ({_scaled(copied, 1000)}{', ' + _scaled(copied, 1024) if copied >= 1024 else ''})"
    return f"{text}{sizes} copied, {elapsed:.6g} s, {_scaled(copied / elapsed, 1000)}/s\n"


def _scaled(amount: float, base: int) -> str:
    """A size in its unit with two digits at least: 8.2 kB, 8.0 KiB, 500 MB."""
    units = ("", "k", "M", "G", "T", "P") if base == 1000 else ("", "K", "M", "G", "T", "P")
    power = 0
    while amount >= base and power < len(units) - 1:
        amount /= base
        power += 1
    shown = f"{amount:.1f}" if amount < 9.95 else f"{amount:.0f}"
    return f"{shown} {units[power]}{'i' if base == 1024 and power else ''}B"
