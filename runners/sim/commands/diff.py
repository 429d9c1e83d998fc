"""diff: compare files line by line."""

from __future__ import annotations

from datetime import UTC, datetime

from runners.sim.commands.context import Context
from runners.sim.commands.differences import Hunk, matching
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import Options, parse, usage_error


def main(ctx: Context) -> int:
    options = parse(
        ctx, "abBdeinNpqrsTtuU:cC:wyEZx:W:",
        ["brief/q", "unified=?/U", "context=?/C", "ignore-case/i", "ignore-all-space/w", "ignore-space-change/b",
         "ignore-blank-lines/B", "recursive/r", "new-file/N", "report-identical-files/s", "text/a", "side-by-side/y",
         "color=?", "label=", "exclude=/x", "ignore-trailing-space/Z", "width=/W", "suppress-common-lines", "strip-trailing-cr"],
        status=2, usage="Usage: diff [OPTION]... FILES\nCompare FILES line by line.", version="GNU diffutils) 3.8",
    )  # fmt: skip
    names = options.operands
    if len(names) < 2:
        usage_error(ctx, f"missing operand after '{names[0] if names else 'diff'}'", 2)
    if len(names) > 2:
        usage_error(ctx, f"extra operand '{names[2]}'", 2)
    left, right = names
    folders = [ctx.files.exists(name) and ctx.files.stat(name).is_dir for name in names]
    if all(folders):
        return _trees(ctx, options, left, right)
    if folders[0]:
        left = f"{left.rstrip('/')}/{right.rpartition('/')[2]}"
    elif folders[1]:
        right = f"{right.rstrip('/')}/{left.rpartition('/')[2]}"
    return _files(ctx, options, left, right, "")


def _trees(ctx: Context, options: Options, left: str, right: str) -> int:
    status = 0
    found = [set(ctx.files.names(folder)) for folder in (left, right)]
    for name in sorted(found[0] | found[1]):
        ctx.spend(5)
        paths = [f"{folder.rstrip('/')}/{name}" for folder in (left, right)]
        if name not in found[0] or name not in found[1]:
            if not options.has("N"):
                where = left if name in found[0] else right
                ctx.line(f"Only in {where.rstrip('/') if where != '/' else '/'}: {name}")
                status = max(status, 1)
                continue
        there = [ctx.files.stat(path) if ctx.files.exists(path) else None for path in paths]
        kinds = [inode is not None and inode.is_dir for inode in there]
        if all(kinds):
            if options.has("r"):
                status = max(status, _trees(ctx, options, *paths))
            else:
                ctx.line(f"Common subdirectories: {paths[0]} and {paths[1]}")
            continue
        if any(kinds):
            names = ["directory" if kind else "regular file" for kind in kinds]
            ctx.line(f"File {paths[0]} is a {names[0]} while file {paths[1]} is a {names[1]}")
            status = max(status, 1)
            continue
        flags = " ".join(f"-{name}" for name, _ in options.given if len(name) == 1)
        status = max(status, _files(ctx, options, *paths, f"diff {flags + ' ' if flags else ''}{paths[0]} {paths[1]}"))
    return status


def _load(ctx: Context, options: Options, name: str) -> bytes:
    if options.has("N") and name != "-" and not ctx.files.exists(name):
        return b""
    return ctx.open(name).read()


def _files(ctx: Context, options: Options, left: str, right: str, heading: str) -> int:
    data: list[bytes] = []
    missing = False
    for name in (left, right):
        try:
            data.append(_load(ctx, options, name))
        except OSError as error:
            ctx.err(f"{name}: {describe(error)}")
            missing = True
    if missing:
        return 2
    ctx.spend((len(data[0]) + len(data[1])) >> 5)
    if data[0] == data[1]:
        if options.has("s"):
            ctx.line(f"Files {left} and {right} are identical")
        return 0
    if any(b"\0" in piece[:4096] for piece in data) and not options.has("a"):
        ctx.line(f"{'Binary files' if not options.has('q') else 'Files'} {left} and {right} differ")
        return 1
    rows = [piece.split(b"\n") for piece in data]
    complete = [piece.endswith(b"\n") or not piece for piece in data]
    for index, whole in enumerate(complete):
        if whole:
            rows[index].pop()
    keys = [
        [_key(options, row) + (b"" if whole or at < len(lines) - 1 else b"\n\\") for at, row in enumerate(lines)]
        for lines, whole in zip(rows, complete, strict=True)
    ]
    hunks = matching(keys[0], keys[1], ctx.spend)
    if options.has("B"):
        hunks = [
            h for h in hunks if any(r.strip() for r in rows[0][h.low : h.high] + rows[1][h.other_low : h.other_high])
        ]
    if not hunks:
        return 0
    if options.has("q"):
        ctx.line(f"Files {left} and {right} differ")
        return 1
    if heading:
        ctx.line(heading)
    printer = _Printer(ctx, rows[0], rows[1], complete)
    context = options.value("U", "C")
    if options.has("u", "U"):
        labels = options.values("label")
        printer.unified(
            hunks, int(context or 3), [_stamp(ctx, left), _stamp(ctx, right)] if not labels else labels, left, right
        )
    elif options.has("y"):
        printer.side_by_side(hunks, int(options.value("W") or 130))
    else:
        printer.normal(hunks)
    return 1


