"""Probes made concrete, and those that can never hold, whatever the machine does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scenario_dsl.diagnostics import Diagnostic, Label
from scenario_dsl.model import Probe
from scenario_dsl.nodes import Document
from scenario_dsl.probes import NODE, PROBES
from scenario_dsl.problems.meaning import ProbeContradiction
from scenario_dsl.realise.arguments import bound
from scenario_dsl.realise.texts import Scope
from scenario_dsl.values import Value

_LEAST, _MOST = "_at_least", "_at_most"


def make_probe(scope: Scope, probe: Probe) -> Probe:
    """The probe with what is expected in its meaning; it has no place in a document any more."""
    parameters = (*PROBES[probe.type].parameters, NODE)
    given = scope.arguments(probe.at, probe.arguments)
    meant = bound(scope.document, probe.at, parameters, given, scope.found)
    arguments = {name: value for name, value in meant.items() if value is not None}
    scope.found += _contradictions(scope.document, probe, arguments)
    return Probe(type=probe.type, arguments=arguments)


def _contradictions(document: Document, probe: Probe, arguments: Mapping[str, Value]) -> Iterator[Diagnostic]:
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
    kind = PROBES[probe_type]
    if kind.presence is not None and arguments.get(kind.presence) is False:
        for name in kind.only_of_present:
            if arguments.get(name) not in (None, False, 0):
                yield kind.presence, name
