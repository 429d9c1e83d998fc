"""truncate: shrink or extend the size of a file."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, quoted, size
from runners.sim.commands.options import parse, usage_error


def main(ctx: Context) -> int:
    options = parse(
        ctx, "cor:s:", ["no-create/c", "io-blocks/o", "reference=/r", "size=/s"],
        usage="Usage: truncate OPTION... FILE...\nShrink or extend the size of each FILE to the specified size",
    )  # fmt: skip
    text = options.value("s")
    reference = options.value("r")
    if text is None and reference is None:
        usage_error(ctx, "you must specify either ‘--size’ or ‘--reference’")
    if not options.operands:
        usage_error(ctx, "missing file operand")
    mode = ""
    number = ctx.files.stat(reference).size if reference is not None else 0
    if text is not None:
        mode = text[:1] if text[:1] in "+-<>/%" else ""
        parsed = size(text[len(mode) :])
        if parsed is None:
            ctx.die(f"Invalid number: ‘{text}’")
        number = parsed
    status = 0
    for name in options.operands:
        try:
            if not ctx.files.exists(name):
                if options.has("c"):
                    continue
                ctx.files.write(name, b"")
            now = ctx.files.stat(name).size
            wanted = {
                "": number, "+": now + number, "-": max(now - number, 0), "<": min(now, number), ">": max(now, number),
                "/": now // (number or 1) * number, "%": -(-now // (number or 1)) * number,
            }[mode]  # fmt: skip
            ctx.files.truncate(name, wanted)
        except OSError as error:
            verb = "cannot open" if error.errno != 28 else "failed to truncate"
            tail = " for writing" if verb == "cannot open" else f" at {number} bytes"
            ctx.err(f"{verb} {quoted(name)}{tail}: {describe(error)}")
            status = 1
    return status
