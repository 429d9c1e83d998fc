"""What find does with the files it selects."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from runners.sim.commands.context import Context, Writer
from runners.sim.commands.echo import unescape
from runners.sim.commands.inputs import describe
from runners.sim.commands.times import parse_date
from runners.sim.users import accounts
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.commands.find_expression.walking import Visit

_BATCH = 4096
_DIRECTIVE = re.compile(r"%([-0 #+]*)(\d*)(?:\.(\d+))?(?:([ACTB])(.)|(.))|\\(.)", re.DOTALL)


def parse_time(text: str, now: float) -> float | None:
    return parse_date(text, now)


def _write(visit: Visit, data: bytes) -> None:
    visit.ctx.stdout.write(data)


def print_path(visit: Visit, *, end: bytes = b"\n") -> bool:
    _write(visit, visit.path.encode("utf-8", "surrogateescape") + end)
    return True


def prune(visit: Visit) -> bool:
    visit.pruned = True
    return True


def quit_walk(visit: Visit) -> bool:
    visit.walk.quit = True
    return True


def delete(visit: Visit) -> bool:
    files = visit.ctx.files
    if visit.path in (".", "./"):
        return True
    try:
        if visit.inode.is_dir:
            files.rmdir(visit.path)
        else:
            files.unlink(visit.path)
    except OSError as error:
        visit.ctx.err(f"cannot delete ‘{visit.path}’: {describe(error)}")
        visit.walk.status = 1
        return False
    return True


def listed(visit: Visit) -> bool:
    """One line as `ls -dils`."""
    inode = visit.inode
    known = accounts(visit.ctx.machine)
    now = visit.ctx.machine.clock.now
    at = datetime.fromtimestamp(inode.mtime, UTC)
    recent = now - 15778476 < inode.mtime <= now
    moment = f"{at:%b} {at.day:>2} " + (f"{at:%H:%M}" if recent else f" {at.year}")
    target = f" -> {inode.target}" if inode.target is not None else ""
    visit.ctx.line(
        f"{inode.serial:>9} {inode.blocks // 1024:>6} {stat.filemode(inode.mode)} {inode.nlink:>3} "
        f"{known.user_name(inode.uid):<8} {known.group_name(inode.gid):<8} {inode.size:>8} {moment} "
        f"{_escaped(visit.path)}{target}"
    )
    return True


def _escaped(path: str) -> str:
    """A path as -ls shows it: blanks and backslashes get a backslash."""
    return path.replace("\\", "\\\\").replace(" ", "\\ ").replace("\n", "\\n").replace("\t", "\\t")


def formatted(visit: Visit, template: str, writer: Writer | None = None) -> bool:
    """-printf."""
    out: list[bytes] = []
    position = 0
    for match in _DIRECTIVE.finditer(template):
        out.append(template[position : match.start()].encode("utf-8", "surrogateescape"))
        position = match.end()
        flags, width, precision, clock, letter, plain, escaped = match.groups()
        if escaped is not None:
            if escaped == "c":
                break
            if is_digits(escaped):
                code = re.compile(r"[0-7]{1,3}").match(template, match.start() + 1)
                out.append(bytes([int(code.group(), 8) & 255]) if code else b"")
                position = code.end() if code else position
            else:
                data, _ = unescape(("\\" + escaped).encode("utf-8", "surrogateescape"))
                out.append(data)
            continue
        text = (
            _moment(visit, clock, letter) if clock else _value(visit, "#m" if plain == "m" and "#" in flags else plain)
        )
        if precision:
            text = text[: int(precision)]
        if width:
            text = text.ljust(int(width)) if "-" in flags else text.rjust(int(width), "0" if "0" in flags else " ")
        out.append(text.encode("utf-8", "surrogateescape"))
    else:
        out.append(template[position:].encode("utf-8", "surrogateescape"))
    (writer or visit.ctx.stdout).write(b"".join(out))
    return True


def _value(visit: Visit, letter: str) -> str:
    inode = visit.inode
    known = accounts(visit.ctx.machine)
    path = visit.path
    folder = path.rpartition("/")[0] if "/" in path.rstrip("/") else "."
    values: dict[str, Callable[[], str]] = {
        "p": lambda: path,
        "f": lambda: visit.name,
        "h": lambda: folder or "/",
        "P": lambda: path[len(visit.top) :].lstrip("/"),
        "H": lambda: visit.top,
        "s": lambda: str(inode.size),
        "k": lambda: str(inode.blocks // 1024),
        "b": lambda: str(inode.blocks // 512),
        "m": lambda: f"{inode.permissions:o}",
        "#m": lambda: f"0{inode.permissions:o}",
        "M": lambda: stat.filemode(inode.mode),
        "u": lambda: known.user_name(inode.uid),
        "U": lambda: str(inode.uid),
        "g": lambda: known.group_name(inode.gid),
        "G": lambda: str(inode.gid),
        "i": lambda: str(inode.serial),
        "n": lambda: str(inode.nlink),
        "d": lambda: str(visit.depth),
        "l": lambda: inode.target or "",
        "y": lambda: _letter(inode.mode),
        "t": lambda: _ctime(inode.mtime),
        "a": lambda: _ctime(inode.mtime),
        "c": lambda: _ctime(inode.ctime),
        "%": lambda: "%",
        "D": lambda: str(inode.dev),
        "F": lambda: visit.ctx.machine.files.mount_of(inode).fstype,
        "Y": lambda: _letter(visit.followed().mode),
    }
    make = values.get(letter)
    return make() if make is not None else "%" + letter


def _letter(mode: int) -> str:
    kind = stat.filemode(mode)[0]
    return "f" if kind == "-" else kind


def _ctime(moment: float) -> str:
    at = datetime.fromtimestamp(moment, UTC)
    return f"{at:%a %b} {at.day:>2} {at:%H:%M:%S}.{int(moment % 1 * 1e9):09d}0 {at.year}"


def _moment(visit: Visit, clock: str, letter: str) -> str:
    moment = visit.inode.ctime if clock == "C" else visit.inode.mtime
    at = datetime.fromtimestamp(moment, UTC)
    fraction = f".{int(moment % 1 * 1e9):09d}0"
    if letter == "@":
        return f"{int(moment)}{fraction}"
    if letter == "+":
        return f"{at:%Y-%m-%d+%H:%M:%S}{fraction}"
    if letter in "ST":
        return (f"{at:%H:%M:%S}" if letter == "T" else f"{at:%S}") + fraction
    if letter == "k":
        return f"{at.hour:>2}"
    if letter in "HIMjdmYyBbaADFcxXZhpuwWUr":
        return at.strftime("%" + letter)
    return letter


def execute(visit: Visit, words: Sequence[str], *, in_folder: bool, asks: bool) -> bool:
    """-exec … \\; : true when the command ends with 0."""
    name = visit.path
    ctx = visit.ctx
    if asks:
        ctx.stderr.write(f"< {words[0]} ... {name} > ? ".encode("utf-8", "surrogateescape"))
        if not ctx.stdin.read(2).lower().startswith(b"y"):
            return False
    saved = ctx.files.cwd
    if in_folder:
        name = "./" + visit.name
        ctx.files.cwd = ctx.files.absolute(visit.path).rpartition("/")[0] or "/"
    try:
        return run(visit.ctx, [word.replace("{}", name) for word in words]) == 0
    finally:
        ctx.files.cwd = saved


def run(ctx: Context, argv: Sequence[str]) -> int:
    try:
        return ctx.run(argv)
    except OSError as error:
        if error.filename is None:
            raise
        ctx.err(f"‘{argv[0]}’: {describe(error)}")
        return 127


class Batch:
    """-exec … {} +: paths collected and given to few commands."""

    def __init__(self, words: Sequence[str], *, in_folder: bool) -> None:
        self.words = list(words)
        self.in_folder = in_folder
        self.paths: list[str] = []

    def add(self, visit: Visit) -> bool:
        self.paths.append(visit.path)
        if len(self.paths) >= _BATCH:
            self.flush(visit.ctx)
        return True

    def flush(self, ctx: Context) -> int:
        """Run for what has been collected; the command's status."""
        paths, self.paths = self.paths, []
        return run(ctx, [*self.words, *paths]) if paths else 0
