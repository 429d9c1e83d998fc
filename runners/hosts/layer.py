"""A system's description as one layer over the userland of its packages: the same files that its simulated twin has.

The simulated machine is booted and its tree is read off, so that configuration, accounts, enabled units, crontabs and
the history in its logs are the same in both kinds of world. What the packages bring themselves stays theirs.
"""

from __future__ import annotations

import io
import stat
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from runners.here.archive import EPOCH
from runners.hosts.recipe import Recipe
from runners.sim.build import boot
from runners.sim.files.inode import Inode
from runners.sim.machine import Machine
from runners.sim.shell.running import run_job
from runners.system import SystemSpec, text, texts
from scenario_dsl.model import System

_ACCOUNTS = ("etc/passwd", "etc/group", "etc/shadow", "etc/gshadow")
_ALSO = ("/var/log/", "/etc/systemd/system/", "/home/", "/var/spool/cron/")
"""Where the booted machine has more than its description names: logs with their past, units that are enabled."""
_LARGEST = 64 << 20


class Entry(NamedTuple):
    """One path of the layer. `mode` holds the type bits; `data` is None for directories, the target for links."""

    path: str
    mode: int
    owner: str
    group: str
    mtime: int
    data: bytes | None


def write_layer(system: System, base: Path, out: Path) -> None:
    """Write the layer as a tar, the same bytes for the same system and userland. `base`: the userland's tar."""
    recipe = Recipe.of(system)
    machine = boot(SystemSpec.of(system), run_job=run_job)
    accounts = _merged_accounts(machine, _read(base, _ACCOUNTS))
    uids, gids = _numbers(accounts["etc/passwd"]), _numbers(accounts["etc/group"])
    with tarfile.open(out, "w", format=tarfile.GNU_FORMAT) as tar:
        for path in recipe.without:
            folder, _, name = path.lstrip("/").rpartition("/")
            _add(tar, f"{folder}/.wh.{name}", stat.S_IFREG | 0o600, 0, 0, EPOCH, b"")
        for path, content in accounts.items():
            secret = "shadow" in path
            group = gids.get("shadow", 0) if secret else 0
            _add(tar, path, stat.S_IFREG | (0o640 if secret else 0o644), 0, group, EPOCH, content.encode())
        for entry in (*_described(machine, recipe), *_programs(recipe)):
            uid, gid = uids.get(entry.owner, 0), gids.get(entry.group, 0)
            _add(tar, entry.path.lstrip("/"), entry.mode, uid, gid, entry.mtime, entry.data)


def _described(machine: Machine, recipe: Recipe) -> Iterator[Entry]:
    users = {user: name for name, user in _ids(machine, "users", "uid")}
    groups = {number: name for name, number in _ids(machine, "groups", "gid")}
    named = {_real(file.path) for file in machine.spec.files}
    replaced = {_real(file.path) for file in recipe.files}
    for path, inode in sorted(_walk(machine)):
        if path not in named and not path.startswith(_ALSO):
            continue
        if path in replaced or recipe.distribution.match(path) or path.endswith("/lost+found"):
            continue
        data: bytes | None = None
        if inode.target is not None:
            data = inode.target.encode()
        elif inode.is_file:
            if inode.size > _LARGEST:
                continue
            data = inode.content.read()
        owner, group = users.get(inode.uid, "root"), groups.get(inode.gid, "root")
        yield Entry(path, inode.mode, owner, group, int(inode.mtime), data)


def _programs(recipe: Recipe) -> Iterator[Entry]:
    for file in recipe.files:
        kind = {"file": stat.S_IFREG, "directory": stat.S_IFDIR, "link": stat.S_IFLNK}[file.type]
        mode = int(file.mode or ("0755" if file.type == "directory" else "0644"), 8)
        data = None if file.type == "directory" else (file.target or file.content or "").encode()
        yield Entry(_real(file.path), kind | mode, file.owner, file.group, EPOCH, data)


def _walk(machine: Machine) -> Iterator[tuple[str, Inode]]:
    """Every path but what the kernel makes up."""
    tree = machine.files
    stack = [("", tree.mounts[0].root)]
    while stack:
        path, number = stack.pop()
        inode = tree.inodes[tree.top_of(number)]
        yield path or "/", inode
        if inode.entries is not None and inode.dev not in tree.synthetic:
            stack += [(f"{path}/{name}", child) for name, child in inode.entries.items()]


