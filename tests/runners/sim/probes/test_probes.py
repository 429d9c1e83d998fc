"""Probes against pretence, and probes kept while nothing changed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import pytest

from compiler.capabilities import CAPABILITIES
from runners.sim.build import boot
from runners.sim.machine import Machine
from runners.sim.network.firewall import parse_rule, with_chain
from runners.sim.probes.baseline import Baseline
from runners.sim.probes.evaluate import KINDS, Memo, evaluate
from runners.sim.shell.running import run_job
from runners.system import SystemSpec
from scenario_dsl.model import Probe
from scenario_dsl.probes import PROBES
from tests.conformance.worlds import library, probe


@lru_cache(maxsize=1)
def healthy() -> Machine:
    return boot(SystemSpec.of(library().systems["small"]), run_job=run_job)


@pytest.fixture
def machine() -> Machine:
    return healthy().fork()


def holds(machine: Machine, asked: Probe) -> bool:
    return evaluate(machine, asked, Baseline.of(healthy())).holds


def test_every_declared_type_is_there_or_said_to_be_lacking() -> None:
    assert set(KINDS) == set(PROBES) - set(CAPABILITIES["sim"].lacks_probes)


def test_another_program_on_the_port_does_not_count(machine: Machine) -> None:
    redis = machine.processes.listener("tcp", 6379)
    assert redis is not None
    listening = probe("socket", port=6379, listening=True)
    assert holds(machine, listening)
    machine.processes.put(redis._replace(program="nc"))
    assert not holds(machine, listening)
    # And yet the port is not free.
    assert not holds(machine, probe("socket", port=6379, listening=False))


def test_a_stopped_process_does_not_serve(machine: Machine) -> None:
    for process in machine.processes:
        if process.program == "nginx":
            machine.processes.put(process._replace(state="T"))
    assert not holds(machine, probe("http", url="http://localhost/health", within="2s"))
    assert not holds(machine, probe("unit", name="nginx", state="active"))


def test_a_unit_that_runs_something_else_is_not_active(machine: Machine) -> None:
    state = machine.systemd.get("worker.service")
    main = machine.processes.get(state.main_pid)
    assert main is not None
    assert holds(machine, probe("unit", name="worker", state="active"))
    machine.processes.put(main._replace(program="bash", exe="/usr/bin/bash"))
    assert not holds(machine, probe("unit", name="worker", state="active"))
    machine.processes.remove(main.pid)
    assert not holds(machine, probe("unit", name="worker", state="active"))


def test_a_renamed_command_line_forges_no_program(machine: Machine) -> None:
    redis = machine.processes.listener("tcp", 6379)
    assert redis is not None
    machine.processes.put(redis._replace(program="nc", argv=("/usr/bin/redis-server 127.0.0.1:6379",)))
    assert not holds(machine, probe("socket", port=6379, listening=True, process="redis-server"))


def test_a_probe_changes_nothing(machine: Machine) -> None:
    before = (machine.files.inodes, machine.processes.by_pid, machine.counters, machine.clock.now, machine.events)
    evaluate(machine, probe("http", url="http://localhost/health", status=200))
    evaluate(machine, probe("dns", name="db-primary", resolves=True))
    assert before == (
        machine.files.inodes, machine.processes.by_pid, machine.counters, machine.clock.now, machine.events,
    )  # fmt: skip


def test_kept_only_while_what_it_reads_is_the_same(machine: Machine) -> None:
    memo = Memo(Baseline.of(healthy()))
    asked = probe("file", path="/etc/motd", exists=False)
    first = memo.evaluate(machine, asked)
    assert memo.evaluate(machine, asked) is first
    machine.advance(0)
    machine.view().write("/etc/motd", b"x")
    assert not memo.evaluate(machine, asked).holds
    # An equal probe that is another object has its own place.
    assert not memo.evaluate(machine, replace(asked)).holds


def test_a_request_is_never_kept(machine: Machine) -> None:
    memo = Memo(Baseline.of(healthy()))
    asked = probe("http", url="http://localhost/health", status=200)
    assert memo.evaluate(machine, asked).holds
    machine.view().unlink("/srv/www/health")
    assert not memo.evaluate(machine, asked).holds


@lru_cache(maxsize=1)
def shop() -> Machine:
    return boot(SystemSpec.of(library().systems["web-server"]), run_job=run_job)


def test_sql_asks_what_the_database_holds() -> None:
    machine = shop().fork()
    orders = probe("sql", database="shop", query="select count(*) from orders", matches="^[1-9]")
    assert evaluate(machine, orders).holds
    before = machine.files.inodes
    assert evaluate(machine, probe("sql", database="shop", query="delete from orders")).holds
    assert machine.files.inodes is before
    assert not evaluate(machine, probe("sql", database="nowhere", query="select 1")).holds
    assert not evaluate(machine, probe("sql", database="shop", query="select nothing from nowhere")).holds
    for process in machine.processes:
        if process.program == "postgres":
            machine.processes.remove(process.pid)
    assert not evaluate(machine, orders).holds


def test_http_comes_from_outside_through_the_firewall() -> None:
    machine = shop().fork()
    baseline = Baseline.of(shop())
    asked = probe("http", url="http://localhost/health", status=200)
    inside = probe("http", url="http://localhost:8000/health", status=200)
    assert evaluate(machine, asked, baseline).holds
    # The application listens for the machine itself alone, and is asked from there.
    assert evaluate(machine, inside, baseline).holds
    drop = parse_rule(["-p", "tcp", "-m", "tcp", "--dport", "80", "-j", "DROP"])
    chain = machine.network.tables["filter"]["INPUT"]
    # Before the rule that lets the machine talk to itself: only who is outside is held off.
    rules = (chain.rules[0], drop, *chain.rules[1:])
    machine.network.tables = with_chain(machine.network.tables, "filter", chain._replace(rules=rules))
    assert not evaluate(machine, asked, baseline).holds
