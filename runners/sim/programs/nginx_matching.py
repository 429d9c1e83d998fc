"""Which server and which location of nginx's configuration answer a request, and whom they let in."""

from __future__ import annotations

import ipaddress

from runners.sim.programs.nginx_values import Location, NginxConfig, Server
from runners.sim.regexes import BacktrackingLimit, RegexError, perl


def choose_server(config: NginxConfig, address: str, port: int, named: str) -> Server | None:
    """The server block for a connection to (address, port) and the Host that the request names."""
    fitting = [
        (server, listen)
        for server in config.servers
        for listen in server.listens
        if listen.port == port and listen.address in ("0.0.0.0", "::", address)  # noqa: S104
    ]
    host = named.partition(":")[0].lower()
    for server, _ in fitting:
        if host in server.names:
            return server
    for server, _ in fitting:
        if any(_name_matches(name, host) for name in server.names):
            return server
    default = next((server for server, listen in fitting if listen.default), None)
    return default or (fitting[0][0] if fitting else None)


def choose_location(server: Server, path: str) -> Location:
    """The location block for a path: exact, longest prefix, regular expressions in order."""
    best: Location | None = None
    for location in server.locations:
        if location.kind == "=" and location.pattern == path:
            return location
        plain = location.kind in ("prefix", "^~") and path.startswith(location.pattern)
        if plain and (best is None or len(location.pattern) > len(best.pattern)):
            best = location
    if best is not None and best.kind == "^~":
        return best
    for location in server.locations:
        if location.kind in ("~", "~*") and _matches(location.pattern, path, ignore_case=location.kind == "~*"):
            return location
    return best or server.fallback


def _matches(pattern: str, text: str, *, ignore_case: bool = False) -> bool:
    """nginx, too, gives a search up that takes too long (its match limit), and the pattern does not match then."""
    try:
        return perl(pattern, ignore_case=ignore_case).test(text.encode("utf-8", "surrogateescape"))
    except (BacktrackingLimit, RegexError):
        return False


def _name_matches(name: str, host: str) -> bool:
    if name.startswith("*."):
        return host.endswith(name[1:])
    if name.startswith("~"):
        return _matches(name[1:], host)
    return name == host


def allowed(location: Location, address: str) -> bool:
    """Do the allow and deny lines let the address in?"""
    for verb, network in location.rules:
        if network == "all" or ipaddress.ip_address(address) in ipaddress.ip_network(network, strict=False):
            return verb == "allow"
    return True


def file_of(location: Location, path: str) -> str:
    """The file that a location serves for a path."""
    if location.alias:
        return location.alias + path[len(location.pattern) :]
    return location.root.rstrip("/") + path
