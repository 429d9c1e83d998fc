"""mount: a file system is mounted, with these options, and stands in /etc/fstab; or is not, and does not."""

from __future__ import annotations

from runners.sim.files.content import Content
from runners.sim.files.tree import Mount
from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.files import find, make_parents, read_text, replace_file
from runners.sim.tasks.result import ModuleFailure, TaskResult

_STATES = ("absent", "ephemeral", "mounted", "present", "remounted", "unmounted")
_IN_TABLE = ("mounted", "present")


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    """New file systems can be tmpfs only; everything else is remounted, or mounted again after `unmounted`."""
    path = arguments.require_path("path").rstrip("/") or "/"
    state = arguments.choice("state", _STATES)
    if state is None:
        raise ModuleFailure("missing required arguments: state")
    if state in (*_IN_TABLE, "ephemeral") and ("src" not in arguments or "fstype" not in arguments):
        raise ModuleFailure(f"state is {state} but all of the following are missing: src, fstype")
    mounted = next((mount for mount in machine.files.mounts if mount.path == path), None)
    changed = False
    if state in _IN_TABLE:
        changed = _tabled(machine, arguments, path, present=True)
    elif state == "absent":
        changed = _tabled(machine, arguments, path, present=False)
    try:
        if state in ("mounted", "ephemeral"):
            changed |= _mount(machine, arguments, path, mounted)
        elif state in ("absent", "unmounted") and mounted is not None:
            machine.files.unmount(path)
            changed = True
        elif state == "remounted":
            if mounted is None:
                raise ModuleFailure(f"Unable to remount {path}: not mounted")
            options = arguments.text("opts") or _table_options(machine, arguments, path)
            if options is not None:
                machine.files.update_mount(path, options=_options(options))
            changed = True
    except OSError as error:
        raise ModuleFailure(f"Error mounting {path}: {error.strerror}") from error
    return TaskResult(changed=changed, values={"name": path, "src": arguments.text("src")})


def _mount(machine: Machine, arguments: Arguments, path: str, mounted: Mount | None) -> bool:
    wanted = _options(arguments.text("opts") or "defaults")
    if mounted is not None:
        if mounted.options == wanted or "opts" not in arguments:
            return False
        machine.files.update_mount(path, options=wanted)
        return True
    if arguments.text("fstype") != "tmpfs":
        raise ModuleFailure(f"Error mounting {path}: special device {arguments.text('src')} does not exist.")
    if find(machine, path, follow=True) is None:
        make_parents(machine, path)
        machine.view().mkdir(path)
    size = next((option[5:] for option in wanted if option.startswith("size=")), "512m").lower()
    factor = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(size[-1:], 1)
    number = max(mount.dev for mount in machine.files.mounts) + 1
    machine.files.mount(
        Mount(number, path, arguments.require("src"), "tmpfs", int(size.rstrip("kmg")) * factor, 65536, 0, wanted),
        machine.view().stat(path),
    )
    return True


def _options(text: str) -> tuple[str, ...]:
    """Options as the kernel shows them: `defaults` is rw,relatime; ro replaces rw."""
    given = [option for option in text.split(",") if option and option != "defaults"]
    access = "ro" if "ro" in given else "rw"
    rest = [option for option in given if option not in ("ro", "rw")]
    return (access, *rest) if any("atime" in option for option in rest) else (access, *rest, "relatime")


def _table_options(machine: Machine, arguments: Arguments, path: str) -> str | None:
    for line in read_text(machine, arguments.path("fstab") or "/etc/fstab").splitlines():
        fields = line.split()
        if len(fields) > 3 and not line.startswith("#") and fields[1] == path:
            return fields[3]
    return None


def _tabled(machine: Machine, arguments: Arguments, path: str, *, present: bool) -> bool:
    table = arguments.path("fstab") or "/etc/fstab"
    old = read_text(machine, table).splitlines() if find(machine, table, follow=True) is not None else []
    entry = " ".join(
        (
            arguments.text("src") or "", path, arguments.text("fstype") or "", arguments.text("opts") or "defaults",
            arguments.text("dump") or "0", arguments.text("passno") or "0",
        )
    )  # fmt: skip
    new, found = [], False
    for line in old:
        fields = line.split()
        if line.startswith("#") or len(fields) < 4 or fields[1] != path:
            new.append(line)
            continue
        found = True
        if present:
            new.append(line if fields == entry.split() else entry)
    if present and not found:
        new.append(entry)
    if new == old:
        return False
    replace_file(machine, table, Content.of("".join(line + "\n" for line in new).encode()))
    return True
