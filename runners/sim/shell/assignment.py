"""Setting variables, elements and whole arrays, as their attributes say.

A Variable may be shared with a fork and is never changed: a changed copy takes its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runners.formats.shell.ast import (
    ArrayLiteral,
    Assignment,
)
from runners.sim.budget import BudgetExceeded
from runners.sim.shell.operators import MAX_TEXT
from runners.sim.shell.session import Variable
from runners.sim.shell.signals import ExpansionError
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell


def assign(shell: Shell, assignment: Assignment) -> None:
    """Carry out one assignment of the syntax tree."""
    if isinstance(assignment.value, ArrayLiteral):
        assign_array(shell, assignment)
        return
    subscript = shell.expander.text(assignment.subscript) if assignment.subscript is not None else None
    value = shell.expander.text(assignment.value)
    assign_text(shell, assignment.name, value, subscript=subscript, append=assignment.append)


def assign_text(shell: Shell, name: str, value: str, *, subscript: str | None = None, append: bool = False) -> None:
    """Set a variable or an element, by its attributes. ExpansionError for readonly ones and bad subscripts."""
    session = shell.session
    variable = session.variables.get(name)
    if variable is not None and variable.nameref and isinstance(variable.value, str) and variable.value != name:
        target, _, inner = variable.value.partition("[")
        assign_text(shell, target, value, subscript=inner[:-1] if inner else subscript, append=append)
        return
    if variable is not None:
        if variable.readonly:
            raise ExpansionError(f"{name}: readonly variable", dash=f"{name}: is read only")
        if variable.integer:
            number = shell.expander.arithmetic(value)
            if append:
                number += int(shell.expander.parameters.element(name, subscript) or 0)
                append = False
            value = str(number)
        if variable.case:
            value = value.upper() if variable.case == "u" else value.lower()
    if len(value) > 4096:
        shell.spend(len(value) >> 8)
        if len(value) > MAX_TEXT:
            raise BudgetExceeded
    if subscript is not None:
        _assign_element(shell, name, variable, value, subscript, append)
        return
    if variable is None:
        session.variables[name] = Variable(value, exported="allexport" in session.options)
        if name == "SECONDS":
            session.variables.pop(name)
            session.started = shell.machine.clock.now
            session.seconds_base = int(value) if is_digits(value) else 0
        elif name == "RANDOM":
            session.variables.pop(name)
            session.random = int(value) if is_digits(value) else 0
        if "allexport" in session.options:
            session.environment_cache = None
        return
    if isinstance(variable.value, dict) or variable.kind:
        _assign_element(shell, name, variable, value, "0", append)
        return
    if append and variable.value is not None:
        value = variable.value + value
        if len(value) > MAX_TEXT:
            raise BudgetExceeded
    changed = variable.copy()
    changed.value = value
    session.variables[name] = changed
    if changed.exported:
        session.environment_cache = None
    if name == "PATH":
        session.hashed.clear()


def _assign_element(
    shell: Shell, name: str, variable: Variable | None, value: str, subscript: str, append: bool
) -> None:
    session = shell.session
    if variable is None or not isinstance(variable.value, dict):
        made = variable.copy() if variable is not None else Variable(None)
        made.kind = made.kind or "a"
        old = made.value
        made.value = {0: old} if isinstance(old, str) else {}
        session.variables[name] = variable = made
    items = session.elements(name)
    key: int | str
    if variable.kind == "A":
        key = subscript
        if not subscript:
            raise ExpansionError(f"{name}[]: bad array subscript")
    else:
        key = shell.expander.arithmetic(subscript)
        if key < 0:
            key += max(items, default=-1) + 1
            if key < 0:
                raise ExpansionError(f"{name}[{subscript}]: bad array subscript")
    items[key] = items.get(key, "") + value if append else value
    shell.spend(1)


def assign_array(shell: Shell, assignment: Assignment, *, kind: str = "") -> None:
    """`name=(…)` and `name+=(…)`."""
    session = shell.session
    literal = assignment.value
    assert isinstance(literal, ArrayLiteral)
    known = session.variables.get(assignment.name)
    if known is not None and known.readonly:
        raise ExpansionError(f"{assignment.name}: readonly variable")
    made = known.copy() if known is not None else Variable(None)
    made.kind = kind or made.kind or "a"
    items: Any = {}
    if assignment.append and made.value is not None:
        items = dict(made.value) if isinstance(made.value, dict) else {0: made.value}
    position = max((key for key in items if isinstance(key, int)), default=-1) + 1
    expander = shell.expander
    if made.kind == "A" and literal.items and all(key is None for key, _ in literal.items):
        flat = [text for _, word in literal.items for text in expander.words([word])]
        for index in range(0, len(flat), 2):
            items[flat[index]] = flat[index + 1] if index + 1 < len(flat) else ""
    else:
        for key, word in literal.items:
            if key is not None:
                text = expander.text(key)
                place: int | str = text if made.kind == "A" else expander.arithmetic(text)
                items[place] = expander.text(word)
                position = place + 1 if isinstance(place, int) else position
                continue
            for text in expander.words([word]):
                items[position] = text
                position += 1
    if made.integer:
        items = {key: str(expander.arithmetic(text)) for key, text in items.items()}
    made.value = items
    session.variables[assignment.name] = made
    shell.spend(1 + len(items) // 4)
