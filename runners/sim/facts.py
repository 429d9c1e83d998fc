"""A machine's lasting facts: a digest of every file that normal life does not change, and of the firewall.

Worked out against the healthy base: only inodes that were put since then are looked at again.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from immutables import Map

from runners.lasting import SALTED, WITH_HASHES, firewall_facts
from runners.sim.files.inode import Inode
from runners.sim.files.tree import FileTree
from runners.sim.machine import Machine
from runners.sim.network.firewall import Tables, save
from runners.system import SystemSpec, texts

_ALWAYS_VOLATILE = ("/proc/*", "/sys/*", "/dev/*", "/run/*", "/tmp/*")  # noqa: S108


class Base(NamedTuple):
    """What the healthy machine looked like: paths of each inode, digests by path, and the firewall's tables."""

    inodes: Map[int, Inode]
    root: int
    paths: Mapping[int, tuple[str, ...]]
    digests: Mapping[str, str]
    tables: Tables
    mounts: object


def remember(machine: Machine) -> Base:
    """The base for later comparisons; what is put into the tree from now on is told apart from it."""
    machine.files.touched = Map()
    return _whole(machine)


def _whole(machine: Machine) -> Base:
    """The whole tree, walked once."""
    paths: dict[int, list[str]] = {}
    for path, inode in _walk(machine.files):
        paths.setdefault(inode.number, []).append(path)
    volatile = _volatile(machine.spec)
    digests = {
        path: _digest(machine.files.inodes[number])
        for number, names in paths.items()
        for path in names
        if not volatile.match(path)
    }
    return Base(
        machine.files.inodes,
        machine.files.mounts[0].root,
        {number: tuple(names) for number, names in paths.items()},
        {**digests, **_firewall(machine.network.tables)},
        machine.network.tables,
        machine.files.mounts,
    )


def persistent_facts(machine: Machine) -> Mapping[str, str]:
    """Path (and `firewall:TABLE:CHAIN`) -> digest. Files: type, owner, mode, access lists and content; no times."""
    base = machine.base
    if not isinstance(base, Base) or machine.files.mounts is not base.mounts:
        return _whole(machine).digests
    old, new = base.inodes, machine.files.inodes
    if new is old and machine.network.tables is base.tables:
        return base.digests
    changed = [n for n in sorted(machine.files.touched) if n in new and old.get(n) is not new[n]]
    folders = [n for n in changed if new[n].entries is not None and n in old and old[n].entries is not new[n].entries]
    facts = dict(base.digests)
    volatile = _volatile(machine.spec)
    for number in changed:
        for path in base.paths.get(number, ()):
            if path in facts:
                facts[path] = _digest(new[number])
    for number in folders:
        for path in base.paths.get(number, ()):
            _compare(machine.files, base, path, number, facts, volatile)
    if machine.network.tables is not base.tables:
        for key in [key for key in facts if key.startswith("firewall:")]:
            del facts[key]
        facts.update(_firewall(machine.network.tables))
    return facts


def unsalted_facts(machine: Machine) -> Mapping[str, str]:
    """Files that hold password hashes -> digest of what else they say."""
    view, found = machine.view(), {}
    for path in WITH_HASHES:
        try:
            found[path] = hashlib.sha256(SALTED.sub(b"$", view.read(path))).hexdigest()
        except OSError:
            continue
    return found


def _compare(
    tree: FileTree, base: Base, path: str, number: int, facts: dict[str, str], volatile: re.Pattern[str]
) -> None:
    """Bring the facts about one directory's entries up to date."""
    before, now = base.inodes[number].entries or {}, tree.inodes[number].entries or {}
    for name in before:
        if now.get(name) != before[name]:
            inner = f"{path.rstrip('/')}/{name}"
            facts.pop(inner, None)
            # A glob's `*` passes through `/`, so that nothing below what is volatile is a fact.
            if base.inodes[before[name]].entries is not None and not volatile.match(f"{inner}/"):
                for key in [key for key in facts if key.startswith(inner + "/")]:
                    del facts[key]
    for name, child in now.items():
        if before.get(name) != child:
            for inner, inode in _walk_from(tree, f"{path.rstrip('/')}/{name}", child):
                if not volatile.match(inner):
                    facts[inner] = _digest(inode)


def _walk(tree: FileTree) -> Iterator[tuple[str, Inode]]:
    return _walk_from(tree, "/", tree.mounts[0].root)


def _walk_from(tree: FileTree, path: str, number: int) -> Iterator[tuple[str, Inode]]:
    """Folders before what is in them. Agents make them as deep as they like: no recursion."""
    waiting = [(path, number)]
    while waiting:
        path, number = waiting.pop()
        inode = tree.inodes[tree.top_of(number)]
        yield path, inode
        if inode.entries is not None and inode.dev not in tree.synthetic:
            above = path.rstrip("/")
            waiting += [(f"{above}/{name}", child) for name, child in inode.entries.items()]


def _digest(inode: Inode) -> str:
    if inode.entries is not None:
        what = "directory"
    elif inode.target is not None:
        what = f"link:{inode.target}"
    else:
        what = f"{inode.device or ''}{inode.content.digest()}"
    lists = "".join(f"+{acl}" for acl in (inode.acl, inode.default_acl) if acl is not None)
    return f"{inode.mode:o}:{inode.uid}:{inode.gid}{lists}:{what}"


def _firewall(tables: Tables) -> dict[str, str]:
    return firewall_facts(chain.from_iterable(save({table: tables[table]}) for table in tables))


@lru_cache(maxsize=64)
def _volatile(spec: SystemSpec) -> re.Pattern[str]:
    globs = (*_ALWAYS_VOLATILE, *texts(spec.settings.get("volatile")))
    return re.compile("|".join(fnmatch.translate(glob) for glob in globs))
