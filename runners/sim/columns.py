"""Tables and trees as libsmartcols prints them for lsblk, findmnt and lscpu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Column(NamedTuple):
    title: str
    right: bool = False


class Node(NamedTuple):
    """One row; its first cell is drawn into the tree."""

    cells: tuple[str, ...]
    children: tuple[Node, ...] = ()


def rows_of(nodes: Sequence[Node], *, ascii_only: bool = False) -> list[list[str]]:
    """The rows of a forest, with branches drawn before the first cell of the children."""
    branch, last, bar = ("|-", "`-", "| ") if ascii_only else ("├─", "└─", "│ ")
    rows: list[list[str]] = []

    def walk(node: Node, lead: str, mark: str) -> None:
        rows.append([lead + mark + node.cells[0], *node.cells[1:]])
        deeper = lead + ("" if not mark else "  " if mark == last else bar)
        for index, child in enumerate(node.children):
            walk(child, deeper, last if index == len(node.children) - 1 else branch)

    for node in nodes:
        walk(node, "", "")
    return rows


def render(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, headings: bool = True) -> list[str]:
    """Lines with columns as wide as their widest cell; the last one is not padded on the right."""
    everything = [[column.title for column in columns], *rows] if headings else list(rows)
    widths = [max((len(row[index]) for row in everything), default=0) for index in range(len(columns))]
    lines = []
    for row in everything:
        cells = []
        for index, (cell, column, width) in enumerate(zip(row, columns, widths, strict=True)):
            if column.right:
                cells.append(cell.rjust(width))
            else:
                cells.append(cell.ljust(width) if index < len(columns) - 1 else cell)
        lines.append(" ".join(cells))
    return lines


def pairs(columns: Sequence[Column], row: Sequence[str]) -> str:
    """`NAME="value"` for every column, as -P prints."""
    return " ".join(f'{column.title}="{cell}"' for column, cell in zip(columns, row, strict=True))
