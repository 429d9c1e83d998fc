"""breakfix report: runs to a leaderboard and one HTML page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.leaderboard import show_leaderboard
from breakfix.cli.options import Json
from breakfix.cli.output import emit, say
from reports.build import build_report
from reports.export import as_json


def command(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; several are taken together.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write. Default: `report` in the first run.")
    ] = None,
    as_json_document: Json = False,
) -> int:
    """Turn runs into a leaderboard, plots, tables (CSV and JSON) and one HTML page.

    A run that is still going on can be reported too. The same records give the same bytes.

    Examples:

        breakfix report runs/nightly --out public/nightly
    """
    files = build_report(runs, out or runs[0] / "report")
    if as_json_document:
        emit(
            {"page": str(files.page), "headline": files.headline, "leaderboard": json.loads(as_json(files.leaderboard))}
        )
    else:
        show_leaderboard(files.leaderboard)
        say("")
        say(files.headline)
        say(f"page: {files.page}")
    return 0
