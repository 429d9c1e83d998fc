from __future__ import annotations

import pytest

from runners.sim.network.firewall import (
    EMPTY_TABLES,
    FirewallError,
    Packet,
    parse_rule,
    redirected,
    restore,
    rule_text,
    save,
    verdict,
)

WEB = Packet("198.51.100.7", "10.0.0.10", "tcp", 80, 40000, "eth0")


def tables(*lines: str) -> object:
    return restore(["*filter", ":INPUT ACCEPT", ":OUTPUT ACCEPT", *lines, "COMMIT"])


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], "ACCEPT"),
        (["-A INPUT -p tcp --dport 80 -j DROP"], "DROP"),
        (["-A INPUT -p tcp --dport 443 -j DROP"], "ACCEPT"),
        (["-A INPUT -p udp --dport 80 -j DROP"], "ACCEPT"),
        (["-A INPUT -s 198.51.100.0/24 -j REJECT"], "REJECT"),
        (["-A INPUT ! -s 198.51.100.0/24 -j REJECT"], "ACCEPT"),
        (["-A INPUT -i lo -j DROP"], "ACCEPT"),
        (["-A INPUT -i eth+ -j DROP"], "DROP"),
        (["-A INPUT -p tcp -m multiport --dports 22,80:90 -j DROP"], "DROP"),
        (["-A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT", "-A INPUT -j DROP"], "DROP"),
        (["-A INPUT -j LOG", "-A INPUT -j ACCEPT", "-A INPUT -j DROP"], "ACCEPT"),
        ([":WEB -", "-A INPUT -j WEB", "-A WEB -p tcp --dport 80 -j DROP"], "DROP"),
        ([":WEB -", "-A INPUT -j WEB", "-A WEB -j RETURN", "-A INPUT -j DROP"], "DROP"),
    ],
)
def test_verdicts(lines: list[str], expected: str) -> None:
    assert verdict(tables(*lines), "INPUT", WEB) == expected  # type: ignore[arg-type]


def test_the_policy_decides_last() -> None:
    assert verdict(restore(["*filter", ":INPUT DROP", "COMMIT"]), "INPUT", WEB) == "DROP"


@pytest.mark.parametrize(
    ("given", "saved"),
    [
        ("-p tcp --dport 80 -j DROP", "-p tcp -m tcp --dport 80 -j DROP"),
        ("-s 10.0.0.5 -j ACCEPT", "-s 10.0.0.5/32 -j ACCEPT"),
        ("-p tcp --dport http -j REJECT", "-p tcp -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable"),
        ("-m comment --comment 'two words' -j ACCEPT", '-m comment --comment "two words" -j ACCEPT'),
    ],
)
def test_rules_print_as_iptables_saves_them(given: str, saved: str) -> None:
    words = [part.strip("'") for part in given.replace("two words", "two\0words").split()]
    assert rule_text(parse_rule([word.replace("\0", " ") for word in words])) == saved


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("--dport 80 -j DROP", 'unknown option "--dport"'),
        ("-p nonsense -j DROP", "unknown protocol `nonsense' specified"),
        ("-s here -j DROP", "host/network `here' not found"),
        ("-p tcp --dport many -j DROP", "invalid port/service `many' specified"),
        ("-j", 'option "-j" requires an argument'),
        ("stray", "Bad argument `stray'"),
    ],
)
def test_wrong_rules_are_refused_in_iptables_words(given: str, message: str) -> None:
    with pytest.raises(FirewallError) as caught:
        parse_rule(given.split())
    assert str(caught.value) == message


def test_saving_and_restoring_agree() -> None:
    lines = ["*filter", ":INPUT DROP [0:0]", ":FORWARD ACCEPT [0:0]", ":OUTPUT ACCEPT [0:0]", ":WEB - [0:0]",
             "-A INPUT -j WEB", "-A WEB -p tcp -m tcp --dport 80 -j ACCEPT", "COMMIT"]  # fmt: skip
    assert list(save(restore(lines))) == lines
    assert list(save(EMPTY_TABLES)) == []


def test_nat_redirects_ports() -> None:
    nat = restore(
        ["*nat", ":PREROUTING ACCEPT", "-A PREROUTING -p tcp --dport 80 -j REDIRECT --to-ports 8080", "COMMIT"]
    )
    assert redirected(nat, "PREROUTING", WEB) == ("10.0.0.10", 8080)
