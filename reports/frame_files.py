"""Frames as files for other tools: Parquet or CSV, one file for each frame, and their columns in words."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Literal

import pandas as pd

from reports.columns import Column
from reports.frames import ATTEMPTS, FACTS, OBJECTIVES, TRIALS, TURNS, Frames
from reports.text import spreadsheet_safe
from scenario_dsl.errors import HostError

Format = Literal["parquet", "csv"]
COLUMNS: Mapping[str, tuple[Column[Any], ...]] = {
    "trials": TRIALS,
    "attempts": ATTEMPTS,
    "objectives": OBJECTIVES,
    "facts": FACTS,
    "turns": TURNS,
}
"""Each frame's columns, by the frame's name."""


def as_files(frames: Frames, kind: Format) -> Mapping[str, bytes]:
    """File name -> bytes: `trials.csv` and so on, and `columns.json`. The same frames give the same bytes.

    Parquet needs pyarrow (the extra `parquet`); raises HostError without it. In CSV, an empty field is a missing value.
    """
    if kind == "parquet" and find_spec("pyarrow") is None:
        raise HostError("Parquet files need pyarrow", remedy="pip install 'breakfix[parquet]', or export csv")
    write = _parquet if kind == "parquet" else _csv
    files = {f"{name}.{kind}": write(getattr(frames, name)) for name in COLUMNS}
    return files | {"columns.json": _documented()}


def _parquet(frame: pd.DataFrame) -> bytes:
    data: bytes = frame.to_parquet(None, engine="pyarrow", index=False)
    return data


def _csv(frame: pd.DataFrame) -> bytes:
    texts = frame.select_dtypes("string")
    safe = frame.assign(**{name: texts[name].map(spreadsheet_safe, na_action="ignore") for name in texts})
    out = io.StringIO()
    safe.to_csv(out, index=False, lineterminator="\n")
    return out.getvalue().encode()


def _documented() -> bytes:
    told = {
        name: [{"name": column.name, "dtype": column.dtype, "doc": column.doc} for column in columns]
        for name, columns in COLUMNS.items()
    }
    return (json.dumps(told, indent=1) + "\n").encode()
