"""/etc/sudoers: its rules, and what is wrong with it."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from runners.formats.accounts import Accounts, User

MAIN = "/etc/sudoers"
_SHELLS = ("/bin/sh", "/bin/bash", "/usr/bin/sh", "/usr/bin/bash", "/bin/su", "/usr/bin/su")
_RULE = re.compile(r"^(?P<who>\S+)\s+(?P<host>[\w.,!-]+)\s*=\s*(?P<rest>.+)$")
_RUNAS = re.compile(r"^\((?P<users>[^):]*)(?::[^)]*)?\)\s*")
_TAG = re.compile(r"^(NOPASSWD|PASSWD|SETENV|NOSETENV|NOEXEC|EXEC|LOG_INPUT|LOG_OUTPUT):\s*")


class _About(Protocol):
    @property
    def uid(self) -> int: ...
    @property
    def mode(self) -> int: ...


class Tree(Protocol):
    """Files to read the rules from, a simulated machine's or a real one's. What is not there is an OSError."""

    def text(self, path: str, /) -> str: ...
    def stat(self, path: str, /) -> _About: ...
    def names(self, path: str, /) -> Sequence[str]: ...


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
    """`refused`: (file, what is wrong with its mode or owner), which sudo says and then goes on without it."""

    grants: tuple[Grant, ...]
    problems: tuple[SyntaxProblem, ...]
    files: tuple[str, ...]
    secure_path: str
    refused: tuple[tuple[str, str], ...] = ()


def load(view: Tree, path: str = MAIN, *, wary: bool = False) -> Policy:
    """Read the main file and what it includes. OSError when the main file cannot be read.

    `wary`: leave out included files that others may have changed, as sudo does (visudo looks at them all).
    """
    refused: list[tuple[str, str]] = []
    grants: list[Grant] = []
    problems: list[SyntaxProblem] = []
    files: list[str] = []
    secure = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    pending = [path]
    while pending:
        file = pending.pop(0)
        try:
            text = view.text(file)
            wrong = unsafe(view, file) if wary and file != path else ""
            if wrong:
                refused.append((file, wrong))
                continue
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
            column = _misplaced(line) if match is None else _unclosed(line, match.start("rest"))
            if match is None or column:
                problems.append(SyntaxProblem(file, number, column, line))
                continue
            grants += _grants(match.group("who"), match.group("rest"), aliases)
    return Policy(tuple(grants), tuple(problems), tuple(files), secure, tuple(refused))


def unsafe(view: Tree, path: str) -> str:
    """What sudo has against a file's mode or owner, as it words it after the name; "" when nothing."""
    inode = view.stat(path)
    if inode.uid != 0:
        return f"is owned by uid {inode.uid}, should be 0"
    if inode.mode & 0o002:
        return "is world writable"
    return ""


def _misplaced(line: str) -> int:
    """The column (from 1) of the first word that cannot stand where it stands."""
    words = line.split()
    return line.index(words[1], len(words[0])) + 1 if len(words) > 1 else len(line) + 1


def _unclosed(line: str, start: int) -> int:
    """Where the list in parentheses, which says as whom, breaks off: the column of the next word; 0 if it is closed."""
    opened = line.find("(", start)
    if opened < 0 or ")" in line[opened:]:
        return 0
    word = re.match(r"[^\s,:]+\s*", line[opened + 1 :])
    return opened + 2 + (word.end() if word else 0)


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


def _included(view: Tree, path: str, *, folder: bool) -> list[str]:
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


def becomes_root(tree: Tree, accounts: Accounts, account: User, *, asked: bool) -> bool:
    """By the rules that sudo goes by; `asked`: also where a password is asked for. A shell is what root is."""
    if account.uid == 0:
        return True
    try:
        policy = load(tree, wary=True)
    except OSError:
        return False
    grants = [permitted(policy, accounts, account, "root", shell, "") for shell in _SHELLS]
    return any(grant is not None and (asked or not grant.password) for grant in grants)


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
