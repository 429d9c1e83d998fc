"""Public keys in OpenSSH's form: what they are and how sshd and ssh-keygen name them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

from runners.sim.machine import Machine, mix
from runners.sim.users import accounts

_KEY = re.compile(r"(?:^|\s)((?:sk-)?(?:ssh|ecdsa)-[\w@.-]+) ([A-Za-z0-9+/]{32,}={0,2})")


def fingerprint(body: str) -> str:
    """`SHA256:…` of a key's base64 text. ValueError when it is none."""
    try:
        raw = base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise ValueError(body) from error
    return "SHA256:" + base64.b64encode(hashlib.sha256(raw).digest()).decode().rstrip("=")


def kind(name: str) -> str:
    """`ssh-ed25519` -> `ED25519`."""
    return "ED25519" if "ed25519" in name else "ECDSA" if "ecdsa" in name else "RSA" if "rsa" in name else "DSA"


def accepted_key(machine: Machine, user: str) -> str:
    """`ED25519 SHA256:…` of the first key that opens an account, as sshd's log names it; nothing if there is none."""
    account = accounts(machine).user(user)
    try:
        text = machine.view().text(f"{account.home}/.ssh/authorized_keys") if account is not None else ""
    except OSError:
        return ""
    for line in text.splitlines():
        found = None if line.startswith("#") else _KEY.search(line)
        if found is None:
            continue
        try:
            return f"{kind(found[1])} {fingerprint(found[2])}"
        except ValueError:
            continue  # sshd passes over a line that is no key, too
    return ""


def accepted(machine: Machine, user: str, host: str, port: int) -> str:
    """The line that sshd writes when it lets somebody in: with their key, or where they have none with a password."""
    key = accepted_key(machine, user)
    way, which = ("publickey", f": {key}") if key else ("password", "")
    return f"Accepted {way} for {user} from {host} port {port} ssh2{which}"


def client_port(user: str, began: float) -> int:
    """The port that somebody's client logged in from at that moment."""
    return 40000 + mix(f"port of {user} at {began}") % 20000
