"""breakfix export: a run's frames for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from breakfix.cli.options import Json
from breakfix.cli.output import emit, say
from reports import load
from reports.frame_files import as_files
from scenario_dsl.writing import write_file


def command(
    what: Annotated[Literal["parquet", "csv"], typer.Argument(help="The format of the files.")],
    runs: Annotated[list[Path], typer.Argument(help="Run folders; several are taken together.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write into.")],
    as_json_document: Json = False,
) -> int:
    """Write a run's frames (trials, attempts, objectives, facts, turns) as files for other tools.

    `columns.json` beside them says what each column holds. A missing value is null in Parquet, empty in CSV.

    Examples:

        breakfix export parquet runs/nightly --out frames

        breakfix export csv runs/monday runs/tuesday --out frames
    """
    files = as_files(load(*runs), what)
    for name, data in files.items():
        write_file(out / name, data)
    if as_json_document:
        emit({"folder": str(out), "files": {name: len(data) for name, data in sorted(files.items())}})
    else:
        say(f"{len(files)} files in {out}")
    return 0
