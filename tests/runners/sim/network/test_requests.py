"""A request on its whole way: client, firewall, nginx, application, database and cache, and where each can break it."""

from __future__ import annotations

import pytest

from runners.sim.lifecycle import signal
from runners.sim.machine import Machine
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.network.firewall import parse_rule, with_chain
from runners.sim.network.http import HttpFailure, HttpResponse, request
from runners.sim.systemd import manager
from tests.runners.sim.servers import server


@pytest.fixture
def machine() -> Machine:
    return server()


def get(machine: Machine, url: str, **named: str) -> HttpResponse:
    answer = request(machine, "GET", url, **named)  # type: ignore[arg-type]
    assert isinstance(answer, HttpResponse), answer
    return answer


def rule(machine: Machine, chain: str, text: str) -> None:
    old = machine.network.tables["filter"][chain]
    machine.network.tables = with_chain(
        machine.network.tables, "filter", old._replace(rules=(parse_rule(text.split()), *old.rules))
    )


@pytest.mark.parametrize(
    ("url", "status", "text"),
    [
        ("http://localhost/", 200, b"House Blend"),
        ("http://localhost/health", 200, b'"status": "ok"'),
        ("http://localhost/api/orders", 200, b"Rosa Leclerc"),
        ("https://shop.example.com/health", 200, b"ok"),
        ("http://localhost/static/shop.css", 200, b"font-family"),
        ("http://localhost/.git/config", 403, b"403 Forbidden"),
        ("http://localhost/static/none.css", 404, b"404 Not Found"),
        ("http://127.0.0.1:8081/nginx_status", 200, b"Active connections"),
        ("http://127.0.0.1:8000/nothing", 404, b"not found"),
    ],
)
def test_healthy_answers(machine: Machine, url: str, status: int, text: bytes) -> None:
    answer = get(machine, url)
    assert answer.status == status
    assert text in answer.body


def test_each_request_stands_in_the_access_log(machine: Machine) -> None:
    get(machine, "http://shop.example.com/health", source="198.51.100.7")
    last = machine.view().text("/var/log/nginx/access.log").splitlines()[-1]
    assert last == '198.51.100.7 - - [14/Mar/2026:09:24:17 +0000] "GET /health HTTP/1.1" 200 49 "-" "-"'


def test_without_the_database_the_shop_says_so(machine: Machine) -> None:
    signal(machine, manager.state_of(machine, "postgresql").main_pid, 9)
    assert get(machine, "http://localhost/api/orders").status == 502
    health = get(machine, "http://localhost/health")
    assert health.status == 503
    assert b"port 5432 failed: Connection refused" in health.body
    manager.start(machine, "postgresql")
    assert get(machine, "http://localhost/api/orders").status == 200


def test_without_the_application_nginx_answers_502_and_says_why(machine: Machine) -> None:
    manager.stop(machine, "shop")
    assert get(machine, "http://localhost/api/orders").status == 502
    last = machine.view().text("/var/log/nginx/error.log").splitlines()[-1]
    assert "connect() failed (111: Connection refused) while connecting to upstream, client: 127.0.0.1" in last
    assert 'upstream: "http://127.0.0.1:8000/api/orders", host: "localhost"' in last


def test_a_frozen_application_times_out(machine: Machine) -> None:
    signal(machine, manager.state_of(machine, "shop").main_pid, 19)
    answer = get(machine, "http://localhost/api/orders")
    assert answer.status == 504
    assert answer.seconds >= 5


def test_without_nginx_the_port_is_refused(machine: Machine) -> None:
    manager.stop(machine, "nginx")
    failure = request(machine, "GET", "http://localhost/")
    assert isinstance(failure, HttpFailure)
    assert (failure.kind, failure.message) == ("refused", "Connection refused")


@pytest.mark.parametrize(
    ("text", "source", "kind"),
    [
        ("-p tcp --dport 80 -j DROP", "198.51.100.7", "timeout"),
        ("-p tcp --dport 80 -j REJECT", "198.51.100.7", "refused"),
        ("-p tcp --dport 80 -j DROP", "127.0.0.1", "timeout"),
        ("-i eth0 -p tcp --dport 80 -j DROP", "127.0.0.1", None),
    ],
)
def test_the_firewall_decides_who_comes_in(machine: Machine, text: str, source: str, kind: str | None) -> None:
    rule(machine, "INPUT", text)
    answer = request(machine, "GET", "http://shop.example.com/health", source=source)
    assert (answer.kind if isinstance(answer, HttpFailure) else None) == kind


def test_who_is_rejected_learns_it_at_once(machine: Machine) -> None:
    rule(machine, "OUTPUT", "-p tcp --dport 6379 -j REJECT")
    failure = connect(machine, "127.0.0.1", 6379)
    assert isinstance(failure, ConnectFailure)
    assert (failure.kind, failure.seconds < 0.1) == ("refused", True)
    rule(machine, "OUTPUT", "-p tcp --dport 6379 -j DROP")
    failure = connect(machine, "127.0.0.1", 6379, timeout=30.0)
    assert isinstance(failure, ConnectFailure)
    assert (failure.kind, failure.seconds) == ("timeout", 30.0)


def test_outsiders_do_not_reach_the_database(machine: Machine) -> None:
    failure = connect(machine, "10.0.0.10", 5432, source="198.51.100.7")
    assert isinstance(failure, ConnectFailure)
    assert failure.kind == "timeout"
    assert not isinstance(connect(machine, "10.0.0.10", 5432, source="10.0.0.31"), ConnectFailure)


def test_other_machines_answer_on_their_ports_only(machine: Machine) -> None:
    assert not isinstance(connect(machine, "db-replica", 5432), ConnectFailure)
    refused = connect(machine, "db-replica", 80)
    assert isinstance(refused, ConnectFailure)
    assert refused.kind == "refused"
    lost = connect(machine, "192.0.2.200", 80)
    assert isinstance(lost, ConnectFailure)
    assert lost.kind == "timeout"
    assert get(machine, "https://api.example.com/v1").body.startswith(b'{"status"')
    machine.network.routes = ()
    cut = connect(machine, refused.address, 5432)
    assert isinstance(cut, ConnectFailure)
    assert cut.message == "Network is unreachable"


def test_plain_and_secure_ports_do_not_mix(machine: Machine) -> None:
    assert b"The plain HTTP request was sent to HTTPS port" in get(machine, "http://localhost:443/").body
    failure = request(machine, "GET", "https://localhost:80/")
    assert isinstance(failure, HttpFailure)
    assert failure.kind == "tls"
