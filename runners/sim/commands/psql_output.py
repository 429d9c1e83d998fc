"""How psql prints results and errors."""

from __future__ import annotations

from collections.abc import Sequence

from runners.sim.commands.context import Context
from runners.sim.commands.options import Options
from runners.sim.programs.sql import SqlError, SqlResult
from runners.text import is_digits


class Look:
    """How results are printed."""

    def __init__(self, options: Options) -> None:
        self.aligned = not options.has("A", "csv")
        self.tuples = options.has("t")
        self.expanded = options.has("x")
        self.separator = options.value("F") or ("," if options.has("csv") else "|")
        self.quiet = options.has("q")
        self.stop = any(value in ("ON_ERROR_STOP=1", "ON_ERROR_STOP=on") for value in options.values("v"))


def show_error(ctx: Context, error: SqlError, query: str) -> None:
    lines = [f"{error.severity}:  {error.message}"]
    if error.position:
        before = query[: error.position - 1]
        number = before.count("\n") + 1
        line = query.split("\n")[number - 1]
        column = error.position - 1 - (before.rfind("\n") + 1)
        lead = f"LINE {number}: "
        lines += [f"{lead}{line}", " " * (len(lead) + column) + "^"]
    if error.detail:
        lines.append(f"DETAIL:  {error.detail}")
    if error.hint:
        lines.append(f"HINT:  {error.hint}")
    ctx.stderr.write(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))


def show(ctx: Context, look: Look, result: SqlResult) -> None:
    if not result.columns:
        if not look.quiet:
            ctx.line(result.tag)
        return
    table(ctx, look, result.columns, [["" if cell is None else cell for cell in row] for row in result.rows])


def table(
    ctx: Context, look: Look, columns: Sequence[str], rows: list[list[str]], *, title: str = "", counted: bool = True
) -> None:
    """`counted`: how many rows there are stands at the end."""
    ctx.spend(2 * len(rows))
    if look.expanded:
        _expanded(ctx, look, columns, rows)
        return
    if not look.aligned:
        if not look.tuples:
            ctx.line(look.separator.join(columns))
        for row in rows:
            ctx.line(look.separator.join(row))
        if not look.tuples and look.separator != ",":
            ctx.line(_count(rows))
        return
    count = _count(rows)
    lines = [line for row in rows for line in _lines(row)]
    widths = [max([len(column), *(len(line[index][0]) for line in lines)]) for index, column in enumerate(columns)]
    numeric = [
        any(row[index] for row in rows) and all(_is_number(row[index]) for row in rows if row[index])
        for index in range(len(columns))
    ]
    if title and not look.tuples:
        ctx.line(_centred(title, sum(widths) + 3 * len(widths) - 1).rstrip())
    if not look.tuples:
        ctx.line("|".join(f" {_centred(column, width)} " for column, width in zip(columns, widths, strict=True)))
        ctx.line("+".join("-" * (width + 2) for width in widths))
    for line in lines:
        cells = [
            " " + (f"{text:>{width}}" if right else f"{text:<{width}}") + ("+" if goes_on else " ")
            for (text, goes_on), width, right in zip(line, widths, numeric, strict=True)
        ]
        text, goes_on = line[-1]
        # The last column is not padded when it stands on the left.
        last = cells[-1].removesuffix(" ") if numeric[-1] or goes_on else f" {text}"
        ctx.line("|".join([*cells[:-1], last]))
    if counted and not look.tuples:
        ctx.line(count)
    ctx.line()


def _lines(row: list[str]) -> list[list[tuple[str, bool]]]:
    """The lines that a row of cells takes; with each cell's part, whether it goes on below."""
    parts = [cell.split("\n") for cell in row]
    return [
        [(part[index], index < len(part) - 1) if index < len(part) else ("", False) for part in parts]
        for index in range(max(len(part) for part in parts))
    ]


def _centred(text: str, width: int) -> str:
    left = max(width - len(text), 0) // 2
    return f"{' ' * left}{text}".ljust(width)


def _count(rows: Sequence[Sequence[str]]) -> str:
    return f"({len(rows)} row{'' if len(rows) == 1 else 's'})"


def _is_number(text: str) -> bool:
    return is_digits(text.lstrip("-").replace(".", "", 1))


def _expanded(ctx: Context, look: Look, columns: Sequence[str], rows: list[list[str]]) -> None:
    width = max(len(column) for column in columns)
    if not rows:
        ctx.line("(0 rows)\n")
        return
    body = max(len(cell) for row in rows for cell in row)
    for number, row in enumerate(rows, 1):
        if look.aligned:
            label = f"-[ RECORD {number} ]"
            ctx.line(
                label
                + "-" * max(width + 1 - len(label), 0)
                + "+" * (len(label) <= width + 1)
                + "-" * (body + 1 - max(len(label) - width - 2, 0))
            )
            for column, cell in zip(columns, row, strict=True):
                ctx.line(f"{column:<{width}} | {cell}".rstrip())
        else:
            for column, cell in zip(columns, row, strict=True):
                ctx.line(f"{column}{look.separator}{cell}")
            if number < len(rows):
                ctx.line()
    if look.aligned:
        ctx.line()
