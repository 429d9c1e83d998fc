"""breakfix schema: the language for editors."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from breakfix.cli.output import emit
from runners.planning.schema import plan_schema
from scenario_dsl.schema import schema


def command(
    document: Annotated[
        Literal["scenario", "fault", "system", "pack", "intervention", "plan"], typer.Argument(help="What kind.")
    ] = "scenario",
) -> int:
    """Print the JSON Schema (2020-12) of one kind of document.

    Point your editor's YAML support at it to complete keys and to see mistakes as you type.

    Examples:

        breakfix schema scenario > scenario.schema.json
    """
    emit(plan_schema() if document == "plan" else schema(document))
    return 0
