"""Running a command as another user, the way su, sudo, runuser and login do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runners.formats.accounts import Accounts, User
from runners.sim.commands.context import Context
from runners.sim.files.inode import Cred
from runners.sim.files.view import FileView
from runners.sim.shell.nesting import Closing, Entered
from runners.sim.systemd.journal import log

ROOT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
USER_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"


def login_environment(user: User, kept: Mapping[str, str]) -> dict[str, str]:
    """The variables of a fresh log-in; TERM and LANG come through."""
    found = {name: kept[name] for name in ("TERM", "LANG", "LC_ALL", "COLORTERM") if name in kept}
    return found | {
        "HOME": user.home, "SHELL": user.shell, "USER": user.name, "LOGNAME": user.name,
        "PATH": ROOT_PATH if user.uid == 0 else USER_PATH, "MAIL": f"/var/mail/{user.name}",
    }  # fmt: skip


def run_as(
    ctx: Context,
    accounts: Accounts,
    user: User,
    argv: Sequence[str],
    environment: dict[str, str],
    cwd: str | None = None,
    *,
    closing: Closing | None = None,
    cred: Cred | None = None,
) -> int:
    """Run `argv` with that user's credentials, or `cred`, and these variables, in `cwd` or where the caller is.

    `closing` goes to the journal at its end, which is later where it is a shell that takes the terminal over.
    """
    cred = accounts.cred(user.name) if cred is None else cred
    child = as_cred(ctx, cred, argv, environment, ctx.files.cwd if cwd is None else cwd)
    try:
        status = ctx.runner(argv, child)
    except Entered as entered:
        if closing is not None:
            entered.closings.append(closing)
        raise
    if closing is not None:
        log(ctx.machine, closing.identifier, closing.message, pid=closing.pid, uid=closing.uid)
    return status


def as_cred(ctx: Context, cred: Cred, argv: Sequence[str], environment: Mapping[str, str], cwd: str) -> Context:
    """The context of a command that runs with these credentials, on the caller's streams."""
    return Context(
        machine=ctx.machine, argv=argv, files=FileView(ctx.files.tree, cred, cwd, 0o022),
        environment=dict(environment), stdin=ctx.stdin, stdout=ctx.stdout, stderr=ctx.stderr, runner=ctx.runner,
        pid=ctx.pid, tty=ctx.tty, hub=ctx.hub,
    )  # fmt: skip
