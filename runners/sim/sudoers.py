"""/etc/sudoers: its rules, and what is wrong with it."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from typing import NamedTuple

from runners.sim.files.view import FileView
from runners.sim.users import Accounts, User

MAIN = "/etc/sudoers"
_RULE = re.compile(r"^(?P<who>\S+)\s+(?P<host>[\w.,!-]+)\s*=\s*(?P<rest>.+)$")
_RUNAS = re.compile(r"^\((?P<users>[^):]*)(?::[^)]*)?\)\s*")
_TAG = re.compile(r"^(NOPASSWD|PASSWD|SETENV|NOSETENV|NOEXEC|EXEC|LOG_INPUT|LOG_OUTPUT):\s*")


class Grant(NamedTuple):
    """One command that a line allows (`ALL`, or a path with arguments), as whom, and whether without a password."""

    who: str
    users: tuple[str, ...]
    command: str
    password: bool


class SyntaxProblem(NamedTuple):
    path: str
    line: int
    column: int
    text: str


class Policy(NamedTuple):
    grants: tuple[Grant, ...]
    problems: tuple[SyntaxProblem, ...]
    files: tuple[str, ...]
    secure_path: str


def load(view: FileView, path: str = MAIN) -> Policy:
    """Read the main file and what it includes. OSError when the main file cannot be read."""
    grants: list[Grant] = []
    problems: list[SyntaxProblem] = []
    files: list[str] = []
    secure = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    pending = [path]
    while pending:
        file = pending.pop(0)
        try:
            text = view.text(file)
        except OSError:
            if file == path:
                raise
            continue
        files.append(file)
        aliases: dict[str, tuple[str, ...]] = {}
        for number, line in _lines(text):
            include = re.match(r"^[@#]include(dir)?\s+(\S+)", line)
            if include:
                pending += _included(view, include.group(2), folder=bool(include.group(1)))
                continue
            if line.startswith("#"):
                continue
            if line.startswith("Defaults"):
                match = re.search(r'secure_path\s*=\s*"?([^"\s]+)', line)
                secure = match.group(1) if match else secure
                continue
            alias = re.match(r"^(?:User|Cmnd|Cmd|Host|Runas)_Alias\s+(\w+)\s*=\s*(.+)$", line)
            if alias:
                aliases[alias.group(1)] = tuple(part.strip() for part in alias.group(2).split(","))
                continue
            match = _RULE.match(line)
            if match is None:
                words = line.split()
                column = len(words[0]) + 2 if len(words) > 1 else len(line) + 1
                problems.append(SyntaxProblem(file, number, column, line))
                continue
            grants += _grants(match.group("who"), match.group("rest"), aliases)
    return Policy(tuple(grants), tuple(problems), tuple(files), secure)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    pending = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = pending + raw.strip()
        if line.endswith("\\"):
            pending = line[:-1] + " "
            continue
        pending = ""
        if not line.startswith(("#", "@")):
            line = line.split(" #", 1)[0].strip()
        if line and not (line.startswith("#") and not re.match(r"^#include(dir)?\s", line)):
            yield number, line


def _included(view: FileView, path: str, *, folder: bool) -> list[str]:
    if not folder:
        return [path]
    try:
        names = sorted(view.names(path))
    except OSError:
        return []
    return [f"{path.rstrip('/')}/{name}" for name in names if "." not in name and not name.endswith("~")]


def _grants(who: str, rest: str, aliases: dict[str, tuple[str, ...]]) -> Iterator[Grant]:
    users: tuple[str, ...] = ("root",)
    password = True
    for part in re.split(r",\s*(?![^(]*\))", rest):
        text = part.strip()
        runas = _RUNAS.match(text)
        if runas:
            users = tuple(name.strip() for name in runas.group("users").split(",")) or ("ALL",)
            text = text[runas.end() :]
        tag = _TAG.match(text)
        while tag:
            if tag.group(1) in ("NOPASSWD", "PASSWD"):
                password = tag.group(1) == "PASSWD"
            text = text[tag.end() :]
            tag = _TAG.match(text)
        for person in aliases.get(who, (who,)):
            for command in aliases.get(text, (text,)):
                yield Grant(person, users, command, password)


def permitted(
    policy: Policy, accounts: Accounts, caller: User, target: str, command: str, arguments: str
) -> Grant | None:
    """The last grant that lets the caller run the command as the target."""
    found = None
    for grant in grants_of(policy, accounts, caller):
        if not any(name in ("ALL", target) for name in grant.users):
            continue
        if grant.command == "ALL" or _allows(grant.command, command, arguments):
            found = grant
    return found


def grants_of(policy: Policy, accounts: Accounts, caller: User) -> list[Grant]:
    groups = {group.name for group in accounts.groups.values() if caller.name in group.members}
    primary = accounts.group(caller.gid)
    if primary is not None:
        groups.add(primary.name)
    return [
        grant
        for grant in policy.grants
        if grant.who in ("ALL", caller.name, f"#{caller.uid}")
        or (grant.who.startswith("%") and grant.who[1:] in groups)
    ]


def _allows(pattern: str, command: str, arguments: str) -> bool:
    path, _, wanted = pattern.partition(" ")
    matched = command.rsplit("/", 1)[0] + "/" == path if path.endswith("/") else fnmatch.fnmatchcase(command, path)
    if not matched:
        return False
    if not wanted:
        return True
    return arguments == "" if wanted == '""' else fnmatch.fnmatchcase(arguments, wanted)
