"""group: a group exists, with its number, or does not."""

from __future__ import annotations

from runners.sim.machine import Machine
from runners.sim.tasks.accounts import append, edit, free_number, remove
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.result import ModuleFailure, TaskResult
from runners.sim.users import accounts
from scenario_dsl.values import Value


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    name, gid = arguments.require("name"), arguments.integer("gid")
    state = arguments.choice("state", ("present", "absent"), "present")
    values: dict[str, Value] = {"name": name, "state": state}
    known = accounts(machine)
    group = known.group(name)
    if state == "absent":
        if group is None:
            return TaskResult(values=values)
        primary = next((user for user in known.users.values() if user.gid == group.gid), None)
        if primary is not None:
            raise ModuleFailure(f"groupdel: cannot remove the primary group of user '{primary.name}'\n", values)
        for path in ("/etc/group", "/etc/gshadow"):
            remove(machine, path, name)
        return TaskResult(changed=True, values=values)
    system = arguments.flag("system")
    moves = gid is not None and (group is None or group.gid != gid)
    if moves and gid is not None and known.group(gid) is not None:
        tool = "groupadd" if group is None else "groupmod"
        raise ModuleFailure(f"{tool}: GID '{gid}' already exists\n", values)
    changed = False
    if group is None:
        gid = free_number(machine, "/etc/group", system=system) if gid is None else gid
        append(machine, "/etc/group", [name, "x", str(gid), ""])
        append(machine, "/etc/gshadow", [name, "!", "", ""])
        changed = True
    elif gid is not None and group.gid != gid:
        changed = edit(machine, "/etc/group", name, lambda fields: [*fields[:2], str(gid), *fields[3:]])
    made = accounts(machine).group(name)
    return TaskResult(changed=changed, values={**values, "gid": made.gid if made else None, "system": system})
