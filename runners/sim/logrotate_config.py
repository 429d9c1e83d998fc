"""logrotate's configuration files as plans of rotation."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from runners.sim.commands.context import Context
from runners.text import is_digits

_PERIODS = {"hourly": 3600, "daily": 86400, "weekly": 604800, "monthly": 2592000, "yearly": 31536000}
_FLAGS = frozenset(
    {
        "compress",
        "nocompress",
        "delaycompress",
        "nodelaycompress",
        "missingok",
        "nomissingok",
        "notifempty",
        "ifempty",
        "copytruncate",
        "nocopytruncate",
        "sharedscripts",
        "nosharedscripts",
        "dateext",
        "nodateext",
        "nocreate",
        "copy",
        "nomail",
        "noolddir",
        "shred",
        "noshred",
        "dateyesterday",
        "renamecopy",
        "allowhardlink",
        "mailfirst",
        "maillast",
    }
)
_VALUES = frozenset(
    {
        "rotate",
        "size",
        "minsize",
        "maxsize",
        "maxage",
        "minage",
        "create",
        "su",
        "olddir",
        "dateformat",
        "extension",
        "start",
        "compresscmd",
        "uncompresscmd",
        "compressext",
        "compressoptions",
        "mail",
        "tabooext",
        "taboopat",
        "include",
        "addextension",
    }
)
_UNITS = {"": 1, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class LogrotateError(Exception):
    """A configuration that logrotate refuses: the whole message after `error: `."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the files of one block are rotated."""

    patterns: tuple[str, ...] = ()
    period: int = 604800
    keep: int = 0
    size: int | None = None
    min_size: int = 0
    max_size: int | None = None
    max_age: int = 0
    create: str | None = None
    flags: frozenset[str] = frozenset()
    scripts: tuple[tuple[str, str], ...] = field(default=())

    def on(self, flag: str) -> bool:
        return flag in self.flags


def read_plans(ctx: Context, path: str, defaults: Plan) -> tuple[Plan, list[Plan]]:
    """The defaults after a file (or folder), and the blocks in it."""
    inode = ctx.files.stat(path)
    if inode.is_dir:
        plans: list[Plan] = []
        for name in sorted(ctx.files.names(path)):
            if name.endswith(
                (".dpkg-old", ".dpkg-dist", ".dpkg-new", ".bak", "~", ".swp", ".disabled")
            ) or name.startswith("."):
                continue
            plans += read_plans(ctx, f"{path.rstrip('/')}/{name}", defaults)[1]
        return defaults, plans
    if inode.permissions & 0o022 and not inode.uid:
        ctx.stderr.write(
            f"error: Potentially dangerous mode on {path}: {inode.permissions:04o}\n".encode("utf-8", "surrogateescape")
        )
        ctx.stderr.write(
            f"error: Ignoring {path} because it is writable by group or others.\n".encode("utf-8", "surrogateescape")
        )
        return defaults, []
    if inode.uid != 0 and ctx.cred.uid == 0:
        ctx.stderr.write(
            f"error: Ignoring {path} because the file owner is wrong (should be root or user with uid 0).\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        return defaults, []
    return _parse(ctx, path, ctx.files.text(path), defaults)


def _parse(ctx: Context, path: str, text: str, defaults: Plan) -> tuple[Plan, list[Plan]]:
    plans: list[Plan] = []
    current: Plan | None = None
    pending: list[str] = []
    lines = iter(enumerate(text.splitlines(), 1))
    for number, raw in lines:
        line = raw.split("#", 1)[0].strip() if not raw.strip().startswith("#") else ""
        if not line:
            continue
        if current is None and (line[0] in "/\"'*" or line.endswith("{")):
            pending += shlex.split(line.replace("{", " "))
            if "{" in line:
                current = replace(defaults, patterns=tuple(pending))
                pending = []
            continue
        if line == "{" and pending:
            current = replace(defaults, patterns=tuple(pending))
            pending = []
            continue
        if line.startswith("}"):
            if current is None:
                raise LogrotateError(f"{path}:{number} unexpected }}")
            plans.append(current)
            current = None
            continue
        words = line.split(None, 1)
        name, value = words[0], words[1].strip() if len(words) > 1 else ""
        if name == "include" and current is None:
            try:
                plans += read_plans(ctx, value, defaults)[1]
            except OSError as error:
                ctx.stderr.write(
                    f"error: {path}:{number} include path {value} {error.strerror}\n".encode("utf-8", "surrogateescape")
                )
            continue
        target = current if current is not None else defaults
        if name in ("postrotate", "prerotate", "firstaction", "lastaction", "preremove"):
            target = replace(target, scripts=(*target.scripts, (name, _script(lines))))
        else:
            target = _set(path, number, target, name, value)
        if current is not None:
            current = target
        else:
            defaults = target
    if current is not None:
        raise LogrotateError(f"{path}: unexpected end of file")
    return defaults, plans


def _script(lines: Iterator[tuple[int, str]]) -> str:
    body = []
    for _, raw in lines:
        if raw.strip() == "endscript":
            break
        body.append(raw)
    return "\n".join(body)


def _set(path: str, number: int, plan: Plan, name: str, value: str) -> Plan:
    if name in _PERIODS:
        return replace(plan, period=_PERIODS[name])
    if name in _FLAGS:
        opposite = name[2:] if name.startswith("no") else f"no{name}"
        opposite = {"notifempty": "ifempty", "ifempty": "notifempty"}.get(name, opposite)
        plan = replace(plan, flags=(plan.flags | {name}) - {opposite})
        return replace(plan, create=None) if name == "nocreate" else plan
    if name not in _VALUES:
        raise LogrotateError(f"{path}:{number} unknown option '{name}' -- ignoring line")
    if name in ("rotate", "maxage"):
        if not is_digits(value.lstrip("-")):
            raise LogrotateError(f"{path}:{number} bad rotation count '{value}'")
        return replace(plan, keep=int(value)) if name == "rotate" else replace(plan, max_age=int(value))
    if name in ("size", "minsize", "maxsize"):
        match = re.fullmatch(r"=?\s*(\d+)([kMG]?)", value)
        if match is None:
            raise LogrotateError(f"{path}:{number} unknown unit '{value[-1:]}'")
        size = int(match.group(1)) * _UNITS[match.group(2)]
        if name == "size":
            return replace(plan, size=size)
        return replace(plan, min_size=size) if name == "minsize" else replace(plan, max_size=size)
    return replace(plan, create=value) if name == "create" else plan
