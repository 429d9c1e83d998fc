"""Documents that have the right shape and still cannot mean what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scenario_dsl.diagnostics import Diagnostic, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownFault(Diagnostic):
    code: ClassVar[str] = "unknown-fault"
    title: ClassVar[str] = "there is no fault `{name}`"
    caret: ClassVar[str] = "neither in this pack nor in a pack it uses"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownSystem(Diagnostic):
    code: ClassVar[str] = "unknown-system"
    title: ClassVar[str] = "there is no system `{name}`"
    caret: ClassVar[str] = "neither in this pack nor in a pack it uses"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownNode(Diagnostic):
    code: ClassVar[str] = "unknown-node"
    title: ClassVar[str] = "{user} is about the machine `{name}`, which the fleet of `{system}` does not have"
    caret: ClassVar[str] = "its machines: {known}"
    user: str
    name: str
    system: str
    known: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownArgument(Diagnostic):
    code: ClassVar[str] = "unknown-argument"
    title: ClassVar[str] = "the fault `{fault}` has no argument `{name}`"
    caret: ClassVar[str] = "it takes: {known}"
    fault: str
    name: str
    known: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingArgument(Diagnostic):
    code: ClassVar[str] = "missing-argument"
    title: ClassVar[str] = "the fault `{fault}` needs `{name}`"
    caret: ClassVar[str] = "`{name}` is missing here"
    help: ClassVar[str] = "`{name}`: {doc}"
    fault: str
    name: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongArgument(Diagnostic):
    code: ClassVar[str] = "wrong-argument"
    title: ClassVar[str] = "`{name}` must be {expected}, and {found} is not: {reason}"
    caret: ClassVar[str] = "expected {expected}"
    help: ClassVar[str] = "{expected} looks like {form}"
    name: str
    expected: str
    found: str
    reason: str
    form: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentNotChoice(Diagnostic):
    code: ClassVar[str] = "argument-not-a-choice"
    title: ClassVar[str] = "`{name}` cannot be {found}"
    caret: ClassVar[str] = "one of {choices}"
    name: str
    found: str
    choices: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultUnmakeable(Diagnostic):
    code: ClassVar[str] = "fault-cannot-be-made"
    title: ClassVar[str] = "the fault `{fault}` cannot be made with this: {reason}"
    caret: ClassVar[str] = "does not fit where the fault puts it in"
    fault: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsAboveOne(Diagnostic):
    code: ClassVar[str] = "points-above-one"
    title: ClassVar[str] = "the objectives are worth {total} together, and 1 is the most"
    caret: ClassVar[str] = "the sum of all points below"
    total: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeContradiction(Diagnostic):
    code: ClassVar[str] = "probe-contradiction"
    title: ClassVar[str] = "this probe can never hold: `{one}` and `{other}` contradict each other"
    caret: ClassVar[str] = "against `{other}`"
    one: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeNamedTwice(Diagnostic):
    code: ClassVar[str] = "cascade-named-twice"
    title: ClassVar[str] = "two cascades are named `{name}`"
    caret: ClassVar[str] = "given again"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownCascade(Diagnostic):
    code: ClassVar[str] = "unknown-cascade"
    title: ClassVar[str] = "there is no cascade `{name}`"
    caret: ClassVar[str] = "{known}"
    name: str
    known: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeUnreachable(Diagnostic):
    code: ClassVar[str] = "cascade-unreachable"
    title: ClassVar[str] = "the cascade `{name}` can never fire: {reason}"
    caret: ClassVar[str] = "waits too long"
    help: ClassVar[str] = "raise `limits`, or let it fire sooner"
    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeCycle(Diagnostic):
    code: ClassVar[str] = "cascade-cycle"
    title: ClassVar[str] = "the cascade `{name}` can never fire: its condition comes about only through {through}"
    caret: ClassVar[str] = "waits for its own effect"
    help: ClassVar[str] = "let a fault of the scenario bring the condition about, or another cascade that can fire"
    name: str
    through: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownParameter(Diagnostic):
    code: ClassVar[str] = "unknown-parameter"
    title: ClassVar[str] = "the scenario has no parameter `{name}`"
    caret: ClassVar[str] = "{known}"
    name: str
    known: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterChangesType(Diagnostic):
    code: ClassVar[str] = "parameter-changes-type"
    title: ClassVar[str] = "`{name}` is {found} here and {expected} in the primary"
    caret: ClassVar[str] = "expected {expected}"
    name: str
    found: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterIsTemplate(Diagnostic):
    code: ClassVar[str] = "parameter-is-template"
    title: ClassVar[str] = "the parameter `{name}` holds an expression"
    caret: ClassVar[str] = "would stay as it stands"
    help: ClassVar[str] = "a parameter is a plain value; write the expression where the parameter is used"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterUnused(Diagnostic):
    code: ClassVar[str] = "parameter-unused"
    severity: ClassVar[Severity] = "warning"
    title: ClassVar[str] = "nothing uses the {what} `{name}`"
    caret: ClassVar[str] = "not used"
    what: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinIdentical(Diagnostic):
    code: ClassVar[str] = "twin-identical"
    title: ClassVar[str] = "the twin `{name}` breaks exactly what {other} breaks"
    caret: ClassVar[str] = "{reason}"
    help: ClassVar[str] = "change a parameter that its faults use: another service, port, path or host"
    name: str
    other: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldNameTaken(Diagnostic):
    code: ClassVar[str] = "world-name-taken"
    title: ClassVar[str] = "a world is already named `{name}`"
    caret: ClassVar[str] = "choose another name"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlHasFault(Diagnostic):
    code: ClassVar[str] = "control-has-fault"
    title: ClassVar[str] = "the control has the fault `{fault}`, which the scenario is about"
    caret: ClassVar[str] = "a control is healthy"
    help: ClassVar[str] = "use a decoy that only looks like it"
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoTwin(Diagnostic):
    code: ClassVar[str] = "scenario-without-twin"
    title: ClassVar[str] = "a repair needs at least one twin"
    caret: ClassVar[str] = "`twins` is missing"
    help: ClassVar[str] = (
        "a twin is the same cause behind another surface; without one, nobody can tell whether it was understood"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NoControl(Diagnostic):
    code: ClassVar[str] = "scenario-without-control"
    title: ClassVar[str] = "a repair needs at least one control"
    caret: ClassVar[str] = "`controls` is missing"
    help: ClassVar[str] = "a control is a healthy world with a decoy symptom, which a right repair leaves unharmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldAnswersNothing(Diagnostic):
    code: ClassVar[str] = "gold-answers-nothing"
    title: ClassVar[str] = "an objective asks a question, and gold never answers"
    caret: ClassVar[str] = "no step has an `answer`"


@dataclass(frozen=True, slots=True, kw_only=True)
class SolutionLeaked(Diagnostic):
    code: ClassVar[str] = "solution-leaked"
    title: ClassVar[str] = "{place} gives away a command of gold"
    caret: ClassVar[str] = "holds `{command}`"
    help: ClassVar[str] = "say what is to be found out, not what is to be typed"
    place: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksMixed(Diagnostic):
    code: ClassVar[str] = "task-several-modules"
    title: ClassVar[str] = "a task uses one module, and this one uses `{first}` and `{second}`"
    caret: ClassVar[str] = "a second module"
    help: ClassVar[str] = "write a task of its own"
    first: str
    second: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultOfRequired(Diagnostic):
    code: ClassVar[str] = "default-of-required"
    title: ClassVar[str] = "`{name}` is required, so that its default is never used"
    caret: ClassVar[str] = "remove this, or `required`"
    name: str
