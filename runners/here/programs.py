"""Programs of this machine: whether they are there, and what they say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scenario_dsl.errors import HostError

_SECONDS = 1200


class Need(NamedTuple):
    """One thing that is needed. `remedy` is empty where it is there."""

    name: str
    remedy: str


def run(call: Sequence[str], remedy: str, *, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
    """Run a program and return its output. Raises HostError with what it complained of first: that is the cause, and
    later ones only say that everything around it failed too."""
    try:
        done = subprocess.run(
            call, env=env, cwd=cwd, capture_output=True, text=True, errors="replace", timeout=_SECONDS
        )
    except FileNotFoundError:
        raise HostError(f"{call[0]} is not installed", remedy=remedy) from None
    except subprocess.TimeoutExpired:
        raise HostError(f"{call[0]} took longer than {_SECONDS} s", remedy=remedy) from None
    if done.returncode:
        lines = (done.stderr or done.stdout).splitlines() or ["it says not why"]
        said = next((line for line in lines if line.startswith("E:") or " error: " in line), lines[-1])
        raise HostError(f"{call[0]} failed: {said}", remedy=remedy)
    return done.stdout


def ansible(program: str) -> str:
    """The path of a program of Ansible's, preferably of this Python's. Raises HostError where it is not installed."""
    beside = Path(sys.executable).parent / program
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(program)
    if found is None:
        raise HostError("ansible is not installed", remedy="pip install 'breakfix[hosts]'")
    return found
