"""Expressions in documents, and the names they use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scenario_dsl.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownName(Diagnostic):
    code: ClassVar[str] = "unknown-name"
    title: ClassVar[str] = "`{name}` is not known here"
    caret: ClassVar[str] = "{known}"
    name: str
    known: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotYetDiscovered(Diagnostic):
    code: ClassVar[str] = "name-not-discovered"
    title: ClassVar[str] = "`{name}` is discovered only by a later step"
    caret: ClassVar[str] = "used before it is known"
    help: ClassVar[str] = "move the step with `discover: {name}` before this one"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveredInExpression(Diagnostic):
    code: ClassVar[str] = "discovered-in-expression"
    title: ClassVar[str] = "a discovered value is put in as it is, and this computes with it"
    caret: ClassVar[str] = "`{name}` is known only while running"
    help: ClassVar[str] = "write just `{{{{ {name} }}}}`, and let the shell do the rest"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedExpression(Diagnostic):
    code: ClassVar[str] = "template-mixed"
    title: ClassVar[str] = "this mixes what is known when compiling with what is known only while running"
    caret: ClassVar[str] = "`{early}` is an argument, `{late}` a result"
    help: ClassVar[str] = "give each an expression of its own"
    early: str
    late: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BadTemplate(Diagnostic):
    code: ClassVar[str] = "template-invalid"
    title: ClassVar[str] = "this expression cannot be evaluated: {reason}"
    caret: ClassVar[str] = "in this expression"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateTooLarge(Diagnostic):
    code: ClassVar[str] = "template-too-large"
    title: ClassVar[str] = "this expression would make something too large: {reason}"
    caret: ClassVar[str] = "in this expression"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateForbidden(Diagnostic):
    code: ClassVar[str] = "template-forbidden"
    title: ClassVar[str] = "{reason}"
    caret: ClassVar[str] = "in this expression"
    help: ClassVar[str] = "an expression is made of names, constants, operators and filters"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateStatement(Diagnostic):
    code: ClassVar[str] = "template-statement"
    title: ClassVar[str] = "statements of Jinja2 are not evaluated"
    caret: ClassVar[str] = "would stay as it stands"
    help: ClassVar[str] = "only expressions, `{{{{ … }}}}`, are put in; use `loop` and `when` in tasks"
