"""printf: format and print data."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from runners.sim.budget import BudgetExceeded
from runners.sim.clock import moment
from runners.sim.commands.context import Context
from runners.sim.commands.echo import unescape

_DIRECTIVE = re.compile(
    r"%(?P<flags>[-+ #0']*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?[hlLjzt]*(?P<kind>.)", re.DOTALL
)
_TIME = re.compile(r"%(?P<flags>[-0]*)(?P<width>\d+)?\((?P<format>[^)]*)\)T")
_ESCAPES = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([\"'\\abcefnrtv]))"
)
_SIMPLE = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_SIMPLE |= {'"': '"', "'": "'"}
_MAX = 16 << 20
_NUMBER = re.compile(r"\s*([-+]?)(0[xX][0-9A-Fa-f]+|0[0-7]*|[1-9]\d*)")
_SAFE = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


class PrintfError(Exception):
    """The format is wrong. `output`: what was written before that was seen."""

    def __init__(self, message: str, output: bytes) -> None:
        super().__init__(message)
        self.message = message
        self.output = output


class _Stop(Exception):  # noqa: N818 (\c is not an error)
    """`\\c` ends all output."""


def format_all(
    template: str,
    arguments: Sequence[str],
    problem: Callable[[str], None],
    spend: Callable[[int], None],
    now: float,
) -> tuple[bytes, int]:
    """The output, reusing the format while arguments are left, and the status. `problem` is told of bad numbers."""
    run = _Run(arguments, problem, spend, now)
    try:
        while True:
            before = run.index
            run.once(template)
            if run.index >= len(arguments) or run.index == before:
                break
    except _Stop:
        pass
    return b"".join(run.out), run.status


class _Run:
    def __init__(
        self, arguments: Sequence[str], problem: Callable[[str], None], spend: Callable[[int], None], now: float
    ) -> None:
        self.arguments = arguments
        self.problem = problem
        self.spend = spend
        self.now = now
        self.index = 0
        self.status = 0
        self.out: list[bytes] = []
        self.size = 0

    def emit(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > _MAX:
            raise BudgetExceeded
        self.spend(len(data) >> 8)
        self.out.append(data)

    def next(self) -> str | None:
        if self.index >= len(self.arguments):
            return None
        self.index += 1
        return self.arguments[self.index - 1]

    def once(self, template: str) -> None:
        position = 0
        self.spend(1)
        while position < len(template):
            char = template[position]
            if char == "\\":
                position = self._escape(template, position)
            elif char == "%":
                position = self._directive(template, position)
            else:
                end = position + 1
                while end < len(template) and template[end] not in "\\%":
                    end += 1
                self.emit(template[position:end].encode("utf-8", "surrogateescape"))
                position = end

    def _escape(self, template: str, position: int) -> int:
        match = _ESCAPES.match(template, position)
        if match is None:
            self.emit(b"\\")
            return position + 1
        octal, hexadecimal, short, long, simple = match.groups()
        if simple == "c":
            raise _Stop
        if simple is not None:
            self.emit(_SIMPLE[simple].encode("utf-8", "surrogateescape"))
        elif octal is not None:
            self.emit(bytes([int(octal, 8) & 0xFF]))
        elif hexadecimal is not None:
            self.emit(bytes([int(hexadecimal, 16)]))
        else:
            code = int(short or long, 16)
            self.emit(chr(code).encode("utf-8", "surrogatepass") if code < 0x110000 else b"")
        return match.end()

    def _directive(self, template: str, position: int) -> int:
        if template.startswith("%%", position):
            self.emit(b"%")
            return position + 2
        time_match = _TIME.match(template, position)
        if time_match is not None:
            self._time(time_match)
            return time_match.end()
        match = _DIRECTIVE.match(template, position)
        if match is None:
            raise PrintfError(f"`{template[position:][-1:]}': missing format character", b"".join(self.out))
        flags, width_text, precision_text, kind = match.group("flags", "width", "precision", "kind")
        if width_text == "*":
            width = self._integer(self.next())
            if width < 0:
                flags, width = flags + "-", -width
        else:
            width = int(width_text or 0)
        precision: int | None = None
        if precision_text is not None:
            precision = self._integer(self.next()) if precision_text == "*" else int(precision_text or 0)
            if precision < 0:
                precision = None
        if width > _MAX or (precision or 0) > _MAX:
            raise BudgetExceeded
        self._convert(kind, flags, width, precision)
        return match.end()

    def _convert(self, kind: str, flags: str, width: int, precision: int | None) -> None:
        if kind in "di":
            self._pad_number(str(abs(value := self._integer(self.next()))), value < 0, flags, width, precision)
        elif kind in "uoxX":
            value = self._integer(self.next()) & 0xFFFFFFFFFFFFFFFF
            digits = {"u": str(value), "o": f"{value:o}", "x": f"{value:x}", "X": f"{value:X}"}[kind]
            prefix = {"o": "0", "x": "0x", "X": "0X"}.get(kind, "") if "#" in flags and value else ""
            self._pad_number(digits, False, flags.replace("+", "").replace(" ", ""), width, precision, prefix)
        elif kind in "eEfFgGaA":
            self._float(kind, flags, width, precision)
        elif kind in "sbqc":
            self._string(kind, flags, width, precision)
        else:
            raise PrintfError(f"`{kind}': invalid format character", b"".join(self.out))

    def _string(self, kind: str, flags: str, width: int, precision: int | None) -> None:
        text = self.next()
        data = (text or "").encode("utf-8", "surrogateescape")
        stop = False
        if kind == "b":
            data, stop = unescape(re.sub(rb"\\([1-7][0-7]{0,2})", rb"\\0\1", data))
        elif kind == "q":
            data = shell_quote(text or "").encode("utf-8", "surrogateescape")
        elif kind == "c":
            data = (text or "")[:1].encode("utf-8", "surrogateescape")
        if precision is not None and kind != "c":
            data = data[:precision]
        self.emit(data.ljust(width) if "-" in flags else data.rjust(width))
        if stop:
            raise _Stop

    def _pad_number(
        self, digits: str, negative: bool, flags: str, width: int, precision: int | None, prefix: str = ""
    ) -> None:
        sign = "-" if negative else "+" if "+" in flags else " " if " " in flags else ""
        if precision is not None:
            digits = "" if precision == 0 and digits == "0" else digits.rjust(precision, "0")
        body = sign + prefix + digits
        if "-" in flags:
            body = body.ljust(width)
        elif "0" in flags and precision is None:
            body = sign + prefix + digits.rjust(width - len(sign) - len(prefix), "0")
        else:
            body = body.rjust(width)
        self.emit(body.encode("utf-8", "surrogateescape"))

    def _float(self, kind: str, flags: str, width: int, precision: int | None) -> None:
        text = self.next()
        value = 0.0
        if text is not None:
            if text[:1] in "\"'" and len(text) > 1:
                value = float(ord(text[1]))
            else:
                match = re.match(
                    r"\s*[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf|nan|0[xX][0-9a-fA-F]+)",
                    text,
                    re.I,
                )
                if match is None or match.end() != len(text):
                    self._invalid(text)
                if match is not None:
                    found = match.group()
                    value = float(int(found, 16)) if "0x" in found.lower() else float(found)
        shown = "%" + "".join(flag for flag in flags if flag in "-+ #0") + str(width or "")
        if precision is not None:
            shown += f".{min(precision, 1000)}"
        shown += {"a": "g", "A": "G"}.get(kind, kind)
        self.emit((shown % value).encode("utf-8", "surrogateescape"))

    def _time(self, match: re.Match[str]) -> None:
        argument = self.next()
        at = self.now
        if argument is not None and argument not in ("-1", "-2"):
            at = float(self._integer(argument))
        text = moment(at).strftime(match.group("format") or "%H:%M:%S")
        width = int(match.group("width") or 0)
        self.emit(
            (text.ljust(width) if "-" in match.group("flags") else text.rjust(width)).encode("utf-8", "surrogateescape")
        )

    def _invalid(self, text: str) -> None:
        self.problem(f"{text}: invalid number")
        self.status = 1

    def _integer(self, text: str | None) -> int:
        if text is None:
            return 0
        if text[:1] in ("'", '"'):
            return ord(text[1]) if len(text) > 1 else 0
        match = _NUMBER.match(text)
        if match is None:
            self._invalid(text)
            return 0
        if match.end() != len(text):
            self._invalid(text)
        digits = match.group(2)
        if digits.startswith(("0x", "0X")):
            value = int(digits, 16)
        elif digits.startswith("0") and len(digits) > 1:
            value = int(digits, 8)
        else:
            value = int(digits[:40])
        value = -value if match.group(1) == "-" else value
        return max(min(value, (1 << 64) - 1), -(1 << 63)) if abs(value) > 1 << 63 else value


def shell_quote(text: str) -> str:
    """As bash's printf %q."""
    if text == "":
        return "''"
    if any(ord(char) < 32 or char == "\x7f" for char in text):
        escapes = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\E", "'": "\\'", "\\": "\\\\"}
        return (
            "$'" + "".join(escapes.get(char, char if ord(char) >= 32 else f"\\{ord(char):03o}") for char in text) + "'"
        )
    return re.sub(r"([^\w@%+=:,./\-\x80-\U0010ffff])", r"\\\1", text, flags=re.ASCII)


def main(ctx: Context) -> int:
    words = ctx.args[1:] if ctx.args[:1] == ["--"] else ctx.args
    if not words:
        ctx.err("missing operand")
        ctx.stderr.write(b"Try 'printf --help' for more information.\n")
        return 1
    if words == ["--help"]:
        ctx.line("Usage: printf FORMAT [ARGUMENT]...\n  or:  printf OPTION")
        return 0
    if words == ["--version"]:
        ctx.line("printf (GNU coreutils) 9.1")
        return 0

    def problem(message: str) -> None:
        text = message.removesuffix(": invalid number")
        ctx.err(f"‘{text}’: expected a numeric value")

    try:
        data, status = format_all(words[0], words[1:], problem, ctx.spend, ctx.machine.clock.now)
    except PrintfError as error:
        ctx.stdout.write(error.output)
        ctx.err(error.message)
        return 1
    if data:
        ctx.stdout.write(data)
    return status
