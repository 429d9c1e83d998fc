"""file, disk, mount, log, cron and user: what lies in the world's files."""

from __future__ import annotations

import math
import posixpath
import stat
from collections.abc import Iterator

from runners.hosts.files import About, Account
from runners.hosts.outside import Outside
from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.probes.timestamps import recent
from runners.sim.programs.cron import CrontabError, Entry, parse
from runners.worlds import Observation


def file(outside: Outside, arguments: Arguments) -> Observation:
    """`type`, `target` are of the path itself; everything else is of what links lead to. What a mount that does not
    belong there shows is not the file."""
    path, seen, files = arguments.require("path"), Seen(), outside.files
    cover = outside.covered(path)
    if cover is not None:
        seen.expect(False, f"something is mounted over {cover}, which is not what belongs there")
        return seen.observation()
    here, there = files.stat(path, follow=False), files.stat(path)
    exists = arguments.flag("exists")
    if exists is not None:
        seen.expect(exists is (here is not None), f"{path} {'exists' if here is not None else 'does not exist'}")
        if not exists:
            return seen.observation()
    if here is None:
        seen.expect(False, f"{path} does not exist")
        return seen.observation()
    kind = arguments.text("type")
    if kind is not None:
        seen.expect(kind == _kind(here), f"{path} is a {_kind(here)}")
    if "target" in arguments:
        target = files.target(path)
        seen.expect(target == arguments.text("target"), f"{path} points to {target}")
    if there is None and any(name in arguments for name in _ABOUT_CONTENT):
        seen.expect(False, f"{path} leads nowhere")
        return seen.observation()
    about = there if there is not None else here
    _attributes(outside, arguments, path, about, seen)
    _content(outside, arguments, path, there, seen)
    reader, others = arguments.text("readable_by"), arguments.flag("readable_by_others")
    if reader is not None:
        account = files.account(reader)
        can = account is not None and files.readable_by(path, account)
        seen.expect(can, f"{path} is {'readable' if can else 'not readable'} by {reader}")
    if others is not None:
        can = files.readable_by(path, _STRANGER) or bool(about.mode & stat.S_IROTH)
        seen.expect(can is others, f"{path} is {'readable' if can else 'not readable'} by others")
    return seen.observation()


_ABOUT_CONTENT = ("contains", "lacks", "size_at_most", "size_at_least", "readable_by", "readable_by_others")
_STRANGER = Account(name="stranger", uid=60000, gid=60000, home="/", shell="", groups=())


def _kind(about: About) -> str:
    names = {stat.S_IFLNK: "link", stat.S_IFDIR: "directory", stat.S_IFREG: "file"}
    return names.get(stat.S_IFMT(about.mode), "special file")


def _attributes(outside: Outside, arguments: Arguments, path: str, about: About, seen: Seen) -> None:
    owner, group = arguments.text("owner"), arguments.text("group")
    if owner is not None:
        name = outside.files.user_names().get(about.uid, str(about.uid))
        seen.expect(name == owner, f"{path} belongs to {name}")
    if group is not None:
        name = outside.files.group_names().get(about.gid, str(about.gid))
        seen.expect(name == group, f"{path} has the group {name}")
    mode, most = arguments.text("mode"), arguments.text("mode_at_most")
    permissions = stat.S_IMODE(about.mode)
    if mode is not None:
        seen.expect(permissions == int(mode, 8), f"{path} has mode {permissions:04o}")
    if most is not None:
        seen.expect(not permissions & ~int(most, 8), f"{path} has mode {permissions:04o}")


def _content(outside: Outside, arguments: Arguments, path: str, about: About | None, seen: Seen) -> None:
    least, most = arguments.integer("size_at_least"), arguments.integer("size_at_most")
    size = about.size if about is not None else 0
    if least is not None:
        seen.expect(about is not None and size >= least, f"{path} has {size} bytes")
    if most is not None:
        seen.expect(size <= most, f"{path} has {size} bytes")
    wanted, unwanted = arguments.text("contains"), arguments.text("lacks")
    if wanted is not None or unwanted is not None:
        text = outside.files.text(path)
        for pattern, expected in ((wanted, True), (unwanted, False)):
            if pattern is not None:
                there = found(pattern, text)
                seen.expect(there is expected, f"{path} {'contains' if there else 'lacks'} /{pattern}/")


