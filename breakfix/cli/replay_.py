"""breakfix replay: one recorded trial again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.options import Json, TrustKey, trusted
from breakfix.cli.output import emit, say
from breakfix.cli.transcript import show
from compiler.verify import verify
from runners.backends.registry import find_backend
from runners.replay import replay
from runners.store import find_record


def command(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    trial: Annotated[str, typer.Argument(help="A trial's id, or its first characters.")],
    bundles: Annotated[
        list[Path], typer.Option("--bundle", "-b", help="The signed bundle that the run used; repeat it.")
    ],
    trust: TrustKey = None,
    transcript: Annotated[bool, typer.Option("--show/--no-show", help="Print the transcript.")] = True,
    as_json_document: Json = False,
) -> int:
    """Run one recorded trial again and compare it byte for byte. Exit code 1 when anything differs.

    No model is asked: the record's own actions are played into a fresh world.

    Examples:

        breakfix replay runs/first 3f2a --bundle build/starter --trust me.key.pub
    """
    record = find_record(run, trial)
    verified = [verify(path, trusted(trust)) for path in bundles]
    again = replay(record, verified, find_backend(record.trial.backend))
    if as_json_document:
        emit({"trial": record.trial_id, "same": again.same, "differences": list(again.differences)})
        return 0 if again.same else 1
    if transcript:
        show(again.record)
    if again.same:
        say(f"trial {record.trial_id[:16]}: the replay is the record, byte for byte")
    else:
        say(f"trial {record.trial_id[:16]}: the replay differs")
        for difference in again.differences:
            say(f"  {difference}")
    return 0 if again.same else 1
