"""The virtual machine that tests break, and ways to talk to it."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from breakfix.content import SHIPPED
from runners.kernel.host import Host
from runners.kernel.recipe import Recipe
from scenario_dsl.library import load_library

PACK = Path(__file__).parents[3] / "kernel_packs/scheduling"
GUEST = Path(__file__).parents[3] / "runners/kernel/guest"
SYSTEM = load_library(PACK, SHIPPED).systems["sched-ext-vm"]
RECIPE = Recipe.of(SYSTEM)
LAB = "/usr/lib/sched"


def root(host: Host, *words: str) -> str:
    done = host.ask("apply", argv=words)
    assert done["code"] == 0, done
    return str(done["said"])


def typed(host: Host, command: str) -> tuple[int, str]:
    said = host.ask("run", command=command, seconds=30, keep=10_000)
    return int(said["exit_code"]), base64.b64decode(said["output"]).decode()


def scheduler(host: Host) -> dict[str, Any]:
    status: dict[str, Any] = host.ask("measure")["scheduler"]
    return status


def put_object(host: Host, data: bytes, *, known: bool) -> None:
    """Put another object in the place of the scheduler's, and have a new loader take it."""
    root(host, "mount", "-o", "remount,rw", "/")
    root(host, "sh", "-c", f"echo {base64.b64encode(data).decode()} | base64 -d > {LAB}/tiers.bpf.o")
    if known:
        listing = json.dumps({"tiers.bpf.o": hashlib.sha256(data).hexdigest()})
        root(host, "sh", "-c", f"echo '{listing}' > {LAB}/objects.json")
    root(host, "pkill", "-KILL", "-f", "^/usr/bin/python3 .*loader.py")
    for _ in range(100):
        host.ask("wait", seconds=0.2)
        if "lost" not in scheduler(host):
            return
    raise AssertionError("no loader came back")
