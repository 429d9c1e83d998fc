"""Routes and interface counters as ip, route, ifconfig and netstat print them."""

from __future__ import annotations

from runners.sim.machine import Machine, mix
from runners.sim.network.state import Interface, dotted, mask, number


def neighbours(machine: Machine) -> list[tuple[str, str, str]]:
    """(address, hardware address, interface) of the machines that share a subnet with this one."""
    network = machine.network
    found = []
    for address in dict.fromkeys(one for one in (network.router, *network.hosts) if one):
        way = network.way(address)
        if way is not None and not way.gateway:
            found.append((address, f"52:54:00:12:35:{number(address) & 255:02x}", way.interface.name))
    return found


def route_table(machine: Machine, *, netstat: bool) -> list[str]:
    """The table of `route -n` and `netstat -rn`."""
    tail = "   MSS Window  irtt Iface" if netstat else " Metric Ref    Use Iface"
    out = ["Kernel IP routing table", f"{'Destination':<16}{'Gateway':<16}{'Genmask':<16}Flags{tail}"]
    for route in machine.network.routes:
        flags = ("U" if route.kind == "unicast" else "!") + "G" * bool(route.gateway) + "H" * (route.prefix == 32)
        figures = "      0 0          0" if netstat else f" {route.metric:<6} 0        0"
        through = route.gateway or ("0.0.0.0" if route.kind == "unicast" else "-")  # noqa: S104 (shown for none)
        line = f"{dotted(route.network):<16}{through:<16}{dotted(mask(route.prefix)):<16}{flags:<5}{figures}"
        out.append(f"{line} {route.device or '*'}")
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
