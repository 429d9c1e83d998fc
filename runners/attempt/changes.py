"""Two pictures of a world, as a receipt speaks of them."""

from __future__ import annotations

from compiler.codec import dump
from compiler.layout import sha256
from compiler.receipts import Change
from runners.harms import lasting_changes
from runners.worlds import Facts


def fingerprint(facts: Facts) -> str:
    """The sha256 (hex) of a world's lasting state and of which services run."""
    return sha256(dump({"persistent": facts.persistent, "services": tuple(sorted(facts.processes))}))


def changes(before: Facts, after: Facts) -> tuple[Change, ...]:
    """What lasts and differs, by name; then services whose process is another one, as `process:NAME`."""
    lasting = (
        Change(what=name, before=before.persistent.get(name), after=after.persistent.get(name))
        for name in lasting_changes(before, after)
    )
    processes = (
        Change(what=f"process:{name}", before=before.processes.get(name), after=after.processes.get(name))
        for name in sorted({name for name, _ in before.processes.items() ^ after.processes.items()})
    )
    return (*lasting, *processes)
