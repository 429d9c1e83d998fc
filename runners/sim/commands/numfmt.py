"""numfmt: convert numbers from and to human-readable strings."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, ROUND_UP, Decimal

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.inputs import quoted
from runners.sim.commands.options import Options, parse, usage_error
from runners.text import is_digits

_UNITS = "KMGTPEZY"
_NUMBER = re.compile(r"([-+]?\d*\.?\d+)([A-Za-z]*)(.*)", re.DOTALL)
_FORMAT = re.compile(r"((?:[^%]|%%)*)%(['0-]*)(\d*)(?:\.(\d+))?f((?:[^%]|%%)*)")
_ROUNDINGS = {
    "up": ROUND_CEILING, "down": ROUND_FLOOR, "from-zero": ROUND_UP, "towards-zero": ROUND_DOWN,
    "nearest": ROUND_HALF_UP,
}  # fmt: skip


def main(ctx: Context) -> int:
    options = parse(
        ctx, "d:z",
        ["from={none,auto,si,iec,iec-i}", "to={none,si,iec,iec-i}", "from-unit=", "to-unit=", "suffix=", "padding=",
         "field=", "format=", "round={up,down,from-zero,towards-zero,nearest}", "header=?", "delimiter=/d",
         "grouping", "invalid=", "zero-terminated/z", "debug"],
        usage="Usage: numfmt [OPTION]... [NUMBER]...\nReformat NUMBER(s), or the numbers from standard input "
        "if none are specified.",
    )  # fmt: skip
    form = options.value("format")
    if form is not None and _FORMAT.fullmatch(form) is None:
        usage_error(ctx, f"invalid format ‘{form}’, directive must be %[0]['][-][N][.][N]f")
    header = options.value("header") or "1"
    if not is_digits(header) or not int(header):
        ctx.die(f"invalid header value ‘{header}’")
    status = 0
    if options.operands:
        for operand in options.operands:
            status = _line(ctx, options, operand, "\n") or status
        return status
    skipped = int(header) if options.has("header") else 0
    for raw in ctx.stdin.lines():
        ctx.spend(2)
        text = raw.decode("utf-8", "surrogateescape")
        if skipped:
            skipped -= 1
            ctx.out(text)
            continue
        body, newline = (text[:-1], "\n") if text.endswith("\n") else (text, "")
        status = _line(ctx, options, body, newline) or status
    return status


def _line(ctx: Context, options: Options, text: str, end: str) -> int:
    """One line: the fields that are asked for, converted; 2 where one is no number."""
    delimiter = options.value("d")
    if delimiter is None:
        text = text.replace("\t", " ")
    wanted = _fields(options.value("field") or "1")
    pieces = text.split(delimiter) if delimiter is not None else re.findall(r"\s*\S+", text) or [text]
    status = 0
    for number, piece in enumerate(pieces, 1):
        if not any(low <= number <= high for low, high in wanted):
            continue
        blank = len(piece) - len(piece.lstrip())
        try:
            shown = _converted(options, piece.strip())
        except ValueError as problem:
            mode = options.value("invalid") or "abort"
            if mode != "ignore":
                ctx.err(str(problem))
            if mode == "abort":
                raise CommandExit(2) from None
            status = 2 if mode == "fail" else 0
            continue
        # Columns keep their width, save the blank between them.
        width = len(piece) if delimiter is None and blank > 1 else 0
        lead = " " if blank and number > 1 and not width else ""
        pieces[number - 1] = f"{shown:>{width}}" if width else lead + shown
    ctx.out((delimiter or "").join(pieces) + end)
    return status


def _fields(text: str) -> list[tuple[int, int]]:
    found = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        first = int(low) if is_digits(low) else 1
        found.append((first, (int(high) if is_digits(high) else 1 << 30) if dash else first))
    return found


def _converted(options: Options, text: str) -> str:
    """Raises ValueError with numfmt's message."""
    suffix = options.value("suffix") or ""
    if suffix and text.endswith(suffix):
        text = text[: -len(suffix)]
    value = _read(text, options.value("from") or "none") * _size(options.value("from-unit"))
    value /= _size(options.value("to-unit"))
    form = _FORMAT.fullmatch(options.value("format") or "%f")
    assert form is not None
    places = int(form[4]) if form[4] is not None else None
    rounding = _ROUNDINGS.get(options.value("round") or "from-zero", ROUND_UP)
    shown = _shown(value, options.value("to") or "none", places, rounding)
    shown += suffix
    width = int(form[3] or 0)
    if width:
        shown = shown.ljust(width) if "-" in form[2] else shown.rjust(width, "0" if "0" in form[2] else " ")
    padding = options.value("padding")
    if padding is not None:
        shown = shown.ljust(-int(padding)) if padding.startswith("-") else shown.rjust(int(padding))
    return f"{form[1]}{shown}{form[5]}".replace("%%", "%")


def _size(text: str | None) -> int:
    if text is None:
        return 1
    found = re.fullmatch(r"(\d+)?([KMGTPEZY]?)(i?)", text)
    if found is None:
        raise ValueError(f"invalid unit size: ‘{text}’")
    base = 1024 if found[3] else 1000
    return int(found[1] or 1) * (base ** (_UNITS.index(found[2]) + 1) if found[2] else 1)


def _read(text: str, scale: str) -> Decimal:
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(f"invalid number: {quoted(text).replace(chr(39), '‘', 1)[:-1]}’")
    value, unit = Decimal(found[1]), found[2]
    if found[3]:
        raise ValueError(f"invalid suffix in input: ‘{text}’")
    if not unit:
        return value
    letter = unit[0].upper() if unit[0] in "kKMGTPEZY" else ""
    if not letter:
        raise ValueError(f"invalid suffix in input: ‘{text}’")
    if scale == "none":
        raise ValueError(f"rejecting suffix in input: ‘{text}’ (consider using --from)")
    rest = unit[1:]
    if scale == "iec-i" and rest != "i":
        raise ValueError(f"missing 'i' suffix in input: ‘{text}’ (e.g Ki/Mi/Gi)")
    if rest not in ({"iec-i": ("i",), "auto": ("", "i")}.get(scale, ("",))):
        raise ValueError(f"invalid suffix in input ‘{text}’: ‘{rest}’")
    base = 1024 if scale in ("iec", "iec-i") or rest == "i" else 1000
    return value * Decimal(base ** (_UNITS.index(letter) + 1))


def _shown(value: Decimal, scale: str, places: int | None, rounding: str) -> str:
    if scale == "none":
        if places is None:
            exact = value.normalize()
            exponent = exact.as_tuple().exponent
            return f"{exact:f}" if isinstance(exponent, int) and exponent < 0 else str(int(exact))
        return f"{value.quantize(Decimal(1).scaleb(-places), rounding=rounding):f}"
    base = 1000 if scale == "si" else 1024
    power = 0
    scaled = value
    while abs(scaled) >= base and power < len(_UNITS):
        scaled /= base
        power += 1
    digits = places if places is not None else 1 if power and abs(scaled) < 10 else 0
    rounded = scaled.quantize(Decimal(1).scaleb(-digits), rounding=rounding)
    if abs(rounded) >= base and power < len(_UNITS):
        power += 1
        rounded = (rounded / base).quantize(Decimal("0.1") if places is None else Decimal(1).scaleb(-digits))
    elif places is None and digits == 1 and abs(rounded) >= 10:
        rounded = rounded.quantize(Decimal(1))
    unit = _UNITS[power - 1] if power else ""
    return f"{rounded:f}{unit}{'i' if unit and scale == 'iec-i' else ''}"
