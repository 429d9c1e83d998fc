from __future__ import annotations

import pytest

from runners.sim.files.content import Content
from runners.sim.lifecycle import signal
from runners.sim.machine import Machine
from runners.sim.network.connect import Connection, connect
from runners.sim.programs.sql import SqlError, SqlRequest, SqlResult
from runners.sim.systemd import manager
from tests.runners.sim.admin.line import Result, Terminal
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


def test_roles_are_made_changed_and_dropped() -> None:
    sh = Terminal()

    def psql(*commands: str) -> Result:
        return sh("cd /tmp; sudo -u postgres psql " + " ".join(f'-c "{command}"' for command in commands))

    login = "PGPASSWORD={} psql -h 127.0.0.1 -U bob postgres -Atc 'select 1'"
    assert psql("create role bob login password 'x'").out == "CREATE ROLE\n"
    assert sh(login.format("x")).out == "1\n"
    assert "password authentication failed" in sh(login.format("y")).err
    assert psql("create user bob").err == 'ERROR:  role "bob" already exists\n'
    assert psql("alter user bob with password 'y'").out == "ALTER ROLE\n"
    assert sh(login.format("y")).out == "1\n"
    assert psql("alter role bob nologin").status == 0
    assert 'FATAL:  role "bob" is not permitted to log in' in sh(login.format("y")).err
    assert psql("alter role bob login connection limit 0").status == 0
    assert 'FATAL:  too many connections for role "bob"' in sh(login.format("y")).err
    assert psql("alter role bob foo").err.startswith('ERROR:  unrecognized role option "foo"\n')
    sh("systemctl restart postgresql")
    assert "No connections" in psql("\\\\du").out
    assert psql("drop role bob", "drop role bob").err == 'ERROR:  role "bob" does not exist\n'
    assert psql("drop role shop").err.startswith('ERROR:  role "shop" cannot be dropped because some objects depend')
    shop = "PGPASSWORD=espresso-2231 psql -h 127.0.0.1 -U shop shop -c "
    assert sh(shop + "'create role x'").err == "ERROR:  permission denied to create role\n"


def test_databases_and_tables_are_made_and_dropped() -> None:
    sh = Terminal()
    sh("cd /tmp; sudo -u postgres psql -c \"create role bob login password 'x'\"")
    held = sh("sudo -u postgres psql -c 'drop database shop'").err
    assert held == (
        'ERROR:  database "shop" is being accessed by other users\nDETAIL:  There is 1 other session using the database.\n'
    )
    assert sh("sudo -u postgres createdb -O bob bobdb").status == 0
    again = sh("sudo -u postgres createdb bobdb")
    assert again.err == 'createdb: error: database creation failed: ERROR:  database "bobdb" already exists\n'
    bob = "PGPASSWORD=x psql -h 127.0.0.1 -U bob bobdb -At "
    made = sh(
        bob + "-c 'create table t(a int, b numeric(10,2))' -c \"insert into t values (1,'2')\" -c 'select * from t'"
    )
    assert made.out == "CREATE TABLE\nINSERT 0 1\n1|2\n"
    assert "numeric(10,2)" in sh(bob + "-c '\\d t'").out
    sh("systemctl restart postgresql")
    assert (
        sh(bob + "-c 'truncate t' -c 'select count(*) from t' -c 'drop table t'").out
        == "TRUNCATE TABLE\n0\nDROP TABLE\n"
    )
    assert sh(bob + "-c 'select * from t'").err.startswith('ERROR:  relation "t" does not exist\n')
    assert sh(bob + "-c 'create table u(a int primary key)'").err.startswith("ERROR:  column constraint")
    assert sh(bob + "-c 'create index i on t(a)'").err == "ERROR:  this form of CREATE INDEX is not supported\n"
    theirs = sh("PGPASSWORD=x psql -h 127.0.0.1 -U bob shop -c 'create table t(a int)' -c 'drop table orders'")
    assert theirs.err.startswith("ERROR:  permission denied for schema public\n")
    assert sh("sudo -u postgres dropdb bobdb").status == 0


def test_alter_system_is_read_at_a_reload_and_at_a_start() -> None:
    sh = Terminal()

    def psql(command: str) -> Result:
        return sh(f'cd /tmp; sudo -u postgres psql -Atc "{command}"')

    assert psql("alter system set work_mem = '8MB'").out == "ALTER SYSTEM\n"
    assert psql("show work_mem").out == "4MB\n"
    assert psql("select pg_reload_conf()").out == "t\n"
    assert psql("show work_mem").out == "8MB\n"
    assert psql("select setting, source from pg_settings where name = 'work_mem'").out == "8MB|configuration file\n"
    assert sh("tail -n 1 /var/lib/postgresql/15/main/postgresql.auto.conf").out == "work_mem = '8MB'\n"
    sh("systemctl restart postgresql")
    assert psql("show work_mem").out == "8MB\n"
    assert psql("alter system reset work_mem").out == "ALTER SYSTEM\n"
    psql("select pg_reload_conf()")
    assert psql("show work_mem").out == "4MB\n"
    assert psql("alter system set foo = 1").err == 'ERROR:  unrecognized configuration parameter "foo"\n'
    assert psql("alter system set work_mem = 'a'").err == 'ERROR:  invalid value for parameter "work_mem": "a"\n'
    alone = psql("select 1; alter system set work_mem = '9MB'")
    assert (alone.out, alone.err) == ("1\n", "ERROR:  ALTER SYSTEM cannot run inside a transaction block\n")


def test_back_ends_are_ended_by_a_function_and_what_came_before_an_error_is_shown() -> None:
    sh = Terminal()
    sh("cd /tmp")
    ended = "select pg_terminate_backend(pid) from pg_stat_activity where datname='shop'"
    count = "select count(*) from pg_stat_activity where datname='shop' and state='idle'"
    assert sh(f'sudo -u postgres psql -Atc "{count}"').out == "1\n"
    assert sh(f'sudo -u postgres psql -Atc "{ended}"').out == "t\n"
    assert sh(f'sudo -u postgres psql -Atc "{count}"').out == "0\n"
    two = sh("sudo -u postgres psql shop -Atc 'select 1; select count(*) from nonsuch'")
    assert (two.out, two.status) == ("1\n", 1)
    assert two.err.splitlines()[1:] == [
        "LINE 1: select 1; select count(*) from nonsuch",
        "                                       ^",
    ]
    before = sh.machine.clock.now
    assert sh("sudo -u postgres psql -Atc 'select pg_sleep(3)'").out == "\n"
    assert 3 <= sh.machine.clock.now - before < 4


def test_what_psql_describes() -> None:
    sh = Terminal()

    def told(command: str) -> list[str]:
        return sh(f"cd /tmp; sudo -u postgres psql shop -c '{command}'").lines

    assert told("\\dn")[3] == " public | pg_database_owner"
    assert told("\\df")[-2:] == ["(0 rows)", ""]
    assert told("\\dt+")[3] == " public | customers | table | shop  | permanent   | heap          | 16 kB | "
    assert told("\\l+")[3].endswith("| pg_default | default administrative connection database")
    assert " created_at | timestamp with time zone |           |          | " in told("\\d orders")
    assert sh("sudo -u postgres psql shop -c '\\di'").err == "Did not find any relations.\n"
