"""An unbroken system at the prompt, or one script in it."""

from __future__ import annotations

import shlex
import sys

from breakfix.cli.output import say
from breakfix.cli.person import prompting
from breakfix.content import shipped_packs
from runners.backends.sim import open_system
from runners.sim.commands import COMMANDS
from scenario_dsl.diagnostics import closest
from scenario_dsl.errors import AuthorError
from scenario_dsl.library import load_library
from scenario_dsl.model import System

_OUTPUT_BYTES = 16 << 20
_SECONDS = 3600.0


def interact(name: str, seed: int) -> int:
    """The system at a prompt, until end of input or `exit`."""
    world = open_system(_find(name), seed=seed)
    ask = prompting(sorted(COMMANDS))
    while (line := ask(world.prompt)) is not None:
        if line.strip() in ("exit", "logout"):
            break
        if line.strip():
            result = world.run(line, output_bytes=_OUTPUT_BYTES, seconds=_SECONDS)
            sys.stdout.buffer.write(result.output)
            sys.stdout.flush()
    say("logout")
    return 0


def run_script(name: str, script: str, seed: int) -> int:
    """One script in a fresh world, as `bash -c` runs it: its own stdout, stderr and exit code."""
    world = open_system(_find(name), seed=seed)
    result = world.run(f"bash -c {shlex.quote(script)}", output_bytes=_OUTPUT_BYTES, seconds=_SECONDS)
    sys.stdout.buffer.write(result.stdout)
    sys.stderr.buffer.write(result.stderr)
    return result.exit_code


def _find(name: str) -> System:
    """A system of the shipped packs by its name."""
    known: dict[str, System] = {}
    for folder in shipped_packs().values():
        if (folder / "systems").is_dir():
            known.update(load_library(folder, (folder.parent,)).systems)
    if name not in known:
        close = closest(name, known)
        raise AuthorError(f"there is no system `{name}`" + (f"; did you mean `{close}`?" if close else ""))
    return known[name]
