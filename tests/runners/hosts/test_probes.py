"""What probes make of a world, without an engine: this process and a folder of ours stand for the world."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runners.hosts import lingering, wellness
from runners.hosts.dbus import DBusError
from runners.hosts.engine import Engine
from runners.hosts.files import Files
from runners.hosts.kernel_view import Process
from runners.hosts.lingering import unowned
from runners.hosts.manager import Unit
from runners.hosts.outside import Baseline, Outside
from runners.hosts.probes.evaluate import evaluate
from runners.hosts.probes.network import programs_on
from runners.hosts.probes.redis import RedisError, ask, password
from runners.hosts.sockets import Listener
from runners.worlds import Observation
from scenario_dsl.model import Probe
from tests.conformance.worlds import probe

_ME = Process(pid=os.getpid(), inner=1, name="me", argv=("me",), state="S", uid=0, rss=0, started="")


def unit_of(file: str) -> Unit:
    return Unit(name="me.service", active="active", load="loaded", file=file, main=1, restarts=0)


@pytest.fixture
def outside() -> Iterator[SimpleNamespace]:
    files = Files(os.getpid(), 0)
    yield SimpleNamespace(
        files=files,
        covered=lambda path: None,
        now=time.time,
        baseline=Baseline(),
        processes=lambda: (_ME,),
        manager=SimpleNamespace(unit=lambda name: unit_of("enabled"), memory_limit=lambda name: 64 << 20),
    )
    files.close()


def seen(outside: SimpleNamespace, kind: str, **arguments: object) -> Observation:
    return evaluate(cast(Outside, outside), probe(kind, **arguments))


# -- files


@pytest.mark.parametrize(
    "expected",
    [{"lacks": "x"}, {"size_at_most": 100}, {"readable_by_others": False}, {"contains": "x"}, {"size_at_least": 0}],
)
def test_a_link_that_leads_nowhere_has_no_content(
    expected: dict[str, object], outside: SimpleNamespace, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nothing")
    observation = seen(outside, "file", path=str(link), **expected)
    assert not observation.holds
    assert observation.detail == f"{link} leads nowhere"
    assert seen(outside, "file", path=str(link), exists=True, type="link").holds


@pytest.mark.parametrize(("content", "lines"), [("", 0), ("a\n", 1), ("a\n\n", 2), ("a\nb", 2)])
def test_the_end_of_the_last_line_begins_no_other(
    content: str, lines: int, outside: SimpleNamespace, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.write_text(content)
    counted = probe("log", path=str(log), matches="^", count_at_least=lines, count_at_most=lines)
    observation = evaluate(cast(Outside, outside), counted)
    assert observation.holds, observation.detail


# -- services


@pytest.mark.parametrize(
    ("file", "starts"),
    [("enabled", True), ("enabled-runtime", True), ("alias", True), ("linked", False), ("static", False), ("", False)],
)
def test_what_is_linked_does_not_start_at_boot(file: str, starts: bool, outside: SimpleNamespace) -> None:
    outside.manager.unit = lambda name: unit_of(file)
    assert seen(outside, "unit", name="me", enabled=starts).holds
    assert not seen(outside, "unit", name="me", enabled=not starts).holds


def test_each_limit_can_be_asked_for(outside: SimpleNamespace) -> None:
    for name in ("nofile", "nproc", "core", "fsize", "stack", "as"):
        observation = seen(outside, "limit", unit="me", name=name, at_least=0)
        assert observation.holds, observation.detail
    assert seen(outside, "limit", unit="me", name="memory", at_least="64MB").holds
    less = seen(outside, "limit", unit="me", name="memory", at_least="68MB")
    assert (less.holds, less.detail) == (False, f"memory of me.service is {64 << 20}")
    outside.manager.memory_limit = lambda name: None
    assert seen(outside, "limit", unit="me", name="memory", at_least="1TB").holds


# -- a machine that comes up


def test_what_belongs_on_a_machine_is_looked_at_once_all_have_answered(
    outside: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    @contextmanager
    def still() -> Iterator[None]:
        begun.append("look")
        yield

    def evaluate_late(_outside: Outside, asked: Probe) -> Observation:
        """The site answers when it is asked for the second time."""
        begun.append(str(asked.arguments.get("url") or asked.type))
        return Observation(holds=begun.count("site") != 1 or begun[-1] != "site", detail="it does not answer")

    outside.box = SimpleNamespace(runs=lambda: True)
    outside.pid, outside.still, outside.remember = os.getpid(), still, lambda: begun.append("remember")
    monkeypatch.setattr(wellness, "evaluate", evaluate_late)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        healthy = (probe("socket", port=port, listening=True), probe("http", url="site", status=200))
        asked = (*healthy, probe("http", url="page", status=200))
        wellness.wait_until_well(cast(Outside, outside), healthy, asked, lambda: begun.append("all listen"))
    assert begun == ["all listen", "site", "site", "look", "socket", "remember", "page"]


def test_nobody_waits_for_a_machine_that_has_ended(outside: SimpleNamespace) -> None:
    outside.pid, outside.box = os.getpid(), SimpleNamespace(runs=lambda: False)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listens = (probe("socket", port=taken.getsockname()[1], listening=True),)
    begun = time.monotonic()
    with pytest.raises(DBusError, match="ended before it was well"):
        wellness.wait_until_well(cast(Outside, outside), listens, (), lambda: None)
    assert time.monotonic() - begun < 10


# -- the way of a request


def test_who_shares_a_port_may_have_answered_in_anothers_place(outside: SimpleNamespace) -> None:
    def held(*pids: int) -> Listener:
        return Listener(protocol="tcp", address="127.0.0.1", port=8080, pids=pids)

    outside.pid = 1
    outside.processes = lambda: tuple(replace(_ME, pid=pid) for pid in (1, 2, 3, 4))
    outside.program = lambda process: {1: "systemd", 2: "shop", 3: "shop", 4: "another"}[process.pid]
    for holders, programs in (
        ((2, 3), {"shop"}),
        ((1, 2), {"shop"}),
        ((2, 4), {"shop", "another"}),
    ):
        outside.listeners = lambda running, holders=holders: (held(*holders),)
        assert programs_on(cast(Outside, outside), frozenset({8080})) == {frozenset(programs)}
        assert programs_on(cast(Outside, outside), frozenset({8000})) == frozenset()


# -- what goes on


def test_what_the_shell_has_begun_gets_a_moment_to_end(outside: SimpleNamespace) -> None:
    outside.pid = 0
    with subprocess.Popen(["sleep", "0.3"]) as short, subprocess.Popen(["sleep", "60"]) as long:
        running = {short.pid: short, long.pid: long}
        outside.processes = lambda: tuple(
            replace(_ME, pid=pid, inner=pid, argv=("sleep",)) for pid, one in running.items() if one.poll() is None
        )
        try:
            assert unowned(cast(Outside, outside), 0).keys() == {f"{short.pid} since ", f"{long.pid} since "}
            assert unowned(cast(Outside, outside), os.getpid()).keys() == {f"{long.pid} since "}
        finally:
            long.kill()


def test_what_ends_while_it_is_looked_at_is_not_left_running(
    outside: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside.pid = 0
    with subprocess.Popen(["sleep", "60"]) as ending:
        seen = replace(_ME, pid=ending.pid, argv=("sleep",))
        outside.processes = lambda: () if ending.poll() is not None else (seen,)

        def ends_now(_pid: int) -> bool:
            ending.kill()
            ending.wait()
            return False

        monkeypatch.setattr(lingering, "_in_service", ends_now)
        assert unowned(cast(Outside, outside), os.getpid()) == {}


def test_a_shell_speaks_before_the_engine_has_written_down_its_number() -> None:
    answers = iter((0, None, 4711))
    engine = Engine(cast(Any, SimpleNamespace(exec_inspect=lambda _name: {"Pid": next(answers)})), "")
    assert engine.exec_pid("shell") == 4711


# -- redis


def answered(replies: dict[bytes, bytes], command: list[str], secret: str | None = None) -> str | None:
    """What our client makes of a server that gives these replies to these words."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with theirs, theirs.makefile("rb") as stream:
            while head := stream.readline():
                words = []
                for _ in range(int(head[1:])):
                    words.append(stream.read(int(stream.readline()[1:]) + 2)[:-2])
                theirs.sendall(replies[b" ".join(words)])

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with ours, ours.makefile("rwb") as stream:
            return ask(stream, command, secret)
    finally:
        thread.join()


