"""Routes and interface counters as ip, route, ifconfig and netstat print them."""

from __future__ import annotations

import ipaddress

from runners.sim.machine import Machine, mix
from runners.sim.network.state import Interface


def network_of(interface: Interface) -> ipaddress.IPv4Network:
    return ipaddress.ip_network(f"{interface.address}/{interface.prefix}", strict=False)  # type: ignore[return-value]


def outward(machine: Machine) -> Interface | None:
    """The interface that leads out, if there is one and it is up."""
    for interface in machine.network.interfaces:
        if interface.name != "lo" and interface.up:
            return interface
    return None


def routes(machine: Machine) -> list[tuple[str, str, str]]:
    """(destination, gateway or "", interface) of the main table; the default route first."""
    found = []
    first = outward(machine)
    if first is not None and machine.network.gateway:
        found.append(("default", machine.network.gateway, first.name))
    for interface in machine.network.interfaces:
        if interface.name != "lo" and interface.up and interface.address:
            found.append((str(network_of(interface)), "", interface.name))
    return found


def route_table(machine: Machine, *, netstat: bool) -> list[str]:
    """The table of `route -n` and `netstat -rn`."""
    tail = "   MSS Window  irtt Iface" if netstat else " Metric Ref    Use Iface"
    out = ["Kernel IP routing table", f"{'Destination':<16}{'Gateway':<16}{'Genmask':<16}Flags{tail}"]
    for destination, gateway, name in routes(machine):
        network = ipaddress.ip_network("0.0.0.0/0" if destination == "default" else destination)
        flags = "UG" if gateway else "U"
        figures = "      0 0          0" if netstat else " 0      0        0"
        through = gateway or "0.0.0.0"  # noqa: S104 (what the table shows for none)
        line = f"{network.network_address!s:<16}{through:<16}{network.netmask!s:<16}{flags:<5}{figures} {name}"
        out.append(line)
    return out


def counters(machine: Machine, interface: Interface) -> tuple[int, int, int, int]:
    """Packets and bytes received and sent since boot: a steady trickle that depends on the machine's age alone."""
    seconds = int(machine.clock.now - machine.clock.boot)
    if not interface.up:
        seconds = 0
    rate = 3 + mix(interface.name) % 5
    packets = 2000 + seconds * rate
    return packets, packets * 212, packets * 9 // 10, packets * 9 // 10 * 187


def interface_counters(machine: Machine) -> list[str]:
    out = [
        "Kernel Interface table",
        "Iface             MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg",
    ]
    for interface in sorted(machine.network.interfaces, key=lambda interface: interface.name):
        received, _, sent, _ = counters(machine, interface)
        flags = "LRU" if interface.name == "lo" else "BMRU"
        out.append(
            f"{interface.name:<16} {interface.mtu:>5} {received:>8} {0:>6} {0:>6} {0:<6} {sent:>8} "
            f"{0:>6} {0:>6} {0:>6} {flags}"
        )
    return out
