"""date: print or set the system date and time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

from runners.sim.clock import moment as written_time
from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.options import parse, usage_error
from runners.sim.commands.times import parse_date
from runners.sim.timezones import offset, zone_of

_STAMP = re.compile(r"[0-9]{8}(?:[0-9]{2}|[0-9]{4})?(?:\.[0-9]{2})?")
_SPEC = re.compile(r"%([-_0^#]?)(\d*)(:{0,3}[a-zA-Z%+])")


def render(form: str, moment: float, zone: tzinfo = UTC) -> str:
    """date's formats."""
    at = written_time(moment)
    try:
        at = at.astimezone(zone)
    except OverflowError:
        zone = UTC
    off = f"{at:%z}"

    def one(match: re.Match[str]) -> str:
        flag, width, letter = match.groups()
        special = {
            "s": str(int(moment)), "N": f"{int(moment % 1 * 1e9):09d}"[: int(width or 9)], "z": offset(off, 0),
            ":z": offset(off, 1), "::z": offset(off, 2), ":::z": offset(off, 3), "Z": at.tzname() or "",
            "P": f"{at:%p}".lower(), "k": f"{at.hour:>2}", "l": f"{at.hour % 12 or 12:>2}",
            "e": f"{at.day:>2}",
            "n": "\n", "t": "\t", "R": f"{at:%H:%M}", "T": f"{at:%H:%M:%S}", "D": f"{at:%m/%d/%y}",
            "F": f"{at:%Y-%m-%d}",
            "c": f"{at:%a %b} {at.day:>2} {at:%H:%M:%S %Y}", "r": f"{at:%I:%M:%S %p}", "h": f"{at:%b}",
            "C": f"{at.year // 100:02d}",
            "x": f"{at:%m/%d/%y}", "X": f"{at:%H:%M:%S}", "q": str((at.month + 2) // 3), "+": "%+",
        }  # fmt: skip
        if letter in special:
            text = special[letter]
        elif letter in "aAbBdgGHIjmMpSuUVwWyY%":
            text = at.strftime("%" + letter)
        else:
            return match.group()
        if flag == "-":
            return text.lstrip("0 ") or "0" if text[:1] in "0 " else text
        if flag == "_" and text[:1] == "0":
            stripped = text.lstrip("0") or "0"
            return stripped.rjust(len(text))
        if flag == "0" and text[:1] == " ":
            return text.replace(" ", "0")
        if flag == "^":
            return text.upper()
        return text

    return _SPEC.sub(one, form)


def main(ctx: Context) -> int:
    options = parse(
        ctx, "d:f:I::r:Rs:u", ["date=/d", "file=/f", "iso-8601=?{hours,minutes,date,seconds,ns}/I", "reference=/r",
         "rfc-email/R", "rfc-2822/R", "rfc-3339={date,seconds,ns}", "set=/s", "utc/u", "universal/u", "debug"],
        usage="Usage: date [OPTION]... [+FORMAT]\n  or:  date [-u|--utc|--universal] [MMDDhhmm[[CC]YY][.ss]]",
    )  # fmt: skip
    now = ctx.machine.clock.now
    moment = now
    text = options.value("d")
    if text is not None:
        parsed = parse_date(text, now)
        if parsed is None:
            ctx.die(f"invalid date ‘{text}’")
        moment = parsed
    reference = options.value("r")
    if reference is not None:
        try:
            moment = ctx.files.stat(reference).mtime
        except OSError as error:
            ctx.die(f"{reference}: {describe(error)}")
    wanted = options.value("s")
    if wanted is not None:
        parsed = parse_date(wanted, now)
        if parsed is None:
            ctx.die(f"invalid date ‘{wanted}’")
        moment = parsed
    form = "%a %b %e %H:%M:%S %Z %Y"
    if options.has("R"):
        form = "%a, %d %b %Y %H:%M:%S %z"
    if options.has("I"):
        precise = {"hours": "%FT%H%:z", "minutes": "%FT%H:%M%:z", "seconds": "%FT%T%:z", "ns": "%FT%T,%N%:z"}
        form = precise.get(options.value("I") or "date", "%F")
    third = options.value("rfc-3339")
    if third is not None:
        form = {"date": "%F", "seconds": "%F %T%:z", "ns": "%F %T.%N%:z"}.get(third, "%F")
    stamp = next((operand for operand in options.operands if _STAMP.fullmatch(operand)), None)
    if stamp is not None:
        try:
            moment = _stamped(stamp, now)
        except ValueError:
            ctx.die(f"invalid date ‘{stamp}’")
    for operand in options.operands:
        if operand.startswith("+"):
            form = operand[1:]
        elif len(options.operands) > 1:
            usage_error(ctx, f"extra operand {quoted(operand)}")
        elif operand != stamp:
            ctx.die(f"invalid date ‘{operand}’")
    setting = wanted is not None or stamp is not None
    if setting:
        # The clock is its host's.
        ctx.err("cannot set date: Operation not permitted")
    ctx.line(render(form, moment, UTC if options.has("u") else zone_of(ctx.environment.get("TZ"))))
    return int(setting)


def _stamped(stamp: str, now: float) -> float:
    """MMDDhhmm[[CC]YY][.ss]. Raises ValueError."""
    digits, _, seconds = stamp.partition(".")
    month, day, hour, minute = (int(digits[at : at + 2]) for at in (0, 2, 4, 6))
    year = int(digits[8:] or written_time(now).year)
    if len(digits) == 10:
        year += 2000 if year < 69 else 1900
    return datetime(year, month, day, hour, minute, int(seconds or 0), tzinfo=UTC).timestamp()
