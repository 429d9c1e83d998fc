"""What a table is: headings with their documentation, and rows of values. Its columns are data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from reports.statistics import Estimate

Value = str | int | float | bool | None | Estimate
Kind = Literal[
    "name", "text", "rate", "gap", "rating", "count", "number", "chance", "points", "finding", "sentence", "trials"
]


@dataclass(frozen=True, slots=True)
class Heading:
    """A column as readers see it: `doc` is the sentence behind the heading, `kind` how a cell is shown and sorted.

    Of the kinds, a `chance` is a p value, and `trials` are beginnings of trial ids with spaces between them.
    """

    name: str
    title: str
    kind: Kind
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """`name` is the stem of its files. `rows` hold one cell for each heading."""

    name: str
    title: str
    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Value, ...], ...]

    def column(self, name: str) -> tuple[Value, ...]:
        """All cells under one heading; raises KeyError."""
        for index, heading in enumerate(self.headings):
            if heading.name == name:
                return tuple(row[index] for row in self.rows)
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Measure:
    """A heading together with how its cell is computed from the attempts of one row."""

    heading: Heading
    value: Callable[[pd.DataFrame], Value]
