"""breakfix capabilities: what each backend can do here."""

from __future__ import annotations

from pathlib import Path

from breakfix.cli.options import Inventory, Json
from breakfix.cli.output import emit, say
from compiler.capabilities import CAPABILITIES
from runners.agents.registry import known_agents
from runners.backends.registry import BACKENDS
from runners.hosts.readiness import needs
from runners.hosts.unsupported import ARGUMENTS, TYPES
from runners.kernel.own.inventory import read_inventory
from runners.kernel.own.machine import look
from runners.kernel.readiness import needs as machine_needs


def command(inventory: Inventory = None, as_json_document: Json = False) -> int:
    """Say what each backend takes, what it lacks, and what this installation has of it.

    With an inventory, say the same of its hosts: each is asked over ssh, and nothing on it is changed.

    Examples:

        breakfix capabilities --json

        breakfix capabilities --inventory hosts.ini
    """
    if inventory is not None:
        return _hosts(inventory, as_json_document=as_json_document)
    missing = {
        "container": [need for need in needs() if need.remedy],
        "kernel": [need for need in machine_needs() if need.remedy],
    }
    arguments = {f"{argument} of {probe}": reason for (probe, argument), reason in ARGUMENTS.items()}
    limits = {"container": {**arguments, **{f"the described {name}": reason for name, reason in TYPES.items()}}}
    rows = [
        {
            "backend": name,
            "title": table.title,
            "available": name in BACKENDS and not missing.get(name),
            "missing": [need._asdict() for need in missing.get(name, ())],
            "modules": list(table.modules),
            "probes": list(table.probes),
            "lacks": {**table.lacks_modules, **table.lacks_probes, **limits.get(name, {})},
        }
        for name, table in CAPABILITIES.items()
    ]
    if as_json_document:
        emit({"backends": rows, "agents": list(known_agents())})
        return 0
    for name, table in CAPABILITIES.items():
        say(f"{name}: {table.title}")
        if name not in BACKENDS:
            say("  here: no, this version has no such backend yet")
        else:
            say(f"  here: {'no' if missing.get(name) else 'yes'}")
        for need in missing.get(name, ()):
            say(f"  missing {need.name}: {need.remedy}")
        say(f"  takes {len(table.modules)} Ansible modules and {len(table.probes)} probe types")
        for what, reason in {**table.lacks_modules, **table.lacks_probes, **limits.get(name, {})}.items():
            say(f"  lacks {what}: {reason}")
    say(f"agents: {', '.join(known_agents())}")
    return 0


def _hosts(inventory: Path, *, as_json_document: bool) -> int:
    """What hosts of one's own lack. Raises HostError for one that cannot be asked."""
    told = {place.name: look(place) for place in read_inventory(inventory)}
    if as_json_document:
        emit({"hosts": told})
        return 0
    for name, said in told.items():
        say(f"{name}: Linux {said['kernel']}, {'no' if said['missing'] else 'yes'}")
        for what, remedy in said["missing"]:
            say(f"  missing {what}: {remedy}")
    return 0
