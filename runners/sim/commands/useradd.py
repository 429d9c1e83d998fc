"""useradd, usermod and userdel of shadow 4.13."""

from __future__ import annotations

from datetime import date

from runners.formats.accounts import User
from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options
from runners.sim.files.inode import Inode
from runners.sim.passwords import today
from runners.sim.systemd.journal import log
from runners.sim.tasks import accounts as files
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

NAMES = ("useradd", "usermod", "userdel")
PATH = "/usr/sbin/useradd"

_COMMON = "R,root= P,prefix= Z,selinux-user="
_ADD = Tool(
    "useradd [options] LOGIN",
    f"badname b,base-dir= btrfs-subvolume-home c,comment= d,home-dir= D,defaults e,expiredate= f,inactive= "
f"g,gid= G,groups= "
    f"h k,skel= K,key= l,no-log-init m,create-home M,no-create-home N,no-user-group o,non-unique p,password= r,system "
    f"s,shell= u,uid= U,user-group {_COMMON}",
    "useradd 4.13", status=2, hinted=False,
)  # fmt: skip
_MOD = Tool(
    "usermod [options] LOGIN",
    f"a,append b,badname c,comment= d,home= e,expiredate= f,inactive= g,gid= G,groups= h l,login= L,lock m,move-home "
    f"o,non-unique p,password= r,remove s,shell= u,uid= U,unlock {_COMMON}",
    "usermod 4.13", status=2, hinted=False,
)  # fmt: skip
_DEL = Tool("userdel [options] LOGIN", f"f,force h r,remove {_COMMON}", "userdel 4.13", status=2, hinted=False)


def main(ctx: Context) -> int:
    tool = {"useradd": _ADD, "usermod": _MOD, "userdel": _DEL}[ctx.name]
    options = tool.parse(ctx)
    if ctx.name == "useradd" and options.has("D"):
        ctx.out(
            "GROUP=100\nHOME=/home\nINACTIVE=-1\nEXPIRE=\nSHELL=/bin/sh\nSKEL=/etc/skel\nCREATE_MAIL_SPOOL=no\n"
            "LOG_INIT=yes\n"
        )
        return 0
    if len(options.operands) != 1 or (ctx.name == "usermod" and not options.given):
        ctx.stderr.write(f"Usage: {tool.usage}\n\n".encode("utf-8", "surrogateescape"))
        return 2
    if ctx.cred.uid != 0:
        ctx.err("Permission denied.")
        ctx.err("cannot lock /etc/passwd; try again later.")
        return 1
    name = options.operands[0]
    return {"useradd": _add, "usermod": _modify, "userdel": _delete}[ctx.name](ctx, options, name)


def _say(ctx: Context, message: str) -> None:
    log(ctx.machine, ctx.name, message, pid=ctx.pid)


def _groups(ctx: Context, text: str | None) -> set[str]:
    """Names of the supplementary groups; ends the command when one does not exist."""
    known = accounts(ctx.machine)
    names = set()
    for item in (text or "").split(","):
        if not item:
            continue
        group = known.group(int(item) if is_digits(item) else item)
        if group is None:
            ctx.err(f"group '{item}' does not exist")
            raise CommandExit(6)
        names.add(group.name)
    return names


def _uid(ctx: Context, options: Options) -> str | None:
    """The user's number, where one is asked for."""
    text = options.value("u")
    if text is not None and (not is_digits(text) or int(text) >= 1 << 32):
        ctx.err(f"invalid user ID '{text}'")
        raise CommandExit(3)
    return text


def _gid(ctx: Context, text: str) -> int:
    group = accounts(ctx.machine).group(int(text) if is_digits(text) else text)
    if group is None:
        ctx.err(f"group '{text}' does not exist")
        raise CommandExit(6)
    return group.gid