def _key(options: Options, row: bytes) -> bytes:
    if options.has("w"):
        row = b"".join(row.split())
    elif options.has("b"):
        row = b" ".join(row.split()) if not row[:1].isspace() else b" " + b" ".join(row.split())
    elif options.has("Z"):
        row = row.rstrip()
    return row.lower() if options.has("i") else row


def _stamp(ctx: Context, name: str) -> str:
    moment = ctx.machine.clock.now
    if name != "-" and ctx.files.exists(name):
        moment = ctx.files.stat(name).mtime
    at = datetime.fromtimestamp(moment, UTC)
    return f"{name}\t{at:%Y-%m-%d %H:%M:%S}.{int(moment % 1 * 1e9):09d} +0000"


class _Printer:
    def __init__(self, ctx: Context, left: list[bytes], right: list[bytes], complete: list[bool]) -> None:
        self.ctx = ctx
        self.left = left
        self.right = right
        self.complete = complete

    def row(self, mark: bytes, which: int, at: int) -> None:
        rows = self.left if which == 0 else self.right
        self.ctx.stdout.write(mark + rows[at] + b"\n")
        if at == len(rows) - 1 and not self.complete[which]:
            self.ctx.stdout.write(b"\\ No newline at end of file\n")

    def normal(self, hunks: list[Hunk]) -> None:
        for hunk in hunks:
            kind = "a" if hunk.low == hunk.high else "d" if hunk.other_low == hunk.other_high else "c"
            self.ctx.line(_span(hunk.low, hunk.high) + kind + _span(hunk.other_low, hunk.other_high))
            for at in range(hunk.low, hunk.high):
                self.row(b"< ", 0, at)
            if kind == "c":
                self.ctx.line("---")
            for at in range(hunk.other_low, hunk.other_high):
                self.row(b"> ", 1, at)

    def unified(self, hunks: list[Hunk], context: int, labels: list[str], left: str, right: str) -> None:
        names = [*labels, left, right]
        self.ctx.line(f"--- {names[0]}")
        self.ctx.line(f"+++ {labels[1] if len(labels) > 1 else right}")
        groups: list[list[Hunk]] = []
        for hunk in hunks:
            if groups and hunk.low - groups[-1][-1].high <= 2 * context:
                groups[-1].append(hunk)
            else:
                groups.append([hunk])
        for group in groups:
            first, last = group[0], group[-1]
            low, high = max(first.low - context, 0), min(last.high + context, len(self.left))
            other_low = max(first.other_low - context, 0)
            other_high = min(last.other_high + context, len(self.right))
            self.ctx.line(f"@@ -{_range(low, high)} +{_range(other_low, other_high)} @@")
            at = low
            for hunk in group:
                for row in range(at, hunk.low):
                    self.row(b" ", 0, row)
                for row in range(hunk.low, hunk.high):
                    self.row(b"-", 0, row)
                for row in range(hunk.other_low, hunk.other_high):
                    self.row(b"+", 1, row)
                at = hunk.high
            for row in range(at, high):
                self.row(b" ", 0, row)

    def side_by_side(self, hunks: list[Hunk], width: int) -> None:
        half = width // 2 - 3
        at = 0
        other = 0

        def put(left: bytes, mark: str, right: bytes) -> None:
            text = left.decode("utf-8", "replace")[:half]
            line = f"{text:<{half}} {mark} {right.decode('utf-8', 'replace')[:half]}"
            self.ctx.line(line.rstrip() if not right else line)

        for hunk in [*hunks, Hunk(len(self.left), len(self.left), len(self.right), len(self.right))]:
            while at < hunk.low:
                put(self.left[at], " ", self.right[other])
                at += 1
                other += 1
            for step in range(max(hunk.high - hunk.low, hunk.other_high - hunk.other_low)):
                first = self.left[hunk.low + step] if hunk.low + step < hunk.high else None
                second = self.right[hunk.other_low + step] if hunk.other_low + step < hunk.other_high else None
                put(
                    first or b"",
                    "|" if first is not None and second is not None else "<" if second is None else ">",
                    second or b"",
                )
            at, other = hunk.high, hunk.other_high


def _span(low: int, high: int) -> str:
    if high - low == 1:
        return str(high)
    return str(low) if high == low else f"{low + 1},{high}"


def _range(low: int, high: int) -> str:
    count = high - low
    if count == 1:
        return str(low + 1)
    return f"{low if count == 0 else low + 1},{count}"
