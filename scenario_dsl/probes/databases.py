"""Probe types: what databases answer."""

from __future__ import annotations

from scenario_dsl.probes.shape import ProbeType, may, must

SQL = ProbeType(
    name="sql",
    doc="A query to PostgreSQL. Without `equals` and `matches`, that it succeeds.",
    example={"database": "shop", "query": "select count(*) from orders", "matches": "^[1-9]"},
    parameters=(
        must("database", "string", "the database"),
        must("query", "string", "the query; it reads only"),
        may("equals", "string", "the first column of the first row"),
        may("matches", "regex", "found in the first column of the first row"),
        may("user", "user", "the role that asks", default="postgres"),
    ),
)
REDIS = ProbeType(
    name="redis",
    doc="A command to Redis. Without `equals` and `matches`, that it succeeds.",
    example={"command": "PING", "equals": "PONG"},
    parameters=(
        must("command", "string", "the command; it reads only"),
        may("equals", "string", "the answer"),
        may("matches", "regex", "found in the answer"),
    ),
)
