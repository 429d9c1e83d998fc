"""What the file modules share: writing as Ansible does, and owner, group and mode."""

from __future__ import annotations

import posixpath
import re
import stat

from runners.sim.files.content import Content
from runners.sim.files.inode import Inode
from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.result import ModuleFailure
from runners.sim.users import accounts
from runners.text import is_digits

_CLAUSE = re.compile(r"\A([ugoa]*)((?:[-+=](?:[rwxXst]*|[ugo]))+)\Z")
_ACTION = re.compile(r"([-+=])([rwxXst]+|[ugo]|)")
_BITS = {"r": 4, "w": 2, "x": 1}
_SHIFT = {"u": 6, "g": 3, "o": 0}


def find(machine: Machine, path: str, *, follow: bool = False) -> Inode | None:
    """What is at `path`, or None. A broken way there counts as nothing."""
    try:
        return machine.view().find(path, follow=follow).inode
    except OSError:
        return None


def kind(inode: Inode | None) -> str:
    """Ansible's word for what is there: absent, link, directory, hard or file."""
    if inode is None:
        return "absent"
    if inode.is_link:
        return "link"
    if inode.is_dir:
        return "directory"
    return "hard" if inode.nlink > 1 else "file"


def read_text(machine: Machine, path: str) -> str:
    try:
        return machine.view().text(path)
    except OSError as error:
        raise ModuleFailure(f"Unable to read {path}: {error.strerror}") from error


def replace_file(machine: Machine, path: str, content: Content) -> None:
    """Put a new file in the place of `path`: its owner and mode stay, its inode does not (as a rename leaves it)."""
    view = machine.view()
    try:
        found = view.find(path)
        if found.inode is None:
            view.write(found.path, content)
            return
        folder, name = posixpath.split(found.path)
        passing = posixpath.join(folder, f".ansible_tmp{found.inode.number}{name}")
        old = found.inode
        view.write(passing, content)
        view.chown(passing, old.uid, old.gid)
        view.chmod(passing, old.permissions)
        view.rename(passing, found.path)
    except OSError as error:
        raise ModuleFailure(f"Could not replace file: {path}: {error.strerror}") from error


def make_parents(machine: Machine, path: str) -> None:
    """The directories above `path`, where they are missing."""
    view = machine.view()
    missing = []
    folder = posixpath.dirname(path)
    while folder not in ("", "/") and find(machine, folder, follow=True) is None:
        missing.append(folder)
        folder = posixpath.dirname(folder)
    try:
        for directory in reversed(missing):
            view.mkdir(directory)
    except OSError as error:
        raise ModuleFailure(f"Error creating {posixpath.dirname(path)} ({error.strerror})") from error


def set_attributes(machine: Machine, path: str, arguments: Arguments, *, follow: bool = True) -> bool:
    """Give `path` the owner, group and mode asked for; True where that changed anything."""
    view = machine.view()
    try:
        inode = view.stat(path, follow=follow)
        uid = owner_number(machine, arguments.text("owner"), "passwd")
        gid = owner_number(machine, arguments.text("group"), "group")
        new_uid = uid if uid is not None and uid != inode.uid else None
        new_gid = gid if gid is not None and gid != inode.gid else None
        changed = new_uid is not None or new_gid is not None
        if changed:
            view.chown(path, new_uid, new_gid, follow=follow)
            inode = view.stat(path, follow=follow)
        wanted = mode_from(arguments, inode)
        if wanted is not None and wanted != inode.permissions and not inode.is_link:
            view.chmod(path, wanted, follow=follow)
            changed = True
    except OSError as error:
        raise ModuleFailure(f"chmod or chown failed: {path}: {error.strerror}") from error
    return changed


def owner_number(machine: Machine, name: str | None, database: str) -> int | None:
    """The number of a user (`passwd`) or group (`group`); a number stands for itself."""
    if name is None:
        return None
    if is_digits(name):
        return int(name)
    known = accounts(machine)
    if database == "passwd":
        user = known.user(name)
        if user is not None:
            return user.uid
    else:
        group = known.group(name)
        if group is not None:
            return group.gid
    what, call = ("user", "chown") if database == "passwd" else ("group", "chgrp")
    raise ModuleFailure(f"{call} failed: failed to look up {what} {name}")


def mode_from(arguments: Arguments, inode: Inode) -> int | None:
    """The permission bits that `mode` asks for, given the file as it is."""
    given = arguments.value("mode")
    if given is None or given == "preserve":
        return None
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    text = arguments.require("mode")
    try:
        return int(text, 8)
    except ValueError:
        pass
    permissions = inode.permissions
    for clause in text.split(","):
        permissions = _symbolic(clause, permissions, inode)
    return permissions


def _symbolic(clause: str, permissions: int, inode: Inode) -> int:
    match = _CLAUSE.match(clause)
    if match is None:
        raise ModuleFailure(f"mode must be in octal or symbolic form: bad symbolic permission for mode: {clause}")
    users = "ugo" if match[1] in ("", "a") or "a" in match[1] else match[1]
    for sign, letters in _ACTION.findall(match[2]):
        for user in users:
            bits = _letters(letters, user, permissions, inode)
            field = 7 << _SHIFT[user] | _special(user)
            if sign == "=":
                # A directory keeps its set-id bits when they are not named, as chmod(1) does.
                kept = permissions & 0o6000 if inode.is_dir else 0
                permissions = (permissions & ~field) | bits | kept
            else:
                permissions = permissions | bits if sign == "+" else permissions & ~bits
    return permissions


def _letters(letters: str, user: str, permissions: int, inode: Inode) -> int:
    if letters in ("u", "g", "o"):
        return ((permissions >> _SHIFT[letters]) & 7) << _SHIFT[user]
    bits = 0
    for letter in letters:
        if letter in _BITS:
            bits |= _BITS[letter] << _SHIFT[user]
        elif letter == "X":
            bits |= (1 if inode.is_dir or permissions & 0o111 else 0) << _SHIFT[user]
        elif letter == "s":
            bits |= _special(user) & 0o6000
        elif letter == "t":
            bits |= 0o1000
    return bits


def _special(user: str) -> int:
    return {"u": stat.S_ISUID, "g": stat.S_ISGID, "o": 0}[user]


def remove_tree(machine: Machine, path: str) -> None:
    """Delete a file, link or whole directory."""
    view = machine.view()
    inode = view.stat(path, follow=False)
    if not inode.is_dir:
        view.unlink(path)
        return
    for name in view.names(path):
        remove_tree(machine, posixpath.join(path, name))
    view.rmdir(path)
