from __future__ import annotations

import pytest

from runners.sim.files.content import Content
from runners.sim.lifecycle import signal
from runners.sim.machine import Machine
from runners.sim.network.connect import Connection, connect
from runners.sim.programs.sql import SqlError, SqlRequest, SqlResult
from runners.sim.systemd import manager
from tests.runners.sim.servers import messages, server

DATA, CONFIG = "/var/lib/postgresql/15/main", "/etc/postgresql/15/main/postgresql.conf"


@pytest.fixture
def machine() -> Machine:
    return server()


def ask(machine: Machine, query: str, *, user: str = "shop", password: str | None = "espresso-2231", database: str = "shop",
        source: str = "127.0.0.1") -> tuple[SqlResult, ...] | SqlError:  # fmt: skip
    link = connect(machine, "10.0.0.10", 5432, source=source)
    assert isinstance(link, Connection)
    assert link.process is not None
    request = SqlRequest(database, user, query, password)
    return machine.programs["postgres"].serve(machine, link.process, request, link)  # type: ignore[return-value]


def rows(machine: Machine, query: str) -> tuple[tuple[str | None, ...], ...]:
    answer = ask(machine, query)
    assert not isinstance(answer, SqlError), answer
    return answer[-1].rows


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT 1", (("1",),)),
        ("SELECT count(*) FROM orders", (("10",),)),
        ("select name, price from products where id = 3", (("Yirgacheffe 250 g", "11.20"),)),
        ("SELECT id FROM orders WHERE customer = 'Mina Sato' AND total > 20", (("3",),)),
        ("SELECT id FROM orders ORDER BY id DESC LIMIT 2", (("10",), ("9",))),
        ("SELECT customer, count(*) FROM orders WHERE id < 4 GROUP BY customer", (("Ines Albrecht", "1"), ("Tomas Varga", "1"), ("Mina Sato", "1"))),
        ("SELECT max(total) FROM orders", (("62.20",),)),
        ("SELECT name FROM products WHERE name LIKE 'Mug%'", (("Mug, blue",),)),
        ("SELECT current_user, current_database()", (("shop", "shop"),)),
        ("SHOW max_connections", (("100",),)),
    ],
)  # fmt: skip
def test_queries(machine: Machine, query: str, expected: tuple[tuple[str, ...], ...]) -> None:
    assert rows(machine, query) == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM nothing", 'relation "nothing" does not exist'),
        ("SELECT colour FROM orders", 'column "colour" does not exist'),
        ("SELEKT 1", 'syntax error at or near "SELEKT"'),
        ("SELECT 1/0", "division by zero"),
        ("SELECT nothing()", "function nothing() does not exist"),
    ],
)
def test_errors_of_queries(machine: Machine, query: str, message: str) -> None:
    answer = ask(machine, query)
    assert isinstance(answer, SqlError)
    assert (answer.severity, answer.message) == ("ERROR", message)
    assert f"ERROR:  {message}" in machine.view().text("/var/log/postgresql/postgresql-15-main.log")


