"""user: what the machine's account files say."""

from __future__ import annotations

from runners.probes.accounts import judge
from runners.probes.arguments import Arguments
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.users import accounts
from runners.worlds import Observation


def user(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    return judge(arguments, accounts(machine), machine.view(), lambda path: _text(machine, path))


def _text(machine: Machine, path: str) -> str:
    try:
        return machine.view().read(path).decode("utf-8", "replace")
    except OSError:
        return ""
