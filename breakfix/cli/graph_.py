"""breakfix graph: a scenario as a picture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.output import say
from breakfix.content import SHIPPED, find_scenario
from breakfix.graph import draw
from compiler.resolve import resolve
from scenario_dsl.diagnostics import closest
from scenario_dsl.errors import AuthorError
from scenario_dsl.library import load_library


def command(
    scenario: Annotated[str, typer.Argument(help="A scenario: PACK/NAME, a file, or a shipped one's name.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="An SVG file; without it, standard output.")] = None,
    world: Annotated[str, typer.Option("--world", "-w", help="Which of its worlds.")] = "primary",
) -> int:
    """Draw a scenario as SVG: cause, cascades, symptom and objectives, from left to right.

    Examples:

        breakfix graph cascading-database-failure --out cascade.svg
    """
    folder, name = find_scenario(scenario)
    library = load_library(folder, SHIPPED)
    if name not in library.scenarios:
        raise AuthorError(f"the pack {folder.name} has no scenario `{name}`")
    resolved = resolve(library.scenarios[name], library)
    worlds = {each.name: each for each in resolved.worlds}
    if world not in worlds:
        close = closest(world, worlds)
        raise AuthorError(f"`{name}` has no world `{world}`" + (f"; did you mean `{close}`?" if close else ""))
    picture = draw(resolved, worlds[world])
    if out is None:
        sys.stdout.write(picture)
    else:
        out.write_text(picture, encoding="utf-8")
        say(f"written to {out}")
    return 0
