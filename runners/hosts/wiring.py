"""A world's network: cables to a namespace of our own that plays everything outside, and nothing else.

No address of this host, no way to another world: packets that leave the world end in the namespace of its neighbours,
which has no other interface. The machines of a fleet meet there on a bridge. That namespace and both ends of a cable
vanish with the last handle on them, so that a killed process leaves none behind.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from runners.hosts.kernel import in_network, new_network
from runners.system import SystemSpec, mappings, text, texts
from scenario_dsl.errors import HostError

_SECONDS = 30
_MAC = "52:54:00:00:00:01"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Addresses of both ends. `address`: the world's, with its prefix; `outside`: everybody else's."""

    interface: str
    address: str
    gateway: str
    mac: str
    outside: tuple[str, ...]
    firewall: tuple[str, ...]

    @classmethod
    def of(cls, spec: SystemSpec) -> Plan:
        network = spec.section("network")
        address = text(network, "address", "10.0.0.10/24")
        own, gateway = address.partition("/")[0], text(network, "gateway", "10.0.0.1")
        others = [
            gateway,
            *texts(network.get("dns")),
            *(text(host, "address") for host in spec.entries("hosts")),
            *(source for client in mappings(spec.settings.get("clients")) for source in texts(client.get("sources"))),
        ]
        outside = tuple(dict.fromkeys(one for one in others if one not in (own, "127.0.0.1")))
        return cls(
            interface=text(network, "interface", "eth0"),
            address=address,
            gateway=gateway,
            mac=text(network, "mac", "52:54:00:8c:1e:4a"),
            outside=outside,
            firewall=texts(spec.settings.get("firewall")),
        )

    @property
    def own(self) -> str:
        return self.address.partition("/")[0]


class Network:
    """The namespace of the neighbours. `handle`: on it; `plan`: of the first machine, or of the only one."""

    def __init__(self, plan: Plan, *, bridged: bool = False) -> None:
        """bridged: more than one machine will be plugged in."""
        self._bridged = bridged
        self.handle = new_network()
        # On the loopback, so that they outlive a cable when its world is started anew; the kernel answers for them.
        _ip(
            self.handle,
            ["link set lo up", *(f"addr add {one}/32 dev lo" for one in plan.outside if one != plan.gateway)],
        )
        if bridged:
            _ip(self.handle, [f"link add gateway address {_MAC} type bridge", *_gateway(plan, "gateway")])

    def plug_in(self, plan: Plan, inside: int) -> None:
        """Lay a cable to a machine and give each end its addresses; put up the described firewall."""
        far = f"/proc/{os.getpid()}/fd/{inside}"
        cable = f"to{plan.own}".replace(".", "")[:15]
        _ip(self.handle, [f"link add {cable} type veth peer name {plan.interface} netns {far}"])
        if self._bridged:
            _ip(self.handle, [f"link set {cable} master gateway up"])
        else:
            _ip(self.handle, [f"link set {cable} address {_MAC}", *_gateway(plan, cable)])
        _set_up(plan, inside)

    def close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


def _gateway(plan: Plan, interface: str) -> tuple[str, str]:
    return f"link set {interface} up", f"addr add {plan.gateway}/{plan.address.partition('/')[2]} dev {interface}"


def _set_up(plan: Plan, inside: int) -> None:
    """The machine's own end."""
    _ip(
        inside,
        [
            "link set lo up",
            f"link set {plan.interface} address {plan.mac}",
            f"addr add {plan.address} brd + dev {plan.interface}",
            f"link set {plan.interface} up",
            f"route add default via {plan.gateway}",
        ],
    )
    with in_network(inside):
        for where in ("all", "default", "lo", plan.interface):
            Path(f"/proc/sys/net/ipv6/conf/{where}/disable_ipv6").write_text("0" if where == "lo" else "1")
        if plan.firewall:
            _run(["iptables-restore"], "".join(f"{line}\n" for line in plan.firewall))


def firewall_rules(inside: int) -> tuple[str, ...]:
    """The packet filter of a namespace as `iptables-save` prints it, by this host's own program."""
    with in_network(inside):
        return tuple(_run(["iptables-save"], "").splitlines())


def _ip(handle: int, lines: Iterable[str]) -> None:
    with in_network(handle):
        _run(["ip", "-batch", "-"], "".join(f"{line}\n" for line in lines))


def _run(argv: list[str], given: str) -> str:
    program = shutil.which(argv[0])
    if program is None:
        raise HostError(f"{argv[0]} is not installed", remedy="apt-get install iproute2 iptables")
    try:
        done = subprocess.run([program, *argv[1:]], input=given, capture_output=True, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise OSError(f"{' '.join(argv)}: no end within {_SECONDS} s") from None
    if done.returncode:
        raise OSError(f"{' '.join(argv)}: {done.stderr.strip()}")
    return done.stdout
