"""truncate: shrink or extend the size of a file to the specified size."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import quoted, size
from runners.sim.commands.options import missing_operand, parse, usage_error

_LONG = ("no-create/c", "io-blocks/o", "reference=/r", "size=/s")
_USAGE = "Usage: truncate OPTION... FILE...\nShrink or extend the size of each FILE to the specified size."
_BLOCK = 4096


def main(ctx: Context) -> int:
    options = parse(ctx, "cor:s:", _LONG, usage=_USAGE)
    wanted, reference = options.value("s"), options.value("r")
    if wanted is None and reference is None:
        usage_error(ctx, "you must specify either ‘--size’ or ‘--reference’")
    mode, amount = _parsed(ctx, wanted) if wanted is not None else ("", 0)
    if reference is not None and wanted is not None and not mode:
        usage_error(ctx, "you must specify a relative ‘--size’ with ‘--reference’")
    if options.has("o") and wanted is None:
        usage_error(ctx, "‘--io-blocks’ was specified but ‘--size’ was not")
    if not options.operands:
        usage_error(ctx, "missing file operand") if wanted is not None or reference else missing_operand(ctx)
    if options.has("o"):
        amount *= _BLOCK
    base: int | None = None
    if reference is not None:
        try:
            base = ctx.files.stat(reference).size
        except OSError as error:
            ctx.die(f"cannot stat {quoted(reference)}: {error.strerror}")
    status = 0
    for name in options.operands:
        if options.has("c") and not ctx.files.exists(name):
            continue
        try:
            inode = ctx.files.open_for_writing(name, truncate=False)
        except OSError as error:
            ctx.err(f"cannot open {quoted(name)} for writing: {error.strerror}")
            status = 1
            continue
        before = inode.size if base is None else base
        target = before if wanted is None else _target(mode, amount, before)
        try:
            ctx.files.truncate(name, max(target, 0))
        except OSError as error:
            ctx.err(f"failed to truncate {quoted(name)} at {target} bytes: {error.strerror}")
            status = 1
    return status


def _parsed(ctx: Context, text: str) -> tuple[str, int]:
    body = text.strip()
    mode = body[0] if body[:1] in "+-<>/%" else ""
    found = size(body[len(mode) :])
    if found is None or (mode in ("/", "%") and found == 0 and body[len(mode) :]):
        ctx.die("division by zero" if found == 0 else f"Invalid number: ‘{body[len(mode) :]}’")
    return mode, found


def _target(mode: str, amount: int, before: int) -> int:
    if mode == "+":
        return before + amount
    if mode == "-":
        return before - amount
    if mode == "<":
        return min(before, amount)
    if mode == ">":
        return max(before, amount)
    if mode == "/":
        return before // amount * amount
    if mode == "%":
        return -(-before // amount) * amount
    return amount
