"""A decision that is kept is the one that the rules would make anew."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from runners.sim.network.decisions import Decisions
from runners.sim.network.firewall import EMPTY_TABLES, Chain, Packet, Tables, parse_rule, traverse, with_chain
from runners.sim.network.state import Network

PORTS = st.integers(1, 8)
SPANS = st.tuples(PORTS, PORTS).map(lambda two: f"{min(two)}:{max(two)}")
ADDRESSES = st.sampled_from(("127.0.0.1", "10.0.0.5", "10.0.1.9"))
MATCHES = st.one_of(
    st.tuples(st.just("-p tcp"), st.sampled_from(("--dport", "--sport")), st.one_of(PORTS.map(str), SPANS)),
    st.tuples(st.just("-p udp"), st.just("-m multiport --dports"), st.just("2,4:5")),
    st.tuples(st.sampled_from(("-s", "! -s", "-d")), st.sampled_from(("10.0.0.0/24", "127.0.0.1"))),
    st.tuples(st.sampled_from(("-i", "! -i", "-o")), st.sampled_from(("lo", "eth0", "eth+"))),
    st.tuples(st.just("-m state --state"), st.sampled_from(("NEW", "ESTABLISHED"))),
)
RULES = st.tuples(MATCHES, st.sampled_from(("ACCEPT", "DROP", "REJECT", "RETURN"))).map(
    lambda rule: parse_rule(f"{' '.join(rule[0])} -j {rule[1]}".split())
)
PACKETS = st.builds(
    Packet,
    source=ADDRESSES,
    destination=ADDRESSES,
    protocol=st.sampled_from(("tcp", "udp")),
    destination_port=PORTS,
    source_port=PORTS,
    in_interface=st.sampled_from(("", "lo", "eth0")),
    out_interface=st.sampled_from(("", "lo", "eth0")),
    state=st.sampled_from(("NEW", "ESTABLISHED")),
)


def tables_of(rules: tuple[object, ...], policy: str) -> Tables:
    return with_chain(EMPTY_TABLES, "filter", Chain("INPUT", policy, rules))  # type: ignore[arg-type]


@given(st.lists(RULES, max_size=6).map(tuple), st.sampled_from(("ACCEPT", "DROP")), st.lists(PACKETS, max_size=40))
@settings(max_examples=200, deadline=None)
def test_what_is_kept_is_what_the_rules_say(rules: tuple[object, ...], policy: str, packets: list[Packet]) -> None:
    tables = tables_of(rules, policy)
    decisions = Decisions(tables)
    for packet in packets:
        decision, passed = traverse(tables, "INPUT", packet)
        assert decisions.of("INPUT", packet) == (decision, tuple(passed))


def test_other_tables_decide_anew() -> None:
    network, packet = Network(), Packet("10.0.0.5", "127.0.0.1")
    assert network.decide("INPUT", packet)[0] == "ACCEPT"
    fork = network.fork()
    fork.tables = tables_of((), "DROP")
    assert fork.decide("INPUT", packet)[0] == "DROP"
    assert network.decide("INPUT", packet)[0] == "ACCEPT"
