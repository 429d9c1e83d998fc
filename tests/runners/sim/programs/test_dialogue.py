"""What comes back on an open connection, byte for byte."""

from __future__ import annotations

import pytest

from runners.sim.machine import Machine
from runners.sim.network.connect import Connection, connect
from runners.sim.programs.dialogue import Dialogue
from runners.sim.systemd import manager
from tests.runners.sim.servers import server


def opened(machine: Machine, port: int) -> Dialogue:
    link = connect(machine, "127.0.0.1", port)
    assert isinstance(link, Connection)
    return Dialogue(machine, link)


def test_redis_speaks_its_protocol() -> None:
    dialogue = opened(server(), 6379)
    dialogue.send(b"PING\r\nSET a 1\r\nINCR a\nGET a\r\nGET nothing\r\nLPUSH q x\r\nLRANGE q 0 -1\r\nNO\r\n\r\nPI")
    known, _, unknown = dialogue.answer.partition(b"-ERR")
    assert known == b"+PONG\r\n+OK\r\n:2\r\n$1\r\n2\r\n$-1\r\n:1\r\n*1\r\n$1\r\nx\r\n"
    assert unknown.startswith(b" unknown command 'NO'")
    dialogue.answer.clear()
    dialogue.send(b"NG\r\n*2\r\n$4\r\nPING\r\n$2\r\nh")
    assert dialogue.answer == b"+PONG\r\n"
    dialogue.send(b"i\r\nQUIT\r\n")
    assert dialogue.answer == b"+PONG\r\n$2\r\nhi\r\n+OK\r\n"
    assert dialogue.ended


def test_a_password_counts_for_the_connection_that_gave_it() -> None:
    machine = server()
    machine.view().write("/etc/redis/redis.conf", b"requirepass s3cret\n", append=True)
    manager.restart(machine, "redis-server")
    dialogue = opened(machine, 6379)
    dialogue.send(b"PING\r\nAUTH s3cret\r\nPING\r\n")
    assert dialogue.answer == b"-NOAUTH Authentication required.\r\n+OK\r\n+PONG\r\n"


def test_a_web_server_keeps_the_connection_where_it_is_asked_to() -> None:
    dialogue = opened(server(), 80)
    dialogue.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r")
    assert not dialogue.answer
    dialogue.send(b"\nHEAD / HTTP/1.0\r\n\r\n")
    first, _, rest = dialogue.answer.partition(b"\r\n\r\n")
    assert b"Connection: keep-alive" in first
    assert rest.count(b"HTTP/1.1 ") == 1
    assert rest.endswith(b"\r\n\r\n")
    assert b"Connection: close" in rest
    assert dialogue.ended
    with pytest.raises(BrokenPipeError):
        dialogue.send(b"GET / HTTP/1.1\r\n\r\n")


def test_a_server_that_ended_takes_nothing_more() -> None:
    machine = server()
    dialogue = opened(machine, 6379)
    manager.stop(machine, "redis-server")
    with pytest.raises(BrokenPipeError):
        dialogue.send(b"PING\r\n")
