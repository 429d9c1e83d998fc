"""The network that a system describes: its interface, names, other machines, firewall and kernel settings."""

from __future__ import annotations

from runners.sim.kernelfs.settings import DEFAULT_SYSCTL
from runners.sim.machine import Machine
from runners.sim.network.firewall import restore
from runners.sim.network.state import Address, Interface, Network, RemoteHost, RemotePort, Route, dotted, mask
from runners.system import SystemSpec, integer, mappings, text, texts


def kernel_settings(spec: SystemSpec) -> dict[str, str]:
    """What sysctl shows after a boot, before the files of /etc/sysctl.d have their say."""
    changed = {key: str(value) for key, value in spec.section("sysctl").items()}
    return {**DEFAULT_SYSCTL, "kernel.hostname": spec.hostname, **changed}


def describe(machine: Machine) -> None:
    """Set the machine's network up as its description says."""
    network, spec = machine.network, machine.spec
    attach(machine)
    network.dns = texts(spec.section("network").get("dns"))
    network.names = {name.lower(): str(value) for name, value in spec.section("names").items()}
    network.hosts = {
        text(entry, "address"): RemoteHost(
            text(entry, "name"),
            text(entry, "address"),
            tuple(
                RemotePort(integer(port, "port"), text(port, "kind", "tcp"), text(port, "banner"))
                for port in mappings(entry.get("ports"))
            ),
        )
        for entry in spec.entries("hosts")
    }
    network.tables = restore(texts(spec.settings.get("firewall")))
    network.sysctl = kernel_settings(spec)


def attach(machine: Machine) -> None:
    """The interfaces, addresses and routes that a boot leaves."""
    network = machine.network
    settings = machine.spec.section("network")
    plain, _, prefix = text(settings, "address", "10.0.0.10").partition("/")
    bare = Address(plain, int(prefix or 24))
    network_number, length = bare.subnet
    address = bare._replace(broadcast=dotted(network_number | ~mask(length) & 0xFFFFFFFF))
    name = text(settings, "interface", "eth0")
    network.interfaces = (
        *Network().interfaces,
        Interface(name, (address,), text(settings, "mac", "52:54:00:12:34:56")),
    )
    network.router = text(settings, "gateway", "10.0.0.1")
    network.routes = (
        *((Route(0, 0, network.router, name),) if network.router else ()),
        Route(network_number, length, device=name, source=address.text),
    )


def known_address(machine: Machine) -> str:
    """The address by which others know this machine, whatever its interfaces have now."""
    return text(machine.spec.section("network"), "address", "10.0.0.10").partition("/")[0]
