"""sql and redis: asked of the server process itself, not through clients, ports, passwords or access rules.

A database that nobody can reach is for the socket, http and client probes to notice; these look at what it holds. The
server must be the genuine program, and what a query writes stays on a fork that is thrown away.
"""

from __future__ import annotations

import shlex

from runners.probes.arguments import Arguments
from runners.probes.databases import judge
from runners.probes.seen import nothing_held
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.programs import postgres as pg
from runners.sim.programs import redis as rd
from runners.sim.programs.sql import SqlError, SqlRequest
from runners.worlds import Observation


def sql(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """The first column of the last statement's first row; a row that is not there is no value."""
    database = arguments.require("database")
    server = pg.server_of(machine)
    program = machine.programs.get("postgres")
    if server is None or server.state == "T" or not isinstance(program, pg.Postgres):
        return nothing_held("PostgreSQL does not run")
    request = SqlRequest(database, arguments.text("user") or "postgres", arguments.require("query"), local=True)
    try:
        answer = program.run(machine, server, request)
    except KeyError:
        return nothing_held(f"there is no database {database}")
    if isinstance(answer, SqlError):
        return nothing_held(f"{answer.severity}: {answer.message}")
    rows = answer[-1].rows if answer else ()
    return judge(rows[0][0] if rows and rows[0] else None, arguments)


def redis(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    server = next((one for one in machine.processes if isinstance(one.held, rd.Held)), None)
    if server is None or server.state == "T" or not isinstance(server.held, rd.Held):
        return nothing_held("Redis does not run")
    words = tuple(shlex.split(arguments.require("command")))
    password = server.held.settings.password or None
    reply = machine.programs[server.program].serve(machine, server, rd.RedisRequest(words, password), None)
    if isinstance(reply, rd.RedisError):
        return nothing_held(reply.text)
    if words[0].lower() == "ping" and reply is None:
        reply = "PONG"
    value = " ".join(map(str, reply)) if isinstance(reply, tuple) else None if reply is None else str(reply)
    return judge(value, arguments)
