"""breakfix clean: what interrupted runs left in the container engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from breakfix.cli.options import Json
from breakfix.cli.output import emit, say
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
    removed, gone, without_engine = _containers(everything=everything, images=images)
    # Last, since one that does not answer ends the command.
    hosts = sweep_own(everything=everything)
    # Neither virtual machines nor hosts of one's own need an engine.
    if without_engine is not None and not machines and not hosts:
        raise without_engine
    if as_json_document:
        emit({"containers": list(removed), "images": list(gone), "machines": machines, "hosts": list(hosts)})
    else:
        say(f"removed {len(removed)} containers and {len(gone)} images, ended {machines} virtual machines")
        if hosts:
            say(f"put back: {', '.join(hosts)}")
    return 0


def _containers(*, everything: bool, images: bool) -> tuple[Sequence[str], Sequence[str], HostError | None]:
    """Remove containers and, where that is wanted, images. Returns their names, or why there is no engine."""
    try:
        # Its library is not everywhere.
        from runners.hosts.engine import Engine
        from runners.hosts.leftovers import sweep

        engine = Engine.connect()
    except HostError as missing:
        return (), (), missing
    removed = sweep(engine, everything=everything)
    gone = [name for name, _, _ in engine.images()] if images else []
    for name in gone:
        engine.remove_image(name)
    return removed, gone, None
