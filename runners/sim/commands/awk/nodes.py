"""The syntax tree of an AWK program."""

from __future__ import annotations

from typing import NamedTuple, Union


class Number(NamedTuple):
    value: float


class String(NamedTuple):
    value: str


class RegexLiteral(NamedTuple):
    source: str


class Variable(NamedTuple):
    name: str
    line: int


class Field(NamedTuple):
    number: Expression


class Element(NamedTuple):
    """`array[subscripts]`."""

    array: Variable
    subscripts: tuple[Expression, ...]


class Unary(NamedTuple):
    """`operator` is `!`, `-` or `+`."""

    operator: str
    operand: Expression


class Binary(NamedTuple):
    """Arithmetic and comparison."""

    operator: str
    left: Expression
    right: Expression


class Logical(NamedTuple):
    """`operator` is `&&` or `||`."""

    operator: str
    left: Expression
    right: Expression


class Concatenation(NamedTuple):
    parts: tuple[Expression, ...]


class Matching(NamedTuple):
    left: Expression
    right: Expression
    negated: bool


class Membership(NamedTuple):
    subscripts: tuple[Expression, ...]
    array: Variable


class Conditional(NamedTuple):
    condition: Expression
    yes: Expression
    no: Expression


class Assign(NamedTuple):
    """`operator` is empty for `=`, else the arithmetic before the `=`."""

    operator: str
    target: Expression
    value: Expression


class Increment(NamedTuple):
    """++ and --: `by` is 1 or -1."""

    target: Expression
    by: int
    prefix: bool


class Call(NamedTuple):
    name: str
    arguments: tuple[Expression, ...]
    line: int


class Builtin(NamedTuple):
    """`arguments` is None where not even brackets follow the name (`length`)."""

    name: str
    arguments: tuple[Expression, ...] | None
    line: int


class Getline(NamedTuple):
    """`kind`: main (the input), file or command; `source` is the file's name or the command."""

    kind: str
    target: Expression | None
    source: Expression | None


class Grouping(NamedTuple):
    """Brackets around one expression, or around a list before `in`."""

    inner: Expression


Expression = Union[  # noqa: UP007 (a forward reference)
    Number, String, RegexLiteral, Variable, Field, Element, Unary, Binary, Logical, Concatenation, Matching, Membership,
    Conditional, Assign, Increment, Call, Builtin, Getline, Grouping,
]  # fmt: skip


class Print(NamedTuple):
    """`redirect` is empty, `>`, `>>` or `|`; `formatted` for printf."""

    formatted: bool
    arguments: tuple[Expression, ...]
    redirect: str
    target: Expression | None


class Evaluate(NamedTuple):
    expression: Expression


class Block(NamedTuple):
    statements: tuple[Statement, ...]


class If(NamedTuple):
    condition: Expression
    yes: Statement
    no: Statement | None


class While(NamedTuple):
    condition: Expression
    body: Statement


class DoWhile(NamedTuple):
    body: Statement
    condition: Expression


class For(NamedTuple):
    start: Statement | None
    condition: Expression | None
    step: Statement | None
    body: Statement


class ForIn(NamedTuple):
    variable: Expression
    array: Variable
    body: Statement


class Jump(NamedTuple):
    """break, continue, next or nextfile."""

    kind: str


class Exit(NamedTuple):
    status: Expression | None


class Return(NamedTuple):
    value: Expression | None


class Delete(NamedTuple):
    array: Variable
    subscripts: tuple[Expression, ...] | None


Statement = Union[  # noqa: UP007 (a forward reference)
    Print, Evaluate, Block, If, While, DoWhile, For, ForIn, Jump, Exit, Return, Delete,
]  # fmt: skip


class Rule(NamedTuple):
    """`first` None: every record; `last`: the end of a range; `action` None: print the record."""

    first: Expression | None
    last: Expression | None
    action: Block | None


class Function(NamedTuple):
    name: str
    parameters: tuple[str, ...]
    body: Block
    line: int


class Tree(NamedTuple):
    begin: tuple[Block, ...]
    rules: tuple[Rule, ...]
    end: tuple[Block, ...]
    functions: tuple[Function, ...]
