"""The state of a running AWK program: the record and its fields, variables, input."""

from __future__ import annotations

import re

from runners.sim.budget import Budget, BudgetExceeded
from runners.sim.commands.awk.arrays import Array
from runners.sim.commands.awk.formatting import RunError
from runners.sim.commands.awk.lexer import AwkError, unescape
from runners.sim.commands.awk.patterns import compiled
from runners.sim.commands.awk.streams import Source, Streams, external, internal
from runners.sim.commands.awk.values import Input, Text, Value, number, string
from runners.sim.commands.context import Context

SPECIAL = ("NF", "NR", "FNR", "FS", "OFS", "RS", "ORS", "FILENAME", "SUBSEP", "RSTART", "RLENGTH", "CONVFMT", "OFMT")
NF, NR, FNR, FS, OFS, RS, ORS, FILENAME, SUBSEP, RSTART, RLENGTH, CONVFMT, OFMT = range(len(SPECIAL))
LONGEST = 64 << 20
"""Characters that one string may have."""
_MOST_FIELDS = 1 << 20

# Bytes at which str.split() would cut and mawk does not, or that make its answer doubtful.
_ODD = re.compile("[\x0b\x0c\r\x1c-\x1f\x80-\xff]")
_BLANKS = re.compile("[ \t\n]+")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)=(.*)", re.DOTALL)


