"""An unbroken system at the prompt, or one script in it."""

from __future__ import annotations

import shlex
import sys

from breakfix.cli.output import say
from breakfix.cli.person import prompting
from breakfix.content import find_system
from runners.backends.sim import open_system
from runners.sim.commands import COMMANDS

_OUTPUT_BYTES = 16 << 20
_SECONDS = 3600.0


def interact(name: str, seed: int) -> int:
    """The system at a prompt, until end of input or `exit`."""
    world = open_system(find_system(name), seed=seed)
    ask = prompting(sorted(COMMANDS))
    while (line := ask(world.prompt())) is not None:
        if line.strip() in ("exit", "logout") and not world.nested:
            break
        if line.strip():
            result = world.run(line, output_bytes=_OUTPUT_BYTES, seconds=_SECONDS)
            sys.stdout.buffer.write(result.output)
            sys.stdout.flush()
    say("logout")
    return 0


def run_script(name: str, script: str, seed: int) -> int:
    """One script in a fresh world, as `bash -c` runs it: its own stdout, stderr and exit code."""
    world = open_system(find_system(name), seed=seed)
    result = world.run(f"bash -c {shlex.quote(script)}", output_bytes=_OUTPUT_BYTES, seconds=_SECONDS)
    sys.stdout.buffer.write(result.stdout)
    sys.stderr.buffer.write(result.stderr)
    return result.exit_code