def _real(path: str) -> str:
    """Debian's merged /usr: /lib is /usr/lib."""
    first = path.split("/", 2)[1]
    return f"/usr{path}" if first in ("bin", "sbin", "lib") else path


def _ids(machine: Machine, section: str, key: str) -> Iterator[tuple[str, int]]:
    for entry in machine.spec.entries(section):
        number = entry.get(key)
        if isinstance(number, int):
            yield text(entry, "name"), number


def _read(tar: Path, paths: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    with tarfile.open(tar) as opened:
        for member in opened:
            name = member.name.removeprefix("./")
            if name in paths:
                content = opened.extractfile(member)
                found[name] = content.read().decode() if content is not None else ""
                if len(found) == len(paths):
                    break
    return found


def _merged_accounts(machine: Machine, base: Mapping[str, str]) -> dict[str, str]:
    """The packages' own accounts keep their numbers, the described ones keep theirs where they are free."""
    users, groups = _numbers(base["etc/passwd"]), _numbers(base["etc/group"])
    files = {path: base[path].splitlines() for path in _ACCOUNTS}
    for entry in machine.spec.entries("groups"):
        name = text(entry, "name")
        if name not in groups:
            groups[name] = _free(entry.get("gid"), groups)
            files["etc/group"].append(f"{name}:x:{groups[name]}:")
            files["etc/gshadow"].append(f"{name}:!::")
    names = {number: name for name, number in _ids(machine, "groups", "gid")}
    members: dict[str, list[str]] = {}
    for entry in machine.spec.entries("users"):
        name, password = text(entry, "name"), text(entry, "password", "*")
        for other in texts(entry.get("groups")):
            members.setdefault(other, []).append(name)
        own = entry.get("gid")
        group = names.get(own, name) if isinstance(own, int) else name
        if name not in users:
            users[name] = _free(entry.get("uid"), users)
            fields = (
                text(entry, "comment"),
                text(entry, "home", "/nonexistent"),
                text(entry, "shell", "/usr/sbin/nologin"),
            )
            files["etc/passwd"].append(f"{name}:x:{users[name]}:{groups.get(group, 65534)}:{':'.join(fields)}")
            files["etc/shadow"].append(f"{name}:{password}:20000:0:99999:7:::")
        elif name == "root":
            files["etc/shadow"] = [
                f"root:{password}:20000:0:99999:7:::" if line.startswith("root:") else line
                for line in files["etc/shadow"]
            ]
    for path, field in (("etc/group", 3), ("etc/gshadow", 3)):
        files[path] = [_with_members(line, field, members) for line in files[path]]
    return {path: "".join(f"{line}\n" for line in lines) for path, lines in files.items()}


def _with_members(line: str, field: int, members: Mapping[str, list[str]]) -> str:
    fields = line.split(":")
    here = [name for name in fields[field].split(",") if name]
    fields[field] = ",".join([*here, *(name for name in members.get(fields[0], ()) if name not in here)])
    return ":".join(fields)


def _free(wanted: object, taken: Mapping[str, int]) -> int:
    number = wanted if isinstance(wanted, int) else 900
    while number in taken.values():
        number -= 1
    return number


def _numbers(accounts: str) -> dict[str, int]:
    """name -> number, of a passwd or group file."""
    return {line.split(":")[0]: int(line.split(":")[2]) for line in accounts.splitlines() if line.count(":") >= 3}


def _add(tar: tarfile.TarFile, path: str, mode: int, uid: int, gid: int, mtime: int, data: bytes | None) -> None:
    member = tarfile.TarInfo(path)
    member.mode, member.uid, member.gid, member.mtime = stat.S_IMODE(mode), uid, gid, mtime
    if stat.S_ISDIR(mode):
        member.type = tarfile.DIRTYPE
        tar.addfile(member)
    elif stat.S_ISLNK(mode):
        member.type, member.linkname = tarfile.SYMTYPE, (data or b"").decode()
        tar.addfile(member)
    else:
        member.size = len(data or b"")
        tar.addfile(member, io.BytesIO(data or b""))
