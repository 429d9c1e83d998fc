"""setpriv of util-linux 2.38.1: run a command as somebody else, with exactly these groups."""

from __future__ import annotations

from typing import NoReturn

from runners.formats.accounts import Accounts
from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options
from runners.sim.files.inode import Cred
from runners.sim.impersonation import as_cred
from runners.sim.lifecycle import Failure, resolve
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

_TOOL = Tool(
    "setpriv [options] <program> [<argument>...]",
    "d,dump nnp no-new-privs ambient-caps= inh-caps= bounding-set= ruid= euid= rgid= egid= reuid= regid= clear-groups "
    "keep-groups init-groups groups= securebits= pdeathsig= selinux-label= apparmor-profile= reset-env "
    "h,help V,version",
    "setpriv from util-linux 2.38.1", permute=False,
)  # fmt: skip
_BOUNDING = (
    "chown,dac_override,dac_read_search,fowner,fsetid,kill,setgid,setuid,setpcap,linux_immutable,net_bind_service,"
    "net_broadcast,net_admin,net_raw,ipc_lock,ipc_owner,sys_module,sys_rawio,sys_chroot,sys_ptrace,sys_pacct,sys_admin,"
    "sys_boot,sys_nice,sys_resource,sys_time,sys_tty_config,mknod,lease,audit_write,audit_control,setfcap,mac_override,"
    "mac_admin,syslog,wake_alarm,block_suspend,audit_read,perfmon,bpf,checkpoint_restore"
)
"""All capabilities, which nobody has taken from anybody."""
_HOW = ("clear-groups", "keep-groups", "init-groups", "groups")


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    known = accounts(ctx.machine)
    if options.has("d"):
        return _dump(ctx)
    if not options.operands:
        _fail(ctx, "No program specified")
    cred = _cred(ctx, options, known)
    if ctx.cred.uid != 0 and cred != ctx.cred:
        step = "setresuid" if cred.uid != ctx.cred.uid else "setgroups" if cred.gid == ctx.cred.gid else "setresgid"
        _fail(ctx, f"{step} failed: Operation not permitted")
    environment = dict(ctx.environment)
    user = known.user(cred.uid)
    if options.has("reset-env") and user is not None:
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" if cred.uid == 0 else (
            "/usr/local/bin:/bin:/usr/bin")  # fmt: skip
        environment = {"HOME": user.home, "SHELL": user.shell, "USER": user.name, "LOGNAME": user.name, "PATH": path}
    argv = options.operands
    child = as_cred(ctx, cred, argv, environment, ctx.files.cwd)
    found = resolve(child.files, argv, environment.get("PATH", "/usr/bin:/bin"))
    if isinstance(found, Failure):
        ctx.err(f"failed to execute {argv[0]}: {found.message}")
        return 127 if found.errno == 2 else 126
    return ctx.runner(argv, child)


def _cred(ctx: Context, options: Options, known: Accounts) -> Cred:
    user, group = options.value("reuid", "euid"), options.value("regid", "egid")
    uid, gid, groups = ctx.cred.uid, ctx.cred.gid, ctx.cred.groups
    if user is not None:
        found = known.user(user)
        if found is None and not is_digits(user):
            _fail(ctx, f"failed to parse reuid: '{user}'")
        uid = found.uid if found is not None else int(user)
    if group is not None:
        gid = _gid(ctx, known, group, f"failed to parse regid: '{group}'")
    how = [name for name in _HOW if options.has(name)]
    if len(how) > 1:
        _fail(ctx, "mutually exclusive arguments: --clear-groups --keep-groups --init-groups --groups")
    if group is not None and not how:
        _fail(ctx, "--[re]gid requires --keep-groups, --clear-groups, --init-groups, or --groups")
    if how == ["clear-groups"]:
        groups = frozenset()
    elif how == ["init-groups"]:
        if user is None:
            _fail(ctx, "--init-groups requires --ruid or --reuid")
        if known.user(uid) is None:
            _fail(ctx, f"uid {uid} not found, --init-groups requires an user that can be found on the system")
        groups = known.cred(uid).groups
    elif how == ["groups"]:
        words = (options.value("groups") or "").split(",")
        groups = frozenset(_gid(ctx, known, word, f"Invalid supplementary group id: '{word}'") for word in words)
    return Cred(uid, gid, groups | {gid})


def _gid(ctx: Context, known: Accounts, word: str, wrong: str) -> int:
    found = known.group(word)
    if found is None and not is_digits(word):
        _fail(ctx, wrong)
    return found.gid if found is not None else int(word)


def _dump(ctx: Context) -> int:
    groups = ",".join(str(gid) for gid in sorted(ctx.cred.groups - {ctx.cred.gid})) or "[none]"
    ctx.line(f"uid: {ctx.cred.uid}\neuid: {ctx.cred.uid}\ngid: {ctx.cred.gid}\negid: {ctx.cred.gid}")
    ctx.line(f"Supplementary groups: {groups}\nno_new_privs: 0")
    ctx.line("Inheritable capabilities: [none]\nAmbient capabilities: [none]")
    ctx.line(f"Capability bounding set: {_BOUNDING}\nSecurebits: [none]\nParent death signal: [none]")
    return 0


def _fail(ctx: Context, message: str) -> NoReturn:
    ctx.err(message)
    raise CommandExit(1)
