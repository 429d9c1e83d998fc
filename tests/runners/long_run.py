"""A run of some seconds in a process of its own, for tests that kill it: `python -m tests.runners.long_run FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from runners.agents.registry import parse_agent
from runners.plan import plan
from runners.pool.local import LocalExecutor
from runners.run import run
from tests.runners.cases import bundle_of, cascading, investigation, repair
from tests.runners.toy import ToyBackend

if __name__ == "__main__":
    bundle = bundle_of(repair(), investigation(), cascading())
    agents = tuple(parse_agent(name) for name in ("gold", "bad", "nop", "random"))
    made = plan((bundle,), agents, backends=("toy",), attempts=60)
    run(made, (bundle,), agents, (ToyBackend(),), Path(sys.argv[1]), executor=LocalExecutor())
