from __future__ import annotations

import pytest

from runners.sim.machine import Machine
from runners.sim.network.firewall import parse_rule, with_chain
from runners.sim.network.names import ResolveFailure, query, resolve
from tests.runners.sim.servers import server


@pytest.fixture
def machine() -> Machine:
    return server()


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("localhost", "127.0.0.1"),
        ("web-01", "127.0.1.1"),
        ("db-primary", "10.0.0.10"),
        ("db-replica", "10.0.0.12"),
        ("cache-01", "10.0.0.10"),
        ("api.example.com", "203.0.113.20"),
        ("192.0.2.1", "192.0.2.1"),
    ],
)
def test_the_systems_names(machine: Machine, name: str, address: str) -> None:
    assert resolve(machine, name) == address


def test_unknown_names_are_not_known(machine: Machine) -> None:
    failure = resolve(machine, "nowhere.example.org")
    assert isinstance(failure, ResolveFailure)
    assert failure.message == "Name or service not known"


def test_hosts_goes_before_dns_as_nsswitch_says(machine: Machine) -> None:
    view = machine.view()
    view.write("/etc/hosts", b"192.0.2.7 db-primary\n", append=True)
    assert resolve(machine, "db-primary") == "192.0.2.7"
    view.write("/etc/nsswitch.conf", b"hosts: dns files\n")
    assert resolve(machine, "db-primary") == "10.0.0.10"
    view.write("/etc/nsswitch.conf", b"hosts: files\n")
    assert isinstance(resolve(machine, "db-replica"), ResolveFailure)


def test_without_a_server_that_answers_it_is_a_temporary_failure(machine: Machine) -> None:
    machine.view().write("/etc/resolv.conf", b"nameserver 10.9.9.9\noptions timeout:1 attempts:1\n")
    failure = resolve(machine, "db-primary")
    assert isinstance(failure, ResolveFailure)
    assert failure.message == "Temporary failure in name resolution"
    assert failure.seconds >= 1


def test_the_search_list_completes_short_names(machine: Machine) -> None:
    machine.view().write("/etc/resolv.conf", b"nameserver 10.0.0.2\n")
    assert isinstance(resolve(machine, "bastion"), ResolveFailure)
    machine.view().write("/etc/resolv.conf", b"search example.com\nnameserver 10.0.0.2\n")
    assert resolve(machine, "bastion") == "10.0.3.5"


def test_a_firewall_can_cut_off_the_name_servers(machine: Machine) -> None:
    output = machine.network.tables["filter"]["OUTPUT"]
    rule = parse_rule(["-p", "udp", "--dport", "53", "-j", "DROP"])
    machine.network.tables = with_chain(machine.network.tables, "filter", output._replace(rules=(rule,)))
    assert query(machine, "db-primary", "10.0.0.2").status == ""
    assert isinstance(resolve(machine, "db-primary"), ResolveFailure)


def test_queries_answer_as_a_server_does(machine: Machine) -> None:
    assert query(machine, "db-replica", "10.0.0.2").records == (("db-replica", "A", "10.0.0.12"),)
    assert query(machine, "none", "10.0.0.2").status == "NXDOMAIN"
    assert query(machine, "12.0.0.10.in-addr.arpa", "10.0.0.2", "PTR").records[0][2] == "db-replica."