def _add(ctx: Context, options: Options, name: str) -> int:
    known = accounts(ctx.machine)
    if not name.replace("-", "").replace("_", "").replace(".", "").rstrip("$").isalnum() or not (
        name[0].isalpha() or name[0] == "_"
    ):
        ctx.err(f"invalid user name '{name}': use --badname to ignore")
        return 3
    if known.user(name) is not None:
        ctx.err(f"user '{name}' already exists")
        return 9
    own_group = not options.has("N", "g")
    if own_group and known.group(name) is not None:
        ctx.err(f"group {name} exists - if you want to add this user to that group, use -g.")
        return 9
    system = options.has("r")
    text = _uid(ctx, options)
    uid = int(text) if text is not None else files.free_number(ctx.machine, "/etc/passwd", system=system)
    if text is not None and known.user(uid) is not None and not options.has("o"):
        ctx.err(f"UID {uid} is not unique")
        return 4
    further = _groups(ctx, options.value("G"))
    given = options.value("g")
    if given is not None:
        gid = _gid(ctx, given)
    elif own_group:
        gid = uid if known.group(uid) is None else files.free_number(ctx.machine, "/etc/group", system=system)
        files.append(ctx.machine, "/etc/group", [name, "x", str(gid), ""])
        files.append(ctx.machine, "/etc/gshadow", [name, "!", "", ""])
        _say(ctx, f"new group: name={name}, GID={gid}")
    else:
        gid = 100
    home = options.value("d") or f"{(options.value('b') or '/home').rstrip('/')}/{name}"
    shell = options.value("s") or "/bin/sh"
    files.append(ctx.machine, "/etc/passwd", [name, "x", str(uid), str(gid), options.value("c") or "", home, shell])
    secret = options.value("p") or "!"
    tail = ["", "", ""] if system else ["99999", "7", ""]
    files.append(
        ctx.machine,
        "/etc/shadow",
        [name, secret, today(ctx.machine), *(["", *tail] if system else ["0", *tail]), "", ""],
    )
    if further:
        files.set_membership(ctx.machine, name, further, add_only=True)
    _say(ctx, f"new user: name={name}, UID={uid}, GID={gid}, home={home}, shell={shell}, from=/dev/{ctx.tty}")
    for group in sorted(further):
        _say(ctx, f"add '{name}' to group '{group}'")
        _say(ctx, f"add '{name}' to shadow group '{group}'")
    if options.has("m") and not options.has("M"):
        _make_home(ctx, home, uid, gid, options.value("k") or "/etc/skel")
    return 0


def _make_home(ctx: Context, home: str, uid: int, gid: int, skeleton: str) -> None:
    view = ctx.machine.view()
    if view.exists(home):
        ctx.err("warning: the home directory " + home + " already exists.")
        ctx.err("Not copying any file from skel directory into it.")
        return
    try:
        view.mkdir(home, 0o755)
        view.chown(home, uid, gid)
        for name in view.names(skeleton) if view.exists(skeleton) else []:
            inode: Inode = view.stat(f"{skeleton}/{name}")
            if inode.is_file:
                view.write(f"{home}/{name}", inode.content)
                view.chmod(f"{home}/{name}", inode.permissions)
                view.chown(f"{home}/{name}", uid, gid)
    except OSError as error:
        ctx.err(f"cannot create directory {home}: {error.strerror}")
        raise CommandExit(12) from None


def _existing(ctx: Context, name: str) -> User:
    user = accounts(ctx.machine).user(name)
    if user is None:
        ctx.err(f"user '{name}' does not exist")
        raise CommandExit(6)
    return user


