"""base64, base32: encode and decode data."""

from __future__ import annotations

import base64
import binascii

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse, usage_error
from runners.text import is_digits

NAMES = ("base64", "base32")

_USAGE = "Usage: {name} [OPTION]... [FILE]\nEncode or decode FILE, or standard input, to standard output."
_ALPHABETS = {
    "base64": frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
    "base32": frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567="),
}


def main(ctx: Context) -> int:
    name = "base32" if ctx.name == "base32" else "base64"
    options = parse(ctx, "diw:", ("decode/d", "ignore-garbage/i", "wrap=/w"), usage=_USAGE.format(name=name))
    if len(options.operands) > 1:
        usage_error(ctx, f"extra operand ‘{options.operands[1]}’")
    wrap = options.value("w")
    if wrap is not None and not is_digits(wrap):
        ctx.die(f"invalid wrap size: ‘{wrap}’")
    operand = options.operands[0] if options.operands else "-"
    try:
        data = ctx.open(operand).read()
    except OSError as error:
        ctx.die(f"{operand if operand != '-' else 'read error'}: {error.strerror}")
    ctx.spend(1 + (len(data) >> 8))
    if options.has("d"):
        return _decode(ctx, name, data, options.has("i"))
    text = base64.b32encode(data) if name == "base32" else base64.b64encode(data)
    width = 76 if wrap is None else int(wrap)
    if width == 0:
        ctx.stdout.write(text)
    elif text:
        ctx.stdout.write(b"".join(text[start : start + width] + b"\n" for start in range(0, len(text), width)))
    return 0


def _decode(ctx: Context, name: str, data: bytes, ignore: bool) -> int:
    alphabet = _ALPHABETS[name]
    data = data.replace(b"\n", b"")
    broken = False
    good = bytes(byte for byte in data if byte in alphabet)
    if ignore:
        data = good
    elif good != data:
        data = data[: next(index for index, byte in enumerate(data) if byte not in alphabet)]
        broken = True
    unit = 8 if name == "base32" else 4
    decode = base64.b32decode if name == "base32" else base64.b64decode
    out = bytearray()
    for start in range(0, len(data), unit):
        group = data[start : start + unit]
        try:
            if len(group) == unit and (b"=" not in group.rstrip(b"=")):
                out += decode(group)
                continue
        except (binascii.Error, ValueError):
            pass
        # The whole bytes of a group that is cut short still come out, as far as they go.
        known = group.split(b"=")[0]
        if len(known) * (5 if unit == 8 else 6) >= 8:
            whole = len(known) * (5 if unit == 8 else 6) // 8
            out += decode(known + b"A" * (unit - len(known)))[:whole]
        broken = True
        break
    ctx.stdout.write(bytes(out))
    if broken:
        ctx.err("invalid input")
        return 1
    return 0
