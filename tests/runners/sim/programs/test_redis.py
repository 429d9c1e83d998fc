from __future__ import annotations

import pytest

from runners.sim.files.content import Content
from runners.sim.machine import Machine
from runners.sim.network.connect import Connection, connect
from runners.sim.programs.redis_data import RedisError, RedisRequest, RedisSession, decode
from runners.sim.systemd import manager
from tests.runners.sim.admin.line import Terminal
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


@pytest.mark.parametrize(
    ("commands", "replies"),
    [
        ("SET k v EX 100|TTL k|PTTL k|PERSIST k|TTL k|TTL nothing", ["OK", 100, 100000, 1, -1, -2]),
        ("SET k v EX 0", [RedisError("ERR invalid expire time in 'set' command")]),
        ("SET k v NX|SET k w NX|SET k w XX GET|GET k", ["OK", None, "v", "w"]),
        ("SET k v FOO", [RedisError("ERR syntax error")]),
        ("SET k foo|INCR k", ["OK", RedisError("ERR value is not an integer or out of range")]),
        ("INCRBY k 5|DECR k|GETSET k foo|APPEND k bar|STRLEN k", [5, 4, "4", 6, 6]),
        ("MSET x 1 y 2|MGET x y z|RENAME x w|RENAME x w", ["OK", ("1", "2", None), "OK", RedisError("ERR no such key")]),
        ("HSET h a 1 b 2|HSET h a 3|HGET h a|HGETALL h|HDEL h a b|EXISTS h", [2, 0, "3", ("a", "3", "b", "2"), 2, 0]),
        ("HSET h a", [RedisError("ERR wrong number of arguments for 'hset' command")]),
        ("SADD s 2 1 2|SMEMBERS s|SISMEMBER s 1|SREM s 1|TYPE s", [2, ("1", "2"), 1, 1, "set"]),
        ("ZADD z 2 b 1 a|ZRANGE z 0 -1 WITHSCORES|ZSCORE z b|ZADD z inf c|ZSCORE z c", [2, ("a", "1", "b", "2"), "2", 1, "inf"]),
        ("RPUSH l 1 2 3|LPOP l 2|LTRIM l 5 9|EXISTS l", [3, ("1", "2"), "OK", 0]),
        ("EXPIRE nothing 5|SET k v|EXPIRE k -1|EXISTS k", [0, "OK", 1, 0]),
        ("CONFIG SET dir /nonsuch", [RedisError(
            "ERR CONFIG SET failed (possibly related to argument 'dir') - can't set protected config")]),
        ("CONFIG NONSUCH", [RedisError("ERR unknown subcommand 'NONSUCH'. Try CONFIG HELP.")]),
        ("ROLE|OBJECT ENCODING nothing", [("master", 0, ()), None]),
    ],
)  # fmt: skip
def test_what_commands_answer(machine: Machine, commands: str, replies: list[object]) -> None:
    assert [ask(machine, command) for command in commands.split("|")] == replies


def test_keys_expire_as_the_clock_goes(machine: Machine) -> None:
    ask(machine, "SET k v EX 10")
    machine.advance(9)
    assert ask(machine, "GET k") == "v"
    assert ask(machine, "TTL k") == 1
    machine.advance(1)
    assert (ask(machine, "GET k"), ask(machine, "TTL k"), ask(machine, "EXISTS k")) == (None, -2, 0)


def test_what_a_snapshot_holds_comes_back(machine: Machine) -> None:
    for command in ("HSET h a 1", "SADD s x", "ZADD z 1.5 m", "RPUSH l 1 2", "SET k v EX 1000"):
        ask(machine, command)
    manager.restart(machine, "redis-server")
    assert ask(machine, "HGETALL h") == ("a", "1")
    assert ask(machine, "SMEMBERS s") == ("x",)
    assert ask(machine, "ZSCORE z m") == "1.5"
    assert ask(machine, "LRANGE l 0 -1") == ("1", "2")
    assert 990 < int(str(ask(machine, "TTL k"))) <= 1000


@pytest.mark.parametrize(
    "text", [b"", b"REDIS", b"REDIS\xfe\x00{\xff", b'REDIS\xfe\x00{"a":{}}\xff', b'REDIS\xfe\x00{"a":{"at":NaN,"value":"1"}}\xff',
             b'REDIS\xfe\x00[1]\xff', b'REDIS\xfe\x00{"a":{"zset":3}}\xff', b"REDIS\xfe\x00" + b"[" * 100_000 + b"\xff"]
)  # fmt: skip
def test_what_is_no_snapshot_is_not_loaded(text: bytes) -> None:
    assert decode(text) is None


def test_a_transaction_runs_whole_or_not_at_all(machine: Machine) -> None:
    session = RedisSession()
    link = connect(machine, "127.0.0.1", 6379)
    assert isinstance(link, Connection)
    assert link.process is not None
    program, pid = machine.programs["redis-server"], link.process.pid

    def say(line: str) -> object:
        process = machine.processes.get(pid)
        assert process is not None
        return program.serve(machine, process, RedisRequest(tuple(line.split()), None, session), link)

    assert [say(one) for one in ("MULTI", "SET a 1", "INCR a", "EXEC")] == ["OK", "QUEUED", "QUEUED", ("OK", 2)]
    assert [say(one) for one in ("MULTI", "SET a 9", "NONSUCH")][-1] == RedisError(
        "ERR unknown command 'NONSUCH', with args beginning with: "
    )
    assert say("EXEC") == RedisError("EXECABORT Transaction discarded because of previous errors.")
    assert say("GET a") == "2"
    assert say("SELECT 3") == "OK"
    assert say("DBSIZE") == 0
    assert say("SELECT 99") == RedisError("ERR DB index is out of range")


@pytest.mark.parametrize(
    ("sent", "back"),
    [
        (b"PING\r\n", b"+PONG\r\n"),
        (b"SET q 'a b'\r\nGET q\r\nGET nothing\r\nINCR n\r\nKEYS q\r\n", b"+OK\r\n$3\r\na b\r\n$-1\r\n:1\r\n*1\r\n$1\r\nq\r\n"),
        (b"*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n", b"$2\r\nhi\r\n"),
        (b'GET "a\r\nPING\r\n', b"-ERR Protocol error: unbalanced quotes in request\r\n"),
        (b"*x\r\n", b"-ERR Protocol error: invalid multibulk length\r\n"),
        (b"QUIT\r\nPING\r\n", b"+OK\r\n"),
    ],
)  # fmt: skip
def test_the_protocol_as_nc_sees_it(sent: bytes, back: bytes) -> None:
    sh = Terminal()
    sh.machine.view().write("/tmp/sent", sent)
    assert sh("nc -q1 127.0.0.1 6379 < /tmp/sent").out == back.decode()


def test_redis_cli_says_what_goes_wrong_before_its_command() -> None:
    sh = Terminal()
    assert sh("redis-cli -n 3 dbsize").out == "0\n"
    chosen = sh("redis-cli -n 99 ping")
    assert (chosen.out, chosen.err) == ("PONG\n", "SELECT 99 failed: ERR DB index is out of range\n")
    told = sh("redis-cli --no-auth-warning -a foo ping")
    assert (told.out, told.err[:12]) == ("PONG\n", "AUTH failed:")
    sh("redis-cli config set requirepass pw")
    assert sh("redis-cli --no-auth-warning -a foo ping").out == "NOAUTH Authentication required.\n\n"
    assert sh("redis-cli --no-auth-warning -a pw ping").out == "PONG\n"
