"""What env, xargs, timeout, nohup and their like share: running another command."""

from __future__ import annotations

import errno
from collections.abc import Sequence

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe


def run(
    ctx: Context,
    argv: Sequence[str],
    *,
    message: str = "failed to run command ‘{name}’: {problem}",
    in_place: bool = False,
) -> int:
    """Run it; 126 or 127 with a message when it cannot be run. `in_place`: the wrapper itself becomes the command."""
    try:
        return ctx.become(argv) if in_place else ctx.run(argv)
    except OSError as error:
        if error.filename is None:
            raise
        ctx.err(message.format(name=argv[0], problem=describe(error)))
        return 127 if error.errno == errno.ENOENT else 126


def duration(text: str) -> float | None:
    """`5`, `0.5`, `2m`, `1h`, `1d`, `infinity` in seconds; None when it is none of these."""
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    scale = units.get(text[-1:])
    digits = text[:-1] if scale is not None else text
    if digits in ("inf", "infinity"):
        return float("inf")
    try:
        value = float(digits)
    except ValueError:
        return None
    return value * (scale or 1) if value >= 0 else None
