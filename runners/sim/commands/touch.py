"""touch: change file timestamps."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.options import parse, usage_error
from runners.sim.commands.times import parse_date


def _stamp(text: str, now: float) -> float | None:
    """[[CC]YY]MMDDhhmm[.ss]."""
    match = re.fullmatch(r"(\d{2}|\d{4})?(\d{2})(\d{2})(\d{2})(\d{2})(?:\.(\d{2}))?", text)
    if match is None:
        return None
    year_text, month, day, hour, minute, second = match.groups()
    year = datetime.fromtimestamp(now, UTC).year
    if year_text:
        year = int(year_text) if len(year_text) == 4 else (2000 if int(year_text) < 69 else 1900) + int(year_text)
    try:
        return datetime(year, int(month), int(day), int(hour), int(minute), int(second or 0), tzinfo=UTC).timestamp()
    except ValueError:
        return None


def main(ctx: Context) -> int:
    options = parse(
        ctx, "acd:fhmr:t:", ["no-create/c", "date=/d", "no-dereference/h", "reference=/r",
         "time={atime|access|use,mtime|modify}"],
        usage="Usage: touch [OPTION]... FILE...\n"
        "Update the access and modification times of each FILE to the current time.",
    )  # fmt: skip
    if not options.operands:
        usage_error(ctx, "missing file operand")
    now = ctx.machine.clock.now
    at: float | None = None
    text = options.value("d")
    if text is not None:
        at = parse_date(text, now)
        if at is None:
            ctx.die(f"invalid date format {quoted(text).replace(chr(39), '‘', 1).replace(chr(39), '’')}")
    stamp = options.value("t")
    if stamp is not None:
        at = _stamp(stamp, now)
        if at is None:
            ctx.die(f"invalid date format ‘{stamp}’")
    reference = options.value("r")
    if reference is not None:
        try:
            at = ctx.files.stat(reference).mtime
        except OSError as error:
            ctx.die(f"failed to get attributes of {quoted(reference)}: {describe(error)}")
    status = 0
    for name in options.operands:
        if name == "-":
            continue
        try:
            if options.has("c") and not ctx.files.exists(name):
                continue
            ctx.files.touch(name, at)
        except OSError as error:
            verb = "cannot touch" if not ctx.files.exists(name) or error.errno != 1 else "setting times of"
            ctx.err(f"{verb} {quoted(name)}: {describe(error)}")
            status = 1
    return status
