"""Playing a plan with a progress display: what `run` and `demo` share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from breakfix.cli.output import Advance
from compiler.verify import VerifiedBundle
from runners.agents.spec import AgentSpec
from runners.plan import Plan
from runners.pool.local import LocalExecutor
from runners.pool.ray_pool import RayExecutor
from runners.run import Progress, Summary, run
from runners.worlds import Backend


def play_plan(
    plan: Plan,
    bundles: Sequence[VerifiedBundle],
    agents: Sequence[AgentSpec],
    backend: Backend,
    folder: Path,
    *,
    local: bool,
    workers: int | None,
    retries: int = 2,
    advance: Advance,
) -> Summary:
    """Play the plan into the folder and show how far it is, with errors as they come."""
    errors = 0

    def report(progress: Progress) -> None:
        nonlocal errors
        errors += sum(line.outcome == "Errored" for line in progress.lines)
        advance(progress.done, progress.planned, f"{errors} errored" if errors else "")

    advance(0, plan.size, "starting workers")
    executor = LocalExecutor() if local else RayExecutor(workers)
    return run(plan, bundles, agents, backend, folder, executor=executor, retries=retries, progress=report)
