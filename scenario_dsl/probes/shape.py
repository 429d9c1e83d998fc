"""What a probe type is, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scenario_dsl.model import Parameter
from scenario_dsl.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeType:
    """One kind of measurement.

    `exactly_one`: groups of arguments of which exactly one is given; `at_least_one`: expectations of which one must be
    there, so that the probe says something; `presence`: the argument that says whether the thing is there at all, and
    `only_of_present` what cannot be expected of a thing that is not.
    """

    name: str
    doc: str
    parameters: tuple[Parameter, ...]
    example: Mapping[str, Value]
    exactly_one: tuple[tuple[str, ...], ...] = ()
    at_least_one: tuple[str, ...] = ()
    presence: str | None = None
    only_of_present: tuple[str, ...] = ()


def must(name: str, type_name: str, doc: str, *, choices: tuple[Value, ...] = ()) -> Parameter:
    return Parameter(name=name, type=type_name, doc=doc, required=True, choices=choices)


def may(name: str, type_name: str, doc: str, *, choices: tuple[Value, ...] = (), default: Value = None) -> Parameter:
    return Parameter(name=name, type=type_name, doc=doc, choices=choices, default=default)
