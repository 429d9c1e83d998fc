"""What is wrong with a plan document beyond its shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scenario_dsl.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRefused(Diagnostic):
    code: ClassVar[str] = "plan-agent"
    title: ClassVar[str] = "{reason}"
    caret: ClassVar[str] = "cannot play"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackRefused(Diagnostic):
    code: ClassVar[str] = "plan-pack"
    title: ClassVar[str] = "{reason}"
    caret: ClassVar[str] = "not a bundle that can be run"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestDiffers(Diagnostic):
    code: ClassVar[str] = "plan-digest"
    title: ClassVar[str] = "the bundle at `{path}` has another digest"
    caret: ClassVar[str] = "it is {digest}"
    help: ClassVar[str] = "the pack was compiled anew; pin the new digest if that was meant, or restore the old bundle"
    path: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendUnknown(Diagnostic):
    code: ClassVar[str] = "plan-backend"
    title: ClassVar[str] = "there is no backend `{name}` here"
    caret: ClassVar[str] = "not here"
    help: ClassVar[str] = "there is: {known}"
    name: str
    known: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingFits(Diagnostic):
    code: ClassVar[str] = "plan-nothing"
    title: ClassVar[str] = "{reason}"
    caret: ClassVar[str] = "chosen here"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceUnknown(Diagnostic):
    code: ClassVar[str] = "plan-price"
    title: ClassVar[str] = "a budget of money needs the price of every model, and that of `{agent}` is unknown"
    caret: ClassVar[str] = "cannot be kept"
    help: ClassVar[str] = "give the agent its `price`, zeros for a model of your own, or leave `money` out"
    agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointUnknown(Diagnostic):
    code: ClassVar[str] = "plan-endpoint"
    title: ClassVar[str] = "the endpoint `{name}` has no `url`, and no provider is known by that name"
    caret: ClassVar[str] = "where is it?"
    help: ClassVar[str] = "known by name are: {known}"
    name: str
    known: str
