"""user: an account exists with its properties, or does not."""

from __future__ import annotations

import posixpath
import stat

from runners.formats.accounts import User
from runners.sim.machine import Machine
from runners.sim.tasks.accounts import append, edit, free_number, remove, set_membership
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.files import find, make_parents, remove_tree
from runners.sim.tasks.result import ModuleFailure, TaskResult
from runners.sim.users import accounts
from runners.text import is_digits
from scenario_dsl.values import Value

_PASSWD, _SHADOW = "/etc/passwd", "/etc/shadow"


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    name = arguments.require("name")
    state = arguments.choice("state", ("present", "absent"), "present")
    user = accounts(machine).user(name)
    if state == "absent":
        if user is not None:
            _remove(machine, arguments, user)
        return TaskResult(changed=user is not None, values={"name": name, "state": state})
    changed = _create(machine, arguments, name) if user is None else _modify(machine, arguments, user)
    made = accounts(machine).user(name)
    assert made is not None
    if arguments.flag("create_home", True):
        changed |= _make_home(machine, made)
    changed |= _expiry(machine, arguments, name)
    values: dict[str, Value] = {
        "name": name,
        "state": state,
        "uid": made.uid,
        "group": made.gid,
        "comment": made.comment,
        "home": made.home,
        "shell": made.shell,
    }
    return TaskResult(changed=changed, values=values)


def _primary_group(machine: Machine, arguments: Arguments) -> int | None:
    text = arguments.text("group")
    if text is None:
        return None
    group = accounts(machine).group(int(text) if is_digits(text) else text)
    if group is None:
        raise ModuleFailure(f"Group {text} does not exist")
    return group.gid


def _further_groups(machine: Machine, arguments: Arguments) -> set[str] | None:
    wanted = arguments.texts("groups")
    if wanted is None:
        return None
    known = accounts(machine)
    names = set()
    for text in wanted:
        group = known.group(int(text) if is_digits(text) else text)
        if group is None:
            raise ModuleFailure(f"Group {text} does not exist")
        names.add(group.name)
    return names


def _create(machine: Machine, arguments: Arguments, name: str) -> bool:
    system = arguments.flag("system")
    gid, groups, uid = _primary_group(machine, arguments), _further_groups(machine, arguments), arguments.integer("uid")
    if uid is not None and accounts(machine).user(uid) is not None and not arguments.flag("non_unique"):
        raise ModuleFailure(f"useradd: UID {uid} is not unique\n", {"name": name, "rc": 4})
    uid = free_number(machine, _PASSWD, system=system) if uid is None else uid
    if gid is None:
        own = accounts(machine).group(name)
        if own is not None:
            # useradd alone would refuse; the module then asks for that very group.
            gid = own.gid
        else:
            gid = uid if accounts(machine).group(uid) is None else free_number(machine, "/etc/group", system=system)
            append(machine, "/etc/group", [name, "x", str(gid), ""])
            append(machine, "/etc/gshadow", [name, "!", "", ""])
    home = arguments.path("home") or f"/home/{name}"
    shell = arguments.path("shell") or "/bin/sh"
    append(machine, _PASSWD, [name, "x", str(uid), str(gid), arguments.text("comment") or "", home, shell])
    password = arguments.text("password") or "!"
    if arguments.flag("password_lock") and not password.startswith("!"):
        password = f"!{password}"
    ages = ["", "", ""] if system else ["0", "99999", "7"]
    append(machine, _SHADOW, [name, password, _today(machine), *ages, "", "", ""])
    if groups:
        set_membership(machine, name, groups, add_only=True)
    return True


