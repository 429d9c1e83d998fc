"""The text of a Perl program, read from left to right: white space, words, and everything that quotes."""

from __future__ import annotations

import re

from runners.sim.commands.perl.values import CompileError

_BLANK = re.compile(r"(?:\s+|#[^\n]*)+")
_WORD = re.compile(r"[A-Za-z_]\w*(?:(?:::|')(?=[A-Za-z_])\w+)*(?:::)?")
_POD = re.compile(r"(?m)^=[a-zA-Z].*?(?:^=cut[^\n]*\n|\Z)", re.DOTALL)
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


class Source:
    """`at`: where reading stands. `name` and `first`: file and line number of its beginning, for messages."""

    __slots__ = ("at", "data", "first", "name", "text")

    def __init__(self, text: str, name: str, first: int = 1) -> None:
        text = _POD.sub(lambda found: "\n" * found[0].count("\n"), text)
        end = re.search(r"(?m)^__(?:END|DATA)__\b[^\n]*\n?", text)
        self.data = text[end.end() :] if end else ""
        self.text = text[: end.start()] if end else text
        self.name = name
        self.first = first
        self.at = 0

    @property
    def line(self) -> int:
        return self.first + self.text.count("\n", 0, self.at)

    @property
    def place(self) -> str:
        return f"at {self.name} line {self.line}"

    def blank(self) -> None:
        found = _BLANK.match(self.text, self.at)
        if found:
            self.at = found.end()

    def rest(self, length: int = 1) -> str:
        self.blank()
        return self.text[self.at : self.at + length]

    @property
    def ended(self) -> bool:
        self.blank()
        return self.at >= len(self.text)

    def take(self, symbol: str) -> bool:
        """Read exactly this if it comes next; a word only as a whole."""
        self.blank()
        if not self.text.startswith(symbol, self.at):
            return False
        end = self.at + len(symbol)
        if symbol[-1].isalnum() and end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
            return False
        self.at = end
        return True

    def need(self, symbol: str) -> None:
        if not self.take(symbol):
            self.fail()

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """What the pattern matches here."""
        self.blank()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def word(self) -> str | None:
        return self.match(_WORD)

    def peek_word(self) -> str:
        self.blank()
        found = _WORD.match(self.text, self.at)
        return found[0] if found else ""

    def fail(self, message: str | None = None) -> None:
        """Raises CompileError."""
        self.blank()
        if message is None:
            if self.at >= len(self.text):
                self.at = len(self.text.rstrip())
                message = f"syntax error at {self.name} line {self.line}, at EOF"
            else:
                near = self.text[self.at :].split("\n", 1)[0]
                message = f'syntax error at {self.name} line {self.line}, near "{near}"'
        raise CompileError(f"{message}\nExecution of {self.name} aborted due to compilation errors.\n")

    def quoted(self) -> tuple[str, str]:
        """A text between delimiters that begin here: its inside as written, and the opening delimiter."""
        if self.at < len(self.text) and self.text[self.at].isspace():
            self.blank()
        if self.at >= len(self.text):
            self.fail()
        opening = self.text[self.at]
        closing = _CLOSING.get(opening, opening)
        start, depth, at = self.at + 1, 1, self.at + 1
        while at < len(self.text):
            char = self.text[at]
            if char == "\\":
                at += 2
                continue
            if char == closing:
                depth -= 1
                if depth == 0:
                    self.at = at + 1
                    return self.text[start:at], opening
            elif char == opening:
                depth += 1
            at += 1
        raise CompileError(f"Can't find string terminator {_shown(closing)} anywhere before EOF {self.place}.\n")

    def second(self, opening: str) -> str:
        """The second half of s/// and tr///: behind the same delimiter, or between a pair of its own."""
        if opening in _CLOSING:
            return self.quoted()[0]
        self.at -= 1
        return self.quoted()[0]

    def flags(self) -> str:
        return self.match_here(re.compile(r"[a-z]*"))

    def match_here(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return found[0]

    def heredoc(self, tag: str, indented: bool) -> str:
        """The lines below this one up to `tag`; they are taken out of the text."""
        end_of_line = self.text.find("\n", self.at)
        if end_of_line < 0:
            self.fail(f'Can\'t find string terminator "{tag}" anywhere before EOF {self.place}.')
        body_start = end_of_line + 1
        margin = r"[ \t]*" if indented else ""
        pattern = re.compile(rf"(?m)^{margin}{re.escape(tag)}$")
        found = pattern.search(self.text, body_start)
        if found is None:
            self.fail(f'Can\'t find string terminator "{tag}" anywhere before EOF {self.place}.')
        assert found is not None
        body = self.text[body_start : found.start()]
        self.text = self.text[:body_start] + self.text[found.end() + 1 :]
        if indented:
            depth = min((len(line) - len(line.lstrip()) for line in body.splitlines() if line.strip()), default=0)
            body = "".join(line[depth:] for line in body.splitlines(keepends=True))
        return body


def unescaped(raw: str, delimiter: str) -> str:
    r"""The inside of '…': only `\\` and the escaped delimiter mean something."""
    closing = _CLOSING.get(delimiter, delimiter)
    return re.sub(rf"\\([\\{re.escape(delimiter)}{re.escape(closing)}])", r"\1", raw)


def _shown(closing: str) -> str:
    return "'\"'" if closing == '"' else f'"{closing}"'
