"""Words of the shell to values, with the variables that a session is known to have."""

from __future__ import annotations

from collections.abc import Callable

from runners.formats.shell.ast import (
    CommandSubstitution,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Program,
    Tilde,
    Word,
)
from runners.text import is_digits
from runners.typed.values import UNKNOWN, Session, Value, may_glob

MOST_VALUES = 256
"""So many values of one word are looked at."""
_LONGEST = 1 << 16
"""Characters of one value; a longer one is not followed."""
Lines = tuple[Value, ...]
"""What is printed, line by line."""
Output = Callable[[Program], Lines | None]
"""What a substituted text prints, or None where that is not known. Calling it also notes what the text would run."""


class Fields:
    """Collects the values of one word: pieces of text, split where bash splits them."""

    def __init__(self) -> None:
        self.done: list[Value] = []
        self.text = ""
        self.glob = False
        self.present = False

    def add(self, text: str, *, glob: bool = False) -> None:
        self.text = self.text + text if len(self.text) + len(text) <= _LONGEST else UNKNOWN
        self.glob = self.glob or glob
        self.present = True

    def split(self, text: str, *, glob: bool) -> None:
        """An unquoted expansion: white space ends a value."""
        if text[:1].isspace():
            self.end()
        for number, piece in enumerate(text.split()):
            if number:
                self.end()
            self.add(piece, glob=glob or may_glob(piece))
        if text[-1:].isspace():
            self.end()

    def end(self) -> None:
        if self.present and len(self.done) < MOST_VALUES:
            self.done.append(Value(self.text, self.glob))
        self.text, self.glob, self.present = "", False, False


def expand(word: Word, session: Session, output: Output) -> tuple[Value, ...]:
    """The values that a word becomes: none, one or several."""
    if word.literal is not None:
        return (Value(word.literal),)
    if word.alternatives is not None:
        return tuple(value for each in word.alternatives for value in expand(each, session, output))[:MOST_VALUES]
    if word.braces:
        return (Value(UNKNOWN),)
    fields = Fields()
    for part in word.parts:
        _add(fields, part, session, output)
    fields.end()
    return tuple(fields.done)


def joined(word: Word, session: Session, output: Output) -> Value:
    """The one value of a word where nothing is split: an assignment's, a redirection's."""
    values = expand(word, session, output)
    return Value(" ".join(value.text for value in values), any(value.glob for value in values))


def _add(fields: Fields, part: Part, session: Session, output: Output) -> None:
    if isinstance(part, Literal):
        fields.add(part.text, glob=not part.quoted and may_glob(part.text))
    elif isinstance(part, Tilde):
        fields.add("/root" if part.user in ("", "root") else f"/home/{part.user}")
    elif isinstance(part, Parameter):
        values = _parameter(part, session, output)
        if part.quoted and not _several(part):
            fields.add(" ".join(value.text for value in values), glob=any(value.glob for value in values))
            return
        for number, value in enumerate(values):
            if number:
                fields.end()
            if part.quoted:
                fields.add(value.text, glob=value.glob)
            else:
                fields.split(value.text, glob=value.glob)
    elif isinstance(part, CommandSubstitution):
        lines = output(part.body)
        if lines is None:
            fields.add(UNKNOWN)
        elif part.quoted:
            fields.add("\n".join(line.text for line in lines), glob=any(line.glob for line in lines))
        else:
            for number, line in enumerate(lines):
                if number:
                    fields.end()
                fields.split(line.text, glob=line.glob)
    elif isinstance(part, ProcessSubstitution):
        output(part.body)
        fields.add("/dev/fd/63")
    else:
        fields.add(UNKNOWN)


def _several(part: Parameter) -> bool:
    return part.name == "@" or (part.subscript is not None and part.subscript.literal == "@")


def _parameter(part: Parameter, session: Session, output: Output) -> tuple[Value, ...]:
    if part.indirect:
        names = session.lookup(part.name) or ()
        return session.lookup(names[0].text) or () if names else ()
    values = session.lookup(part.name)
    if part.subscript is not None and values is not None:
        index = part.subscript.literal
        if index not in ("@", "*"):
            values = (
                values[int(index) : int(index) + 1] if index is not None and is_digits(index) else (Value(UNKNOWN),)
            )
    there = values is not None and any(value.text for value in values)
    if part.operator in ("", "?", ":?"):
        return values or ()
    argument = expand(part.argument, session, output) if part.argument is not None else ()
    if part.operator in (":-", ":=", "-", "="):
        if not there and part.operator in (":=", "="):
            session.variables[part.name] = argument
        return values or () if there or (values is not None and part.operator in ("-", "=")) else argument
    if part.operator in (":+", "+"):
        return argument if there else ()
    text = "".join(value.text for value in argument)
    if part.operator in ("%", "%%") and not may_glob(text):
        return tuple(value._replace(text=value.text.removesuffix(text)) for value in values or ())
    if part.operator in ("#", "##") and not may_glob(text):
        return tuple(value._replace(text=value.text.removeprefix(text)) for value in values or ())
    return (Value(UNKNOWN),)
