"""cut: remove sections from each line."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import all_lines
from runners.sim.commands.options import parse, usage_error


def ranges(ctx: Context, text: str, what: str) -> list[tuple[int, int | None]]:
    """`1-3,5,7-` as pairs; the end None means to the end. Sorted and joined."""
    found: list[tuple[int, int | None]] = []
    for piece in re.split(r"[, \t]", text):
        match = re.fullmatch(r"(\d*)(-?)(\d*)", piece)
        if match is None or piece == "-":
            usage_error(ctx, f"invalid {what} value ‘{piece}’" if piece != "-" else "invalid range with no endpoint: -")
        low, dash, high = match.groups()
        if (low and int(low) == 0) or (not dash and not low):
            noun = "fields are" if what == "field" else "byte/character positions are"
            usage_error(ctx, f"{noun} numbered from 1")
        start = int(low or 1)
        end = (int(high) if high else None) if dash else start
        if end is not None and end < start:
            usage_error(ctx, "invalid decreasing range")
        found.append((start, end))
    joined: list[tuple[int, int | None]] = []
    for start, end in sorted(found, key=lambda pair: pair[0]):
        if joined and (joined[-1][1] is None or start <= (joined[-1][1] or 0) + 1):
            previous_end = joined[-1][1]
            longest = None if previous_end is None or end is None else max(previous_end, end)
            joined[-1] = (joined[-1][0], longest)
        else:
            joined.append((start, end))
    return joined


def complement(spans: list[tuple[int, int | None]]) -> list[tuple[int, int | None]]:
    out: list[tuple[int, int | None]] = []
    position: int | None = 1
    for start, end in spans:
        if position is not None and start > position:
            out.append((position, start - 1))
        position = None if end is None else end + 1
    if position is not None:
        out.append((position, None))
    return out


def main(ctx: Context) -> int:
    options = parse(
        ctx, "b:c:d:f:nsz",
        ["bytes=/b", "characters=/c", "delimiter=/d", "fields=/f", "complement", "only-delimited/s",
         "output-delimiter=", "zero-terminated/z"],
        usage="Usage: cut OPTION... [FILE]...\nPrint selected parts of lines from each FILE to standard output.",
    )  # fmt: skip
    kinds = [name for name, _ in options.given if name in "bcf"]
    if not kinds:
        usage_error(ctx, "you must specify a list of bytes, characters, or fields")
    if len(kinds) > 1:
        usage_error(ctx, "only one list may be specified")
    kind = kinds[0]
    delimiter = options.value("d")
    if delimiter is not None and kind != "f":
        usage_error(ctx, "an input delimiter may be specified only when operating on fields")
    if delimiter is not None and len(delimiter) > 1:
        usage_error(ctx, "the delimiter must be a single character")
    if options.has("s") and kind != "f":
        usage_error(ctx, "suppressing non-delimited lines makes sense\n\tonly when operating on fields")
    split_at = (delimiter if delimiter is not None else "\t").encode("utf-8", "surrogateescape") or b"\0"
    joined = options.value("output-delimiter")
    join_with = split_at if joined is None else joined.encode("utf-8", "surrogateescape")
    spans = ranges(ctx, options.value(kind) or "", "field" if kind == "f" else "byte/character position")
    if options.has("complement"):
        spans = complement(spans)
    failed: list[str] = []
    for line in all_lines(ctx, options.operands, failed):
        if kind == "f":
            if split_at not in line:
                if not options.has("s"):
                    ctx.stdout.write(line + b"\n")
                continue
            pieces = line.split(split_at)
            chosen = [piece for start, end in spans for piece in pieces[start - 1 : end]]
            ctx.stdout.write(join_with.join(chosen) + b"\n")
        else:
            parts = [line[start - 1 : end] for start, end in spans]
            between = b"" if joined is None else join_with
            ctx.stdout.write(between.join(part for part in parts if part) + b"\n")
    return int(bool(failed))
