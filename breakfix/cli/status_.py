"""breakfix status: how far a run is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.options import Json
from breakfix.cli.output import emit, say
from breakfix.cli.watching import duration, line, show_table
from runners.status import as_data, read_status


def command(
    run: Annotated[Path, typer.Argument(help="A run folder; it may be played at this moment.")],
    as_json_document: Json = False,
) -> int:
    """Say how far a run is: per agent and pack, with rate, time left, cost and errors by kind. Disturbs nobody.

    Errored trials may be played again when the run goes on. A cost with `?` holds something whose price is unknown.

    Examples:

        breakfix status runs/nightly

        watch -n 60 breakfix status runs/nightly
    """
    status = read_status(run)
    if as_json_document:
        emit({"run": str(run), **as_data(status)})
        return 0
    standing = status.standing
    show_table([*standing.rows.values()])
    say("")
    say(line(standing, running=status.running))
    total = standing.total
    if total.carried:
        say(f"{total.carried} were taken over from earlier runs")
    if status.running:
        say("being played now")
    elif total.open or total.errored:
        ago = f", the last record {duration(time.time() - status.last)} ago" if status.last else ""
        say(f"not being played{ago}; the command that began the run goes on with it")
    else:
        say(f"finished; next: breakfix report {run}")
    return 0
