"""The account files as `user` and `group` change them: by line, everything else left as it stands."""

from __future__ import annotations

from collections.abc import Callable

from runners.sim.files.content import Content
from runners.sim.machine import Machine
from runners.sim.tasks.files import find, read_text, replace_file
from runners.sim.tasks.result import ModuleFailure
from runners.text import is_digits

FIRST_REGULAR, LAST_REGULAR = 1000, 60000
LAST_SYSTEM = 999
_STEPS_A_LINE = 40


def lines(machine: Machine, path: str) -> list[str]:
    """The lines of one account file; none where it is missing."""
    return read_text(machine, path).splitlines() if find(machine, path, follow=True) is not None else []


def save(machine: Machine, path: str, text: list[str]) -> None:
    """Write an account file back. The file is replaced, as the shadow tools do."""
    # Whoever asks for accounts next has to read all of it anew.
    machine.budget.spend(_STEPS_A_LINE * len(text))
    replace_file(machine, path, Content.of("".join(line + "\n" for line in text).encode("utf-8", "surrogateescape")))


def edit(machine: Machine, path: str, name: str, change: Callable[[list[str]], list[str]]) -> bool:
    """Change the fields of the line of `name`; True where the file is different then."""
    old = lines(machine, path)
    new = [":".join(change(line.split(":"))) if line.split(":", 1)[0] == name else line for line in old]
    if new == old:
        return False
    save(machine, path, new)
    return True


def remove(machine: Machine, path: str, name: str) -> None:
    """Take the line of `name` out of a file, where it is in it."""
    old = lines(machine, path)
    new = [line for line in old if line.split(":", 1)[0] != name]
    if new != old:
        save(machine, path, new)


def append(machine: Machine, path: str, fields: list[str]) -> None:
    """Add a line, where the file exists at all."""
    if find(machine, path, follow=True) is not None:
        save(machine, path, [*lines(machine, path), ":".join(fields)])


def free_number(machine: Machine, path: str, *, system: bool) -> int:
    """The number that useradd or groupadd would take: above the highest regular one, or below the lowest system one."""
    taken = {
        int(fields[2]) for line in lines(machine, path) if len(fields := line.split(":")) > 2 and is_digits(fields[2])
    }
    if system:
        for number in range(LAST_SYSTEM, 100, -1):
            if number not in taken:
                return number
    regular = [number for number in taken if FIRST_REGULAR <= number <= LAST_REGULAR]
    number = max(regular, default=FIRST_REGULAR - 1) + 1
    if number > LAST_REGULAR:
        raise ModuleFailure("Can't get unique ID (no more available IDs)")
    return number


def set_membership(machine: Machine, user: str, groups: set[str] | None, *, add_only: bool = False) -> bool:
    """Make the user's supplementary groups exactly (or at least) these; None takes the user out of all of them."""
    changed = False
    for path in ("/etc/group", "/etc/gshadow"):
        old = lines(machine, path)
        new = []
        for line in old:
            fields = line.split(":")
            members = [name for name in fields[3].split(",") if name] if len(fields) > 3 else []
            wanted = groups is not None and fields[0] in groups
            if wanted and user not in members:
                members.append(user)
            elif not wanted and not add_only and user in members:
                members.remove(user)
            elif len(fields) <= 3 or (wanted == (user in members)) or add_only:
                new.append(line)
                continue
            new.append(":".join([*fields[:3], ",".join(members)]))
        if new != old:
            save(machine, path, new)
            changed = True
    return changed
