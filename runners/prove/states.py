"""Points 1, 2 and 7: the healthy machine, the broken one, and the one whose faults were reverted."""

from __future__ import annotations

from compiler.model import Finding
from runners.harms import lasting_changes, named
from runners.opening import inject, wait_for_witness
from runners.prove.case import Case, finding, in_each
from runners.worlds import LiveWorld, Selective, WorldError
from scenario_dsl.model import Probe
from scenario_dsl.worlds import World

_WATCHED_SECONDS = 30.0
_SEED = 0


def healthy(case: Case) -> tuple[Finding, ...]:
    """On the unbroken system every state probe and invariant holds, for a while, and no client's request fails."""
    return in_each(case, "healthy", case.scenario.worlds, lambda world: _healthy(case, world))


def witnessed(case: Case) -> tuple[Finding, ...]:
    """Injected faults are seen, unbroken ones are not; what earns points at the start is still unmet then."""
    return (
        *in_each(case, "witnessed", case.scenario.worlds, lambda world: _witnessed(case, world)),
        *in_each(case, "witnessed", case.broken_worlds, lambda world: _cascades_witnessed(case, world)),
    )


def revert(case: Case) -> tuple[Finding, ...]:
    """Reverting all faults restores the lasting state, and no witness sees them any more."""
    return in_each(case, "revert", case.scenario.worlds, lambda world: _reverted(case, world))


def _healthy(case: Case, world: World) -> Finding:
    described = case.site.content.systems[case.scenario.system].healthy
    asked = tuple(probe for probe in described if _measures(case, probe))
    probes = {f"healthy #{number}": probe for number, probe in enumerate(described, start=1) if probe in asked}
    probes |= {f"invariant `{invariant.name}`": invariant.probe for invariant in world.invariants}
    probes |= {f"objective `{name}`": probe for name, probe in _states(world).items()}
    live = case.site.healthy(world, seed=_SEED)
    try:
        before = live.facts().requests_failed
        wrong = _failing(live, probes)
        live.wait(_WATCHED_SECONDS)
        wrong = wrong or _failing(live, probes)
        failed = live.facts().requests_failed - before
    finally:
        live.close()
    if wrong:
        return finding("healthy", world, False, f"on the healthy system {wrong[0]}")
    if failed > 0:
        return finding("healthy", world, False, f"on the healthy system {failed} client requests failed")
    left = f"; {len(described) - len(asked)} cannot be measured here" if len(asked) < len(described) else ""
    return finding("healthy", world, True, f"{len(probes)} probes hold and no request fails{left}")


def _witnessed(case: Case, world: World) -> Finding:
    live = case.site.healthy(world, seed=_SEED)
    try:
        unseen = _seen_without_fault(live, world)
        if unseen is not None:
            return finding("witnessed", world, False, unseen)
        case.site.bring_into_trouble(live, world)
        invariants = {f"invariant `{invariant.name}`": invariant.probe for invariant in world.invariants}
        broken = _failing(live, invariants)
        if broken:
            return finding("witnessed", world, False, f"the fault itself breaks what must stay true: {broken[0]}")
        if world.role == "control":
            sick = _failing(live, _states(world))
            if sick:
                return finding("witnessed", world, False, f"this control is not healthy: {sick[0]}")
            return finding("witnessed", world, True, "its decoy shows and everything works")
        met = [name for name, probe in _states(world, at_start=True).items() if live.observe([probe])[0].holds]
    finally:
        live.close()
    if met:
        return finding("witnessed", world, False, f"objective `{met[0]}` is met before anybody did anything")
    return finding("witnessed", world, True, "its faults are in force and nothing is met yet")


def _cascades_witnessed(case: Case, world: World) -> Finding:
    """What a cascade injects has to take hold too. In an episode nobody is told, since the agent may prevent it."""
    if not world.cascades:
        return finding("witnessed", world, None, "the scenario has no cascades")
    live = case.site.broken(world, seed=_SEED)
    try:
        for cascade in world.cascades:
            try:
                inject(live, cascade.inject)
                unseen = wait_for_witness(live, cascade.inject)
            except WorldError as error:
                unseen = str(error)
            if unseen is not None:
                return finding("witnessed", world, False, f"cascade `{cascade.name}` does not take hold: {unseen}")
    finally:
        live.close()
    return finding("witnessed", world, True, f"{len(world.cascades)} cascades take hold")


def _seen_without_fault(live: LiveWorld, world: World) -> str | None:
    """A witness that holds on the healthy system witnesses nothing."""
    for fault in world.faults:
        if not fault.witness:
            return f"fault `{fault.fault}` has no witness"
        if all(observation.holds for observation in live.observe(fault.witness)):
            return f"the witness of `{fault.fault}` holds although nothing was injected"
    return None


def _reverted(case: Case, world: World) -> Finding:
    live = case.site.healthy(world, seed=_SEED)
    try:
        before = live.facts()
        inject(live, world.faults)
        wait_for_witness(live, world.faults)
        for fault in reversed(world.faults):
            failure = live.apply(fault.revert)
            if failure is not None:
                detail = f"reverting `{fault.fault}`: task `{failure.task}` failed: {failure.message}"
                return finding("revert", world, False, detail)
        remaining = lasting_changes(before, live.facts())
        still = [
            fault.fault
            for fault in world.faults
            if fault.witness and all(observation.holds for observation in live.observe(fault.witness))
        ]
    finally:
        live.close()
    if remaining:
        return finding("revert", world, False, f"after reverting, {named(remaining)} still differed")
    if still:
        return finding("revert", world, False, f"after reverting, `{still[0]}` is still witnessed")
    return finding("revert", world, True, "reverting restores the lasting state")


def _measures(case: Case, probe: Probe) -> bool:
    backend = case.site.backend
    return not isinstance(backend, Selective) or backend.measures(probe)


def _states(world: World, *, at_start: bool = False) -> dict[str, Probe]:
    return {
        objective.name: objective.check
        for objective in world.objectives
        if isinstance(objective.check, Probe) and not (at_start and objective.armed_by is not None)
    }


def _failing(live: LiveWorld, probes: dict[str, Probe]) -> list[str]:
    observations = live.observe(tuple(probes.values()))
    return [
        f"{name} does not hold: {observation.detail}"
        for name, observation in zip(probes, observations, strict=True)
        if not observation.holds
    ]
