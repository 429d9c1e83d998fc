"""logrotate 3.21: rotate, compress and remove log files by their configuration."""

from __future__ import annotations

import fnmatch
import gzip
import re
from collections.abc import Iterator

from runners.sim.commands.context import Context
from runners.sim.files.content import EMPTY, Content
from runners.sim.logrotate_config import LogrotateError, Plan, read_plans
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

PATH = "/usr/sbin/logrotate"

_TOOL = Tool(
    "logrotate [-dfv?] [-d|--debug] [-f|--force] [-m|--mail=command] [-s|--state=statefile] "
"[--skip-state-lock] [-v|--verbose] "
    "[-l|--log=logfile] [--version] <configfile>",
    "d,debug f,force m,mail= s,state= skip-state-lock wait-for-state-lock v,verbose "
"l,log=", "logrotate 3.21.0", hinted=False,
)  # fmt: skip
STATE = "/var/lib/logrotate/status"
_LONG = (
    "debug",
    "force",
    "mail",
    "state",
    "skip-state-lock",
    "wait-for-state-lock",
    "verbose",
    "log",
    "version",
    "help",
    "usage",
)


def main(ctx: Context) -> int:
    unknown = next((word for word in ctx.args if word.startswith("--") and word.split("=")[0][2:] not in _LONG), None)
    if unknown is not None:
        ctx.err(f"bad argument {unknown}: unknown error")
        return 2
    options = _TOOL.parse(ctx)
    if not options.operands:
        ctx.stderr.write(
            f"logrotate 3.21.0 - Copyright (C) 1995-2001 Red Hat, Inc.\nUsage: {_TOOL.usage}\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        return 1
    rotation = _Rotation(
        ctx,
        debug=options.has("d"),
        force=options.has("f"),
        verbose=options.has("v", "d"),
        state=options.value("s") or STATE,
    )
    if options.has("d"):
        ctx.stderr.write(
            b"warning: logrotate in debug mode does nothing except printing debug messages!  Consider "
            b"using verbose mode (-v) instead if this is not what you want.\n\n"
        )
    status = 0
    plans: list[Plan] = []
    for path in options.operands:
        try:
            if ctx.files.exists(path):
                rotation.say(f"reading config file {path}")
            plans += read_plans(ctx, path, Plan())[1]
        except LogrotateError as error:
            ctx.stderr.write(f"error: {error}\n".encode("utf-8", "surrogateescape"))
            status = 1
        except OSError as error:
            ctx.stderr.write(f"error: cannot stat {path}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
            status = 1
    rotation.say(f"Reading state from file: {rotation.path}")
    if not ctx.files.exists(rotation.path):
        rotation.say(f"state file {rotation.path} does not exist")
    rotation.say(f"Allocating hash table for state file, size 64 entries\n\nHandling {len(plans)} logs")
    for plan in plans:
        status |= rotation.run(plan)
    rotation.save()
    return status


# -- rotating


class _Rotation:
    """One run: the state file, and what is said."""

    def __init__(self, ctx: Context, *, debug: bool, force: bool, verbose: bool, state: str) -> None:
        self.ctx = ctx
        self.debug = debug
        self.force = force
        self.verbose = verbose
        self.path = state
        self.times: dict[str, float] = {}
        try:
            for line in ctx.files.text(state).splitlines()[1:]:
                match = re.fullmatch(r'"(.+)" (\d+)-(\d+)-(\d+)-(\d+):(\d+):(\d+)', line)
                if match:
                    year, month, day, hour, minute, second = (int(part) for part in match.groups()[1:])
                    moment = ctx.machine.clock.time().replace(
                        year=year, month=month, day=day, hour=hour, minute=minute, second=second, microsecond=0
                    )
                    self.times[match.group(1)] = moment.timestamp()
        except OSError:
            self.times = {}

    def say(self, text: str) -> None:
        if self.verbose:
            self.ctx.stderr.write((text + "\n").encode("utf-8", "surrogateescape"))

    def save(self) -> None:
        if self.debug:
            return
        lines = ["logrotate state -- version 2"]
        for name, at in self.times.items():
            moment = self.ctx.machine.clock.time(at)
            lines.append(
                f'"{name}" {moment.year}-{moment.month}-{moment.day}-{moment.hour}:{moment.minute}:{moment.second}'
            )
        try:
            self.ctx.files.write(self.path, ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"), mode=0o640)
        except OSError as error:
            self.ctx.stderr.write(
                f"error: error creating output file {self.path}.tmp: {error.strerror}\n".encode(
                    "utf-8", "surrogateescape"
                )
            )

    def run(self, plan: Plan) -> int:
        self.say(
            f"\nrotating pattern: {' '.join(plan.patterns)}  "
            f"{'forced from command line' if self.force else _when(plan)} "
            f"({plan.keep} rotations)"
        )
        empty = "not rotated" if plan.on("notifempty") else "rotated"
        self.say(f"empty log files are {empty}, old logs are removed")
        rotated = []
        status = 0
        for pattern in plan.patterns:
            paths = list(_glob(self.ctx, pattern))
            if not paths and not plan.on("missingok"):
                self.ctx.stderr.write(
                    f"error: stat of {pattern} failed: No such file or directory\n".encode("utf-8", "surrogateescape")
                )
                status = 1
            for path in paths:
                self.say(f"considering log {path}")
                self.introduce(path)
                if self.due(plan, path):
                    try:
                        self.rotate(plan, path)
                        rotated.append(path)
                    except OSError as error:
                        self.ctx.stderr.write(
                            f"error: error renaming {path} to {path}.1: {error.strerror}\n".encode(
                                "utf-8", "surrogateescape"
                            )
                        )
                        status = 1
                else:
                    self.say(f"  log does not need rotating ({self.reason(plan, path)})")
        if not rotated and any(name in ("postrotate", "lastaction") for name, _ in plan.scripts):
            self.say("not running postrotate script, since no logs were rotated")
        if rotated and not self.debug:
            once = 1 if plan.on("sharedscripts") else len(rotated)
            for name, script in plan.scripts:
                if name in ("postrotate", "lastaction"):
                    for path in rotated[:once]:
                        code = self.ctx.run(["sh", "-c", script, "sh", path])
                        if code:
                            self.ctx.stderr.write(
                                f"error: error running "
                                f"{'shared ' if plan.on('sharedscripts') else 'non-shared '}{name} "
                                f"script for {path} of '{' '.join(plan.patterns)} '\n".encode(
                                    "utf-8", "surrogateescape"
                                )
                            )
                            status = 1
        return status

    def introduce(self, path: str) -> None:
        """What is known of a log; one that is new to the state file counts as rotated at the full hour."""
        now = self.ctx.machine.clock.now
        if path not in self.times:
            self.say("Creating new state")
            self.times[path] = now - now % 3600
        last = self.ctx.machine.clock.time(self.times[path])
        self.say(f"  Now: {self.ctx.machine.clock.time():%Y-%m-%d %H:%M}\n  Last rotated at {last:%Y-%m-%d %H:%M}")

    def reason(self, plan: Plan, path: str) -> str:
        """Why a log stays as it is."""
        inode = self.ctx.files.stat(path)
        if not inode.size and plan.on("notifempty"):
            return "log is empty"
        if plan.size is not None:
            return "log size is below the 'size' threshold"
        return "log has already been rotated"

    def due(self, plan: Plan, path: str) -> bool:
        inode = self.ctx.files.stat(path)
        if not inode.size and plan.on("notifempty"):
            return False
        if self.force:
            return True
        if plan.size is not None:
            return inode.size >= plan.size
        if plan.max_size is not None and inode.size >= plan.max_size:
            return True
        last = self.times[path]
        return self.ctx.machine.clock.now - last >= plan.period - 3600 and inode.size >= plan.min_size

    def rotate(self, plan: Plan, path: str) -> None:
        files = self.ctx.files
        self.say(f"rotating log {path}, log->rotateCount is {plan.keep}")
        if self.debug:
            return
        inode = files.stat(path)
        suffix = ".gz" if plan.on("compress") else ""
        self.times[path] = self.ctx.machine.clock.now
        if plan.on("dateext"):
            target = f"{path}-{self.ctx.machine.clock.time():%Y%m%d}"
        else:
            for number in range(plan.keep, 0, -1):
                for tail in ("", ".gz"):
                    if files.exists(f"{path}.{number}{tail}"):
                        files.rename(f"{path}.{number}{tail}", f"{path}.{number + 1}{tail}")
            target = f"{path}.1"
        if plan.keep and plan.on("copytruncate"):
            files.write(target, inode.content)
            files.write(path, EMPTY)
        elif plan.keep:
            files.rename(path, target)
        elif plan.on("copytruncate"):
            files.write(path, EMPTY)
        else:
            files.unlink(path)
        if suffix:
            self.compress(f"{path}.2" if plan.on("delaycompress") else target)
        for tail in ("", ".gz"):
            if files.exists(f"{path}.{plan.keep + 1}{tail}"):
                files.unlink(f"{path}.{plan.keep + 1}{tail}")
        if not plan.on("copytruncate") and plan.create is not None and not files.exists(path):
            self.create(plan.create, path, inode.uid, inode.gid, inode.permissions)

    def compress(self, path: str) -> None:
        files = self.ctx.files
        if not files.exists(path):
            return
        inode = files.stat(path)
        # A large log is not squeezed byte by byte: text shrinks to about a tenth.
        packed = (
            Content.of(gzip.compress(inode.content.read(), mtime=0))
            if inode.size <= 1 << 20
            else Content.filled(b"\x1f\x8b\x08", inode.size // 10)
        )
        files.write(f"{path}.gz", packed)
        files.chmod(f"{path}.gz", inode.permissions)
        files.chown(f"{path}.gz", inode.uid, inode.gid)
        files.unlink(path)

    def create(self, text: str, path: str, uid: int, gid: int, permissions: int) -> None:
        known = accounts(self.ctx.machine)
        words = text.split()
        if words and is_digits(words[0]):
            permissions = int(words.pop(0), 8)
        user = known.user(words[0]) if words else None
        group = known.group(words[1]) if len(words) > 1 else None
        self.ctx.files.write(path, b"")
        self.ctx.files.chown(path, user.uid if user is not None else uid, group.gid if group is not None else gid)
        self.ctx.files.chmod(path, permissions)


def _when(plan: Plan) -> str:
    if plan.size is not None:
        return f"{plan.size} bytes"
    days = plan.period // 86400
    return {0: "hourly", 1: "after 1 days", 7: "weekly", 30: "monthly"}.get(days, "yearly")


def _glob(ctx: Context, pattern: str) -> Iterator[str]:
    """Files that a pattern names; wild cards may stand in any part."""
    paths = [""]
    for part in pattern.strip("/").split("/"):
        found = []
        for base in paths:
            if any(character in part for character in "*?["):
                try:
                    names = sorted(ctx.files.names(base or "/"))
                except OSError:
                    continue
                found += [
                    f"{base}/{name}" for name in names if fnmatch.fnmatchcase(name, part) and not name.startswith(".")
                ]
            elif ctx.files.exists(f"{base}/{part}"):
                found.append(f"{base}/{part}")
        paths = found
    for path in paths:
        if ctx.files.stat(path).is_file:
            yield path
