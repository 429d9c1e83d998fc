"""What lasts in a world: a digest of every file that normal life does not change, and of the packet filter.

A container's own files are a layer over its image's, so only that layer is read each time; the image is read once.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import re
import stat
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from runners.here.cache import cache_folder
from runners.hosts.files import ACCESS_LISTS, Files, Lists
from runners.hosts.wiring import firewall_rules
from runners.lasting import SALTED, WITH_HASHES, firewall_facts
from runners.system import SystemSpec, texts

_VOLATILE = (
    "/proc/*", "/sys/*", "/dev/*", "/run/*", "/tmp/*", "/var/cache/*", "/var/lib/systemd/*", "/var/lib/dbus/*",
    "/var/lib/nginx/*", "/var/lib/sudo/*", "/var/lib/private/*", "/var/lib/postgresql/*/main/pg_*/*",
    "/var/lib/postgresql/*/main/current_logfiles", "*/__pycache__", "*/__pycache__/*", "/etc/.pwd.lock",
    "/etc/machine-id", "/etc/.updated", "/var/.updated", "/var/lib/sysstat/*", "/.dockerenv", "/root/.ansible*",
    # What usermod and its like keep of the account files as they were before them: nothing reads it.
    "/etc/passwd-", "/etc/group-", "/etc/gshadow-", "/etc/subuid-", "/etc/subgid-",
)  # fmt: skip
_OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")
_UNREADABLE = ("*filter", ":UNREADABLE -")
"""A packet filter with so many rules that nobody can read them."""
_KEPT_BYTES = 16 << 20
"""The longest file whose content a picture keeps, so that it can be put back."""


class Node(NamedTuple):
    """One path of a picture. `data`: content of a file or target of a link, None of a directory or a large file.

    `lists`: its access control lists as the kernel keeps them, (name of the extended attribute, value).
    """

    mode: int
    uid: int
    gid: int
    data: bytes | None
    lists: Lists = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Where the engine keeps a container's files: its own layer and those below it, the uppermost first."""

    upper: Path
    lower: tuple[Path, ...]

    @classmethod
    def of(cls, inspected: Mapping[str, object]) -> Layers:
        """From what the engine says of a container whose files are overlays. Raises OSError for others."""
        driver = inspected.get("GraphDriver")
        data = driver.get("Data") if isinstance(driver, dict) else None
        if not isinstance(data, dict) or "UpperDir" not in data:
            raise OSError("the engine does not keep files as overlays")
        return cls(upper=Path(data["UpperDir"]), lower=tuple(Path(one) for one in data["LowerDir"].split(":")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The container's own layer at one moment. `gone`: paths of the image that are hidden."""

    nodes: Mapping[str, Node]
    gone: frozenset[str]
    digests: Mapping[str, str]
    firewall: tuple[str, ...]


def take_picture(layers: Layers, volatile: re.Pattern[str], inside: int, uids: int) -> Picture:
    """Look at the layer now."""
    nodes: dict[str, Node] = {}
    gone: set[str] = set()
    digests: dict[str, str] = {}
    for path, about, place in _walk(layers.upper, volatile):
        if stat.S_ISCHR(about.st_mode) and about.st_rdev == 0:
            gone.add(path)
            continue
        if stat.S_ISDIR(about.st_mode) and _is_opaque(place):
            gone.add(path + "/")
        node, digest = _node(place, about, uids)
        nodes[path], digests[path] = node, digest
    try:
        firewall = firewall_rules(inside)
    except OSError:
        firewall = _UNREADABLE
    return Picture(nodes=nodes, gone=frozenset(gone), digests=digests, firewall=firewall)


def lasting(base: Mapping[str, str], picture: Picture) -> dict[str, str]:
    """All lasting facts, from those of the image and the picture."""
    facts = dict(base)
    for path in picture.gone:
        prefix = path if path.endswith("/") else path + "/"
        facts.pop(path, None)
        for key in [key for key in facts if key.startswith(prefix)]:
            del facts[key]
    facts.update(picture.digests)
    facts.update(firewall_facts(picture.firewall))
    return facts


def base_facts(image: str, layers: Layers, spec: SystemSpec, uids: int) -> Mapping[str, str]:
    """The facts of an image by itself; read once and kept beside the images."""
    volatile = volatile_paths(spec)
    name = hashlib.sha256(f"{image} {volatile.pattern}".encode()).hexdigest()[:16]
    return _base(cache_folder() / "images" / f"{name}.facts.json", layers, volatile, uids)


@lru_cache(maxsize=8)
def _base(kept: Path, layers: Layers, volatile: re.Pattern[str], uids: int) -> Mapping[str, str]:
    try:
        known: dict[str, str] = json.loads(kept.read_text())
        return known
    except (OSError, ValueError):
        pass
    facts: dict[str, str] = {}
    for layer in reversed(layers.lower):
        if layer.name == "diff" and layer.parent.name.endswith("-init"):
            continue
        for path, about, place in _walk(layer, volatile):
            if stat.S_ISCHR(about.st_mode) and about.st_rdev == 0:
                for key in [key for key in facts if key == path or key.startswith(path + "/")]:
                    del facts[key]
                continue
            facts[path] = _node(place, about, uids)[1]
    kept.parent.mkdir(parents=True, exist_ok=True)
    # Several worlds may want it first, in threads too.
    part = kept.with_suffix(f".{os.getpid()}.{threading.get_native_id()}")
    part.write_text(json.dumps(facts))
    part.rename(kept)
    return facts


def from_image(layers: Layers, path: str, uids: int) -> Node | None:
    """What the image holds at a path."""
    for layer in layers.lower:
        place = layer / path.lstrip("/")
        try:
            about = place.lstat()
        except OSError:
            continue
        if stat.S_ISCHR(about.st_mode) and about.st_rdev == 0:
            return None
        return _node(place, about, uids)[0]
    return None


@lru_cache(maxsize=16)
def volatile_paths(spec: SystemSpec) -> re.Pattern[str]:
    globs = (*_VOLATILE, *texts(spec.settings.get("volatile")))
    return re.compile("|".join(fnmatch.translate(glob) for glob in globs))


def _walk(layer: Path, volatile: re.Pattern[str]) -> Iterator[tuple[str, os.stat_result, Path]]:
    """Everything below a layer's top but what is volatile, parents first; links stay links."""
    stack = [layer]
    while stack:
        folder = stack.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            place = Path(entry.path)
            path = f"/{place.relative_to(layer)}"
            if volatile.match(path):
                continue
            try:
                about = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            yield path, about, place
            if entry.is_dir(follow_symlinks=False):
                stack.append(place)


def _node(place: Path, about: os.stat_result, uids: int) -> tuple[Node, str]:
    data: bytes | None = None
    what = "directory"
    if stat.S_ISLNK(about.st_mode):
        data = os.fsencode(os.readlink(place))
        what = f"link:{os.fsdecode(data)}"
    elif stat.S_ISREG(about.st_mode):
        try:
            with place.open("rb") as file:
                if about.st_size <= _KEPT_BYTES:
                    data = file.read()
                    what = hashlib.sha256(data).hexdigest()[:24]
                else:
                    # A file with a hole is as long as somebody likes; its beginning, length and time stand for it.
                    start = hashlib.sha256(file.read(_KEPT_BYTES)).hexdigest()[:24]
                    what = f"{start}+{about.st_size}@{about.st_mtime_ns}"
        except OSError:
            what = "gone"
    elif not stat.S_ISDIR(about.st_mode):
        what = f"device:{about.st_rdev}"
    uid, gid, lists = about.st_uid - uids, about.st_gid - uids, _lists(place)
    listed = "".join(f"+{value.hex()}" for _, value in lists)
    return Node(about.st_mode, uid, gid, data, lists), f"{about.st_mode:o}:{uid}:{gid}{listed}:{what}"


def _lists(place: Path) -> Lists:
    try:
        names = os.listxattr(place, follow_symlinks=False)
        return tuple((name, os.getxattr(place, name, follow_symlinks=False)) for name in ACCESS_LISTS if name in names)
    except OSError:
        return ()


def _is_opaque(place: Path) -> bool:
    for name in _OPAQUE:
        try:
            if os.getxattr(place, name, follow_symlinks=False) == b"y":
                return True
        except OSError:
            continue
    return False


def without_salt(files: Files) -> Mapping[str, str]:
    """Files that hold password hashes -> digest of what else they say."""
    held = ((path, files.read(path)) for path in WITH_HASHES)
    return {path: hashlib.sha256(SALTED.sub(b"$", data)).hexdigest() for path, data in held if data is not None}
