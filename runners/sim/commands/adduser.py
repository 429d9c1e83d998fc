"""adduser, deluser, addgroup and delgroup of Debian: accounts in its manner, made with the shadow tools."""

from __future__ import annotations

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options
from runners.sim.tasks import accounts as files
from runners.sim.tool import Tool
from runners.sim.users import accounts

NAMES = ("adduser", "deluser", "addgroup", "delgroup")
PATH = "/usr/sbin/adduser"

_TOOL = Tool(
    "adduser [--home DIR] [--shell SHELL] [--no-create-home] [--uid ID] [--gecos TEXT] [--ingroup GROUP | --gid ID] "
    "[--disabled-password] [--disabled-login] [--system] [--group] user [group]",
    "h,help version home= shell= no-create-home uid= gecos= comment= ingroup= gid= disabled-password disabled-login "
    "system group force-badname allow-bad-names quiet debug remove-home remove-all-files backup backup-to= "
    "only-if-empty",
    "adduser version 3.134",
    hinted=False,
)


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if ctx.cred.uid != 0:
        ctx.err(f"Only root may {'add' if ctx.name.startswith('add') else 'remove'} a user or group "
                f"{'to' if ctx.name.startswith('add') else 'from'} the system.")  # fmt: skip
        return 1
    if not options.operands:
        ctx.err("Only one or two names allowed." if ctx.name != "deluser" else "Enter a user name to remove: ")
        return 1
    adding = ctx.name.startswith("add")
    if ctx.name.endswith("group") or (options.has("group") and not options.has("system")):
        return _add_group(ctx, options) if adding else _remove_group(ctx, options)
    if len(options.operands) > 1:
        return _membership(ctx, options, adding=adding)
    return _add(ctx, options) if adding else _remove(ctx, options)


def _say(ctx: Context, options: Options, text: str) -> None:
    if not options.has("quiet"):
        ctx.line(text)


def _done(ctx: Context, words: list[str]) -> None:
    """One of the shadow tools, whose failure ends this one."""
    status = ctx.run(words)
    if status:
        ctx.err(f"`{' '.join(words)}' returned error code {status}. Exiting.")
        raise CommandExit(1)


def _add(ctx: Context, options: Options) -> int:
    name = options.operands[0]
    known = accounts(ctx.machine)
    if known.user(name) is not None:
        if options.has("system"):
            _say(ctx, options, f"The system user `{name}' already exists. Exiting.")
            return 0
        ctx.err(f"The user `{name}' already exists.")
        return 1
    system = options.has("system")
    home = options.value("home") or (f"/home/{name}" if not system else "/nonexistent")
    shell = options.value("shell") or ("/usr/sbin/nologin" if system else "/bin/bash")
    words = ["useradd", "-d", home, "-s", shell, *(["-r"] if system else [])]
    words += ["-c", options.value("gecos", "comment") or ""]
    if options.has("uid"):
        words += ["-u", options.value("uid") or ""]
    group = options.value("ingroup", "gid") or (None if not system or options.has("group") else "nogroup")
    words += ["-g", group, "-N"] if group is not None else ["-U"]
    bare = options.has("no-create-home") or home == "/nonexistent"
    words += ["-M"] if bare else ["-m"]
    _say(ctx, options, f"Adding {'system user' if system else 'user'} `{name}'{'' if system else ' ...'}")
    _done(ctx, [*words, name])
    user = accounts(ctx.machine).user(name)
    if user is None:
        return 1
    own = accounts(ctx.machine).group(user.gid)
    label = own.name if own is not None else str(user.gid)
    if group is None:
        _say(ctx, options, f"Adding new group `{name}' ({user.gid}) ...")
    _say(
        ctx,
        options,
        f"Adding new user `{name}' ({user.uid}) with group `{label}{'' if system else f' ({user.gid})'}' ...",
    )
    if not bare:
        _say(ctx, options, f"Creating home directory `{home}' ...")
        if not system:
            _say(ctx, options, "Copying files from `/etc/skel' ...")
    if not system and accounts(ctx.machine).group("users") is not None:
        files.set_membership(ctx.machine, name, {"users"}, add_only=True)
        _say(ctx, options, f"Adding new user `{name}' to supplemental / extra groups `users' ...")
        _say(ctx, options, f"Adding user `{name}' to group `users' ...")
    if not (system or options.has("disabled-password", "disabled-login")):
        return ctx.run(["passwd", name])
    return 0


def _membership(ctx: Context, options: Options, *, adding: bool) -> int:
    name, group = options.operands[:2]
    known = accounts(ctx.machine)
    user, wanted = known.user(name), known.group(group)
    if user is None:
        ctx.err(f"The user `{name}' does not exist.")
        return 1 if adding else 2
    if wanted is None:
        ctx.err(f"The group `{group}' does not exist.")
        return 1 if adding else 3
    if adding and name in wanted.members:
        _say(ctx, options, f"The user `{name}' is already a member of `{group}'.")
        return 0
    if not adding and name not in wanted.members:
        ctx.err(f"The user `{name}' is not a member of group `{group}'.")
        return 6
    verb = "Adding" if adding else "Removing"
    _say(ctx, options, f"{verb} user `{name}' {'to' if adding else 'from'} group `{group}' ...")
    others = {one.name for one in known.groups.values() if name in one.members and one.name != group}
    files.set_membership(ctx.machine, name, others | {group} if adding else others)
    _say(ctx, options, "Done.")
    return 0


def _remove(ctx: Context, options: Options) -> int:
    name = options.operands[0]
    if accounts(ctx.machine).user(name) is None:
        ctx.err(f"The user `{name}' does not exist.")
        return 2
    _say(ctx, options, "Removing crontab ...")
    _say(ctx, options, f"Removing user `{name}' ...")
    _done(ctx, ["userdel", *(["-r"] if options.has("remove-home", "remove-all-files") else []), name])
    _say(ctx, options, "Done.")
    return 0


def _add_group(ctx: Context, options: Options) -> int:
    name = options.operands[0]
    if accounts(ctx.machine).group(name) is not None:
        ctx.err(f"The group `{name}' already exists.")
        return 1
    gid = ["-g", options.value("gid") or ""] if options.has("gid") else []
    _done(ctx, ["groupadd", *(["-r"] if options.has("system") else []), *gid, name])
    made = accounts(ctx.machine).group(name)
    _say(ctx, options, f"Adding group `{name}' (GID {made.gid if made is not None else ''}) ...\nDone.")
    return 0


def _remove_group(ctx: Context, options: Options) -> int:
    name = options.operands[0]
    if accounts(ctx.machine).group(name) is None:
        ctx.err(f"The group `{name}' does not exist.")
        return 3
    _say(ctx, options, f"Removing group `{name}' ...")
    _done(ctx, ["groupdel", name])
    _say(ctx, options, "Done.")
    return 0
