"""file, disk, mount, log and cron: what lies in the world's files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from runners.formats.crontab import CrontabError, Entry, parse
from runners.hosts.files import About, Files
from runners.hosts.outside import Outside
from runners.probes.arguments import Arguments
from runners.probes.cron import CronJob
from runners.probes.cron import judge as judge_cron
from runners.probes.disks import DiskLook, judge_disk, judge_mount, mount_point
from runners.probes.file import FileLook, kind_of
from runners.probes.file import judge as judge_file
from runners.probes.logs import judge as judge_log
from runners.probes.logs import matching_lines, valid
from runners.probes.seen import nothing_held
from runners.worlds import Observation


def file(outside: Outside, arguments: Arguments) -> Observation:
    """What a mount that does not belong there shows is not the file."""
    path, files = arguments.require("path"), outside.files
    cover = outside.covered(path)
    if cover is not None:
        return nothing_held(_covered(cover))
    here, there = files.stat(path, follow=False), files.stat(path)
    if here is None:
        return judge_file(None, arguments)
    about = here if there is None else there
    look = FileLook(
        kind=kind_of(here.mode),
        target=files.target(path),
        there=there is not None,
        mode=about.mode,
        size=about.size,
        owners=lambda: _names(files, about),
        text=lambda: files.text(path),
        readable_by=lambda name: _readable(outside, path, name),
    )
    return judge_file(look, arguments)


def _names(files: Files, about: About) -> tuple[str, str]:
    user, group = files.user_names().get(about.uid), files.group_names().get(about.gid)
    return user or str(about.uid), group or str(about.gid)


def _covered(cover: str) -> str:
    return f"something is mounted over {cover}, which is not what belongs there"


def _readable(outside: Outside, path: str, name: str) -> bool | None:
    account = outside.files.account(name)
    return None if account is None else outside.files.readable_by(path, account)


def disk(outside: Outside, arguments: Arguments) -> Observation:
    """It is the healthy machine's file system that is measured. `path` need not exist: its folder counts."""
    path = arguments.require("path")
    cover = outside.covered(path)
    if cover is not None:
        return nothing_held(_covered(cover))
    while path != "/" and outside.files.stat(path) is None:
        path = posixpath.dirname(path)
    space = outside.files.space(path)
    if space is None:
        return nothing_held(f"{path} cannot be looked at")
    look = DiskLook(
        path=path,
        used=(space.f_blocks - space.f_bfree) * space.f_frsize,
        free=space.f_bavail * space.f_frsize,
        inodes_used=space.f_files - space.f_ffree,
        inodes_free=space.f_favail,
    )
    return judge_disk(look, arguments)


def mount(outside: Outside, arguments: Arguments) -> Observation:
    # The last one mounted there is the one that is seen.
    path = mount_point(arguments)
    here = next((options for place, _, _, options in reversed(tuple(outside.mounts())) if place == path), None)
    return judge_mount(here, arguments)


def log(outside: Outside, arguments: Arguments) -> Observation:
    """Lines of a file."""
    path = arguments.require("path")
    data = outside.files.read(path)
    if data is None:
        return nothing_held(f"{path} cannot be read")
    blocks = [valid(data.removesuffix(b"\n"))] if data else []
    return judge_log(matching_lines(blocks, arguments, outside.now()), path, arguments)


def cron(outside: Outside, arguments: Arguments) -> Observation:
    """Jobs of the user's own table, of /etc/crontab and of /etc/cron.d; a table that cron refuses holds none."""
    found = (CronJob(entry.user, entry.schedule, entry.command) for _, entry in jobs(outside))
    return judge_cron(found, (), outside.now(), arguments)


def jobs(outside: Outside) -> Iterator[tuple[str, Entry]]:
    """The jobs of all tables, each with its table.

    cron takes a table only from the user it belongs to, and its own ones only from root and closed to others; and none
    that names somebody whom it does not know.
    """
    files, users = outside.files, outside.files.user_names()
    known = set(users.values())
    tables: list[tuple[str, str | None]] = [("/etc/crontab", None)]
    tables += [(f"/etc/cron.d/{one}", None) for one in files.names("/etc/cron.d") if "." not in one]
    spool = "/var/spool/cron/crontabs"
    tables += [(f"{spool}/{one}", one) for one in files.names(spool)]
    for path, user in tables:
        about = files.stat(path)
        trusted = about is not None and not about.mode & 0o022 and users.get(about.uid) in ("root", user)
        if trusted:
            try:
                entries = parse(files.text(path), user)
            except CrontabError:
                continue
            if all(entry.user in known for entry in entries):
                yield from ((path, entry) for entry in entries)
