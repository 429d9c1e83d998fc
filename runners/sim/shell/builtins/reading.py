"""read and mapfile: lines into variables. What is not asked for is left for the next reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runners.formats.shell.grammar.words import NAME
from runners.sim.budget import BudgetExceeded
from runners.sim.commands.pipes import PipeReader
from runners.sim.commands.sockets import SocketStream
from runners.sim.commands.streams import Stream
from runners.sim.shell.builtins.arguments import options
from runners.sim.shell.session import Variable
from runners.sim.shell.signals import ExpansionError
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

_TIMED_OUT = 128 + 14
"""SIGALRM ended the waiting."""


def _read_line(
    shell: Shell, fd: int, delimiter: bytes, count: int | None, raw: bool, exact: bool
) -> tuple[str, list[bool], bool]:
    """The characters read, whether each was escaped, and whether the delimiter was seen."""
    stream = shell.fds.get(fd)
    if stream is None:
        raise ExpansionError(f"read: {fd}: invalid file descriptor: Bad file descriptor")
    if count is None and delimiter == b"\n":
        data = stream.readline()
        ended = data.endswith(b"\n")
        while not raw and ended and _odd_backslashes(data[:-1]):
            more = stream.readline()
            data += more
            ended = more.endswith(b"\n")
        shell.spend(1 + (len(data) >> 6))
        text = (data[:-1] if ended else data).decode("utf-8", "surrogateescape")
    else:
        pieces = bytearray()
        ended = False
        while count is None or len(pieces.decode("utf-8", "ignore")) < count:
            byte = stream.read(1)
            shell.spend(1)
            if not byte:
                break
            if byte == delimiter and not exact:
                ended = True
                break
            pieces += byte
            if len(pieces) > 16 << 20:
                raise BudgetExceeded
        else:
            ended = True
        text = pieces.decode("utf-8", "surrogateescape")
    text = text.replace("\0", "")
    if raw or "\\" not in text:
        return text, [False] * len(text), ended
    out: list[str] = []
    escaped: list[bool] = []
    index = 0
    while index < len(text):
        if text[index] == "\\" and index + 1 < len(text):
            index += 1
            if text[index] != "\n":
                out.append(text[index])
                escaped.append(True)
        elif text[index] != "\\":
            out.append(text[index])
            escaped.append(False)
        index += 1
    return "".join(out), escaped, ended


def _odd_backslashes(data: bytes) -> bool:
    return (len(data) - len(data.rstrip(b"\\"))) % 2 == 1


def split_fields(text: str, escaped: list[bool], ifs: str, limit: int | None) -> list[str]:
    """Split as read does: at most `limit` fields, the last one taking the rest."""
    white = {char for char in ifs if char in " \t\n"}

    def is_white(index: int) -> bool:
        return text[index] in white and not escaped[index]

    def is_delimiter(index: int) -> bool:
        return text[index] in ifs and not escaped[index]

    size = len(text)
    position = 0
    while position < size and is_white(position):
        position += 1
    fields: list[str] = []
    while position < size:
        if limit is not None and len(fields) == limit - 1:
            end = size
            while end > position and is_white(end - 1):
                end -= 1
            rest = text[position:end]
            # One trailing delimiter that is no blank goes, if it is the only one.
            if rest and is_delimiter(end - 1) and not any(is_delimiter(at) for at in range(position, end - 1)):
                rest = rest[:-1]
            fields.append(rest)
            return fields
        start = position
        while position < size and not is_delimiter(position):
            position += 1
        fields.append(text[start:position])
        while position < size and is_white(position):
            position += 1
        if position < size and is_delimiter(position) and text[position] not in white:
            position += 1
            while position < size and is_white(position):
                position += 1
    return fields


def _comes_in_time(shell: Shell, stream: Stream | None, seconds: float) -> bool:
    """Is there something to read within that time? Only pipes and sockets can be waited for."""
    source = stream.pipe if isinstance(stream, PipeReader) else stream if isinstance(stream, SocketStream) else None
    if source is None or source.can_read():
        return True
    clock = shell.machine.clock
    wake = clock.now + seconds
    shell.hub.wait(lambda: source.can_read() or clock.now >= wake, wake)
    return source.can_read()


def read(shell: Shell, argv: list[str]) -> int:
    given, names = options(shell, argv, "ersa:d:i:n:N:p:t:u:")
    flags = dict(given)
    session = shell.session
    for name in names:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*(\[.*\])?", name):
            shell.error(f"read: `{name}': not a valid identifier")
            return 1
    fd_text = flags.get("u") or ""
    fd = int(fd_text) if is_digits(fd_text) else 0
    delimiter = ((flags["d"] or "\0")[:1] if "d" in flags else "\n").encode("utf-8", "surrogateescape")[:1]
    count = None
    for letter in ("n", "N"):
        if letter in flags:
            text = flags[letter] or ""
            if not is_digits(text):
                shell.error(f"read: {text}: invalid number")
                return 1
            count = int(text)
    if "t" in flags:
        try:
            seconds = float(flags["t"] or 0)
        except ValueError:
            shell.error(f"read: {flags['t']}: invalid timeout specification")
            return 1
        if not _comes_in_time(shell, shell.fds.get(fd), seconds):
            return _TIMED_OUT
    try:
        line, escaped, ended = _read_line(shell, fd, delimiter, count, "r" in flags, "N" in flags)
    except OSError as error:
        shell.error(f"read: read error: {fd}: {error.strerror}")
        return 1
    except ExpansionError as problem:
        shell.error(problem.message)
        return 1
    ifs = session.get("IFS")
    ifs = " \t\n" if ifs is None else ifs
    array = flags.get("a")
    if array:
        fields = split_fields(line, escaped, ifs, None)
        session.variables[array] = Variable(dict(enumerate(fields)), kind="a")
    elif not names:
        shell.assign("REPLY", line)
    elif "N" in flags:
        shell.assign(names[0], line)
        for name in names[1:]:
            shell.assign(name, "")
    else:
        fields = split_fields(line, escaped, ifs, len(names))
        for index, name in enumerate(names):
            base, bracket, inner = name.partition("[")
            value = fields[index] if index < len(fields) else ""
            shell.assign(base, value, subscript=inner[:-1] if bracket else None)
    return 0 if ended else 1


def mapfile(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "td:n:O:s:u:C:c:")
    flags = dict(given)
    name = rest[0] if rest else "MAPFILE"
    if not NAME.fullmatch(name):
        shell.error(f"{argv[0]}: `{name}': not a valid identifier")
        return 1
    numbers = {}
    for letter in ("n", "O", "s", "u"):
        text = flags.get(letter) or "0"
        if not is_digits(text):
            shell.error(f"{argv[0]}: {text}: invalid line count")
            return 1
        numbers[letter] = int(text)
    stream = shell.fds.get(numbers["u"])
    if stream is None:
        shell.error(f"{argv[0]}: {numbers['u']}: invalid file descriptor: Bad file descriptor")
        return 1
    delimiter = ((flags["d"] or "\0")[:1] if "d" in flags else "\n").encode("utf-8", "surrogateescape")
    items: list[bytes] = []
    if delimiter == b"\n":
        for line in stream.lines():
            items.append(line)
            shell.spend(1)
            if numbers["n"] and len(items) >= numbers["n"] + numbers["s"]:
                break
    else:
        data = stream.read()
        pieces = data.split(delimiter)
        items = [piece + delimiter for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
    items = items[numbers["s"] :]
    if numbers["n"]:
        items = items[: numbers["n"]]
    if "t" in flags:
        items = [item.removesuffix(delimiter) for item in items]
    values = {
        index + numbers["O"]: item.replace(b"\0", b"").decode("utf-8", "surrogateescape")
        for index, item in enumerate(items)
    }
    if numbers["O"]:
        old = shell.session.variables.get(name)
        if old is not None and isinstance(old.value, dict) and old.kind == "a":
            values = {**old.value, **values}
    shell.session.variables[name] = Variable(values, kind="a")
    return 0
