"""Documents whose tree does not have the shape of the language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scenario_dsl.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownDocument(Diagnostic):
    code: ClassVar[str] = "schema-unknown-document"
    title: ClassVar[str] = "this is no scenario, fault, system or pack"
    caret: ClassVar[str] = "the first key of the document"
    help: ClassVar[str] = "a document begins with `scenario:`, `fault:`, `system:`, `pack:` or `intervention:`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownKey(Diagnostic):
    code: ClassVar[str] = "schema-unknown-key"
    title: ClassVar[str] = "unknown key `{key}` in {place}"
    caret: ClassVar[str] = "not a key of {place}"
    key: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownProbe(Diagnostic):
    code: ClassVar[str] = "schema-unknown-probe"
    title: ClassVar[str] = "there is no probe `{key}`"
    caret: ClassVar[str] = "not a probe"
    help: ClassVar[str] = "the probes are {known}"
    key: str
    known: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownModule(Diagnostic):
    code: ClassVar[str] = "schema-unknown-module"
    title: ClassVar[str] = "`{key}` is neither a key of a task nor a module that faults may use"
    caret: ClassVar[str] = "not known here"
    help: ClassVar[str] = "the modules are {known}"
    key: str
    known: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingKey(Diagnostic):
    code: ClassVar[str] = "schema-missing-key"
    title: ClassVar[str] = "{place} has no {keys}"
    caret: ClassVar[str] = "missing here: {keys}"
    keys: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsOneOf(Diagnostic):
    code: ClassVar[str] = "schema-needs-one-of"
    title: ClassVar[str] = "{place} needs one of {keys}"
    caret: ClassVar[str] = "none of them is here"
    keys: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysExclude(Diagnostic):
    code: ClassVar[str] = "schema-keys-exclude"
    title: ClassVar[str] = "`{key}` and `{other}` exclude each other"
    caret: ClassVar[str] = "remove this, or `{other}`"
    key: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotExactlyOne(Diagnostic):
    code: ClassVar[str] = "schema-not-exactly-one"
    title: ClassVar[str] = "{place} holds exactly one {what}, and this one holds {count}"
    caret: ClassVar[str] = "one too many"
    help: ClassVar[str] = "write each as an item of its own"
    place: str
    what: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongType(Diagnostic):
    code: ClassVar[str] = "schema-wrong-type"
    title: ClassVar[str] = "{place} must be {expected}, and this is {found}"
    caret: ClassVar[str] = "expected {expected}"
    place: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongValue(Diagnostic):
    code: ClassVar[str] = "schema-wrong-value"
    title: ClassVar[str] = "{place} cannot be {found}"
    caret: ClassVar[str] = "{reason}"
    place: str
    found: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotChoice(Diagnostic):
    code: ClassVar[str] = "schema-not-a-choice"
    title: ClassVar[str] = "{place} cannot be {found}"
    caret: ClassVar[str] = "one of {choices}"
    place: str
    found: str
    choices: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty(Diagnostic):
    code: ClassVar[str] = "schema-empty"
    title: ClassVar[str] = "{place} is empty"
    caret: ClassVar[str] = "something must be here"
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Misnamed(Diagnostic):
    code: ClassVar[str] = "schema-bad-name"
    title: ClassVar[str] = "`{key}` cannot be a name here"
    caret: ClassVar[str] = "{reason}"
    key: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated(Diagnostic):
    code: ClassVar[str] = "schema-repeated-item"
    title: ClassVar[str] = "{place} holds the same item twice"
    caret: ClassVar[str] = "given again"
    place: str
