from __future__ import annotations

import pytest

from runners.sim.files.content import Content
from runners.sim.machine import Machine
from runners.sim.network.connect import Connection, connect
from runners.sim.programs.redis import RedisError, RedisRequest
from runners.sim.systemd import manager
from tests.runners.sim.servers import messages, server


@pytest.fixture
def machine() -> Machine:
    return server()


def ask(machine: Machine, line: str, port: int = 6379) -> object:
    link = connect(machine, "127.0.0.1", port)
    assert isinstance(link, Connection)
    assert link.process is not None
    return machine.programs["redis-server"].serve(machine, link.process, RedisRequest(tuple(line.split())), link)


def test_commands(machine: Machine) -> None:
    assert ask(machine, "PING") == "PONG"
    assert ask(machine, "SET a 1") == "OK"
    assert ask(machine, "INCR a") == 2
    assert ask(machine, "GET a") == "2"
    assert ask(machine, "LPUSH q x y") == 2
    assert ask(machine, "RPOP q") == "x"
    assert ask(machine, "LLEN q") == 1
    assert ask(machine, "GET nothing") is None
    assert ask(machine, "GET q") == RedisError("WRONGTYPE Operation against a key holding the wrong kind of value")
    assert ask(machine, "GET") == RedisError("ERR wrong number of arguments for 'get' command")
    assert str(ask(machine, "INFO server")).startswith("# Server\r\nredis_version:7.0.15")
    assert ask(machine, "CONFIG GET maxmemory") == ("maxmemory", "536870912")


def test_data_lasts_through_a_stop_and_not_through_a_kill(machine: Machine) -> None:
    ask(machine, "SET kept 1")
    manager.restart(machine, "redis-server")
    assert ask(machine, "GET kept") == "1"
    ask(machine, "SET lost 1")
    manager.kill(machine, "redis-server", 9, "main")
    manager.start(machine, "redis-server")
    assert ask(machine, "GET lost") is None


def test_a_full_disk_stops_writes_and_not_reads(machine: Machine) -> None:
    ask(machine, "SET a 1")
    mount = machine.files.mounts[0]
    machine.view().write("/fill", Content.filled(b"\0", machine.files.free(mount).bytes // 4096 * 4096))
    ask(machine, "BGSAVE")
    answer = ask(machine, "SET a 2")
    assert isinstance(answer, RedisError)
    assert answer.text.startswith("MISCONF Redis is configured to save RDB snapshots")
    assert ask(machine, "GET a") == "1"
    machine.view().unlink("/fill")
    ask(machine, "BGSAVE")
    assert ask(machine, "SET a 3") == "OK"


def test_a_bad_directive_is_shown_with_its_line(machine: Machine) -> None:
    machine.view().write("/etc/redis/redis.conf", b"port 6379\nprot 1\n")
    assert not manager.restart(machine, "redis-server").ok
    said = messages(machine, "redis-server.service")
    assert "Reading the configuration file, at line 2" in said
    assert ">>> 'prot 1'" in said


def test_an_unreadable_configuration(machine: Machine) -> None:
    machine.view().chown("/etc/redis/redis.conf", 0, 0)
    assert not manager.restart(machine, "redis-server").ok
    said = messages(machine, "redis-server.service")
    assert any(
        line.endswith("# Fatal error, can't open config file '/etc/redis/redis.conf': Permission denied")
        for line in said
    )


def test_a_password_is_asked_for(machine: Machine) -> None:
    machine.view().write("/etc/redis/redis.conf", b"requirepass s3cret\n", append=True)
    manager.restart(machine, "redis-server")
    assert ask(machine, "PING") == RedisError("NOAUTH Authentication required.")
    assert ask(machine, "AUTH s3cret") == "OK"