class Runtime:
    """One run. `variables`: globals by slot, the special ones first; `arrays`: global arrays by name."""

    __slots__ = (
        "_fields", "_operand", "_record", "_source", "_split", "arrays", "budget", "ctx", "frame", "names", "nf",
        "result", "seed", "state", "stdin_used", "streams", "variables",
    )  # fmt: skip

    def __init__(self, ctx: Context, names: dict[str, int], arrays: dict[str, Array]) -> None:
        self.ctx = ctx
        self.budget: Budget = ctx.machine.budget
        self.names = names
        self.variables: list[Value] = [None] * len(names)
        self.variables[: len(SPECIAL)] = [
            0.0, 0.0, 0.0, " ", " ", "\n", "\n", None, "\x1c", 0.0, -1.0, "%.6g", "%.6g",
        ]  # fmt: skip
        self.arrays = arrays
        self.streams = Streams(ctx)
        self.frame: list[Value | Array] = []
        self.result: Value = None
        self._record = ""
        self._fields: list[str] = []
        self._split = True
        self.nf = 0
        self._source: Source | None = None
        self._operand = 1
        self.stdin_used = False
        self.seed = 0
        self.state = 1

    # -- text

    def text(self, value: Value) -> str:
        if type(value) is float:
            return string(value, string(self.variables[CONVFMT]))
        return "" if value is None else str(value)

    def special(self, slot: int) -> str:
        return self.text(self.variables[slot])

    def checked(self, text: str) -> str:
        """A string that was just put together: its length costs steps and has a limit."""
        if len(text) > 4096:
            self.budget.spend(len(text) >> 10)
            if len(text) > LONGEST:
                raise BudgetExceeded
        return text

    # -- the record

    def set_record(self, text: str) -> None:
        self._record = text
        self._split = False

    def record(self) -> Input:
        return Input(self._record)

    def record_text(self) -> str:
        return self._record

    def _split_record(self) -> None:
        self._split = True
        self._fields = list(self.split(self._record, self.special(FS)))
        self.nf = len(self._fields)

    def count(self) -> int:
        if not self._split:
            self._split_record()
        return self.nf

    def field(self, index: int) -> Value:
        if index == 0:
            return Input(self._record)
        if index < 0:
            raise RunError(f"negative field index ${index}")
        if not self._split:
            self._split_record()
        if index > self.nf:
            return ""
        found = self._fields[index - 1]
        return Input(found) if type(found) is str else str(found) if type(found) is Text else found

    def set_field(self, index: int, value: Value) -> None:
        if index == 0:
            self.set_record(self.text(value))
            return
        if index < 0:
            raise RunError(f"negative field index ${index}")
        if not self._split:
            self._split_record()
        if index > self.nf:
            self.resize(index)
        text = self.text(value)
        self._fields[index - 1] = text if type(value) in (Input, float) else Text(text)
        self._rebuild()

    def resize(self, count: int) -> None:
        """NF was assigned to: drop fields or add empty ones."""
        if count < 0:
            raise RunError("negative value assigned to NF")
        if count > _MOST_FIELDS:
            raise BudgetExceeded
        if not self._split:
            self._split_record()
        self._fields = self._fields[:count] + [""] * (count - self.nf)
        self.nf = count
        self._rebuild()

    def _rebuild(self) -> None:
        self.budget.spend(1 + (self.nf >> 3))
        self._record = self.special(OFS).join(self._fields)

    def split(self, text: str, separator: str) -> list[str]:
        """Cut text into fields as FS says."""
        self.budget.spend(len(text) >> 8)
        if separator == " ":
            if _ODD.search(text) is None:
                return text.split()
            return [part for part in _BLANKS.split(text) if part]
        if not text:
            return []
        if len(separator) == 1:
            return text.split(separator)
        if not separator:
            return list(text)
        return self.split_regex(text, separator)

    def split_regex(self, text: str, source: str) -> list[str]:
        if not text:
            return []
        data = text.encode("latin-1")
        parts: list[str] = []
        start = 0
        for match in compiled(source).iterate(data):
            if match.end == match.start:
                continue
            parts.append(text[start : match.start])
            start = match.end
        parts.append(text[start:])
        return parts

    # -- variables by name

    def assign(self, name: str, raw: str) -> None:
        """`-v name=value`, or such an operand: escapes count, and what looks like a number is one."""
        slot = self.names.get(name)
        value = Input(unescape(raw))
        if slot is None:
            return
        self.variables[slot] = value
        if slot == NF:
            self.resize(int(number(value)))

    # -- the input

    def next_record(self) -> str | None:
        """The next record of the input, from file to file; None at the end of the last."""
        while True:
            if self._source is None and not self._next_file():
                return None
            assert self._source is not None
            try:
                record = self._source.record(self.special(RS))
            except OSError as error:
                raise AwkError(f"read error ({error.strerror})") from None
            if record is not None:
                self.variables[NR] = number(self.variables[NR]) + 1.0
                self.variables[FNR] = number(self.variables[FNR]) + 1.0
                self.budget.spend(1 + (len(record) >> 8))
                return record
            self.skip_file()

    def skip_file(self) -> None:
        """nextfile."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def _next_file(self) -> bool:
        argv = self.arrays["ARGV"]
        count = int(number(self.variables[self.names["ARGC"]]))
        while self._operand < count:
            key = str(self._operand)
            self._operand += 1
            operand = self.text(argv.cells.get(key))
            if not operand:
                continue
            assignment = _ASSIGNMENT.fullmatch(operand)
            if assignment is not None:
                self.assign(assignment[1], assignment[2])
                continue
            self._open(operand)
            return True
        if self.stdin_used:
            return False
        self._open("")
        return True

    def _open(self, name: str) -> None:
        self.stdin_used = True
        self.variables[FILENAME] = name or "-"
        self.variables[FNR] = 0.0
        try:
            self._source = Source(self.ctx, self.ctx.open(external(name) if name else "-"))
        except OSError as error:
            if error.strerror == "Is a directory":
                raise AwkError(f"read error ({error.strerror})") from None
            raise AwkError(f"cannot open {name} ({error.strerror})") from None

    def where(self) -> str:
        """The second line of a run time error."""
        numbers = (int(number(self.variables[slot])) for slot in (FNR, NR))
        fnr, nr = numbers
        return f'\tFILENAME="{self.special(FILENAME)}" FNR={fnr} NR={nr}'

    def fill_arrays(self, operands: list[str]) -> None:
        """ARGV, ARGC and ENVIRON."""
        argv = self.arrays["ARGV"]
        words = [self.ctx.name, *operands]
        for index, word in enumerate(words):
            argv.set(float(index), Input(internal(word)))
        self.variables[self.names["ARGC"]] = float(len(words))
        environ = self.arrays["ENVIRON"]
        for name, value in self.ctx.environment.items():
            environ.set(internal(name), Input(internal(value)))

    def record_separator(self) -> str:
        return self.special(RS)
