"""user: what the account files, the home's keys and sudoers say."""

from __future__ import annotations

from collections.abc import Iterator

from runners.patterns import found
from runners.sim.machine import Machine
from runners.sim.probes.arguments import Arguments
from runners.sim.probes.baseline import Baseline
from runners.sim.probes.seen import Seen
from runners.sim.users import Accounts, User, accounts
from runners.worlds import Observation

_KEYS = (".ssh/authorized_keys", ".ssh/authorized_keys2")


def user(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """Locked: no password of the account can match. Keys are those of its home, as sshd reads them by default."""
    seen, name = Seen(), arguments.require("name")
    known = accounts(machine)
    account, wanted = known.user(name), arguments.flag("exists")
    seen.expect(wanted is (account is not None), f"{name} {'exists' if account is not None else 'does not exist'}")
    if account is None:
        return seen.observation()
    for group in arguments.texts("groups"):
        entry = known.group(group)
        inside = entry is not None and (name in entry.members or account.gid == entry.gid)
        seen.expect(inside, f"{name} is {'in' if inside else 'not in'} {group}")
    shell = arguments.text("shell")
    if shell is not None:
        seen.expect(account.shell == shell, f"its shell is {account.shell}")
    locked = arguments.flag("locked")
    if locked is not None:
        shadow = known.shadow.get(name)
        now = shadow is not None and shadow.locked
        seen.expect(now is locked, f"its password is {'locked' if now else 'not locked'}")
    pattern = arguments.text("authorized_keys_lack")
    if pattern is not None:
        bad = any(found(pattern, _text(machine, f"{account.home}/{path}")) for path in _KEYS)
        seen.expect(not bad, f"its keys {'hold' if bad else 'lack'} /{pattern}/")
    sudo = arguments.flag("sudo")
    if sudo is not None:
        may = account.uid == 0 or _may_sudo(machine, known, account)
        seen.expect(may is sudo, f"it may {'' if may else 'not '}use sudo")
    return seen.observation()


def _may_sudo(machine: Machine, known: Accounts, account: User) -> bool:
    """Does any rule of sudoers name the account, a group of its, or all? What it may run is not weighed."""
    own = known.group(account.gid)
    groups = {group.name for group in known.groups.values() if account.name in group.members or group == own}
    names = {account.name, "ALL", f"#{account.uid}", *(f"%{group}" for group in groups)}
    for line in _sudoers(machine):
        who, _, rest = line.strip().partition(" ")
        if "=" in rest and who in names and not who.startswith(("Defaults", "User_Alias", "Cmnd_Alias")):
            return True
    return False


def _sudoers(machine: Machine) -> Iterator[str]:
    yield from _text(machine, "/etc/sudoers").replace("\t", " ").splitlines()
    view = machine.view()
    try:
        names = sorted(view.names("/etc/sudoers.d"))
    except OSError:
        return
    for name in names:
        # sudo leaves out names with a dot and those that end in ~.
        if "." not in name and not name.endswith("~"):
            yield from _text(machine, f"/etc/sudoers.d/{name}").replace("\t", " ").splitlines()


def _text(machine: Machine, path: str) -> str:
    try:
        return machine.view().read(path).decode("utf-8", "replace")
    except OSError:
        return ""
