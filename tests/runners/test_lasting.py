"""What counts as lasting, the same in every kind of world."""

from __future__ import annotations

from runners.lasting import firewall_facts

DROP = "-A INPUT -p tcp -m tcp --dport 5432 -j DROP"
LIMITED = "-A INPUT -m limit --limit 5/min -j ACCEPT"
COUNTED = "-A INPUT -p tcp"


def facts(*rules: str, counters: str = "[0:0]") -> dict[str, str]:
    return firewall_facts(
        ["# Generated", "*filter", f":INPUT ACCEPT {counters}", ":FORWARD DROP [0:0]", *rules, "COMMIT"]
    )


def test_each_chain_has_its_facts() -> None:
    assert set(facts(DROP)) == {"firewall:filter:INPUT", "firewall:filter:FORWARD"}
    assert facts(DROP)["firewall:filter:FORWARD"] == facts()["firewall:filter:FORWARD"]
    assert facts(DROP)["firewall:filter:INPUT"] != facts()["firewall:filter:INPUT"]


def test_packets_that_were_counted_are_no_change() -> None:
    assert facts(DROP, counters="[12:720]") == facts(DROP)


def test_a_rule_behind_its_equal_decides_nothing() -> None:
    assert facts(DROP, DROP) == facts(DROP)
    assert facts(LIMITED, LIMITED) != facts(LIMITED)
    assert facts(COUNTED, COUNTED) != facts(COUNTED)


def test_the_same_rule_in_another_table_is_another_rule() -> None:
    both = firewall_facts(["*raw", DROP, "*filter", DROP])
    assert both.keys() == {"firewall:raw:INPUT", "firewall:filter:INPUT"}
    assert both["firewall:raw:INPUT"] == both["firewall:filter:INPUT"]