def _modify(ctx: Context, options: Options, name: str) -> int:
    user = _existing(ctx, name)
    if options.has("a") and not options.has("G"):
        ctx.stderr.write(
            f"usermod: -a flag is only allowed with the -G flag\nUsage: {_MOD.usage}\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        return 2
    changed = list(user)
    for option, index in (("c", 4), ("d", 5), ("s", 6)):
        value = options.value(option)
        if value is not None:
            changed[index] = value
    text = _uid(ctx, options)
    if text is not None:
        other = accounts(ctx.machine).user(int(text))
        if other is not None and other.name != name and not options.has("o"):
            ctx.err(f"UID '{text}' already exists")
            return 4
        changed[2] = text
    if options.has("g"):
        changed[3] = _gid(ctx, options.value("g") or "")
    new_name = options.value("l")
    if new_name is not None:
        if accounts(ctx.machine).user(new_name) is not None:
            ctx.err(f"user '{new_name}' already exists")
            return 9
        changed[0] = new_name
    wanted = _groups(ctx, options.value("G")) if options.has("G") else None
    files.edit(ctx.machine, "/etc/passwd", name, lambda _: [str(field) for field in changed])
    files.edit(ctx.machine, "/etc/shadow", name, lambda fields: _shadow(options, fields, new_name))
    if wanted is not None:
        files.set_membership(ctx.machine, new_name or name, wanted, add_only=options.has("a"))
        for group in sorted(wanted):
            _say(ctx, f"add '{name}' to group '{group}'")
            _say(ctx, f"add '{name}' to shadow group '{group}'")
    if options.has("m") and changed[5] != user.home and ctx.files.exists(user.home):
        ctx.machine.view().rename(user.home, str(changed[5]))
    if options.has("s"):
        _say(ctx, f"change user '{name}' shell from '{user.shell}' to '{changed[6]}'")
    if options.has("U") and _bare(ctx, name):
        ctx.stderr.write(
            b"usermod: unlocking the user's password would result in a passwordless account.\n"
            b"You should set a password with usermod -p to unlock this user's password.\n"
        )
    elif options.has("L", "U"):
        _say(ctx, f"{'lock' if options.has('L') else 'unlock'} user '{name}' password")
    return 0


def _bare(ctx: Context, name: str) -> bool:
    """Is there no password behind the lock?"""
    shadow = accounts(ctx.machine).shadow.get(name)
    return shadow is not None and shadow.password in ("!", "!!")


def _shadow(options: Options, fields: list[str], new_name: str | None) -> list[str]:
    fields = list(fields)
    if new_name is not None:
        fields[0] = new_name
    if options.has("p"):
        fields[1] = options.value("p") or ""
    if options.has("L") and not fields[1].startswith("!"):
        fields[1] = "!" + fields[1]
    if options.has("U"):
        fields[1] = fields[1].removeprefix("!") or fields[1]
    expiry = options.value("e")
    if expiry is not None:
        fields[7] = expiry_days(expiry)
    return fields


def expiry_days(text: str) -> str:
    """Days since 1970 of YYYY-MM-DD (or of a number); empty for never."""
    if text in ("", "-1"):
        return ""
    if is_digits(text):
        return text
    try:
        return str(date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal())
    except ValueError:
        return ""


def _delete(ctx: Context, options: Options, name: str) -> int:
    user = _existing(ctx, name)
    busy = [process for process in ctx.machine.processes if process.cred.uid == user.uid]
    if busy and not options.has("f"):
        ctx.err(f"user {name} is currently used by process {busy[0].pid}")
        return 8
    for path in ("/etc/passwd", "/etc/shadow"):
        files.remove(ctx.machine, path, name)
    files.set_membership(ctx.machine, name, None)
    known = accounts(ctx.machine)
    group = known.group(name)
    if group is not None and not group.members and all(other.gid != group.gid for other in known.users.values()):
        files.remove(ctx.machine, "/etc/group", name)
        files.remove(ctx.machine, "/etc/gshadow", name)
        _say(ctx, f"removed group '{name}' owned by '{name}'")
    _say(ctx, f"delete user '{name}'")
    if options.has("r"):
        if not ctx.files.exists(f"/var/mail/{name}"):
            ctx.err(f"{name} mail spool (/var/mail/{name}) not found")
        if ctx.files.exists(user.home):
            ctx.run(["rm", "-rf", user.home])
        else:
            ctx.err(f"{name} home directory ({user.home}) not found")
    return 0
