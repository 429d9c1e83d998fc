"""cksum, sum: checksums of POSIX and BSD, and block counts."""

from __future__ import annotations

from runners.sim.commands import children
from runners.sim.commands.context import Context, Reader
from runners.sim.commands.options import parse

NAMES = ("cksum", "sum")
_POLYNOMIAL = 0x04C11DB7
_CHUNK = 1 << 16


def _table() -> tuple[int, ...]:
    found = []
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = (value << 1) ^ _POLYNOMIAL if value & 0x80000000 else value << 1
        found.append(value & 0xFFFFFFFF)
    return tuple(found)


_CRC = _table()


def main(ctx: Context) -> int:
    posix = ctx.name == "cksum"
    options = parse(
        ctx, "" if posix else "rs", [] if posix else ["sysv/s"],
        usage=f"Usage: {ctx.name} [OPTION]... [FILE]...\nPrint {'CRC' if posix else 'checksum'} and "
        f"{'byte' if posix else 'block'} counts.",
    )  # fmt: skip
    status = 0
    count = len(options.operands)
    for operand in options.operands or ["-"]:
        try:
            reader = ctx.open(operand)
        except OSError as error:
            ctx.err(f"{operand}: {error.strerror}")
            status = 1
            continue
        name = f" {operand}" if options.operands else ""
        if posix:
            value, size = _cksum(ctx, reader)
            ctx.line(f"{value} {size}{name}")
        elif options.last("r", "s") == "s":
            value, size = _sysv(ctx, reader)
            ctx.line(f"{value} {-(-size // 512)}{name}")
        else:
            value, size = _bsd(ctx, reader)
            ctx.line(f"{value:05d} {-(-size // 1024):5d}{name if count else ''}")
        children.finish(ctx, reader)
    return status


def _cksum(ctx: Context, reader: Reader) -> tuple[int, int]:
    crc = size = 0
    while data := reader.read(_CHUNK):
        ctx.spend(1 + (len(data) >> 2))
        size += len(data)
        for byte in data:
            crc = (crc << 8 & 0xFFFFFFFF) ^ _CRC[crc >> 24 ^ byte]
    length = size
    while length:
        crc = (crc << 8 & 0xFFFFFFFF) ^ _CRC[crc >> 24 ^ length & 255]
        length >>= 8
    return ~crc & 0xFFFFFFFF, size


def _bsd(ctx: Context, reader: Reader) -> tuple[int, int]:
    value = size = 0
    while data := reader.read(_CHUNK):
        ctx.spend(1 + (len(data) >> 2))
        size += len(data)
        for byte in data:
            value = (value >> 1 | (value & 1) << 15) + byte & 0xFFFF
    return value, size


def _sysv(ctx: Context, reader: Reader) -> tuple[int, int]:
    total = size = 0
    while data := reader.read(_CHUNK):
        ctx.spend(1 + (len(data) >> 4))
        size += len(data)
        total += sum(data)
    folded = (total & 0xFFFF) + (total >> 16)
    return (folded & 0xFFFF) + (folded >> 16), size
