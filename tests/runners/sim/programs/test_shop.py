from __future__ import annotations

import pytest

from runners.sim.files.content import Content
from runners.sim.machine import Machine
from runners.sim.network.http import HttpResponse, request
from runners.sim.systemd import manager
from tests.runners.sim.servers import messages, server


@pytest.fixture
def machine() -> Machine:
    return server()


def edit(machine: Machine, old: str, new: str) -> None:
    path = "/etc/shop/app.env"
    text = machine.view().text(path)
    assert old in text
    machine.view().write(path, text.replace(old, new).encode())


def status(machine: Machine, path: str, method: str = "GET", body: bytes = b"") -> int:
    answer = request(machine, method, f"http://localhost{path}", body=body)
    assert isinstance(answer, HttpResponse)
    return answer.status


def test_an_order_travels_through_database_and_queue(machine: Machine) -> None:
    order = b'{"customer": "Ines O\'Hara", "total": "12.50"}'
    assert status(machine, "/api/orders", "POST", order) == 201
    answer = request(machine, "GET", "http://localhost/api/orders")
    assert isinstance(answer, HttpResponse)
    assert b'"customer": "Ines O\'Hara", "total": "12.50"' in answer.body
    machine.advance(70)
    assert "processed 1 jobs" in machine.view().text("/var/log/shop/worker.log").splitlines()[-1]


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"no", b'{"customer": "x"}', b'{"customer": "x", "total": "y"}'])
def test_what_is_no_order_is_turned_down(machine: Machine, body: bytes) -> None:
    assert status(machine, "/api/orders", "POST", body) == 400


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("SECRET_KEY_FILE=/etc/shop/secret.key", "SECRET_KEY_FILE=/etc/shop/none",
         "shop: cannot read secret key: [Errno 2] No such file or directory: '/etc/shop/none'"),
        ("DATABASE_URL=", "DATABASE_ULR=", "shop: configuration error: missing required setting: DATABASE_URL"),
        ("LISTEN=127.0.0.1:8000", "LISTEN=127.0.0.1:5432", "shop: [Errno 98] Address already in use: 127.0.0.1:5432"),
        ("redis://", "rediss://", "shop: configuration error: invalid REDIS_URL: 'rediss://cache-01:6379/0'"),
    ],
)  # fmt: skip
def test_what_keeps_it_from_starting(machine: Machine, old: str, new: str, said: str) -> None:
    edit(machine, old, new)
    manager.restart(machine, "shop")
    assert said in messages(machine, "shop.service")
    assert status(machine, "/api/orders") == 502


def test_a_wrong_password_shows_in_its_log(machine: Machine) -> None:
    edit(machine, "espresso-2231", "decaf")
    manager.restart(machine, "shop")
    assert status(machine, "/api/orders") == 502
    assert 'FATAL:  password authentication failed for user "shop"' in machine.view().text("/var/log/shop/app.log")


def test_it_ends_when_it_cannot_write_its_log(machine: Machine) -> None:
    mount = next(one for one in machine.files.mounts if one.path == "/var/log")
    machine.view().write("/var/log/fill", Content.filled(b"\0", machine.files.free(mount).bytes // 4096 * 4096))
    machine.advance(600)  # its last block has room for a few more minutes
    state = manager.state_of(machine, "shop")
    assert (state.active, state.exit_status) == ("failed", 74)
    assert "shop: fatal: cannot write log: [Errno 28] No space left on device: '/var/log/shop/app.log'" in messages(
        machine, "shop.service"
    )
    machine.view().unlink("/var/log/fill")
    manager.start(machine, "shop")
    assert status(machine, "/health") == 200


def test_too_few_connections(machine: Machine) -> None:
    path = "/etc/postgresql/15/main/postgresql.conf"
    text = machine.view().text(path).replace("max_connections = 100", "max_connections = 3")
    machine.view().write(path, text.encode())
    manager.restart(machine, "postgresql")
    assert status(machine, "/api/orders") == 502
    assert "remaining connection slots are reserved" in machine.view().text("/var/log/shop/app.log")


def test_a_limit_on_open_files_is_felt(machine: Machine) -> None:
    path = "/etc/systemd/system/shop.service"
    text = machine.view().text(path).replace("LimitNOFILE=4096", "LimitNOFILE=10")
    machine.view().write(path, text.encode())
    manager.daemon_reload(machine)
    manager.restart(machine, "shop")
    assert status(machine, "/api/orders") == 502
    assert "accept: [Errno 24] Too many open files" in machine.view().text("/var/log/shop/app.log")
