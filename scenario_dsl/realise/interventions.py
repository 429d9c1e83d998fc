"""Gold and the bad habits, with the primary's parameters, whichever world they will be played in.

What differs in another world must be discovered there; discovered names stay as `{{ name }}`.
"""

from __future__ import annotations

from scenario_dsl.model import Intervention, Step
from scenario_dsl.realise.rendering import for_shell
from scenario_dsl.realise.texts import Scope
from scenario_dsl.values import Route


def make_intervention(scope: Scope, intervention: Intervention) -> Intervention:
    discovered: frozenset[str] = frozenset()
    steps: list[Step] = []
    for step in intervention.steps:
        before = discovered
        if step.discover is not None:
            discovered |= {step.discover}
        steps.append(
            Step(
                think=_shell(scope, (*step.at, "think"), step.think, before),
                run=_shell(scope, (*step.at, "run"), step.run, before),
                discover=step.discover,
                only_if=_shell(scope, (*step.at, "only_if"), step.only_if, before),
                # Undone after everything was done, so it knows what its own step found.
                undo=_shell(scope, (*step.at, "undo"), step.undo, discovered),
                answer=_shell(scope, (*step.at, "answer"), step.answer, before),
            )
        )
    return Intervention(
        name=intervention.name,
        steps=tuple(steps),
        hypothesis=scope.maybe_text((*intervention.at, "hypothesis"), intervention.hypothesis),
        falsifier=_shell(scope, (*intervention.at, "falsifier"), intervention.falsifier, frozenset()),
    )


def _shell(scope: Scope, route: Route, template: str | None, discovered: frozenset[str]) -> str | None:
    if template is None:
        return None
    with scope.reporting(route):
        return for_shell(template, scope.names, discovered)
    return template
