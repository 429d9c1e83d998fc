"""Which function runs which node of the syntax tree. There is one for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from runners.formats.shell.ast import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Case,
    ConditionCommand,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Select,
    Simple,
    Subshell,
    While,
)
from runners.sim.shell import compound, pipelines, simple

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

EXECUTE: Mapping[type, Callable[[Shell, Any], int]] = {
    Simple: simple.run,
    Pipeline: pipelines.pipeline,
    AndOr: pipelines.and_or,
    Group: compound.group,
    Subshell: compound.subshell,
    If: compound.if_,
    While: compound.while_,
    For: compound.for_,
    ArithmeticFor: compound.arithmetic_for,
    Select: compound.select,
    Case: compound.case,
    Function: compound.function,
    ArithmeticCommand: compound.arithmetic,
    ConditionCommand: compound.condition_command,
}
