"""gzip of a rope: what is repeated is compressed once, and expanded once. Any gunzip reads it (RFC 1952)."""

from __future__ import annotations

import struct
import zlib

from runners.sim.files.content import Content, Fill, Piece

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
_UNIT = 1 << 20
_POLYNOMIAL = 0xEDB88320


def compress(content: Content, level: int) -> Content:
    """A member of gzip's format; a repeated piece becomes a repeated piece, as each unit of it stands for itself."""
    pieces: list[Piece] = [_HEADER]
    checksum = 0
    for piece in content.pieces:
        if isinstance(piece, bytes):
            pieces.append(_independent(piece, level))
            checksum = zlib.crc32(piece, checksum)
            continue
        copies = max(_UNIT // len(piece.pattern), 1)
        unit = piece.pattern * copies
        times, rest = divmod(piece.size, len(unit))
        if times:
            packed = _independent(unit, level)
            pieces.append(Fill(packed, len(packed) * times))
            checksum = _combined(checksum, _repeated(zlib.crc32(unit), len(unit), times), len(unit) * times)
        if rest:
            tail = piece.materialise(0, rest)
            pieces.append(_independent(tail, level))
            checksum = zlib.crc32(tail, checksum)
    pieces.append(b"\x03\x00" + struct.pack("<II", checksum, content.size & 0xFFFFFFFF))
    return Content(sum(len(piece) if isinstance(piece, bytes) else piece.size for piece in pieces), tuple(pieces))


def expand(content: Content) -> Content | None:
    """The opposite. None when it holds nothing repeated, or is not whole: then its bytes have to be gone through."""
    if not any(isinstance(piece, Fill) for piece in content.pieces) or content.read(0, len(_HEADER)) != _HEADER:
        return None
    pieces: list[Piece] = []
    stream = zlib.decompressobj(-15)
    first = True
    try:
        for piece in content.pieces:
            if isinstance(piece, bytes):
                pieces.append(stream.decompress(piece[len(_HEADER) :] if first else piece))
            else:
                times, rest = divmod(piece.size, len(piece.pattern))
                once = stream.decompress(piece.pattern)
                if rest or stream.decompress(piece.pattern) != once:
                    return None
                pieces.append(Fill(once, len(once) * times))
            first = False
    except zlib.error:
        return None
    kept = tuple(piece for piece in pieces if piece)
    return Content(sum(len(piece) if isinstance(piece, bytes) else piece.size for piece in kept), kept)


def _independent(data: bytes, level: int) -> bytes:
    """Deflated so that it ends at a byte and refers to nothing before it."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)


def _repeated(checksum: int, length: int, times: int) -> int:
    """The CRC-32 of a block written `times` times, by doubling."""
    total = 0
    while times:
        if times & 1:
            total = _combined(total, checksum, length)
        checksum = _combined(checksum, checksum, length)
        length *= 2
        times >>= 1
    return total


def _combined(first: int, second: int, length: int) -> int:
    """The CRC-32 of two stretches from those of each; `length` is that of the second in bytes."""
    return _times(_power(length * 8), first) ^ second


def _power(exponent: int) -> int:
    """x to the power, modulo the polynomial, in the reflected form that CRC-32 uses."""
    result, base = 1 << 31, 1 << 30
    while exponent:
        if exponent & 1:
            result = _times(result, base)
        base = _times(base, base)
        exponent >>= 1
    return result


def _times(left: int, right: int) -> int:
    product = 0
    for bit in range(31, -1, -1):
        if left >> bit & 1:
            product ^= right
        right = right >> 1 ^ (_POLYNOMIAL if right & 1 else 0)
    return product
