"""export, declare and their like, unset, let: variables and their attributes.

A Variable that others may see is never changed: a copy with the change takes its place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runners.sim.shell.assignment import assign_array
from runners.sim.shell.builtins.arguments import options
from runners.sim.shell.expansion import ArrayArgument
from runners.sim.shell.operators import quote
from runners.sim.shell.session import Variable
from runners.sim.shell.signals import ExpansionError

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell


_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(.*?)\])?(?:(\+?=)(.*))?", re.DOTALL)
SAFE_WORD = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def _double(text: str) -> str:
    """As declare -p writes a value."""
    if any(ord(char) < 32 or char == "\x7f" for char in text):
        return quote(text)
    return '"' + re.sub(r'(["\\$`])', r"\\\1", text) + '"'


def _attributes(variable: Variable) -> str:
    letters = variable.kind + ("i" if variable.integer else "") + ("n" if variable.nameref else "")
    letters += ("r" if variable.readonly else "") + ("x" if variable.exported else "") + variable.case
    return "-" + (letters or "-")


def describe(name: str, variable: Variable) -> str:
    """The line of `declare -p`."""
    start = f"declare {_attributes(variable)} {name}"
    if variable.value is None:
        return start
    if isinstance(variable.value, dict):
        items: Any = variable.value
        keys = sorted(items) if variable.kind == "a" else list(items)
        inside = " ".join(f"[{_key(str(key))}]={_double(items[key])}" for key in keys)
        return f"{start}=({inside}{' ' if variable.kind == 'A' and keys else ''})"
    return f"{start}={_double(variable.value)}"


def _key(text: str) -> str:
    return text if SAFE_WORD.fullmatch(text) else _double(text)


def _mark(shell: Shell, argv: list[str], rest: list[str], change: Any) -> int:
    """Assign and change the attributes of each argument; `change(variable)` sets them."""
    session = shell.session
    status = 0
    for word in rest:
        if isinstance(word, ArrayArgument):
            assign_array(shell, word.assignment)
            variable = session.variables[word.assignment.name].copy()
            session.variables[word.assignment.name] = variable
            change(variable)
            continue
        match = _ASSIGNED.fullmatch(word)
        if match is None:
            shell.error(f"{argv[0]}: `{word}': not a valid identifier")
            status = 1
            continue
        name, subscript, mark, value = match.groups()
        if mark is not None:
            shell.assign(name, value, subscript=subscript, append=mark == "+=")
        known = session.variables.get(name)
        variable = known.copy() if known is not None else Variable(None)
        change(variable)
        session.variables[name] = variable
    session.environment_cache = None
    return status


def export(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "fnp")
    flags = {letter for letter, _ in given}
    if not rest:
        for name, variable in shell.session.exported():
            shell.out(describe(name, variable) + "\n")
        return 0
    if "f" in flags:
        missing = [name for name in rest if name not in shell.session.functions]
        for name in missing:
            shell.error(f"export: {name}: not a function")
        return int(bool(missing))

    def change(variable: Variable) -> None:
        variable.exported = "n" not in flags

    return _mark(shell, argv, rest, change)


def readonly(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "aAfp")
    if not rest:
        for name in sorted(shell.session.variables):
            if shell.session.variables[name].readonly:
                shell.out(describe(name, shell.session.variables[name]) + "\n")
        return 0
    flags = {letter for letter, _ in given}

    def change(variable: Variable) -> None:
        variable.readonly = True
        if "a" in flags and not variable.kind:
            variable.kind = "a"

    return _mark(shell, argv, rest, change)


def local(shell: Shell, argv: list[str]) -> int:
    if not shell.function_depth:
        shell.error("local: can only be used in a function")
        return 1
    given, rest = options(shell, argv, "aAilnrtuxp+")
    return _declare(shell, argv, {letter for letter, _ in given}, rest, True)


def declare(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "aAfFgiIlnprtux+")
    flags = {letter for letter, _ in given}
    if flags & {"f", "F"}:
        return _functions(shell, rest, names_only="F" in flags)
    if "p" in flags or not rest:
        return _print(shell, argv, flags, rest)
    return _declare(shell, argv, flags, rest, bool(shell.function_depth) and "g" not in flags)


def _functions(shell: Shell, names: list[str], *, names_only: bool) -> int:
    functions = shell.session.functions
    status = 0
    for name in names or sorted(functions):
        if name not in functions:
            status = 1
        elif names_only:
            shell.out(f"{name}\n" if names else f"declare -f {name}\n")
        else:
            shell.out(functions[name].text + "\n")
    return status


def _print(shell: Shell, argv: list[str], flags: set[str], names: list[str]) -> int:
    variables = shell.session.variables
    status = 0
    for name in names or sorted(variables):
        variable = variables.get(name)
        if variable is None:
            shell.error(f"{argv[0]}: {name}: not found")
            status = 1
            continue
        wanted = {"x": variable.exported, "r": variable.readonly, "i": variable.integer, "a": variable.kind == "a"}
        wanted |= {"A": variable.kind == "A"}
        if names or all(wanted.get(flag, True) for flag in flags):
            if "p" in flags or flags:
                shell.out(describe(name, variable) + "\n")
            elif isinstance(variable.value, str):
                shown = (
                    variable.value
                    if SAFE_WORD.fullmatch(variable.value) or not variable.value
                    else quote(variable.value)
                )
                shell.out(f"{name}={shown}\n")
    return status


def _declare(shell: Shell, argv: list[str], flags: set[str], rest: list[str], is_local: bool) -> int:
    session = shell.session
    status = 0
    kind = "A" if "A" in flags else "a" if "a" in flags else ""
    for word in rest:
        match = _ASSIGNED.fullmatch(word)
        if match is None:
            shell.error(f"{argv[0]}: `{word}': not a valid identifier")
            status = 1
            continue
        name, subscript, mark, value = match.groups()
        if is_local and name not in session.saved[-1]:
            session.saved[-1][name] = session.variables.get(name)
            known = session.variables.get(name)
            if known is not None and known.readonly:
                shell.error(f"{argv[0]}: {name}: readonly variable")
                status = 1
                continue
            fresh = Variable(None)
            session.variables[name] = fresh
        known = session.variables.get(name)
        variable = known.copy() if known is not None else Variable(None)
        _apply_flags(variable, flags, kind)
        session.variables[name] = variable
        try:
            if isinstance(word, ArrayArgument):
                assign_array(shell, word.assignment, kind=kind)
            elif mark is not None and variable.nameref:
                variable.value = value
            elif mark is not None and value.startswith("(") and value.endswith(")") and kind:
                # declare -A m="(…)" as eval would read it.
                shell.run_text(f"{name}{mark}{value}")
            elif mark is not None:
                shell.assign(name, value, subscript=subscript, append=mark == "+=")
        except ExpansionError as problem:
            shell.error(f"{argv[0]}: {problem.message}" if "readonly" in problem.message else problem.message)
            status = 1
            continue
        final = session.variables[name].copy()
        final.readonly = final.readonly or "r" in flags
        session.variables[name] = final
    session.environment_cache = None
    return status


def _apply_flags(variable: Variable, flags: set[str], kind: str) -> None:
    if kind and variable.kind != kind:
        variable.kind = kind
        old = variable.value
        if isinstance(old, str):
            variable.value = {0: old} if kind == "a" else {"0": old}
        elif old is not None and not isinstance(old, dict):
            variable.value = None
    for flag, attribute in (("i", "integer"), ("x", "exported"), ("n", "nameref")):
        if flag in flags:
            setattr(variable, attribute, True)
        if f"+{flag}" in flags:
            setattr(variable, attribute, False)
    if "u" in flags or "l" in flags:
        variable.case = "u" if "u" in flags else "l"


def unset(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "fvn")
    flags = {letter for letter, _ in given}
    session = shell.session
    status = 0
    for word in rest:
        match = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(.*)\])?", word, re.DOTALL)
        if match is None:
            if "f" in flags:
                session.functions.pop(word, None)
                continue
            shell.error(f"unset: `{word}': not a valid identifier")
            status = 1
            continue
        name, subscript = match.groups()
        variable = session.variables.get(name)
        if "f" in flags or (variable is None and "v" not in flags):
            session.functions.pop(name, None)
            continue
        if variable is None:
            continue
        if variable.readonly:
            shell.error(f"unset: {name}: cannot unset: readonly variable")
            status = 1
            continue
        if variable.nameref and "n" not in flags and isinstance(variable.value, str):
            session.unset(variable.value)
            continue
        if subscript is not None and isinstance(variable.value, dict):
            if subscript in ("@", "*"):
                session.unset(name)
                continue
            key: int | str = subscript if variable.kind == "A" else shell.expander.arithmetic(subscript)
            if isinstance(key, int) and key < 0:
                key += max(variable.value, default=-1) + 1
            session.elements(name).pop(key, None)
            continue
        session.unset(name)
    return status


def let(shell: Shell, argv: list[str]) -> int:
    if len(argv) < 2:
        shell.error("let: expression expected")
        return 1
    value = 0
    for text in argv[1:]:
        try:
            value = shell.expander.arithmetic(text)
        except ExpansionError as problem:
            shell.error(f"let: {problem.message}")
            return 1
    return int(value == 0)
