"""`mount` in modules of ansible-core, for hosts without the collection that brings it.

States as `ansible.posix.mount` has them: present (fstab only), mounted, unmounted, absent, remounted, ephemeral.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Mapping

from scenario_dsl.model import Task
from scenario_dsl.values import Value

_FSTAB = "/etc/fstab"


def lower_mount(task: Task) -> tuple[Task, ...]:
    """Tasks that together do what one `mount` task does; what it registers comes from the last of them."""
    given = {key: str(value) for key, value in task.arguments.items() if value is not None}
    path = given.get("path", given.get("name", ""))
    fstab = given.get("fstab", _FSTAB)
    source, kind, options = given.get("src", ""), given.get("fstype", ""), given.get("opts", "defaults")
    mounted = f"mountpoint -q {shlex.quote(path)}"
    fields = " ".join((source, path, kind, options, given.get("dump", "0"), given.get("passno", "0")))
    entry: dict[str, Value] = {"path": fstab, "regexp": rf"^[^#\s]\S*\s+{re.escape(path)}\s"}

    present = ("lineinfile", {**entry, "line": fields, "create": True})
    folder = ("file", {"path": path, "state": "directory"})
    call = ("mount", *(("-t", kind) if kind else ()), "-o", options, *((source,) if source else ()), path)
    mount = ("shell", {"cmd": f"{mounted} || {shlex.join(call)}"})
    unmount = ("shell", {"cmd": f"! {mounted} || {shlex.join(['umount', path])}"})
    forget = ("lineinfile", {**entry, "state": "absent"})
    remove = ("shell", {"cmd": f"[ ! -d {shlex.quote(path)} ] || {shlex.join(['rmdir', path])}"})
    anew = ",".join(("remount", given["opts"])) if "opts" in given else "remount"
    remount = ("command", {"argv": ("mount", "-o", anew, path)})
    plans: Mapping[str, tuple[tuple[str, Mapping[str, Value]], ...]] = {
        "present": (present,),
        "mounted": (folder, present, mount),
        "ephemeral": (folder, mount),
        "unmounted": (unmount,),
        "absent": (unmount, forget, remove),
        "remounted": (remount,),
    }
    plan = plans[given.get("state", "mounted")]
    parts = [dataclasses.replace(task, module=module, arguments=arguments) for module, arguments in plan]
    return (*(dataclasses.replace(part, register=None) for part in parts[:-1]), parts[-1])
