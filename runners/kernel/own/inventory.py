"""An inventory of Ansible's, read by Ansible: which hosts it names, and how each is reached."""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.here.programs import ansible
from scenario_dsl.errors import AuthorError

_SECONDS = 60
_OPTIONS = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=30", "-o", "ServerAliveInterval=15", "-o", "LogLevel=ERROR")
"""A host that says nothing for three quarters of a minute is gone."""
_SUDO = ("sudo", "-n", "--")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One host of an inventory. ssh: the program and arguments that reach it as root."""

    name: str
    inventory: Path
    ssh: tuple[str, ...]


def read_inventory(file: Path) -> tuple[Place, ...]:
    """All hosts, by name. Raises AuthorError for an inventory that names none, HostError without Ansible."""
    if not file.exists():
        raise AuthorError(f"there is no inventory {file}")
    try:
        done = subprocess.run(
            [ansible("ansible-inventory"), "-i", str(file), "--list"],
            capture_output=True, text=True, timeout=_SECONDS, check=False, cwd=file.absolute().parent,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise AuthorError(f"reading the inventory {file} took longer than {_SECONDS} s") from None
    try:
        known: dict[str, dict[str, Any]] = json.loads(done.stdout)["_meta"]["hostvars"]
    except (ValueError, KeyError):
        known = {}
    if done.returncode or not known:
        said = done.stderr.strip().splitlines()
        raise AuthorError(f"{file} names no host: {said[-1] if said else 'it is empty'}")
    return tuple(Place(name=name, inventory=file.absolute(), ssh=_ssh(name, known[name])) for name in sorted(known))


def _ssh(name: str, given: dict[str, Any]) -> tuple[str, ...]:
    call = ["ssh", "-T", *_OPTIONS]
    for variable, option in (("port", "-p"), ("user", "-l"), ("ssh_private_key_file", "-i")):
        if given.get(f"ansible_{variable}") is not None:
            call += [option, str(given[f"ansible_{variable}"])]
    for variable in ("ansible_ssh_common_args", "ansible_ssh_extra_args"):
        call += shlex.split(str(given.get(variable) or ""))
    become = str(given.get("ansible_become", "")).lower() in ("true", "yes", "1")
    return (*call, str(given.get("ansible_host") or name), *(_SUDO if become else ()))
