"""breakfix check: point at every mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.options import Json
from breakfix.cli.output import emit, say
from breakfix.content import SHIPPED, find_pack
from scenario_dsl.diagnostics import as_json, errors_in, render_text
from scenario_dsl.library import check_paths


def command(
    paths: Annotated[list[str], typer.Argument(help="Packs (folders or names of shipped ones) or single documents.")],
    as_json_document: Json = False,
) -> int:
    """Check scenarios, faults, systems or whole packs, and point at every mistake.

    A document that lies in a pack is checked together with it. Exit code 1 when anything is an error.

    Examples:

        breakfix check packs/starter

        breakfix check packs/starter/scenarios/process-recovery.yml --json
    """
    found = check_paths([_place(path) for path in paths], SHIPPED)
    if as_json_document:
        emit(as_json(found))
    else:
        typer.echo(render_text(found), nl=False)
        errors = sum(each.severity == "error" for each in found)
        warnings = len(found) - errors
        say(f"{errors} errors, {warnings} warnings" if found else f"{', '.join(paths)}: no mistakes found")
    return 1 if errors_in(found) else 0


def _place(text: str) -> Path:
    path = Path(text)
    return path if path.exists() or path.suffix in (".yml", ".yaml") else find_pack(text)
