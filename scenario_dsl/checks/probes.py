"""Probes that can never hold, whatever the machine does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scenario_dsl.diagnostics import Diagnostic, Label
from scenario_dsl.model import Probe
from scenario_dsl.nodes import Document
from scenario_dsl.problems.meaning import ProbeContradiction
from scenario_dsl.values import Value

_LEAST, _MOST = "_at_least", "_at_most"
_ABSENCE = {
    "file": ("exists", ("type", "owner", "group", "mode", "contains", "readable_by", "target", "size_at_least")),
    "socket": ("listening", ("process", "address")),
    "process": ("running", ("count_at_least",)),
    "cron": ("present", ("schedule", "succeeded_within")),
    "user": ("exists", ("groups", "shell", "sudo")),
    "dns": ("resolves", ("address",)),
    "mount": ("mounted", ("options",)),
    "certificate": ("valid", ("valid_for_at_least",)),
}
"""What cannot be expected of a thing that is expected to be absent."""


def contradictions(document: Document, probe: Probe, arguments: Mapping[str, Value]) -> Iterator[Diagnostic]:
    """`arguments`: the probe's, concrete."""
    for pair in _pairs(probe.type, arguments):
        one, other = sorted(pair, key=lambda name: document.key((*probe.at, name)).start)
        yield ProbeContradiction(
            source=document.source,
            span=document.key((*probe.at, other)),
            labels=(Label(span=document.key((*probe.at, one)), text="this"),),
            one=other,
            other=one,
        )


def _pairs(probe_type: str, arguments: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    for name, least in arguments.items():
        most_name = name.removesuffix(_LEAST) + _MOST
        most = arguments.get(most_name)
        if name.endswith(_LEAST) and isinstance(least, int | float) and isinstance(most, int | float) and least > most:
            yield name, most_name
    presence, needs = _ABSENCE.get(probe_type, ("", ()))
    if arguments.get(presence) is False:
        for name in needs:
            value = arguments.get(name)
            if value not in (None, False, 0):
                yield presence, name
