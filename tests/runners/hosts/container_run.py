"""A short run in containers, in a process of its own: `python -m tests.runners.hosts.container_run FOLDER`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from compiler.bundle import assemble
from compiler.verify import VerifiedBundle, verify_under_ephemeral_key
from runners.agents.registry import parse_agent
from runners.backends.container import ContainerBackend
from runners.course import Course, retrying
from runners.plan import Plan, plan
from runners.pool.local import LocalExecutor
from runners.run import Summary, run
from scenario_dsl.model import Intervention, Limits, Objective, Step
from scenario_dsl.worlds import ResolvedScenario
from tests.conformance.worlds import fault, library, probe, scenario, world
from tests.runners.cases import PACK

AGENT = parse_agent("gold")


def closed_page() -> ResolvedScenario:
    """A page of the small system that its web server may not read; the control has nothing wrong with it."""
    page = "/srv/www/health"
    served = probe("http", url="http://localhost/health", status=200)
    primary = replace(
        world(),
        complaint="The health check fails.",
        faults=(fault("bad_permissions", {"path": page, "mode": "0600", "was": "0644"}),),
        objectives=(Objective(name="served", points=1.0, check=served),),
    )
    gold = Intervention(
        name="gold",
        hypothesis="the web server may not read its page",
        falsifier=f"stat -c %a {page} | grep -q 644",
        steps=(Step(run=f"chmod 644 {page}", only_if=f"stat -c %a {page} | grep -q 600", undo=f"chmod 600 {page}"),),
    )
    control = replace(primary, name="control", role="control", faults=())
    return replace(
        scenario("small"), name="closed-page", worlds=(primary, control), gold=gold, limits=Limits(commands=5)
    )


def bundle() -> VerifiedBundle:
    return verify_under_ephemeral_key(assemble(PACK, (library().systems["small"],), (closed_page(),)))


def planned(attempts: int) -> tuple[VerifiedBundle, Plan]:
    made = bundle()
    return made, plan((made,), (AGENT,), backends=("container",), attempts=attempts)


def play(folder: Path, attempts: int, *, at_once: int | None = None) -> Summary:
    made, what = planned(attempts)
    backend, course = ContainerBackend(at_once=at_once), Course(retries=retrying(0))
    return run(what, (made,), (AGENT,), (backend,), folder, executor=LocalExecutor(), course=course)


if __name__ == "__main__":
    play(Path(sys.argv[1]), attempts=3)
