"""What is to be run, from flags or from a plan's document, and playing it: what `run` and `demo` share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from breakfix.cli.output import Advance
from compiler.trust import Trust
from compiler.verify import VerifiedBundle
from runners.agents.spec import AgentSpec
from runners.backends.registry import find_backend
from runners.course import Course
from runners.plan import Plan
from runners.planning.document import read_plan_document
from runners.planning.resolving import Resolved, resolve
from runners.pool.executor import Executor
from runners.pool.local import LocalExecutor
from runners.pool.ray_pool import RayExecutor
from runners.records_io import RECORDS_FILE, read_records
from runners.run import Progress, Summary, run
from runners.store import PLAN_FILE
from runners.worlds import Backend, Crowded


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to run, and how. `baseline`: the run to compare with afterwards."""

    resolved: Resolved
    course: Course
    backends: tuple[Backend, ...]
    baseline: Path | None = None

    @property
    def workers(self) -> int | None:
        """How many workers the plan asks for; None: it does not say."""
        computing = [backend.name for backend in self.backends if not isinstance(backend, Crowded)]
        return max((self.course.worlds[name] for name in computing if name in self.course.worlds), default=None)


def from_document(path: Path, trust: Trust) -> Asked:
    """Raises Diagnostics for what is wrong with the document, HostError for what this machine lacks."""
    document = read_plan_document(path)
    resolved = resolve(document, trust)
    return Asked(
        resolved=resolved,
        course=document.course,
        backends=tuple(map(find_backend, resolved.plan.backends)),
        baseline=document.baseline,
    )


def executor_for(*, local: bool, workers: int | None) -> Executor:
    return LocalExecutor() if local else RayExecutor(workers)


def last_beside(folder: Path) -> Path | None:
    """The run beside this one that was written last."""
    runs = [plan.parent for plan in folder.absolute().parent.glob(f"*/{PLAN_FILE}") if plan.parent != folder.absolute()]
    written = [(path.stat().st_mtime, str(run), run) for run in runs if (path := run / RECORDS_FILE).is_file()]
    return max(written)[2] if written else None


def summary_data(folder: Path, summary: Summary) -> Mapping[str, object]:
    """What a script reads of how a run ended."""
    return {
        "run": str(folder),
        "planned": summary.planned,
        "done": summary.done,
        "resumed": summary.resumed,
        "carried": summary.carried,
        "retried": summary.retried,
        "errored": summary.errored,
        "errors": errors(folder) if summary.errored else {},
        "unsupported": summary.unsupported,
        "interrupted": summary.interrupted,
        "stopped": summary.stopped,
        "left": dict(summary.left),
        "tokens": summary.spent.tokens,
        "cost_known": round(summary.spent.money, 9),
    }


def errors(folder: Path) -> dict[str, int]:
    """Why trials of a run stayed Errored -> how many, the most frequent reason first."""
    last = {record.trial_id: record for record in read_records(folder)}
    found = Counter(record.error or "no reason" for record in last.values() if record.outcome == "Errored")
    return dict(found.most_common())


def play_plan(
    plan: Plan,
    bundles: Sequence[VerifiedBundle],
    agents: Sequence[AgentSpec],
    backend: Backend,
    folder: Path,
    *,
    local: bool,
    workers: int | None,
    advance: Advance,
) -> Summary:
    """Play the plan into the folder and show how far it is, with errors as they come."""
    errors = 0

    def report(progress: Progress) -> None:
        nonlocal errors
        errors += sum(line.outcome == "Errored" for line in progress.lines)
        advance(progress.done, progress.planned, f"{errors} errored" if errors else "")

    advance(0, plan.size, "starting workers")
    executor = executor_for(local=local, workers=workers)
    return run(plan, bundles, agents, (backend,), folder, executor=executor, progress=report)
