"""The network's own state: what is not in files and not in processes."""

from __future__ import annotations


class Network:
    __slots__ = ()

    def fork(self) -> Network:
        return Network()
