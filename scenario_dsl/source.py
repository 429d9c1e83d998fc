"""Bytes of a file to text, and places in that text. The first stage: `read` -> `SourceText`."""

from __future__ import annotations

import errno
import os
import re
import stat
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

MAX_BYTES = 1 << 20
"""Documents are written by people; a larger file is data that ended up in the wrong place."""

# libyaml and PyYAML both end a line at each of these, so positions agree with their marks.
_LINE_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text: indexes of its first character and of the one after its last."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of one document and the path by which the user knows it."""

    path: str
    text: str
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = (0, *(found.end() for found in _LINE_BREAK.finditer(self.text)))
        object.__setattr__(self, "_starts", starts)

    def index(self, line: int, column: int) -> int:
        """The index of a 0-based line and column, kept inside the text."""
        if line >= len(self._starts):
            return len(self.text)
        return min(self._starts[line] + column, len(self.text))

    def position(self, index: int) -> tuple[int, int]:
        """The 0-based line and column of an index."""
        line = bisect_right(self._starts, index) - 1
        return line, index - self._starts[line]

    def line(self, number: int) -> str:
        """The text of a 0-based line, without its break."""
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[number] : end].rstrip("\r\n\x85\u2028\u2029")

    def line_end(self, index: int) -> int:
        """The index at which the line that holds `index` ends."""
        line, column = self.position(index)
        return index - column + len(self.line(line))


class Unreadable(Exception):  # noqa: N818 (it reads as what it is)
    """Why a file is no text: `kind` (below), a `detail`, the `text` as far as it decodes and the index `at` fault.

    Kinds: missing, directory, special (a device or pipe), denied, loop, io, huge, encoding, bom, utf16, nul, control,
    empty.
    """

    def __init__(self, kind: str, detail: str = "", text: str = "", at: int = 0) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail
        self.text = text
        self.at = at


_OS_KINDS = {
    errno.ENOENT: "missing",
    errno.ENOTDIR: "missing",
    errno.ENAMETOOLONG: "missing",
    errno.EISDIR: "directory",
    errno.EACCES: "denied",
    errno.EPERM: "denied",
    errno.ELOOP: "loop",
}
_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file; raises Unreadable for anything else and for more than `limit` bytes."""
    try:
        # Looked at before it is opened: opening a named pipe would wait for a writer.
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise Unreadable("directory")
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("special")
        if status.st_size > limit:
            raise Unreadable("huge", str(status.st_size))
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except ValueError:
        raise Unreadable("missing") from None
    except OSError as error:
        raise Unreadable(_OS_KINDS.get(error.errno or 0, "io"), error.strerror or "") from None
    if len(data) > limit:
        raise Unreadable("huge", f"more than {limit}")
    return data


def decode(data: bytes) -> str:
    """UTF-8 text that YAML allows; raises Unreadable."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("utf16")
    if data.startswith(b"\xef\xbb\xbf"):
        raise Unreadable("bom", text=data[3:].decode("utf-8", "replace"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8")
        shown = good + data[error.start :].decode("utf-8", "replace")
        raise Unreadable("encoding", f"0x{data[error.start]:02x}", shown, len(good)) from None
    strange = _CONTROL.search(text)
    if strange:
        kind = "nul" if strange.group() == "\0" else "control"
        raise Unreadable(kind, f"U+{ord(strange.group()):04X}", text, strange.start())
    if not text.strip():
        raise Unreadable("empty", text=text)
    return text


def read(path: Path, shown: str | None = None) -> SourceText:
    """Read one document. `shown` is how diagnostics call it (default: the path). Raises Unreadable."""
    return SourceText(shown if shown is not None else str(path), decode(read_bytes(path)))
