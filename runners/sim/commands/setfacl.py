"""setfacl of acl 2.3.1: change access control lists."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from runners.formats.accounts import Accounts
from runners.sim.acl_text import AclTextError, Entry, named, parse, parse_lines, rows, shown
from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import Options
from runners.sim.commands.options import parse as parse_options
from runners.sim.commands.streams import Capture
from runners.sim.files.acl import Acl, Named, acl_of
from runners.sim.files.inode import Inode
from runners.sim.users import accounts
from runners.text import is_digits

_USAGE = "Usage: setfacl [-bkndRLP] { -m|-M|-x|-X ... } file ...\nTry `setfacl --help' for more information.\n"
_HELP = """setfacl 2.3.1 -- set file access control lists
Usage: setfacl [-bkndRLP] { -m|-M|-x|-X ... } file ...
  -m, --modify=acl        modify the current ACL(s) of file(s)
  -M, --modify-file=file  read ACL entries to modify from file
  -x, --remove=acl        remove entries from the ACL(s) of file(s)
  -X, --remove-file=file  read ACL entries to remove from file
  -b, --remove-all        remove all extended ACL entries
  -k, --remove-default    remove the default ACL
      --set=acl           set the ACL of file(s), replacing the current ACL
      --set-file=file     read ACL entries to set from file
      --mask              do recalculate the effective rights mask
  -n, --no-mask           don't recalculate the effective rights mask
  -d, --default           operations apply to the default ACL
  -R, --recursive         recurse into subdirectories
  -L, --logical           logical walk, follow symbolic links
  -P, --physical          physical walk, do not follow symbolic links
      --restore=file      restore ACLs (inverse of `getfacl -R')
      --test              test mode (ACLs are not modified)
  -v, --version           print version and exit
  -h, --help              this help text
"""
_LONG = (
    "modify=/m", "modify-file=/M", "remove=/x", "remove-file=/X", "remove-all/b", "remove-default/k", "set=",
    "set-file=", "mask", "no-mask/n", "default/d", "recursive/R", "logical/L", "physical/P", "restore=", "test",
    "version/v", "help/h",
)  # fmt: skip
_HEADER = re.compile(r"# (file|owner|group|flags): ?(.*)")


class _Draft(NamedTuple):
    """A list while it is changed: base entries may be missing on the way. `masked`: its mask was named."""

    entries: dict[tuple[str, int | None], int]
    masked: bool = False


class _Command(NamedTuple):
    """`b` and `k` remove what is extended or inherited, `set` what was there; then entries are set or removed."""

    kind: str
    entries: tuple[Entry, ...] = ()


def main(ctx: Context) -> int:
    options = _options(ctx)
    if options.has("h"):
        ctx.out(_HELP)
        return 0
    if options.has("v"):
        ctx.line("setfacl 2.3.1")
        return 0
    backup = options.value("restore")
    if backup is not None:
        return _restore(ctx, options, backup)
    commands = _commands(ctx, options)
    if not commands or not options.operands:
        raise _misused(ctx)
    status = 0
    for path in options.operands:
        # That of the last one is what counts.
        status = _walk(ctx, options, commands, path, top=True)
    return status


def _options(ctx: Context) -> Options:
    """The arguments. Of a wrong one this tool does not say which it is."""
    quiet = Context(
        machine=ctx.machine, argv=ctx.argv, files=ctx.files, environment=ctx.environment, stdin=ctx.stdin,
        stdout=ctx.stdout, stderr=Capture(ctx.machine), runner=ctx.runner, pid=ctx.pid, tty=ctx.tty, hub=ctx.hub,
    )  # fmt: skip
    try:
        return parse_options(quiet, "m:M:x:X:bkndRLPvh", _LONG)
    except CommandExit:
        raise _misused(ctx) from None


def _misused(ctx: Context) -> CommandExit:
    ctx.stderr.write(_USAGE.encode())
    return CommandExit(2)


def _commands(ctx: Context, options: Options) -> list[_Command]:
    known, default = accounts(ctx.machine), options.has("d")
    found: list[_Command] = []
    for name, value in options.given:
        if name in ("b", "k"):
            found.append(_Command(name))
        elif value is not None and name in ("m", "x", "set", "M", "X", "set-file"):
            if not value:
                raise _misused(ctx)
            removing = name in "xX"
            try:
                if name in ("m", "x", "set"):
                    entries = parse(value, known, removing=removing, default=default)
                else:
                    entries = parse_lines(_text(ctx, value), known, removing=removing, default=default)
            except AclTextError as error:
                where = "incomplete" if error.at is None else f"Invalid argument near character {error.at}"
                ctx.err(f"Option -{name}{' ' if error.at is None else ': '}{where}")
                raise CommandExit(2) from None
            kind = "set" if name.startswith("set") else "x" if removing else "m"
            found.append(_Command(kind, tuple(entries)))
    return found


def _text(ctx: Context, path: str) -> str:
    try:
        reader = ctx.stdin if path == "-" else ctx.open(path)
        return reader.read().decode("utf-8", "surrogateescape")
    except OSError as error:
        ctx.err(f"{path}: {describe(error)}")
        raise CommandExit(2) from None


def _walk(ctx: Context, options: Options, commands: Sequence[_Command], path: str, *, top: bool) -> int:
    has, status = options.has, 0
    ctx.spend(5)
    try:
        inode = ctx.files.stat(path, follow=False)
        if inode.is_link:
            if has("P") or (has("R") and not (top or has("L"))):
                return 0
            inode = ctx.files.stat(path)
        status = _change(ctx, options, commands, path, inode)
        names = ctx.files.names(path) if has("R") and inode.is_dir else []
    except OSError as error:
        ctx.err(f"{path}: {describe(error)}")
        return 1
    for name in names:
        status = max(status, _walk(ctx, options, commands, f"{path}/{name}", top=False))
    return status


def _change(ctx: Context, options: Options, commands: Sequence[_Command], path: str, inode: Inode) -> int:
    known, recursive = accounts(ctx.machine), options.has("R")
    access = before = _draft(acl_of(inode.mode, inode.acl))
    default = inherited = _draft(inode.default_acl) if inode.default_acl is not None else _Draft({})
    touched = False
    for command in commands:
        if command.kind == "b":
            kept = {key: bits for key, bits in access.entries.items() if key[0] in "ugo" and key[1] is None}
            access, default = _Draft(kept), _Draft({})
        elif command.kind == "k":
            default = _Draft({})
        else:
            for one in (False, True):
                entries = [entry for entry in command.entries if entry.default is one]
                if not entries or (one and not inode.is_dir and recursive):
                    continue
                if one and not inode.is_dir and command.kind != "x":
                    ctx.err(f"{path}: Only directories can have default ACLs")
                    return 1
                draft = default if one else access
                draft = _edited(_Draft({}) if command.kind == "set" else draft, command.kind, entries, inode)
                if one:
                    default, touched = draft, True
                else:
                    access = draft
    if default.entries:
        for tag in "ugo":
            default.entries.setdefault((tag, None), access.entries.get((tag, None), 0))
    recalculate = "mask" if options.last("mask", "n") == "mask" else "n" if options.has("n") else ""
    access = _bounded(access, recalculate)
    default = _bounded(default, recalculate) if touched else default
    for draft, which in ((access, "access"), (default, "default")):
        wrong = _wrong(draft) if draft.entries or which == "access" else 0
        if wrong:
            text = ",".join(_words(draft, known))
            ctx.err(f"{path}: Malformed {which} ACL `{text}': Missing or wrong entry at entry {wrong}")
            return 1
    if options.has("test"):
        ctx.line(f"{path}: {_tested(access, before, '', known)},{_tested(default, inherited, 'd:', known)}")
        return 0
    ctx.files.set_acl(path, _acl(access), _acl(default) if default.entries else None)
    return 0


def _draft(acl: Acl) -> _Draft:
    return _Draft({(tag, who): bits for tag, who, bits, _ in rows(acl)})


def _edited(draft: _Draft, kind: str, entries: Iterable[Entry], inode: Inode) -> _Draft:
    found, masked = dict(draft.entries), draft.masked
    for entry in entries:
        key = (entry.tag, entry.who)
        masked = masked or entry.tag == "m"
        if kind == "x":
            found.pop(key, None)
        elif entry.bits is not None:
            # `X`: to search a directory, and to execute what somebody may execute already.
            may = entry.search and (inode.is_dir or any(bits & 1 for bits in found.values()))
            found[key] = entry.bits | may
    return _Draft(found, masked)


def _bounded(draft: _Draft, recalculate: str) -> _Draft:
    """With a mask where one is needed: what its entries need, unless it was named or is to stay."""
    found = dict(draft.entries)
    extended = ("m", None) in found or any(who is not None for _, who in found)
    if not extended or (draft.masked and recalculate != "mask"):
        return draft
    group = found.get(("g", None), 0)
    if recalculate == "n":
        found.setdefault(("m", None), group)
    else:
        found["m", None] = group
        for (tag, who), bits in draft.entries.items():
            if tag == "g" or who is not None:
                found["m", None] |= bits
    return _Draft(found, draft.masked)


def _ordered(draft: _Draft) -> list[tuple[tuple[str, int | None], int]]:
    return sorted(
        draft.entries.items(), key=lambda item: ("ugmo".index(item[0][0]), -1 if item[0][1] is None else item[0][1])
    )


def _wrong(draft: _Draft) -> int:
    """The number of the first entry that cannot stand where it stands, one past the last where one is missing; or 0."""
    named_ones = any(who is not None for _, who in draft.entries)
    needed = ["u", "g", *(["m"] if named_ones else []), "o"]
    entries = _ordered(draft)
    for number, ((tag, who), _) in enumerate(entries, 1):
        if who is None and needed[:1] == [tag]:
            needed.pop(0)
        elif tag in needed or (tag == "m" and "g" in needed):
            return number
    return len(entries) + 1 if needed else 0


def _tested(draft: _Draft, before: _Draft, prefix: str, known: Accounts) -> str:
    """What --test says of a list: `*` where it stays as it is."""
    if draft.entries == before.entries:
        return "*"
    return ",".join(f"{prefix}{word}" for word in _words(draft, known, short=True))


def _words(draft: _Draft, known: Accounts, *, short: bool = False) -> list[str]:
    spelled = {"u": "user", "g": "group", "m": "mask", "o": "other"}
    return [
        f"{key[0] if short else spelled[key[0]]}:{named(key[0], key[1], known)}:{shown(bits)}"
        for key, bits in _ordered(draft)
    ]


def _acl(draft: _Draft) -> Acl:
    def of(tag: str) -> Named:
        return tuple((who, bits) for (one, who), bits in _ordered(draft) if one == tag and who is not None)

    base = draft.entries
    return Acl(base["u", None], of("u"), base["g", None], of("g"), base.get(("m", None)), base["o", None])


def _restore(ctx: Context, options: Options, backup: str) -> int:
    """What getfacl wrote of some files: their owners, special bits and lists again."""
    text, status = _text(ctx, backup), 0
    for block in re.split(r"\n[ \t]*\n", text):
        said = (_HEADER.fullmatch(line) for line in block.splitlines())
        about = {match[1]: match[2] for match in said if match is not None}
        if "file" not in about:
            continue
        path = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), about["file"])
        try:
            status = max(status, _restored(ctx, options, path, about, block))
        except OSError as error:
            ctx.err(f"{path}: {describe(error)}")
            status = 1
        except AclTextError:
            ctx.err(f"{backup}: Invalid argument in line {text[: text.index(block)].count(chr(10)) + 1}")
            return 1
    return status


def _restored(ctx: Context, options: Options, path: str, about: dict[str, str], block: str) -> int:
    known, files = accounts(ctx.machine), ctx.files
    entries = parse_lines(block, known)
    if not options.has("test"):
        user, group = known.user(about.get("owner", "")), known.group(about.get("group", ""))
        uid = user.uid if user is not None else int(about["owner"]) if is_digits(about.get("owner", "")) else None
        gid = group.gid if group is not None else int(about["group"]) if is_digits(about.get("group", "")) else None
        if (uid, gid) != (files.stat(path).uid, files.stat(path).gid):
            files.chown(path, uid, gid)
    status = _change(ctx, options, [_Command("b"), _Command("set", tuple(entries))], path, files.stat(path))
    if not options.has("test"):
        flags = about.get("flags", "---")
        special = sum(
            bit for letter, bit in zip(flags, (stat.S_ISUID, stat.S_ISGID, stat.S_ISVTX), strict=False) if letter != "-"
        )
        files.chmod(path, files.stat(path).permissions & 0o777 | special)
    return status
