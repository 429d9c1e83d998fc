"""What the filter table decides about packets, kept as long as its rules are the same."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable

from runners.sim.network.firewall import Packet, Passed, Tables, traverse

_MOST = 1024
"""Answers that are kept. Beyond them all begin anew: a flood of packets from everywhere is not worth remembering."""


class Decisions:
    """The answers of one state of the tables.

    Packets that no rule can tell apart share one: of a port only the ranges matter that rules name.
    """

    __slots__ = ("_destination_ports", "_known", "_source_ports", "tables")

    def __init__(self, tables: Tables) -> None:
        rules = [rule for chain in tables["filter"].values() for rule in chain.rules]
        self.tables = tables
        self._destination_ports = _bounds(rule.destination_ports for rule in rules)
        self._source_ports = _bounds(rule.source_ports for rule in rules)
        self._known: dict[tuple[object, ...], tuple[str, tuple[Passed, ...]]] = {}

    def of(self, chain: str, packet: Packet) -> tuple[str, tuple[Passed, ...]]:
        """As `firewall.traverse`."""
        source, destination, protocol, port, from_port, *rest = packet
        ports = bisect(self._destination_ports, port), bisect(self._source_ports, from_port)
        key = (chain, source, destination, protocol, ports, *rest)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            decision, passed = traverse(self.tables, chain, packet)
            known = self._known[key] = (decision, tuple(passed))
        return known


def _bounds(ranges: Iterable[tuple[tuple[int, int], ...]]) -> list[int]:
    """Where a range begins, and where one has ended: no range has one of two ports between neighbours, but not both."""
    return sorted({bound for each in ranges for low, high in each for bound in (low, high + 1)})
