"""Which names of an AWK program are arrays, which are plain variables, and whether its calls make sense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from runners.sim.commands.awk import nodes
from runners.sim.commands.awk.lexer import AwkError
from runners.sim.commands.awk.runtime import SPECIAL

_COUNTS = {
    "length": (0, 1), "substr": (2, 3), "index": (2, 2), "split": (2, 3), "sub": (2, 3), "gsub": (2, 3),
    "match": (2, 2), "sprintf": (1, 255), "sin": (1, 1), "cos": (1, 1), "atan2": (2, 2), "exp": (1, 1), "log": (1, 1),
    "sqrt": (1, 1), "int": (1, 1), "rand": (0, 0), "srand": (0, 1), "tolower": (1, 1), "toupper": (1, 1),
    "system": (1, 1), "close": (1, 1), "fflush": (0, 1), "strftime": (0, 3), "systime": (0, 0), "mktime": (1, 1),
}  # fmt: skip


class Names(NamedTuple):
    """`slots`: where each global variable is kept; `arrays`: global arrays; `local_arrays`: those of each function."""

    slots: dict[str, int]
    arrays: tuple[str, ...]
    local_arrays: dict[str, frozenset[str]]


class _Use(NamedTuple):
    scope: str
    name: str
    line: int


class _Pass(NamedTuple):
    """A bare name handed to a function."""

    scope: str
    name: str
    callee: str
    position: int


def analyse(tree: nodes.Tree, last_line: int) -> Names:
    """AwkError, with mawk's message, for a name used in two ways or a call that cannot be."""
    functions: dict[str, nodes.Function] = {}
    for function in tree.functions:
        if function.name in functions:
            raise AwkError(f"line {function.line}: redefinition of {function.name}")
        functions[function.name] = function
    survey = _Survey(functions)
    for scope, part in _parts(tree):
        survey.walk(scope, part)
    arrays = survey.settle()
    if survey.undefined is not None:
        raise AwkError(f"line {last_line}: function {survey.undefined} never defined")
    survey.complain(arrays)
    local = {name: frozenset(key[1] for key in arrays if key[0] == name) for name in functions}
    slots = {name: index for index, name in enumerate((*SPECIAL, "ARGC"))}
    for use in survey.scalars:
        if use.scope == "":
            slots.setdefault(use.name, len(slots))
    global_arrays = dict.fromkeys(("ARGV", "ENVIRON"))
    global_arrays.update(dict.fromkeys(name for scope, name in arrays if scope == ""))
    return Names(slots, tuple(global_arrays), local)


def _parts(tree: nodes.Tree) -> Iterator[tuple[str, object]]:
    for function in tree.functions:
        yield function.name, function.body
    for block in (*tree.begin, *tree.end):
        yield "", block
    for rule in tree.rules:
        yield "", rule


class _Survey:
    def __init__(self, functions: dict[str, nodes.Function]) -> None:
        self.functions = functions
        self.arrays: dict[tuple[str, str], int] = {}
        self.scalars: list[_Use] = []
        self.passes: list[_Pass] = []
        self.calls: list[tuple[str, nodes.Call]] = []
        self.undefined: str | None = None

    def scope_of(self, scope: str, name: str) -> str:
        """The function whose parameter the name is, or "" for a global."""
        return scope if scope and name in self.functions[scope].parameters else ""

    def array(self, scope: str, variable: nodes.Variable) -> None:
        self.arrays.setdefault((self.scope_of(scope, variable.name), variable.name), variable.line)

    def walk(self, scope: str, node: object) -> None:
        if isinstance(node, nodes.Variable):
            self.scalars.append(_Use(self.scope_of(scope, node.name), node.name, node.line))
        elif isinstance(node, nodes.Call):
            self._call(scope, node)
        elif isinstance(node, nodes.Builtin):
            self._builtin(scope, node)
        elif isinstance(node, nodes.Element | nodes.Membership | nodes.Delete):
            self.array(scope, node.array)
            for subscript in node.subscripts or ():
                self.walk(scope, subscript)
        elif isinstance(node, nodes.ForIn):
            self.array(scope, node.array)
            self.walk(scope, node.variable)
            self.walk(scope, node.body)
        elif isinstance(node, tuple):
            for part in node:
                if isinstance(part, tuple):
                    self.walk(scope, part)

    def _call(self, scope: str, node: nodes.Call) -> None:
        function = self.functions.get(node.name)
        if function is None:
            self.undefined = self.undefined or node.name
        elif len(node.arguments) > len(function.parameters):
            raise AwkError(f"line {node.line}: too many arguments in call to {node.name}")
        else:
            self.calls.append((scope, node))
        for position, argument in enumerate(node.arguments):
            if isinstance(argument, nodes.Variable):
                self.passes.append(
                    _Pass(scope, argument.name, node.name, position)
                )  # fmt: skip
            else:
                self.walk(scope, argument)

    def _builtin(self, scope: str, node: nodes.Builtin) -> None:
        arguments = node.arguments or ()
        least, most = _COUNTS[node.name]
        if not least <= len(arguments) <= most:
            raise AwkError(f"line {node.line}: wrong number of arguments in call to {node.name}")
        for position, argument in enumerate(arguments):
            if node.name == "split" and position == 1:
                if not isinstance(argument, nodes.Variable):
                    raise AwkError(f"line {node.line}: type error in arg(2) in call to split")
                self.array(scope, argument)
            elif node.name == "length" and isinstance(argument, nodes.Variable):
                self.passes.append(_Pass(scope, argument.name, "", 0))
            else:
                self.walk(scope, argument)

    def settle(self) -> dict[tuple[str, str], int]:
        """Spread what is known through the calls: an argument of an array parameter is an array, and the other way."""
        arrays = self.arrays
        changed = True
        while changed:
            changed = False
            for passed in self.passes:
                function = self.functions.get(passed.callee)
                if function is None:
                    continue
                outer = (self.scope_of(passed.scope, passed.name), passed.name)
                inner = (passed.callee, function.parameters[passed.position])
                if (outer in arrays) != (inner in arrays):
                    if inner not in arrays and any(use[:2] == inner for use in self.scalars):
                        continue
                    arrays.setdefault(outer, 1)
                    arrays.setdefault(inner, 1)
                    changed = True
        for passed in self.passes:
            key = (self.scope_of(passed.scope, passed.name), passed.name)
            if key not in arrays:
                self.scalars.append(_Use(*key, 1))
        return arrays

    def complain(self, arrays: dict[tuple[str, str], int]) -> None:
        for use in self.scalars:
            if (use.scope, use.name) in arrays:
                kind = "local array" if use.scope else "array"
                raise AwkError(f"line {use.line}: illegal reference to {kind} {use.name}")
            if use.scope == "" and use.name in self.functions:
                raise AwkError(f"line {use.line}: syntax error at or near {use.name}")
        for scope, call in self.calls:
            function = self.functions[call.name]
            for position, argument in enumerate(call.arguments):
                wants = (call.name, function.parameters[position]) in arrays
                name = argument.name if isinstance(argument, nodes.Variable) else None
                given = name is not None and (self.scope_of(scope, name), name) in arrays
                if wants != given:
                    raise AwkError(f"line {call.line}: type error in arg({position + 1}) in call to {call.name}")
