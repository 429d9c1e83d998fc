"""user: what the account files, the home's keys and sudoers say."""

from __future__ import annotations

from collections.abc import Callable

from runners.formats.accounts import Accounts
from runners.formats.sudoers import Tree, becomes_root
from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.worlds import Observation

_KEYS = (".ssh/authorized_keys", ".ssh/authorized_keys2")


def judge(arguments: Arguments, known: Accounts, tree: Tree, text: Callable[[str], str]) -> Observation:
    """What a machine's account files say of a user. `text`: a file's content, empty where it cannot be read.

    Locked: no password of the account can match. Keys are those of its home, as sshd reads them by default.
    """
    seen, name = Seen(), arguments.require("name")
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
        bad = any(found(pattern, text(f"{account.home}/{path}")) for path in _KEYS)
        seen.expect(not bad, f"its keys {'hold' if bad else 'lack'} /{pattern}/")
    for expectation, asked in (("sudo", True), ("sudo_without_password", False)):
        wanted = arguments.flag(expectation)
        if wanted is not None:
            may = becomes_root(tree, known, account, asked=asked)
            how = "" if asked else " without a password"
            seen.expect(may is wanted, f"it may {'' if may else 'not '}become root with sudo{how}")
    return seen.observation()
