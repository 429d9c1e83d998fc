"""wc: count lines, words and bytes."""

from __future__ import annotations

from runners.sim.commands.context import Context, Reader
from runners.sim.commands.inputs import describe, inputs
from runners.sim.commands.open_files import FileStream
from runners.sim.commands.options import parse
from runners.sim.files.counting import DISK_SPEED, LARGE, count


def main(ctx: Context) -> int:
    options = parse(
        ctx, "cmlLw", ["bytes/c", "chars/m", "lines/l", "max-line-length/L", "words/w", "files0-from="],
        usage="Usage: wc [OPTION]... [FILE]...\nPrint newline, word, and byte counts for each FILE.",
    )  # fmt: skip
    chosen = [name for name in "lwmcL" if options.has(name)] or ["l", "w", "c"]
    failed: list[str] = []
    rows: list[tuple[dict[str, int], str]] = []
    width = 1
    regular = True
    for item in inputs(ctx, options.operands, failed):
        try:
            rows.append((_count(ctx, item.reader, chosen), item.name))
        except OSError as error:
            if not error.filename:
                raise
            ctx.err(f"{item.name}: {describe(error)}")
            failed.append(item.name)
            rows.append((dict.fromkeys("lwmcL", 0), item.name))
        regular = regular and isinstance(item.reader, FileStream)
    if not rows:
        return 1
    total = {name: sum(row[name] for row, _ in rows) for name in "lwmc"} | {"L": max(row["L"] for row, _ in rows)}
    many = len(options.operands) > 1
    if len(chosen) > 1 or many:
        # GNU sizes the columns by the bytes of all files, or 7 where a size cannot be known beforehand.
        width = len(str(total["c"])) if regular else 7
    for row, name in rows:
        label = f" {name}" if options.operands else ""
        ctx.line(" ".join(f"{row[kind]:>{width}}" for kind in chosen) + label)
    if many:
        ctx.line(" ".join(f"{total[kind]:>{width}}" for kind in chosen) + " total")
    return int(bool(failed))


def _count(ctx: Context, reader: Reader, chosen: list[str]) -> dict[str, int]:
    counts = dict.fromkeys("lwmcL", 0)
    if isinstance(reader, FileStream) and not set(chosen) & set("lwmL"):
        counts["c"] = reader.content.size - reader.offset
        return counts
    if isinstance(reader, FileStream) and not reader.offset and reader.content.size >= LARGE and "L" not in chosen:
        content = reader.content
        reader.offset = content.size
        ctx.sleep(content.size / DISK_SPEED)
        found = count(content)
        return counts | {"c": content.size, "l": found.lines, "w": found.words, "m": found.characters}
    inside_word = False
    while chunk := reader.read(65536):
        ctx.spend(len(chunk) >> 7)
        counts["c"] += len(chunk)
        counts["l"] += chunk.count(b"\n")
        words = len(chunk.split())
        if inside_word and not chunk[:1].isspace():
            words -= 1
        counts["w"] += words
        inside_word = not chunk[-1:].isspace()
        counts["m"] += sum(1 for byte in chunk if byte & 0xC0 != 0x80) if "m" in chosen else 0
        if "L" in chosen:
            counts["L"] = max(counts["L"], *(len(line.decode("utf-8", "replace")) for line in chunk.split(b"\n")))
    return counts
