"""Brings the simulated system into each captured state and compares what the captured commands answer there.

`python -m tests.captures.compare [STATE…]` prints the differences and the share that agrees.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from runners.backends.sim import SimWorld, open_system
from scenario_dsl.library import load_library
from tests.captures.structure import Structure, Table, agree, structure, text_structure

HERE = Path(__file__).resolve().parent
PACKS = HERE.parents[1] / "packs"
LIMITS = {"output_bytes": 200_000, "seconds": 60.0}


class Capture(NamedTuple):
    """What the real machine answered."""

    state: str
    command: str
    stdout: str
    stderr: str
    exit_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One captured command that is answered otherwise; `what` shows it, real lines with -, simulated ones with +."""

    capture: Capture
    what: str


def states() -> tuple[str, ...]:
    return tuple(path.stem for path in sorted((HERE / "states").glob("*.yml")))


def captures(state: str) -> Iterator[Capture]:
    for line in (HERE / "data" / f"{state}.jsonl").read_text().splitlines():
        yield Capture(state=state, **json.loads(line))


@cache
def _system() -> SimWorld:
    """The healthy system, booted once."""
    return open_system(load_library(PACKS / "common", [PACKS]).systems["web-server"], seed=1, scripted=True)


def differences(state: str) -> Iterator[Difference]:
    """The captures of a state that the simulated system, brought there by the same script, answers otherwise."""
    world = _system().fork(seed=1)
    script = yaml.safe_load((HERE / "states" / f"{state}.yml").read_text())["script"]
    made = world.run(script, **LIMITS)
    if made.exit_code:
        capture = Capture(state=state, command="(the state's script)", stdout="", stderr="", exit_code=0)
        yield Difference(capture=capture, what=f"exit {made.exit_code}: {made.output.decode(errors='replace')}")
    for capture in captures(state):
        what = _difference(world, capture)
        if what:
            yield Difference(capture=capture, what=what)


def _difference(world: SimWorld, capture: Capture) -> str:
    # Each captured command had a shell of its own, in root's home.
    try:
        done = world.run(f"cd /root; hash -r\n{capture.command}", **LIMITS)
    except BaseException as error:  # a crash is the worst difference, and the next command may still be compared
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"raised {error!r}"
    parts = []
    if done.exit_code != capture.exit_code:
        parts.append(f"exit code {capture.exit_code}, here {done.exit_code}")
    healthy = capture.state in ("healthy", "administration")
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    pairs = {
        "stdout": [structure(capture.command, text, healthy=healthy) for text in (capture.stdout, out)],
        "stderr": [text_structure(text) for text in (capture.stderr, err)],
    }
    for name, (one, two) in pairs.items():
        if not agree(one, two):
            parts.append(f"{name}:\n" + "\n".join(difflib.unified_diff(_lines(one), _lines(two), n=0, lineterm="")))
    return "\n".join(parts)


def _lines(shape: Structure) -> list[str]:
    if isinstance(shape, Table):
        kinds = " ".join("/".join(sorted(column)) for column in shape.columns)
        return [" ".join(shape.header), f"rows: {kinds}", *shape.rest]
    return list(shape)


def main(chosen: list[str]) -> None:
    compared = differing = 0
    for state in chosen or states():
        found = list(differences(state))
        compared += sum(1 for _ in captures(state))
        differing += len(found)
        for difference in found:
            print(f"=== [{state}] $ {difference.capture.command}\n{difference.what}")
    print(f"{compared - differing} of {compared} agree ({100 * (1 - differing / compared):.1f} %)")


if __name__ == "__main__":
    main(sys.argv[1:])