def _modify(machine: Machine, arguments: Arguments, user: User) -> bool:
    gid, groups, uid = _primary_group(machine, arguments), _further_groups(machine, arguments), arguments.integer("uid")
    taken = uid is not None and uid != user.uid and accounts(machine).user(uid) is not None
    if taken and not arguments.flag("non_unique"):
        raise ModuleFailure(f"usermod: UID '{uid}' already exists\n", {"name": user.name, "rc": 4})
    home = arguments.path("home")
    wanted = user._replace(
        uid=user.uid if uid is None else uid,
        gid=user.gid if gid is None else gid,
        comment=user.comment if "comment" not in arguments else arguments.require("comment"),
        home=home or user.home,
        shell=arguments.path("shell") or user.shell,
    )
    changed = False
    if wanted != user:
        fields = [str(wanted.uid), str(wanted.gid), wanted.comment, wanted.home, wanted.shell]
        changed = edit(machine, _PASSWD, user.name, lambda old: [*old[:2], *fields])
        if arguments.flag("move_home") and find(machine, user.home) is not None and find(machine, wanted.home) is None:
            make_parents(machine, wanted.home)
            machine.view().rename(user.home, wanted.home)
    if groups is not None:
        own = accounts(machine).group(wanted.gid)
        groups -= {own.name} if own is not None else set()
        changed |= set_membership(machine, user.name, groups, add_only=arguments.flag("append"))
    changed |= _password(machine, arguments, user.name)
    return changed


def _password(machine: Machine, arguments: Arguments, name: str) -> bool:
    password, lock = arguments.text("password"), arguments.maybe_flag("password_lock")
    if password is None and lock is None:
        return False
    always = arguments.choice("update_password", ("always", "on_create"), "always") == "always"

    def change(fields: list[str]) -> list[str]:
        now = fields[1]
        if password is not None and always and now.lstrip("!") != password.lstrip("!"):
            now = password
            fields = [*fields[:2], _today(machine), *fields[3:]]
        if lock is True and not now.startswith("!"):
            now = f"!{now}"
        elif lock is False and now.startswith("!"):
            now = now[1:]
        return [fields[0], now, *fields[2:]]

    return edit(machine, _SHADOW, name, change)


def _expiry(machine: Machine, arguments: Arguments, name: str) -> bool:
    """The day of /etc/shadow on which the account ends; a negative time takes it away."""
    given = arguments.text("expires")
    if given is None:
        return False
    try:
        seconds = float(given)
    except ValueError:
        raise ModuleFailure(f"Invalid value for 'expires' {given}") from None
    day = "" if seconds < 0 else str(int(seconds // 86400))
    return edit(machine, _SHADOW, name, lambda fields: [*fields[:7], day, *fields[8:]])


def _remove(machine: Machine, arguments: Arguments, user: User) -> None:
    if not arguments.flag("force") and any(process.cred.uid == user.uid for process in machine.processes):
        pid = next(process.pid for process in machine.processes if process.cred.uid == user.uid)
        raise ModuleFailure(
            f"userdel: user {user.name} is currently used by process {pid}\n", {"name": user.name, "rc": 8}
        )
    for path in (_PASSWD, _SHADOW, "/etc/subuid", "/etc/subgid"):
        remove(machine, path, user.name)
    set_membership(machine, user.name, None)
    own = accounts(machine).group(user.name)
    if own is not None and own.gid == user.gid and not own.members:
        for path in ("/etc/group", "/etc/gshadow"):
            remove(machine, path, user.name)
    if arguments.flag("remove"):
        for path in (user.home, f"/var/mail/{user.name}"):
            if find(machine, path) is not None:
                remove_tree(machine, path)


def _make_home(machine: Machine, user: User) -> bool:
    if find(machine, user.home, follow=True) is not None:
        return False
    view = machine.view()
    make_parents(machine, user.home)
    try:
        view.mkdir(user.home, 0o755)
        _fill(machine, "/etc/skel", user.home, user)
        view.chown(user.home, user.uid, user.gid)
    except OSError as error:
        raise ModuleFailure(f"failed to create {user.home}: {error.strerror}") from error
    return True


def _fill(machine: Machine, source: str, target: str, user: User) -> None:
    """Copy the skeleton, given to the user."""
    view = machine.view()
    if find(machine, source, follow=True) is None:
        return
    for name in view.names(source):
        old, new = posixpath.join(source, name), posixpath.join(target, name)
        inode = view.stat(old, follow=False)
        if inode.target is not None:
            view.symlink(inode.target, new)
        elif inode.is_dir:
            view.mkdir(new, stat.S_IMODE(inode.mode))
            _fill(machine, old, new, user)
        else:
            view.write(new, inode.content)
            view.chmod(new, inode.permissions)
        view.chown(new, user.uid, user.gid, follow=False)


def _today(machine: Machine) -> str:
    return str(int(machine.clock.now // 86400))
