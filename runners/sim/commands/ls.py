"""ls: list directory contents."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, human, shell_style
from runners.sim.commands.options import Options, parse
from runners.sim.commands.sort import version_key
from runners.sim.files.inode import Inode
from runners.sim.users import accounts

NAMES = ("ls", "dir", "vdir")
_WHEN = "{always|yes|force,never|no|none,auto|tty|if-tty}"
_LONG = [
    "all/a", "almost-all/A", "author", "escape/b", "block-size=", "ignore-backups/B", f"color=?{_WHEN}", "directory/d",
    f"classify=?{_WHEN}/F", "file-type", "format={verbose|long,commas,horizontal|across,vertical,single-column}",
    "full-time", "group-directories-first", "no-group/G", "human-readable/h", "si", "dereference/L",
    "dereference-command-line/H", "hide=", "inode/i", "ignore=/I", "kibibytes/k", "numeric-uid-gid/n", "literal/N",
    "hide-control-chars/q", "quote-name/Q", "reverse/r", "recursive/R", "size/s", "tabsize=/T", "width=/w", "context/Z",
    "quoting-style={literal,shell,shell-always,shell-escape,shell-escape-always,c,c-maybe,escape,locale,clocale}",
    "sort={none,time,size,extension,version,width}", "time={atime|access|use,ctime|status,birth|creation}",
    "time-style=", "zero", "show-control-chars", f"hyperlink=?{_WHEN}",
    "indicator-style={none,slash,file-type,classify}",
]  # fmt: skip
_HALF_YEAR = 31556952 / 2
_COLORS = (
    (stat.S_ISDIR, "01;34"), (stat.S_ISLNK, "01;36"), (stat.S_ISFIFO, "40;33"), (stat.S_ISSOCK, "01;35"),
    (stat.S_ISBLK, "40;33;01"), (stat.S_ISCHR, "40;33;01"),
)  # fmt: skip


class Entry(NamedTuple):
    name: str
    path: str
    inode: Inode


class _Lister:
    def __init__(self, ctx: Context, options: Options) -> None:
        self.ctx = ctx
        self.options = options
        self.status = 0
        has = options.has
        named = options.value("format")
        form = options.last("l", "g", "o", "n", "1", "C", "x", "m", "format", "full-time")
        if ctx.name == "vdir" and form is None:
            form = "l"
        self.long = form in ("l", "g", "o", "n", "full-time") or named == "verbose"
        if form == "1" and has("l", "g", "o", "n"):
            self.long = True
        self.columns = (
            form in ("C", "x") or (form is None and (ctx.stdout.is_terminal or ctx.name == "dir"))
        ) and not self.long
        self.commas = form == "m"
        self.human = options.last("h", "si", "k") == "h"
        self.si = options.last("h", "si", "k") == "si"
        self.accounts = accounts(ctx.machine)
        color = options.value("color") if has("color") else "never"
        self.color = color in (None, "always") or (color == "auto" and ctx.stdout.is_terminal)
        self.changes = has("c") or options.value("time") == "ctime"
        self.quote = has("Q")
        self.wrote = False
        # With -R, the folders that lead to where it is: with -L a link may lead back to one of them.
        self.above: list[tuple[int, int]] = []
        self.now = ctx.machine.clock.now

    def fail(self, message: str, level: int) -> None:
        self.ctx.err(message)
        self.status = max(self.status, level)

    # -- collecting and sorting

    def stat(self, path: str, *, follow: bool) -> Inode:
        return self.ctx.files.stat(path, follow=follow)

    def order(self, entries: list[Entry]) -> list[Entry]:
        has = self.options.has
        key = self.options.last("t", "S", "X", "U", "v", "sort", "f")
        named = {"time": "t", "size": "S", "none": "U", "version": "v", "extension": "X"}
        if key == "sort":
            key = named.get(self.options.value("sort") or "", "")
        if key in ("U", "f"):
            return entries
        entries = sorted(entries, key=lambda entry: entry.name)
        if key == "t":
            entries.sort(key=lambda entry: self.stamp(entry.inode), reverse=True)
        elif key == "S":
            entries.sort(key=lambda entry: entry.inode.size, reverse=True)
        elif key == "v":
            entries.sort(key=lambda entry: version_key(entry.name.encode("utf-8", "surrogateescape")))
        elif key == "X":
            entries.sort(key=lambda entry: entry.name.rpartition(".")[2] if "." in entry.name else "")
        if has("r"):
            entries.reverse()
        if has("group-directories-first"):
            entries.sort(key=lambda entry: not entry.inode.is_dir)
        return entries

    def run(self, operands: list[str]) -> int:
        files: list[Entry] = []
        directories: list[Entry] = []
        for name in operands or ["."]:
            try:
                inode = self._operand(name)
            except OSError as error:
                self.fail(f"cannot access {_quoted(name)}: {describe(error)}", 2)
                continue
            (directories if inode.is_dir and not self.options.has("d") else files).append(Entry(name, name, inode))
        if files:
            self.show(self.order(files), total=False)
        several = len(operands) > 1 or self.options.has("R")
        for entry in self.order(directories):
            self.directory(entry.path, heading=several)
        return self.status

    def _operand(self, name: str) -> Inode:
        has = self.options.has
        follow = has("L", "H") or not (self.long or has("d", "F"))
        try:
            return self.stat(name, follow=follow)
        except OSError:
            if follow and not has("L"):
                return self.stat(name, follow=False)
            raise

    def directory(self, path: str, *, heading: bool) -> None:
        has = self.options.has
        self.ctx.spend(5)
        try:
            names = self.ctx.files.names(path)
        except OSError as error:
            self.fail(f"cannot open directory {_quoted(path)}: {describe(error)}", 2)
            return
        if heading:
            self.ctx.line(
                ("\n" if self.wrote else "") + f"{shell_style(path) if self.ctx.stdout.is_terminal else path}:"
            )
            self.wrote = True
        entries: list[Entry] = []
        if has("a", "f"):
            names = [".", "..", *names]
        hidden = not has("a", "A", "f")
        for name in names:
            self.ctx.spend(10)
            if (hidden and name.startswith(".")) or (has("B") and name.endswith("~")):
                continue
            where = f"{path.rstrip('/') if path != '/' else ''}/{name}"
            try:
                entries.append(Entry(name, where, self.stat(where, follow=has("L"))))
            except OSError as error:
                self.fail(f"cannot access {_quoted(where)}: {describe(error)}", 1)
        entries = self.order(entries)
        self.show(entries, total=True)
        if has("R"):
            here = self.stat(path, follow=True)
            self.above.append((here.dev, here.number))
            for entry in entries:
                if entry.inode.is_dir and entry.name not in (".", ".."):
                    if (entry.inode.dev, entry.inode.number) in self.above:
                        self.fail(f"{shell_style(entry.path)}: not listing already-listed directory", 2)
                    else:
                        self.directory(entry.path, heading=True)
            self.above.pop()

    # -- showing

    def show(self, entries: list[Entry], *, total: bool) -> None:
        has = self.options.has
        if total and (self.long or has("s")):
            blocks = sum(entry.inode.blocks for entry in entries)
            self.ctx.line(f"total {human(blocks) if self.human else blocks // 1024}")
        if entries:
            self.wrote = True
        if self.long:
            self._long(entries)
            return
        prefixes = ["" for _ in entries]
        if has("i"):
            width = max((len(str(entry.inode.serial)) for entry in entries), default=0)
            prefixes = [f"{entry.inode.serial:>{width}} " for entry in entries]
        if has("s"):
            sizes = [human(e.inode.blocks) if self.human else str(e.inode.blocks // 1024) for e in entries]
            width = max((len(text) for text in sizes), default=0)
            prefixes = [f"{before}{text:>{width}} " for before, text in zip(prefixes, sizes, strict=True)]
        names = [before + self.name(entry) for before, entry in zip(prefixes, entries, strict=True)]
        if self.commas:
            self.ctx.line(", ".join(names))
        elif self.columns:
            self._columns(names)
        else:
            for name in names:
                self.ctx.line(name)

    def _columns(self, names: list[str]) -> None:
        width = int(self.options.value("w") or 80)
        for rows in range(1, len(names) + 1):
            columns = [names[start : start + rows] for start in range(0, len(names), rows)]
            widths = [max(len(name) for name in column) + 2 for column in columns]
            if sum(widths) - 2 <= width or rows == len(names):
                for row in range(rows):
                    line = ""
                    for column, size in zip(columns, widths, strict=True):
                        if row < len(column):
                            line += column[row].ljust(size)
                    self.ctx.line(line.rstrip())
                return

    def name(self, entry: Entry) -> str:
        shown = entry.name
        if self.quote:
            shown = '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'
        elif self.ctx.stdout.is_terminal:
            shown = shell_style(shown)
        if self.options.has("b"):
            shown = shown.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace(" ", "\\ ")
        if self.color:
            shown = self._colored(shown, entry.inode)
        return shown + self._mark(entry.inode)

    def _colored(self, shown: str, inode: Inode) -> str:
        code = next((code for test, code in _COLORS if test(inode.mode)), "")
        if inode.is_dir and inode.mode & 0o1002 == 0o1002:
            code = "30;42"
        if stat.S_ISREG(inode.mode):
            code = "37;41" if inode.mode & 0o4000 else "01;32" if inode.mode & 0o111 else ""
        return f"\x1b[0m\x1b[{code}m{shown}\x1b[0m" if code else shown

    def _mark(self, inode: Inode) -> str:
        has = self.options.has
        if has("p") and not has("F"):
            return "/" if inode.is_dir else ""
        if not has("F", "file-type"):
            return ""
        if inode.is_dir:
            return "/"
        if inode.is_link:
            return "" if self.long else "@"
        if stat.S_ISFIFO(inode.mode):
            return "|"
        if stat.S_ISSOCK(inode.mode):
            return "="
        return "*" if inode.mode & 0o111 and has("F") and stat.S_ISREG(inode.mode) else ""

    def _size(self, inode: Inode) -> str:
        if inode.device is not None:
            return f"{inode.device[0]}, {inode.device[1]:>3}"
        if self.human:
            return human(inode.size)
        return human(inode.size, base=1000) if self.si else str(inode.size)

    def _long(self, entries: list[Entry]) -> None:
        has = self.options.has
        rows: list[list[str]] = []
        numeric = has("n")
        plus = any(_listed(entry.inode) for entry in entries)
        for entry in entries:
            inode = entry.inode
            row = []
            if has("i"):
                row.append(str(inode.serial))
            if has("s"):
                row.append(human(inode.blocks) if self.human else str(inode.blocks // 1024))
            mode = stat.filemode(inode.mode)
            row += [mode + ("+" if _listed(inode) else " ") if plus else mode, str(inode.nlink)]
            if not has("g"):
                row.append(str(inode.uid) if numeric else self.accounts.user_name(inode.uid))
            if not has("o", "G"):
                row.append(str(inode.gid) if numeric else self.accounts.group_name(inode.gid))
            row += [self._size(inode), self.time(self.stamp(inode))]
            rows.append(row)
        if not rows:
            return
        widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
        lead = has("i") + has("s")
        left = {lead} | set(range(lead + 2, len(widths) - 2)) | {len(widths) - 1}
        if numeric:
            left -= set(range(lead + 2, len(widths) - 2))
        for row, entry in zip(rows, entries, strict=True):
            cells = [
                cell.ljust(width) if index in left else cell.rjust(width)
                for index, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            name = self.name(entry)
            if entry.inode.target is not None:
                name += f" -> {entry.inode.target}"
            self.ctx.line(" ".join([*cells, name]))

    def stamp(self, inode: Inode) -> float:
        """The time that is shown and sorted by."""
        return inode.ctime if self.changes else inode.mtime

    def time(self, moment: float) -> str:
        style = self.options.value("time-style") or ""
        at = datetime.fromtimestamp(moment, UTC)
        if self.options.has("full-time") or style == "full-iso":
            return at.strftime("%Y-%m-%d %H:%M:%S.") + f"{at.microsecond * 1000:09d} +0000"
        if style == "long-iso":
            return at.strftime("%Y-%m-%d %H:%M")
        if style == "iso":
            recent = self.now - _HALF_YEAR < moment <= self.now
            return at.strftime("%m-%d %H:%M" if recent else "%Y-%m-%d ")
        if style.startswith("+"):
            return at.strftime(style[1:])
        if self.now - _HALF_YEAR < moment <= self.now:
            return f"{at:%b} {at.day:>2} {at:%H:%M}"
        return f"{at:%b} {at.day:>2}  {at.year}"


def _listed(inode: Inode) -> bool:
    """Does an access control list say more about it than its mode?"""
    return inode.acl is not None or inode.default_acl is not None


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "'\\''") + "'"


def main(ctx: Context) -> int:
    options = parse(
        ctx, "aAbBcCdfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ1", _LONG, status=2,
        usage="Usage: ls [OPTION]... [FILE]...\nList information about the FILEs (the current directory by default).",
    )  # fmt: skip
    return _Lister(ctx, options).run(options.operands)