def test_what_is_written_lasts_through_a_crash(machine: Machine) -> None:
    ask(machine, "INSERT INTO orders (customer, total, status, created_at) VALUES ('Nell', 5.5, 'new', now())")
    ask(machine, "UPDATE products SET stock = 1 WHERE id = 1; DELETE FROM customers WHERE id = 6")
    signal(machine, manager.state_of(machine, "postgresql").main_pid, 9)
    manager.start(machine, "postgresql")
    assert rows(machine, "SELECT id, customer FROM orders WHERE customer = 'Nell'") == (("11", "Nell"),)
    assert rows(machine, "SELECT stock FROM products WHERE id = 1") == (("1",),)
    assert rows(machine, "SELECT count(*) FROM customers") == (("5",),)
    log = machine.view().text("/var/log/postgresql/postgresql-15-main.log")
    assert "database system was not properly shut down; automatic recovery in progress" in log


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"password": "wrong"}, 'password authentication failed for user "shop"'),
        (
            {"user": "nobody"},
            'no pg_hba.conf entry for host "10.0.0.31", user "nobody", database "shop", no encryption',
        ),
        (
            {"database": "other"},
            'no pg_hba.conf entry for host "10.0.0.31", user "shop", database "other", no encryption',
        ),
    ],
)
def test_who_is_let_in(machine: Machine, named: dict[str, str], message: str) -> None:
    answer = ask(machine, "SELECT 1", source="10.0.0.31", **named)  # type: ignore[arg-type]
    assert isinstance(answer, SqlError)
    assert (answer.severity, answer.message) == ("FATAL", message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("chmod", f'FATAL:  data directory "{DATA}" has invalid permissions'),
        ("chown", f'FATAL:  data directory "{DATA}" has wrong ownership'),
        ("rename", f'FATAL:  data directory "{DATA}" does not exist'),
        ("version", f'FATAL:  "{DATA}" is not a valid data directory'),
        ("config", f'FATAL:  configuration file "{CONFIG}" contains errors'),
        ("value", 'LOG:  invalid value for parameter "max_connections": "many"'),
        ("control", f'Expected to find it in the directory "{DATA}",'),
    ],
)
def test_what_keeps_it_from_starting(machine: Machine, change: str, message: str) -> None:
    manager.stop(machine, "postgresql")
    view = machine.view()
    if change == "chmod":
        view.chmod(DATA, 0o755)
    elif change == "chown":
        view.chown(DATA, 0, 0)
    elif change == "rename":
        view.rename(DATA, DATA + ".old")
    elif change == "version":
        view.unlink(f"{DATA}/PG_VERSION")
    elif change == "config":
        view.write(CONFIG, b"port == 5432\n", append=True)
    elif change == "value":
        view.write(CONFIG, b"max_connections = many\n", append=True)
    else:
        view.unlink(f"{DATA}/global/pg_control")
    assert not manager.start(machine, "postgresql").ok
    assert any(message in said for said in messages(machine, "postgresql.service"))


def test_a_taken_port(machine: Machine) -> None:
    manager.stop(machine, "postgresql")
    machine.view().write(
        "/etc/systemd/system/squatter.service",
        b"[Service]\nExecStart=/usr/bin/redis-server --port 5432 --bind 0.0.0.0\n",
    )
    manager.start(machine, "squatter")
    assert not manager.start(machine, "postgresql").ok
    log = machine.view().text("/var/log/postgresql/postgresql-15-main.log")
    assert 'could not bind IPv4 address "0.0.0.0": Address already in use' in log
    assert "FATAL:  could not create any TCP/IP sockets" in log


def test_a_full_disk_refuses_rows_and_then_ends_the_server(machine: Machine) -> None:
    mount = machine.files.mounts[0]
    machine.view().write("/fill", Content.filled(b"\0", machine.files.free(mount).bytes // 4096 * 4096))
    answer = ask(machine, "INSERT INTO orders (customer) VALUES ('Nell')")
    assert isinstance(answer, SqlError)
    assert answer.message.endswith("No space left on device")
    assert answer.hint == "Check free disk space."
    machine.advance(400)
    assert manager.state_of(machine, "postgresql").active == "failed"
    assert "PANIC:  could not write to file" in machine.view().text("/var/log/postgresql/postgresql-15-main.log")


def test_a_killed_back_end_makes_the_server_start_anew(machine: Machine) -> None:
    session = next(one for one in machine.processes if one.argv[0].startswith("postgres: 15/main: shop shop"))
    signal(machine, session.pid, 9)
    log = machine.view().text("/var/log/postgresql/postgresql-15-main.log")
    assert f"server process (PID {session.pid}) was terminated by signal 9: Killed" in log
    assert "all server processes terminated; reinitializing" in log
    assert manager.state_of(machine, "postgresql").active == "active"
    assert rows(machine, "SELECT 1") == (("1",),)


@pytest.mark.parametrize(
    ("helper", "called"),
    [
        ("walwriter", "WAL writer process"),
        ("checkpointer", "checkpointer process"),
        ("logical replication launcher", 'background worker "logical replication launcher"'),
    ],
)
def test_the_log_names_a_helper_in_its_own_words(machine: Machine, helper: str, called: str) -> None:
    process = next(one for one in machine.processes if one.program == "postgres" and one.held == helper)
    signal(machine, process.pid, 9)
    log = machine.view().text("/var/log/postgresql/postgresql-15-main.log")
    assert f"LOG:  {called} (PID {process.pid}) was terminated by signal 9: Killed" in log
