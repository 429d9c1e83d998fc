"""Probe types: what others get from a machine, and it from them."""

from __future__ import annotations

from scenario_dsl.probes.shape import ProbeType, may, must

HTTP = ProbeType(
    name="http",
    doc="An HTTP request from outside, as a client of the system makes it. Without `status`, any answer below 400.",
    example={"url": "http://localhost/health", "status": 200},
    parameters=(
        must("url", "url", "what is asked for"),
        may("status", "integer", "the status code of the answer"),
        may("body_matches", "regex", "found somewhere in the answer's body"),
        may("header", "mapping", "headers of the answer: name to a regular expression"),
        may("within", "duration", "the longest time the answer may take"),
        may(
            "method", "string", "the request's method", choices=("GET", "HEAD", "POST", "PUT", "DELETE"), default="GET"
        ),
        may("host", "string", "the Host header, where it is not the address's own"),
    ),
)
SOCKET = ProbeType(
    name="socket",
    doc="Whether something listens on a port.",
    example={"port": 5432, "listening": True},
    presence="listening",
    only_of_present=("process", "address"),
    parameters=(
        must("port", "port", "the port"),
        must("listening", "boolean", "whether something listens there"),
        may("protocol", "string", "the protocol", choices=("tcp", "udp"), default="tcp"),
        may("address", "string", "the address it listens on"),
        may("process", "string", "the program that listens"),
    ),
)
SSH = ProbeType(
    name="ssh",
    doc="What an SSH server lets somebody from outside try: no answer is not what was expected, whatever that was.",
    example={"user": "deploy", "passwords": False},
    at_least_one=("passwords", "keys"),
    parameters=(
        may("user", "user", "who wants to log in", default="root"),
        may("port", "port", "where the server listens", default=22),
        may("passwords", "boolean", "whether a password may be tried, be it by way of keyboard-interactive"),
        may("keys", "boolean", "whether a key may be tried"),
    ),
)
DNS = ProbeType(
    name="dns",
    doc="Whether the machine itself can resolve a name, by all the means it is set up to use.",
    example={"name": "db-primary", "resolves": True, "address": "10.0.0.10"},
    presence="resolves",
    only_of_present=("address",),
    parameters=(
        must("name", "string", "the name"),
        must("resolves", "boolean", "whether it resolves"),
        may("address", "string", "to which address"),
    ),
)
FIREWALL = ProbeType(
    name="firewall",
    doc="A rule of the packet filter.",
    example={"chain": "INPUT", "rule": "--dport 5432 .*-j DROP", "present": False},
    parameters=(
        must("chain", "string", "the chain, in the filter table"),
        must("rule", "regex", "found in the rule as `iptables -S` prints it"),
        must("present", "boolean", "whether there is such a rule"),
    ),
)
CLIENT = ProbeType(
    name="client",
    doc="What the system's own clients have lately got.",
    example={"errors_at_most": 0, "within": "30s"},
    parameters=(
        may("name", "string", "one client of the system; all of them otherwise"),
        must("errors_at_most", "integer", "how many requests failed"),
        may("within", "duration", "the last so long; since the episode began otherwise"),
    ),
)
