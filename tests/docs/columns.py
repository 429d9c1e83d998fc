"""The columns of all frames as Markdown, for docs/reports.md."""

from __future__ import annotations

from reports.frame_files import COLUMNS

ROWS = {
    "trials": "One row for each planned trial with a record: its last retry.",
    "attempts": "One row for each attempt: all worlds of one agent's go at a scenario.",
    "objectives": "One row for each objective of each trial.",
    "facts": "One row for each fact that the gate established.",
    "turns": "One row for each action of an agent, without its output.",
}


def columns_as_markdown() -> str:
    parts = []
    for name, columns in COLUMNS.items():
        rows = "\n".join(f"| `{column.name}` | {column.dtype} | {column.doc} |" for column in columns)
        parts.append(f"### `frames.{name}`\n\n{ROWS[name]}\n\n| column | type | |\n|---|---|---|\n{rows}\n")
    return "\n".join(parts)
