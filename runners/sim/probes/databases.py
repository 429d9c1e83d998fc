"""sql and redis: asked of the server process itself, not through clients, ports, passwords or access rules.

A database that nobody can reach is for the socket, http and client probes to notice; these look at what it holds. The
server must be the genuine program, and what a query writes stays on a fork that is thrown away.
"""

from __future__ import annotations

import shlex

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.programs import postgres as pg
from runners.sim.programs import redis as rd
from runners.sim.programs.sql import SqlError, SqlRequest
from runners.worlds import Observation


def sql(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """The first column of the last statement's first row; a row that is not there is no value."""
    seen, database = Seen(), arguments.require("database")
    server = pg.server_of(machine)
    program = machine.programs.get("postgres")
    if server is None or server.state == "T" or not isinstance(program, pg.Postgres):
        seen.expect(False, "PostgreSQL does not run")
        return seen.observation()
    request = SqlRequest(database, arguments.text("user") or "postgres", arguments.require("query"), local=True)
    try:
        answer = program.run(machine, server, request)
    except KeyError:
        seen.expect(False, f"there is no database {database}")
        return seen.observation()
    if isinstance(answer, SqlError):
        seen.expect(False, f"{answer.severity}: {answer.message}")
        return seen.observation()
    rows = answer[-1].rows if answer else ()
    value = rows[0][0] if rows and rows[0] else None
    _compare(arguments, value, seen)
    return seen.observation()


def redis(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    seen = Seen()
    server = next((one for one in machine.processes if isinstance(one.held, rd.Held)), None)
    if server is None or server.state == "T" or not isinstance(server.held, rd.Held):
        seen.expect(False, "Redis does not run")
        return seen.observation()
    words = tuple(shlex.split(arguments.require("command")))
    password = server.held.settings.password or None
    reply = machine.programs[server.program].serve(machine, server, rd.RedisRequest(words, password), None)
    if isinstance(reply, rd.RedisError):
        seen.expect(False, reply.text)
        return seen.observation()
    if words[0].lower() == "ping" and reply is None:
        reply = "PONG"
    value = " ".join(map(str, reply)) if isinstance(reply, tuple) else None if reply is None else str(reply)
    _compare(arguments, value, seen)
    return seen.observation()


def _compare(arguments: Arguments, value: str | None, seen: Seen) -> None:
    equals, pattern = arguments.text("equals"), arguments.text("matches")
    fact = f"the answer is {value}"
    if equals is not None:
        seen.expect(value == equals, fact)
    if pattern is not None:
        seen.expect(value is not None and found(pattern, value), fact)
    if equals is None and pattern is None:
        seen.expect(True, fact)
