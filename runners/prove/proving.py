"""All checks over all scenarios of a bundle, side by side where several processes are allowed."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from compiler.model import Agreement, Finding, Flip, HabitProof, Mutant, PackContent, Proof, ScenarioProof
from compiler.verify import VerifiedBundle
from runners.opening import Site
from runners.plan import PlanError
from runners.prove import endings
from runners.prove.case import Case, Established, finding
from runners.prove.keeping import Kept
from runners.prove.mutation import cascades, mutants
from runners.prove.players import bad, gold, nop, repeat
from runners.prove.states import healthy, revert, witnessed
from runners.trials import describe
from runners.worlds import Backend, Dividable, Imaged, WorldError
from scenario_dsl.errors import HostError

Check: TypeAlias = Callable[[Case], tuple[Established, ...]]
CHECKS: tuple[tuple[str, Check], ...] = (
    ("healthy", healthy),
    ("witnessed", witnessed),
    ("nop", nop),
    ("gold", gold),
    ("bad", bad),
    ("mutants", mutants),
    ("revert", revert),
    ("repeat", repeat),
    ("mutants", cascades),
)
"""In this order; the last one asks what came of all others."""
_SLOWEST_FIRST = ("mutants", "nop", "bad", "gold", "repeat", "healthy", "revert", "witnessed")
"""The order in which they are begun: where worlds are slow, what has several after each other has to begin early."""

REPEATS = 3


def _unheard(_done: int, _total: int, _note: str) -> None:
    """Nobody wants to know."""


def prove(
    bundle: VerifiedBundle,
    backend: Backend,
    *,
    scenarios: Sequence[str] | None = None,
    repeats: int = REPEATS,
    processes: int = 1,
    progress: Callable[[int, int, str], None] = _unheard,
    kept: Kept | None = None,
) -> Proof:
    """Prove the named scenarios (None: all), in the order of the bundle.

    processes: more than one spreads scenarios over so many. progress: told (checks made, all checks, the last one) as
    they are made, in whatever order; of another process's, when its scenario is done. kept: where proofs are taken from
    instead of being made again, and kept as soon as they are made. Raises PlanError for an unknown scenario; everything
    else that goes wrong is a finding.
    """
    content = bundle.content
    wanted = content.scenarios if scenarios is None else scenarios
    unknown = [name for name in wanted if name not in content.scenarios]
    if unknown:
        raise PlanError(f"no scenario `{unknown[0]}`; the bundle has: {', '.join(sorted(content.scenarios))}")
    names = [name for name in content.scenarios if name in wanted]
    parts = {name: _only(content, name) for name in names}
    found = {name: kept.find(part, backend, repeats) if kept else None for name, part in parts.items()}
    done = {name: proof for name, proof in found.items() if proof is not None}
    left = [name for name in names if name not in done]
    told = _Told(len(names) * len(CHECKS), progress)
    told.made(len(done) * len(CHECKS), "")

    def made(proof: ScenarioProof) -> None:
        done[proof.scenario] = proof
        if kept:
            kept.keep(proof, parts[proof.scenario], backend)

    if processes > 1 and len(left) > 1:
        # Spawned, not forked: nothing of this process (threads, locks, a run's folder) comes along.
        context, several = multiprocessing.get_context("spawn"), min(processes, len(left))
        share = backend.among(several) if isinstance(backend, Dividable) else backend
        with ProcessPoolExecutor(several, mp_context=context, initializer=endings.expect) as pool:
            work = partial(endings.until_asked, prove_scenario)
            pending = [pool.submit(work, parts[name], name, share, repeats) for name in left]
            try:
                for future in as_completed(pending):
                    proof = future.result()
                    made(proof)
                    told.made(len(CHECKS), proof.scenario)
            except KeyboardInterrupt:
                endings.ask()
                raise
    else:
        for name in left:
            made(prove_scenario(content, name, backend, repeats, told))
    return Proof(bundle_digest=bundle.digest, scenarios=tuple(done[name] for name in names))


def prove_scenario(
    content: PackContent, name: str, backend: Backend, repeats: int, told: _Told | None = None
) -> ScenarioProof:
    """All findings about one scenario. A check that breaks down is itself a finding against it."""
    scenario = content.scenarios[name]
    unsupported = backend.unsupported(content, scenario)
    found: list[Established] = []
    told = told or _Told(len(CHECKS), _unheard)
    image = backend.image(content, scenario) if isinstance(backend, Imaged) and unsupported is None else ""
    if unsupported is not None:
        found.append(finding("healthy", "", False, f"{backend.name} cannot run it: {unsupported}"))
        told.made(len(CHECKS), name)
    else:
        case = Case(Site(content=content, scenario=scenario, backend=backend), repeats)
        begun = sorted(CHECKS[:-1], key=lambda check: _SLOWEST_FIRST.index(check[0]))
        came = dict(zip(begun, case.each(lambda check: _established(case, told, *check), begun), strict=True))
        for check in CHECKS[:-1]:
            found += came[check]
        found += _established(case, told, *CHECKS[-1])
    return ScenarioProof(
        scenario=name,
        backend=backend.name,
        repeats=repeats,
        image=image,
        findings=tuple(each for each in found if isinstance(each, Finding)),
        flips=tuple(each for each in found if isinstance(each, Flip)),
        mutants=tuple(each for each in found if isinstance(each, Mutant)),
        habits=tuple(each for each in found if isinstance(each, HabitProof)),
        agreement=tuple(each for each in found if isinstance(each, Agreement)),
    )


def _established(case: Case, told: _Told, check: str, establish: Check) -> tuple[Established, ...]:
    try:
        return establish(case)
    except WorldError as error:
        return (finding(check, "", False, str(error)),)
    except HostError:
        # The machine lacks something: that is no finding about the scenario.
        raise
    except Exception as error:
        return (finding(check, "", False, f"the check broke down: {describe(error)}"),)
    finally:
        told.made(1, f"{case.scenario.name}: {check}")


def _only(content: PackContent, name: str) -> PackContent:
    """The content with one scenario and the systems of its machines: what another process needs."""
    scenario = content.scenarios[name]
    nodes = content.systems[scenario.system].nodes.values()
    systems = {system: content.systems[system] for system in (scenario.system, *(node.system for node in nodes))}
    return replace(content, scenarios={name: scenario}, systems=systems)


class _Told:
    """Counts the checks that were made, whoever makes them, and tells."""

    def __init__(self, total: int, progress: Callable[[int, int, str], None]) -> None:
        self._total, self._progress, self._done = total, progress, 0
        self._lock = threading.Lock()

    def made(self, count: int, note: str) -> None:
        with self._lock:
            self._done += count
            self._progress(self._done, self._total, note)
