"""What the kernel does to addresses and routes when a link, an address or a route changes."""

from __future__ import annotations

from typing import NamedTuple

from runners.sim.network.state import Address, Interface, Network, Route, number


class Refused(NamedTuple):
    """The kernel's no: `message` without the `Error: ` or `RTNETLINK answers: ` that its `kind` says to print."""

    message: str
    explained: bool = False


def put(network: Network, changed: Interface) -> None:
    network.interfaces = tuple(changed if one.name == changed.name else one for one in network.interfaces)


def add_address(network: Network, interface: Interface, new: Address) -> Refused | None:
    """Primary addresses come before secondary ones, whose subnet has a primary one already."""
    held = interface.addresses
    if any((one.text, one.prefix) == (new.text, new.prefix) for one in held):
        return Refused("ipv4: Address already assigned.", explained=True)
    primaries = tuple(one for one in held if not interface.secondary(one))
    rest = held[len(primaries) :]
    secondary = any(one.subnet == new.subnet for one in primaries)
    addresses = (*held, new) if secondary else (*primaries, new, *rest)
    put(network, interface._replace(addresses=addresses))
    if interface.up and not secondary:
        _connect(network, interface, new)
    return None


def delete_address(network: Network, interface: Interface, gone: Address) -> None:
    """With a primary address go the secondary ones of its subnet; with the last one, every route of the device."""
    secondary = interface.secondary(gone)
    lost = {gone} if secondary else {one for one in interface.addresses if one.subnet == gone.subnet}
    left = tuple(one for one in interface.addresses if one not in lost)
    put(network, interface._replace(addresses=left))
    sources = {one.text for one in lost}
    network.routes = tuple(
        route
        for route in network.routes
        if route.device != interface.name or (left and not (route.source and route.source in sources))
    )


def set_up(network: Network, interface: Interface, up: bool) -> None:
    """A link that goes down loses its routes; one that comes up gets those to its own subnets."""
    if interface.up == up:
        return
    put(network, interface._replace(up=up))
    if not up:
        network.routes = tuple(route for route in network.routes if route.device != interface.name)
        return
    for address in interface.addresses:
        if not interface.secondary(address):
            _connect(network, interface, address)


def _connect(network: Network, interface: Interface, address: Address) -> None:
    if interface.name != "lo" and address.prefix < 32:
        add_route(network, Route(*address.subnet, device=interface.name, source=address.text))


def add_route(network: Network, new: Route) -> None:
    """The table is kept in the order in which the kernel shows it; of equal ones the last one added is last."""
    routes = [*network.routes, new]
    network.routes = tuple(sorted(routes, key=lambda route: (route.network, -route.prefix, route.metric)))


def nexthop(network: Network, gateway: str) -> Interface | None:
    """The interface in whose subnet a gateway stands; one of the machine's own addresses is none."""
    if network.interface(gateway) is not None:
        return None
    found = network.route(number(gateway))
    if found is None or found.gateway or not found.device:
        return None
    return next((one for one in network.interfaces if one.name == found.device and one.up), None)
