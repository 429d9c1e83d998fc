"""xxd: make a hex dump or do the reverse."""

from __future__ import annotations

import re

from runners.sim.commands.context import CommandExit, Context, Reader, Writer
from runners.text import is_digits

VERSION = "xxd 2022-01-14 by Juergen Weigert et al."
_USAGE = (
    "Usage:\n"
    "       xxd [options] [infile [outfile]]\n    or\n       xxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]\n"
)
_VALUED = {
    "c": "columns", "cols": "columns", "g": "group", "groupsize": "group", "l": "length", "len": "length", "s": "seek",
    "seek": "seek", "skip": "seek", "o": "offset", "n": "name", "name": "name",
}  # fmt: skip
_FLAGS = {
    "a": "autoskip", "autoskip": "autoskip", "b": "bits", "bits": "bits", "e": "little", "i": "include",
    "include": "include", "p": "plain", "ps": "plain", "plain": "plain", "postscript": "plain", "r": "reverse",
    "revert": "reverse", "u": "upper", "uppercase": "upper", "v": "version", "version": "version", "h": "help",
    "help": "help", "C": "capitalize", "d": "decimal", "E": "ebcdic",
}  # fmt: skip


def main(ctx: Context) -> int:
    flags, values, operands = _arguments(ctx)
    if "version" in flags:
        ctx.stderr.write(f"{VERSION}\n".encode("utf-8", "surrogateescape"))
        return 0
    if "help" in flags or len(operands) > 2:
        ctx.stderr.write(_USAGE.encode("utf-8", "surrogateescape"))
        return 0 if "help" in flags else 1
    name = operands[0] if operands else "-"
    try:
        reader = ctx.open(name)
        out = ctx.create(operands[1]) if len(operands) > 1 else ctx.stdout
    except OSError as error:
        ctx.err(f"{error.filename or name}: {error.strerror}")
        return 2
    if not flags & {"reverse", "include", "plain", "autoskip"} and not values.keys() & {"seek", "length"}:
        return _stream(ctx, reader, out, flags, values)
    data = reader.read()
    ctx.spend(1 + (len(data) >> 4))
    if "reverse" in flags:
        out.write(_reverse(data, "plain" in flags))
        return 0
    seek = values.get("seek", 0)
    start = max(len(data) + seek, 0) if seek < 0 else seek
    data = data[start:]
    if "length" in values:
        data = data[: values["length"]]
    if "include" in flags:
        out.write(
            _include(data, name, values.get("columns", 0) or 12, "upper" in flags).encode("utf-8", "surrogateescape")
        )
    elif "plain" in flags:
        digits = data.hex()
        digits = digits.upper() if "upper" in flags else digits
        width = 2 * values.get("columns", 30)
        pieces = [digits] if width == 0 else [digits[at : at + width] for at in range(0, len(digits), width)]
        out.write("".join(f"{piece}\n" for piece in pieces if piece).encode("utf-8", "surrogateescape"))
    else:
        out.write(_dump(data, start + values.get("offset", 0), flags, values).encode("utf-8", "surrogateescape"))
    return 0


def _arguments(ctx: Context) -> tuple[set[str], dict[str, int], list[str]]:
    flags: set[str] = set()
    values: dict[str, int] = {}
    words = list(ctx.args)
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        body = word.lstrip("-")
        key, rest = (body, "") if body in _VALUED or body in _FLAGS else (body[:1], body[1:])
        if key in _VALUED:
            text = rest or (words.pop(0) if words else "")
            if _VALUED[key] == "name":
                continue
            try:
                values[_VALUED[key]] = int(text, 0) if not re.fullmatch(r"0\d+", text) else int(text, 8)
            except ValueError:
                values[_VALUED[key]] = 0
        elif key in _FLAGS:
            flags.add(_FLAGS[key])
            if rest:
                words.insert(0, "-" + rest)
        else:
            ctx.stderr.write(_USAGE.encode("utf-8", "surrogateescape"))
            raise CommandExit(1)
    return flags, values, words


def _stream(ctx: Context, reader: Reader, out: Writer, flags: set[str], values: dict[str, int]) -> int:
    """Rows as the bytes come, so that whoever reads them may stop early."""
    rows = 64 * (values.get("columns") or (6 if "bits" in flags else 16))
    address = values.get("offset", 0)
    held = b""
    while True:
        more = reader.read(rows)
        held += more
        ctx.spend(1 + (len(more) >> 4))
        ready = len(held) if not more else len(held) - len(held) % rows
        if ready:
            out.write(_dump(held[:ready], address, flags, values).encode("utf-8", "surrogateescape"))
        address += ready
        held = held[ready:]
        if not more:
            return 0


def _dump(data: bytes, address: int, flags: set[str], values: dict[str, int]) -> str:
    bits, little = "bits" in flags, "little" in flags
    columns = values.get("columns") or (6 if bits else 16)
    group = values.get("group", 1 if bits else 4 if little else 2) or columns
    digits = 8 if bits else 2
    width = (digits * columns) + (columns - 1) // group
    lines: list[str] = []
    skipped = 0
    for start in range(0, len(data), columns):
        row = data[start : start + columns]
        zero = "autoskip" in flags and not any(row) and start + columns < len(data)
        skipped = skipped + 1 if zero else 0
        if skipped > 1:
            if skipped == 2:
                lines.append("*")
            continue
        groups = []
        for at in range(0, len(row), group):
            part = row[at : at + group]
            if little:
                text = part[::-1].hex().rjust(2 * group)
            else:
                text = "".join(f"{byte:08b}" for byte in part) if bits else part.hex()
            groups.append(text.upper() if "upper" in flags else text)
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        place = f"{address + start:08d}" if "decimal" in flags else f"{address + start:08x}"
        lines.append(f"{place}: {' '.join(groups).ljust(width)}  {shown}")
    return "".join(f"{line}\n" for line in lines)


def _include(data: bytes, name: str, columns: int, upper: bool) -> str:
    form = "0X%02X" if upper else "0x%02x"
    cells = [form % byte for byte in data]
    rows = [", ".join(cells[start : start + columns]) for start in range(0, len(cells), columns)]
    body = ",\n".join(f"  {row}" for row in rows)
    if name == "-":
        return f"{body}\n" if body else ""
    variable = re.sub(r"\W", "_", name, flags=re.ASCII)
    if is_digits(variable[:1]):
        variable = "__" + variable
    return f"unsigned char {variable}[] = {{\n{body}\n}};\nunsigned int {variable}_len = {len(data)};\n"


def _reverse(data: bytes, plain: bool) -> bytes:
    text = data.decode("latin-1")
    if plain:
        digits = re.sub(r"[^0-9A-Fa-f]", "", text)
        return bytes.fromhex(digits[: len(digits) // 2 * 2])
    out = bytearray()
    for line in text.splitlines():
        found = re.match(r"\s*([0-9a-fA-F]+):? ?((?: ?[0-9a-fA-F]{2})+)", line)
        if found is None:
            continue
        at = int(found[1], 16)
        if at > len(out):
            out += bytes(min(at - len(out), 1 << 24))
        piece = bytes.fromhex(found[2].split("  ")[0].replace(" ", ""))
        out[at : at + len(piece)] = piece
    return bytes(out)
