"""The shell's syntax tree: immutable after parsing, shared by every world that runs the same text."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Literal(NamedTuple):
    """Text as it stands. `quoted`: special characters in it mean themselves."""

    text: str
    quoted: bool


class Tilde(NamedTuple):
    """`~` or `~user` at the start of a word; `user` is empty for one's own home."""

    user: str


class Parameter(NamedTuple):
    """`$name` or `${…}`. `operator` is one of the expansion operators, `length`, `prefix@` (names), `""` for plain.

    `subscript`: the text between brackets (`@`, `*` or an expression). `indirect`: `${!name}`.
    """

    name: str
    subscript: Word | None
    operator: str
    argument: Word | None
    second: Word | None
    indirect: bool
    quoted: bool


class CommandSubstitution(NamedTuple):
    body: Program
    quoted: bool


class ArithmeticSubstitution(NamedTuple):
    expression: Word
    quoted: bool


class ProcessSubstitution(NamedTuple):
    """`<(…)` or `>(…)`; `direction` is `<` or `>`."""

    direction: str
    body: Program


class BadSubstitution(NamedTuple):
    """`${…}` that makes no sense: an error only when it is expanded."""

    text: str


Part: TypeAlias = (
    Literal | Tilde | Parameter | CommandSubstitution | ArithmeticSubstitution | ProcessSubstitution | BadSubstitution
)


class Word(NamedTuple):
    """One word. `literal`: its value when nothing in it is expanded (no glob, no braces either), else None.

    `braces`: it has a brace expression; `alternatives`: the words that makes, if they are few.
    """

    parts: tuple[Part, ...]
    literal: str | None
    braces: bool = False
    alternatives: tuple[Word, ...] | None = None


class ArrayLiteral(NamedTuple):
    """`(a b [k]=c)`: pairs of key (or None) and value."""

    items: tuple[tuple[Word | None, Word], ...]


class Assignment(NamedTuple):
    """`name=value`, `name[subscript]+=value`, `name=(…)`."""

    name: str
    subscript: Word | None
    append: bool
    value: Word | ArrayLiteral


class Redirect:
    """One redirection. `target` is a word; for here-documents the body, filled in when its lines are reached."""

    __slots__ = ("fd", "operator", "target", "variable")

    def __init__(self, fd: int | None, operator: str, target: Word, variable: str | None = None) -> None:
        self.fd = fd
        self.operator = operator
        self.target = target
        self.variable = variable


class Simple(NamedTuple):
    assignments: tuple[Assignment, ...]
    words: tuple[Word | Assignment, ...]
    redirects: tuple[Redirect, ...]
    line: int


class Pipeline(NamedTuple):
    """Commands with `|` between them; `merged[i]`: stage i was followed by `|&`. `timed`: "", "time" or "time -p"."""

    commands: tuple[Command, ...]
    merged: tuple[bool, ...]
    negated: bool
    timed: str


class AndOr(NamedTuple):
    """`first`, then pairs of `&&` or `||` and what follows."""

    first: Command
    rest: tuple[tuple[str, Command], ...]


class Statement(NamedTuple):
    """One entry of a list. `background`: it ended with `&`. `text`: its source, for jobs."""

    command: Command
    background: bool
    text: str


class Body(NamedTuple):
    statements: tuple[Statement, ...]


class Group(NamedTuple):
    body: Body
    redirects: tuple[Redirect, ...]


class Subshell(NamedTuple):
    body: Body
    redirects: tuple[Redirect, ...]


class If(NamedTuple):
    branches: tuple[tuple[Body, Body], ...]
    otherwise: Body | None
    redirects: tuple[Redirect, ...]


class While(NamedTuple):
    condition: Body
    body: Body
    until: bool
    redirects: tuple[Redirect, ...]


class For(NamedTuple):
    """`words` is None for `for x; do`, which takes the positional parameters. `text`: what they were written as."""

    name: str
    words: tuple[Word | Assignment, ...] | None
    body: Body
    redirects: tuple[Redirect, ...]
    line: int
    text: str


class ArithmeticFor(NamedTuple):
    start: Word
    condition: Word
    step: Word
    body: Body
    redirects: tuple[Redirect, ...]


class Select(NamedTuple):
    name: str
    words: tuple[Word | Assignment, ...] | None
    body: Body
    redirects: tuple[Redirect, ...]


class CaseItem(NamedTuple):
    """`terminator`: `;;`, `;&` or `;;&`."""

    patterns: tuple[Word, ...]
    body: Body
    terminator: str


class Case(NamedTuple):
    """`text`: what the subject was written as."""

    subject: Word
    items: tuple[CaseItem, ...]
    redirects: tuple[Redirect, ...]
    text: str


class Function(NamedTuple):
    name: str
    body: Command
    text: str


class ArithmeticCommand(NamedTuple):
    expression: Word
    redirects: tuple[Redirect, ...]
    line: int


class CondUnary(NamedTuple):
    operator: str
    operand: Word


class CondBinary(NamedTuple):
    operator: str
    left: Word
    right: Word


class CondNot(NamedTuple):
    condition: Condition


class CondBoth(NamedTuple):
    """`&&` or `||` of two conditions."""

    operator: str
    left: Condition
    right: Condition


Condition: TypeAlias = CondUnary | CondBinary | CondNot | CondBoth


class ConditionCommand(NamedTuple):
    """`[[ … ]]`."""

    condition: Condition
    redirects: tuple[Redirect, ...]
    line: int


Command: TypeAlias = (
    Simple
    | Pipeline
    | AndOr
    | Group
    | Subshell
    | If
    | While
    | For
    | ArithmeticFor
    | Select
    | Case
    | Function
    | ArithmeticCommand
    | ConditionCommand
)


class SyntaxProblem(NamedTuple):
    """Where parsing stopped: the message, the line it is about, and that line's text where bash shows it."""

    message: str
    line: int
    shown: str | None


class Program(NamedTuple):
    """A text, one entry for each complete command as bash reads them; `problem` ends it if it does not parse."""

    bodies: tuple[Body, ...]
    problem: SyntaxProblem | None
