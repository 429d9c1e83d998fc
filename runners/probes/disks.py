"""disk and mount: the file systems."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.worlds import Observation


class DiskLook(NamedTuple):
    """A file system, called by `path`: bytes and inodes that are used, and those that users can still have."""

    path: str
    used: int
    free: int
    inodes_used: int
    inodes_free: int


def judge_disk(look: DiskLook, arguments: Arguments) -> Observation:
    """Percentages are df's: used of used and available, rounded up."""
    seen, path, free, inodes_free = Seen(), look.path, look.free, look.inodes_free
    percent, inode_percent = _percent(look.used, free), _percent(look.inodes_used, inodes_free)
    space, inodes = f"{path} is {percent}% full, {free} bytes free", f"{path}: {inode_percent}% of inodes used"
    # Name, what is measured, whether the limit is an upper one, and the fact to tell.
    for name, measured, upper, fact in (
        ("used_percent_at_most", percent, True, space),
        ("used_percent_at_least", percent, False, space),
        ("free_at_least", free, False, space),
        ("free_at_most", free, True, space),
        ("inodes_free_at_least", inodes_free, False, f"{path} has {inodes_free} inodes free"),
        ("inodes_used_percent_at_most", inode_percent, True, inodes),
        ("inodes_used_percent_at_least", inode_percent, False, inodes),
    ):
        limit = arguments.number(name)
        if limit is not None:
            seen.expect(measured <= limit if upper else measured >= limit, fact)
    return seen.observation()


def _percent(used: int, free: int) -> int:
    whole = used + free
    return -(-100 * used // whole) if whole else 0


def mount_point(arguments: Arguments) -> str:
    """The path of a mount probe as the table of mounts writes it."""
    return arguments.require("path").rstrip("/") or "/"


def judge_mount(options: Collection[str] | None, arguments: Arguments) -> Observation:
    """`options` of what is mounted at the path, and seen there; None where nothing is."""
    seen, path, wanted = Seen(), mount_point(arguments), arguments.flag("mounted")
    seen.expect(wanted is (options is not None), f"{path} is {'mounted' if options is not None else 'not mounted'}")
    if options is not None and wanted:
        for option in arguments.texts("options"):
            seen.expect(option in options, f"{path} has the options {','.join(options)}")
    return seen.observation()
