"""A frame's column as data: its name, its type, one sentence of documentation, and how to compute one cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import pandas as pd

Row = TypeVar("Row")
Dtype = Literal["string", "Int64", "Float64", "boolean"]
Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column of a frame whose rows are made from values of type `Row`. Every dtype is nullable."""

    name: str
    dtype: Dtype
    doc: str
    value: Callable[[Row], Cell]


def cells(columns: Sequence[Column[Row]], row: Row) -> tuple[Cell, ...]:
    """One row of the frame."""
    return tuple(column.value(row) for column in columns)


def frame(columns: Sequence[Column[Row]], rows: Iterable[tuple[Cell, ...]]) -> pd.DataFrame:
    """The frame of these rows, with every column in its documented type, also when there is no row at all."""
    table = list(rows)
    return pd.DataFrame(
        {
            column.name: pd.array([row[index] for row in table], dtype=column.dtype)
            for index, column in enumerate(columns)
        }
    )
