"""A system's probes made concrete; it knows no names."""

from __future__ import annotations

from dataclasses import replace

from scenario_dsl.diagnostics import Diagnostic
from scenario_dsl.model import System
from scenario_dsl.nodes import Document
from scenario_dsl.realise.probes import make_probe
from scenario_dsl.realise.texts import Scope


def realise_system(document: Document, system: System) -> tuple[System, tuple[Diagnostic, ...]]:
    """The system with what is expected of it in its meaning, and what of it cannot be."""
    scope = Scope(document, {}, [])
    healthy = tuple(make_probe(scope, probe) for probe in system.healthy)
    return replace(system, healthy=healthy), tuple(scope.found)
