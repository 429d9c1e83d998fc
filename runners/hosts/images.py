"""The images of a system: the one that its recipe makes, whose id is known before it is built, and the one that worlds
start from, which is that one settled on this machine (databases filled, daemons stopped) and no more than a cache."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compiler.codec import dump
from runners.here.archive import EPOCH
from runners.here.cache import cache_folder
from runners.hosts.box import Box
from runners.hosts.engine import LABEL, Engine
from runners.hosts.layer import write_layer
from runners.hosts.packages import make_userland
from runners.hosts.recipe import Recipe
from runners.hosts.settle import settle
from runners.system import SystemSpec
from scenario_dsl.errors import HostError
from scenario_dsl.model import System

_OF = f"{LABEL}.of"
_CREATED = "2025-06-15T15:06:40Z"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """id: `sha256:…` of what the recipe makes; settled: of what worlds start from; packages: `name=version`."""

    system: str
    id: str
    settled: str
    packages: tuple[str, ...]


def build(engine: Engine, system: System, say: Say, *, anew: bool = False) -> Image:
    """Make what is missing of a system's images. anew: fetch the packages again. Raises HostError, EngineError."""
    folder = cache_folder() / "images"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        # Two that build at once would each fetch the packages; the second one finds them made.
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _build(engine, system, say, folder, anew=anew)


def _build(engine: Engine, system: System, say: Say, folder: Path, *, anew: bool) -> Image:
    recipe = Recipe.of(system)
    base = folder / f"{recipe.base_name}.tar"
    listing = base.with_suffix(".packages.json")
    if anew or not base.exists() or not listing.exists():
        say("fetching and unpacking the packages (about a minute)")
        packages = make_userland(recipe, base)
        listing.write_text(json.dumps(packages, indent=1))
    packages = tuple(json.loads(listing.read_text()))
    say("writing the system over them")
    layer = folder / f"{system.name}.{os.getpid()}.layer.tar"
    try:
        write_layer(system, base, layer)
        config = _config([_digest_kept(base), _digest(layer)])
        identity = f"sha256:{hashlib.sha256(config).hexdigest()}"
        tag = f"{LABEL}/{system.name}:{identity[7:19]}"
        if engine.image_id(tag) != identity:
            say("loading it into the engine")
            _load(engine, config, [base, layer], tag, folder)
        name = settled_name(system)
        settled = engine.image_id(name)
        if settled is None or engine.image_label(name, _OF) != identity:
            say("booting it once to fill its databases")
            box = Box(engine, SystemSpec.of(system), identity, kind="builder")
            try:
                settle(box, SystemSpec.of(system))
                # What the first boot wrote into the logs is none of the machine's history.
                engine.put_tar(box.container, "/", _logs(layer))
                repository, _, mark = name.partition(":")
                settled = engine.commit(box.container, repository, mark, {LABEL: "image", _OF: identity})
            finally:
                box.close()
    finally:
        layer.unlink(missing_ok=True)
    return Image(system=system.name, id=identity, settled=settled, packages=packages)


def settled_name(system: System) -> str:
    """The name that a system's settled image has in the engine: it follows from the description."""
    described = dump({"files": system.files, "settings": system.settings})
    return f"{LABEL}/{system.name}:settled-{hashlib.sha256(described).hexdigest()[:12]}"


def find(engine: Engine, system: System, name: str = "") -> str:
    """The settled image of a system (`name`: its name, where it is known). Raises HostError where it was not built."""
    found = engine.image_id(name or settled_name(system))
    if found is None:
        raise HostError(
            f"the image of the system {system.name} is not built here",
            remedy=f"breakfix image build {system.name} (about two minutes, as root)",
        )
    return found


def identity(engine: Engine, settled: str) -> str:
    """The id of the image that a settled one was made of: it follows from packages and description alone."""
    return engine.image_label(settled, _OF)


def _config(layers: list[str]) -> bytes:
    document = {
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine],
        "config": {"Cmd": ["/sbin/init"], "Env": ["container=oci"], "StopSignal": "SIGRTMIN+3"},
        "created": _CREATED,
        "history": [{"created": _CREATED} for _ in layers],
        "os": "linux",
        "rootfs": {"diff_ids": layers, "type": "layers"},
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _logs(layer: Path) -> bytes:
    """The logs of a layer, as a tar."""
    buffer = io.BytesIO()
    with tarfile.open(layer) as given, tarfile.open(fileobj=buffer, mode="w") as out:
        for member in given:
            if member.name.startswith("var/log/"):
                out.addfile(member, given.extractfile(member) if member.isfile() else None)
    return buffer.getvalue()


def _load(engine: Engine, config: bytes, layers: list[Path], tag: str, folder: Path) -> None:
    name = f"{hashlib.sha256(config).hexdigest()}.json"
    names = [f"layer{number}.tar" for number in range(len(layers))]
    manifest = json.dumps([{"Config": name, "RepoTags": [tag], "Layers": names}]).encode()
    out = folder / f"load.{os.getpid()}.tar"
    try:
        with tarfile.open(out, "w") as tar:
            for path, data in ((name, config), ("manifest.json", manifest)):
                member = tarfile.TarInfo(path)
                member.size, member.mtime = len(data), EPOCH
                tar.addfile(member, io.BytesIO(data))
            for path, layer in zip(names, layers, strict=True):
                tar.add(layer, path)
        engine.load(out)
    finally:
        out.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _digest_kept(path: Path) -> str:
    """A large file's digest, remembered beside it."""
    kept = path.with_suffix(".sha256")
    if not kept.exists() or kept.stat().st_mtime < path.stat().st_mtime:
        kept.write_text(_digest(path))
    return kept.read_text()
