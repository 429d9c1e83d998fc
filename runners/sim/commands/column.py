"""column: columnate lists."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import all_lines
from runners.sim.commands.options import parse
from runners.text import is_digits


def main(ctx: Context) -> int:
    options = parse(
        ctx, "c:eJN:nO:o:R:s:tx",
        ["columns=/c", "output-width=/c", "table/t", "separator=/s", "output-separator=/o", "table-columns=/N",
         "table-right=/R", "fillrows/x", "keep-empty-lines/e"],
        usage="Usage:\n column [options] [<file>...]", version="column from util-linux 2.38.1",
    )  # fmt: skip
    given = options.value("c")
    if given is not None and not is_digits(given):
        ctx.die(f"invalid columns argument: '{given}'")
    width = int(given or 80)
    failed: list[str] = []
    rows = [line.decode("utf-8", "surrogateescape") for line in all_lines(ctx, options.operands, failed)]
    rows = [row for row in rows if row.strip()]
    if not rows:
        return int(bool(failed))
    if options.has("t"):
        _table(ctx, rows, options.value("s"), options.value("o"), options.value("N"), options.value("R"))
    else:
        _fill(ctx, rows, width, across=options.has("x"))
    return int(bool(failed))


def _table(
    ctx: Context, rows: list[str], separator: str | None, joiner: str | None, names: str | None, right: str | None
) -> None:
    cells: list[list[str]] = []
    for row in rows:
        if separator is None:
            cells.append(row.split())
            continue
        current = [""]
        for char in row:
            if char in separator:
                current.append("")
            else:
                current[-1] += char
        cells.append(current)
    if names is not None:
        cells.insert(0, names.split(","))
    count = max(len(row) for row in cells)
    widths = [max((len(row[index]) for row in cells if index < len(row)), default=0) for index in range(count)]
    aligned = {int(number) - 1 for number in (right or "").split(",") if is_digits(number)}
    between = "  " if joiner is None else joiner
    for line in cells:
        padded = line + [""] * (count - len(row))
        out = []
        for index, cell in enumerate(padded):
            if index in aligned:
                out.append(cell.rjust(widths[index]))
            elif index == count - 1:
                out.append(cell)
            else:
                out.append(cell.ljust(widths[index]))
        ctx.line(between.join(out))


def _fill(ctx: Context, rows: list[str], width: int, *, across: bool) -> None:
    cell = (max(len(row) for row in rows) // 8 + 1) * 8
    columns = max(width // cell, 1)
    if columns == 1:
        for row in rows:
            ctx.line(row)
        return
    height = -(-len(rows) // columns)
    for line in range(height):
        chosen = rows[line * columns : (line + 1) * columns] if across else rows[line::height]
        out = ""
        for index, text in enumerate(chosen):
            out += text
            if index < len(chosen) - 1:
                out += "\t" * -(-(cell - len(text)) // 8)
        ctx.line(out)
