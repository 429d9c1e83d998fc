"""/proc/net."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from runners.sim.kernelfs.nodes import File, Folder, Node
from runners.sim.machine import Machine
from runners.sim.network.state import dotted, mask
from runners.sim.socket_table import rows


def node(machine: Machine, parts: Sequence[str]) -> Node | None:
    if not parts:
        return Folder(tuple(_FILES))
    make = _FILES.get(parts[0]) if len(parts) == 1 else None
    return File(make(machine)) if make is not None else None


def _dev(machine: Machine) -> str:
    lines = [
        "Inter-|   Receive                                                |  Transmit",
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
        "carrier compressed",
    ]
    for interface in machine.network.interfaces:
        count = 184_220 if interface.name == "lo" else 9_120_344
        lines.append(
            f"{interface.name:>6}: {count * 210:8d} {count:7d}    0    0    0     0          0         0"
            f" {count * 180:8d} {count:7d}    0    0    0     0       0          0"
        )
    return "\n".join(lines) + "\n"


def _tcp(machine: Machine) -> str:
    lines = ["  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"]
    for row in rows(machine):
        socket = row.socket
        if socket.protocol != "tcp" or ":" in socket.address:
            continue
        state = "0A" if socket.state == "LISTEN" else "01"
        lines.append(
            f"{len(lines) - 1:4d}: {_hex(socket.address)}:{socket.port:04X} "
            f"{_hex(socket.peer)}:{socket.peer_port:04X} {state} 00000000:00000000 00:00000000 00000000 "
            f"{row.owners[0][0].cred.uid:5d}        0 {row.inode} 1 0000000000000000 100 0 0 10 0"
        )
    return "\n".join(lines) + "\n"


def _routes(machine: Machine) -> str:
    """The main table as route(8) reads it."""
    lines = ["Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"]
    for route in machine.network.routes:
        flags = 0x1 | 0x2 * bool(route.gateway) | 0x4 * (route.prefix == 32) | 0x200 * (route.kind != "unicast")
        to, through, reach = (_hex(text) for text in (dotted(route.network), route.gateway, dotted(mask(route.prefix))))
        words = (route.device or "*", to, through, f"{flags:04X}", "0", "0", str(route.metric), reach, "0", "0", "0")
        lines.append("\t".join(words))
    return "".join(f"{line:<127}\n" for line in lines)


def _hex(address: str) -> str:
    parts = address.split(".")
    return "".join(f"{int(part):02X}" for part in reversed(parts)) if len(parts) == 4 else "00000000"


_FILES: Mapping[str, Callable[[Machine], str]] = {"dev": _dev, "tcp": _tcp, "route": _routes}
