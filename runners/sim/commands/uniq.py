"""uniq: report or omit repeated lines."""

from __future__ import annotations

from runners.sim.commands.context import Context, Writer
from runners.sim.commands.inputs import describe, lines
from runners.sim.commands.options import parse, usage_error
from runners.text import is_digits


def main(ctx: Context) -> int:
    options = parse(
        ctx, "cdDf:is:uw:z",
        ["count/c", "repeated/d", "all-repeated=?{none,prepend,separate}/D", "skip-fields=/f", "ignore-case/i",
         "skip-chars=/s", "unique/u", "check-chars=/w", "zero-terminated/z"],
        usage="Usage: uniq [OPTION]... [INPUT [OUTPUT]]\nFilter adjacent matching lines from INPUT.",
    )  # fmt: skip
    operands = options.operands
    if len(operands) > 2:
        usage_error(ctx, f"extra operand '{operands[2]}'")
    numbers = {}
    for letter in ("f", "s", "w"):
        text = options.value(letter)
        if text is not None and not is_digits(text):
            ctx.die(f"{text}: invalid number of {'fields to skip' if letter == 'f' else 'bytes to skip'}")
        numbers[letter] = int(text) if text is not None else None
    try:
        reader = ctx.open(operands[0] if operands else "-")
    except OSError as error:
        ctx.die(f"{operands[0]}: {describe(error)}")
    out = ctx.create(operands[1]) if len(operands) > 1 else ctx.stdout
    ignore_case = options.has("i")

    def key(line: bytes) -> bytes:
        if numbers["f"]:
            for _ in range(numbers["f"]):
                line = line.lstrip(b" \t")
                at = next((at for at, byte in enumerate(line) if byte in b" \t"), len(line))
                line = line[at:]
        if numbers["s"]:
            line = line[numbers["s"] :]
        if numbers["w"] is not None:
            line = line[: numbers["w"]]
        return line.lower() if ignore_case else line

    group: list[bytes] = []
    known: bytes | None = None
    count = 0
    keep_all = options.has("D")
    for raw in lines(ctx, reader):
        line = raw[:-1] if raw.endswith(b"\n") else raw
        current = key(line)
        if current == known:
            count += 1
            if keep_all:
                group.append(line)
            continue
        if known is not None:
            _emit(out, options.has, group, count)
        known, group, count = current, [line], 1
    if known is not None:
        _emit(out, options.has, group, count)
    return 0


def _emit(out: Writer, has: object, group: list[bytes], count: int) -> None:
    assert callable(has)
    if has("D"):
        if count > 1:
            out.write(b"".join(line + b"\n" for line in group))
        return
    if (has("d") and count == 1) or (has("u") and count > 1):
        return
    prefix = f"{count:>7} ".encode("utf-8", "surrogateescape") if has("c") else b""
    out.write(prefix + group[0] + b"\n")
