"""Passwords in /etc/shadow."""

from __future__ import annotations

import hashlib

from runners.sim.machine import Machine


def today(machine: Machine) -> str:
    """Days since 1970, as shadow counts."""
    return str(int(machine.clock.now // 86400))


def hashed(machine: Machine, user: str, password: str) -> str:
    """A yescrypt-looking hash of the password; the salt comes from the user and the machine, so that it repeats."""
    letters = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    salt = hashlib.sha256(f"{machine.seed}:{user}".encode()).digest()
    body = hashlib.sha512(salt + password.encode("utf-8", "surrogateescape")).digest()
    return (
        "$y$j9T$"
        + "".join(letters[byte % 64] for byte in salt[:22])
        + "$"
        + "".join(letters[byte % 64] for byte in body[:43])
    )
