"""breakfix export: a run for other tools, as frames or as training data."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from breakfix.cli.bundles import refuse_to_spoil
from breakfix.cli.options import Json, TrustKey, trusted
from breakfix.cli.output import emit, say
from breakfix.speaking import speaker
from compiler.verify import verify
from reports import load
from reports.frame_files import Format, as_files
from reports.reading import read, together
from reports.training import rows, select
from scenario_dsl.errors import AuthorError
from scenario_dsl.writing import write_file, writing_to

_DIALOGUE = ("messages", "prompt", "completion", "chosen", "rejected")
"""The fields of training data that hold what was said."""


def command(
    what: Annotated[
        Literal["parquet", "csv", "sft", "preferences", "grpo"],
        typer.Argument(help="Frames (parquet, csv) or training data (sft, preferences, grpo)."),
    ],
    runs: Annotated[list[Path], typer.Argument(help="Run folders; several are taken together.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for frames; the JSON Lines file for training data.")
    ],
    bundles: Annotated[
        list[Path] | None,
        typer.Option(
            "--bundle", help="For training data: the signed bundles that were played, for what agents are told."
        ),
    ] = None,
    trust: TrustKey = None,
    include_heldout: Annotated[
        bool,
        typer.Option(
            "--include-heldout", help="Also held-out scenarios. They judge agents no more once these learn them."
        ),
    ] = False,
    as_json_document: Json = False,
) -> int:
    """Write a run for other tools: its frames, or conversations to train on.

    Frames are trials, attempts, objectives, facts and turns; `columns.json` beside them says what each column holds.
    Training data has the fields that TRL documents: sft has the episodes of VERIFIED attempts, preferences a better and
    a worse one for the same prompt, grpo every episode with its advantage among attempts on the same seed. Held-out
    scenarios are left out.

    Examples:

        breakfix export parquet runs/nightly --out frames

        breakfix export sft runs/gold --bundle build/starter --trust me.key.pub --out gold.jsonl
    """
    if what == "parquet" or what == "csv":
        if bundles or include_heldout:
            raise AuthorError("--bundle and --include-heldout are for training data; frames hold whatever was played")
        return _frames(what, runs, out, as_json_document=as_json_document)
    speak = speaker([verify(path, trusted(trust)) for path in bundles or ()])
    selection = select(together([read(run) for run in runs]), heldout=include_heldout)
    count, different = _write_lines(out, rows(what, selection, speak))
    if as_json_document:
        emit(
            {
                "file": str(out),
                "rows": count,
                "different": different,
                "heldout": selection.heldout,
                "undecided": selection.undecided,
            }
        )
        return 0
    said = f", {different} of them different: more seeds do not always make other episodes" if different < count else ""
    say(f"{count} rows in {out}{said}")
    if selection.heldout:
        say(f"{selection.heldout} episodes of held-out scenarios were left out")
    if selection.undecided:
        say(f"{selection.undecided} episodes without a verdict were left out")
    return 0


def _frames(kind: Format, runs: list[Path], out: Path, *, as_json_document: bool) -> int:
    refuse_to_spoil(out)
    files = as_files(load(*runs), kind)
    for name, data in files.items():
        write_file(out / name, data)
    if as_json_document:
        emit({"folder": str(out), "files": {name: len(data) for name, data in sorted(files.items())}})
    else:
        say(f"{len(files)} files in {out}")
    return 0


def _write_lines(out: Path, found: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """Write one JSON object a line, as they come; whole or not at all. How many, and how many say different things."""
    partial = out.with_name(f".{out.name}.part")
    count = 0
    said: set[bytes] = set()
    with writing_to(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("w", encoding="utf-8") as stream:
                for row in found:
                    stream.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
                    count += 1
                    told = json.dumps([row[name] for name in _DIALOGUE if name in row])
                    said.add(hashlib.sha256(told.encode()).digest())
            os.replace(partial, out)
        finally:
            partial.unlink(missing_ok=True)
    return count, len(said)
