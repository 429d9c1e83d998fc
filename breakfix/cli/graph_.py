"""breakfix graph: a scenario as a picture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.output import say
from breakfix.content import open_scenario
from breakfix.graph import draw
from compiler.resolve import resolve
from scenario_dsl.diagnostics import closest
from scenario_dsl.errors import AuthorError
from scenario_dsl.writing import write_file


def command(
    scenario: Annotated[str, typer.Argument(help="A scenario: PACK/NAME, a file, or a shipped one's name.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="An SVG file; without it, standard output.")] = None,
    world: Annotated[str, typer.Option("--world", "-w", help="Which of its worlds.")] = "primary",
) -> int:
    """Draw a scenario as SVG: cause, cascades, symptom and objectives, from left to right.

    Examples:

        breakfix graph cascading-database-failure --out cascade.svg
    """
    library, written = open_scenario(scenario)
    resolved = resolve(written, library)
    worlds = {each.name: each for each in resolved.worlds}
    if world not in worlds:
        close = closest(world, worlds)
        raise AuthorError(f"`{resolved.name}` has no world `{world}`" + (f"; did you mean `{close}`?" if close else ""))
    picture = draw(resolved, worlds[world])
    if out is None:
        sys.stdout.write(picture)
    else:
        write_file(out, picture.encode())
        say(f"written to {out}")
    return 0