def disk(outside: Outside, arguments: Arguments) -> Observation:
    """Percentages are df's. It is the healthy machine's file system that is measured."""
    seen, path = Seen(), arguments.require("path")
    cover = outside.covered(path)
    if cover is not None:
        seen.expect(False, f"something is mounted over {cover}, which is not what belongs there")
        return seen.observation()
    while path != "/" and outside.files.stat(path) is None:
        path = posixpath.dirname(path)
    space = outside.files.space(path)
    if space is None:
        seen.expect(False, f"{path} cannot be looked at")
        return seen.observation()
    free, used = space.f_bavail * space.f_frsize, (space.f_blocks - space.f_bfree) * space.f_frsize
    inodes_used = space.f_files - space.f_ffree
    percent, inode_percent = _percent(used, free), _percent(inodes_used, space.f_favail)
    about, inodes = f"{path} is {percent}% full, {free} bytes free", f"{inode_percent}% of inodes used"
    for name, measured, upper, fact in (
        ("used_percent_at_most", percent, True, about),
        ("used_percent_at_least", percent, False, about),
        ("free_at_least", free, False, about),
        ("free_at_most", free, True, about),
        ("inodes_free_at_least", space.f_favail, False, f"{path} has {space.f_favail} inodes free"),
        ("inodes_used_percent_at_most", inode_percent, True, f"{path}: {inodes}"),
        ("inodes_used_percent_at_least", inode_percent, False, f"{path}: {inodes}"),
    ):
        limit = arguments.number(name)
        if limit is not None:
            seen.expect(measured <= limit if upper else measured >= limit, fact)
    return seen.observation()


def _percent(used: int, free: int) -> int:
    return math.ceil(100 * used / (used + free)) if used + free else 0


def mount(outside: Outside, arguments: Arguments) -> Observation:
    seen, path = Seen(), arguments.require("path").rstrip("/") or "/"
    here = next((options for place, _, _, options in reversed(tuple(outside.mounts())) if place == path), None)
    wanted = arguments.flag("mounted")
    seen.expect(wanted is (here is not None), f"{path} is {'mounted' if here is not None else 'not mounted'}")
    if here is not None and wanted:
        for option in arguments.texts("options"):
            seen.expect(option in here, f"{path} has the options {','.join(here)}")
    return seen.observation()


def log(outside: Outside, arguments: Arguments) -> Observation:
    """Lines of a file."""
    seen, pattern, path = Seen(), arguments.require("matches"), arguments.require("path")
    within, now = arguments.number("within"), outside.now()
    least, most = arguments.integer("count_at_least"), arguments.integer("count_at_most")
    if least is None and most is None:
        least = 1
    data = outside.files.read(path)
    if data is None:
        seen.expect(False, f"{path} cannot be read")
        return seen.observation()
    lines: Iterator[str] = iter(data.decode("utf-8", "replace").removesuffix("\n").split("\n") if data else ())
    if within is not None:
        lines = recent(lines, now - within, now)
    count = sum(found(pattern, line) for line in lines)
    good = (least is None or count >= least) and (most is None or count <= most)
    seen.expect(good, f"{count} lines /{pattern}/ in {path}")
    return seen.observation()


def cron(outside: Outside, arguments: Arguments) -> Observation:
    """Jobs of the user's own table, of /etc/crontab and of /etc/cron.d; a table that cron refuses holds none."""
    seen, name, pattern = Seen(), arguments.require("user"), arguments.require("command")
    own = [entry for _, entry in jobs(outside) if entry.user == name and found(pattern, entry.command)]
    schedule = arguments.text("schedule")
    matching = [entry for entry in own if schedule is None or entry.schedule == " ".join(schedule.split())]
    fact = f"{name} has the job {own[0].schedule} {own[0].command}" if own else f"{name} has no job /{pattern}/"
    seen.expect(arguments.flag("present") is bool(matching), fact)
    return seen.observation()


def jobs(outside: Outside) -> Iterator[tuple[str, Entry]]:
    """The jobs of all tables, each with its table.

    cron takes a table only from the user it belongs to, and its own ones only from root and closed to others.
    """
    files, users = outside.files, outside.files.user_names()
    tables: list[tuple[str, str | None]] = [("/etc/crontab", None)]
    tables += [(f"/etc/cron.d/{one}", None) for one in files.names("/etc/cron.d") if "." not in one]
    spool = "/var/spool/cron/crontabs"
    tables += [(f"{spool}/{one}", one) for one in files.names(spool)]
    for path, user in tables:
        about = files.stat(path)
        trusted = about is not None and not about.mode & 0o022 and users.get(about.uid) in ("root", user)
        if trusted:
            try:
                yield from ((path, entry) for entry in parse(files.text(path), user))
            except CrontabError:
                continue
