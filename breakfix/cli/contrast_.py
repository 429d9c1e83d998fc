"""breakfix contrast: gold and a bad habit side by side."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.bundles import single
from breakfix.cli.contrasting import as_document, contrast, lines, page
from breakfix.cli.options import BackendName, Json
from breakfix.cli.output import emit, progress, say
from runners.backends.registry import find_backend
from runners.opening import Site
from runners.prove.case import Case
from scenario_dsl.errors import AuthorError
from scenario_dsl.writing import write_file

_WIDEST = 160


def command(
    scenario: Annotated[str, typer.Argument(help="A scenario: PACK/NAME, a file, or a shipped one's name.")],
    habit: Annotated[
        str | None, typer.Option("--habit", help="One of its bad habits. Default: the one that comes furthest.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write one HTML page here as well.")] = None,
    backend: BackendName = "sim",
    as_json_document: Json = False,
) -> int:
    """Show gold and a bad habit side by side: what each did to the same machine, and what each check of the gate said.

    Both may get the machine up again. Exit code 1 when gold is not VERIFIED or the habit is.

    Examples:

        breakfix contrast permission-repair

        breakfix contrast process-recovery --habit "the known name" --out contrast.html
    """
    bundle, name = single(scenario)
    content = bundle.content
    world = find_backend(backend)
    resolved = content.scenarios[name]
    unsupported = world.unsupported(content, resolved)
    if unsupported is not None:
        raise AuthorError(f"{backend} cannot run it: {unsupported}")
    case = Case(Site(content=content, scenario=resolved, backend=world), repeats=1)
    with progress("played through the gate", quiet=as_json_document) as advance:
        found = contrast(case, habit, advance)
    if as_json_document:
        emit(as_document(found))
    else:
        for line in lines(found, min(shutil.get_terminal_size((120, 24)).columns, _WIDEST)):
            say(line)
    if out is not None:
        write_file(out, page(found).encode())
        if not as_json_document:
            say(f"the page: {out}")
    return 0 if found.gold.verdict == "VERIFIED" and found.bad.verdict != "VERIFIED" else 1
