"""How journalctl and systemctl status print journal entries."""

from __future__ import annotations

import json

from runners.sim.machine import Machine, mix
from runners.sim.systemd.state import Entry


def short_line(machine: Machine, entry: Entry, output: str = "short") -> str:
    """One entry as `-o short`, `short-iso`, `short-precise`, `short-full`, `short-unix`, `short-monotonic`, `cat`."""
    if output == "cat":
        return entry.message
    stamp = _stamp(machine, entry.at, output)
    tag = f"{entry.identifier}[{entry.pid}]" if entry.pid and entry.transport != "kernel" else entry.identifier
    if output == "with-unit" and entry.unit:
        tag = f"{entry.unit}[{entry.pid}]" if entry.pid else entry.unit
    lead = f"{stamp} {machine.spec.hostname} {tag}: "
    return lead + entry.message.replace("\n", "\n" + " " * len(lead))


def _stamp(machine: Machine, at: float, output: str) -> str:
    if output == "short-unix":
        return f"{at:.6f}"
    if output == "short-monotonic":
        return f"[{at - machine.clock.boot:12.6f}]"
    written = machine.clock.written
    if output in ("short-full", "with-unit"):
        return written("%a %Y-%m-%d %H:%M:%S UTC", at)
    if output == "short-iso":
        return written("%Y-%m-%dT%H:%M:%S+0000", at)
    micros = int((at - int(at)) * 1_000_000)
    if output == "short-iso-precise":
        return f"{written('%Y-%m-%dT%H:%M:%S', at)}.{micros:06d}+0000"
    short = written("%b %d %H:%M:%S", at)
    return f"{short}.{micros:06d}" if output == "short-precise" else short


def fields(machine: Machine, entry: Entry, index: int) -> dict[str, str]:
    """The fields of an entry as `-o json` and `-o verbose` show them."""
    micros = int(entry.at * 1_000_000)
    monotonic = int((entry.at - machine.clock.boot) * 1_000_000)
    boot = boot_id(machine)
    found = {
        "__CURSOR": f"s={mix('journal'):016x};i={index:x};b={boot};m={monotonic:x};t={micros:x}",
        "__REALTIME_TIMESTAMP": str(micros),
        "__MONOTONIC_TIMESTAMP": str(monotonic),
        "_BOOT_ID": boot,
        "_HOSTNAME": machine.spec.hostname,
        "_MACHINE_ID": _machine_id(machine),
        "_TRANSPORT": entry.transport,
        "PRIORITY": str(entry.priority),
        "SYSLOG_IDENTIFIER": entry.identifier,
        "MESSAGE": entry.message,
    }
    if entry.pid:
        found |= {"_PID": str(entry.pid), "_UID": str(entry.uid), "_GID": str(entry.uid), "SYSLOG_PID": str(entry.pid)}
    if entry.unit:
        found |= {"UNIT" if entry.identifier == "systemd" else "_SYSTEMD_UNIT": entry.unit}
    return found


def json_line(machine: Machine, entry: Entry, index: int, *, pretty: bool = False, only: str | None = None) -> str:
    found = fields(machine, entry, index)
    if only is not None:
        # The addresses of the entry stay whatever is chosen.
        names = only.split(",")
        found = {
            name: value for name, value in found.items() if name in names or name.startswith("__") or name == "_BOOT_ID"
        }
    if not pretty:
        return json.dumps(found, separators=(",", ":"), ensure_ascii=False)
    return json.dumps(found, indent="\t", separators=(",", " : "), ensure_ascii=False)


def boot_id(machine: Machine) -> str:
    try:
        return machine.view().text("/proc/sys/kernel/random/boot_id").strip().replace("-", "")
    except OSError:
        return f"{mix(f'boot {machine.clock.boot}'):016x}{mix(f'{machine.clock.boot} boot'):016x}"


def _machine_id(machine: Machine) -> str:
    try:
        return machine.view().text("/etc/machine-id").strip()
    except OSError:
        return ""