def test_answers_of_redis() -> None:
    get = ["GET", "colour"]
    assert answered({b"PING": b"+PONG\r\n"}, ["PING"]) == "PONG"
    assert answered({b"GET colour": b"$4\r\nblue\r\n"}, get) == "blue"
    assert answered({b"GET colour": b"$-1\r\n"}, get) is None
    assert answered({b"KEYS *": b"*3\r\n$1\r\na\r\n:7\r\n$-1\r\n"}, ["KEYS", "*"]) == "a 7 None"


@pytest.mark.parametrize("reply", [b"-NOAUTH Authentication required.\r\n", b"-ERR unknown command\r\n"])
def test_an_error_of_redis_is_no_answer(reply: bytes) -> None:
    with pytest.raises(RedisError, match=reply[1:-2].decode()):
        answered({b"PING": reply}, ["PING"])


@pytest.mark.parametrize("reply", [b"\r\n", b"$x\r\n", b"nonsense\r\n", b"*1\r\n" * 99, b"$99999999999\r\n"])
def test_what_is_no_reply_of_redis(reply: bytes) -> None:
    with pytest.raises(OSError, match="does not answer"):
        answered({b"PING": reply}, ["PING"])


def test_redis_gets_the_password_that_its_configuration_names() -> None:
    secret = password('port 6379\nrequirepass old\n# requirepass none\n  RequirePass "s3cret"\n')
    assert secret == "s3cret"
    assert password("port 6379\n") is None
    replies = {b"AUTH s3cret": b"+OK\r\n", b"PING": b"+PONG\r\n"}
    assert answered(replies, ["PING"], secret) == "PONG"
    # A server that wants none is asked all the same.
    assert answered({**replies, b"AUTH s3cret": b"-ERR AUTH without any password\r\n"}, ["PING"], secret) == "PONG"
