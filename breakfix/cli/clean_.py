"""breakfix clean: what interrupted runs left in the container engine."""

from __future__ import annotations

from typing import Annotated

import typer

from breakfix.cli.options import Json
from breakfix.cli.output import emit, say
from runners.hosts.engine import Engine
from runners.hosts.leftovers import sweep
from runners.kernel.own.machine import sweep_own
from runners.kernel.vm import sweep as sweep_machines
from scenario_dsl.errors import HostError


def command(
    everything: Annotated[
        bool, typer.Option("--all", help="Also the worlds of breakfix processes that are still running.")
    ] = False,
    images: Annotated[bool, typer.Option("--images", help="Also the images; they can be built again.")] = False,
    as_json_document: Json = False,
) -> int:
    """Remove the containers that killed runs left behind, and what they left on hosts of your own. A run that starts
    does the same by itself.

    Networks and other processes need no cleaning: they end with the process that made them.

    Examples:

        breakfix clean

        breakfix clean --all --images
    """
    machines = sweep_machines(everything=everything)
    try:
        engine = Engine.connect()
    except HostError:
        # Neither virtual machines nor hosts of one's own need an engine.
        hosts = sweep_own(everything=everything)
        if not machines and not hosts:
            raise
        say(f"ended {machines} virtual machines, put {len(hosts)} hosts of your own back")
        return 0
    removed = sweep(engine, everything=everything)
    gone = [name for name, _, _ in engine.images()] if images else []
    for name in gone:
        engine.remove_image(name)
    # Last, since one that does not answer ends the command.
    hosts = sweep_own(everything=everything)
    if as_json_document:
        emit({"containers": list(removed), "images": gone, "machines": machines, "hosts": list(hosts)})
    else:
        say(f"removed {len(removed)} containers and {len(gone)} images, ended {machines} virtual machines")
        if hosts:
            say(f"put back: {', '.join(hosts)}")
    return 0
