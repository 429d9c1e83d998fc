"""The image of a virtual machine with sched_ext: kernel, root, the pack's programs and BPF objects, by content.

`base-…` holds what packages give; `vm-…` what is started. An image's id follows from the packages, the system's files
and our own guest programs; the digests of what clang made of the sources are in it too.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from compiler.codec import dump
from runners.here.archive import EPOCH
from runners.here.cache import cache_folder
from runners.here.programs import run
from runners.kernel.packages import fetch_kernel, make_root
from runners.kernel.recipe import Recipe
from scenario_dsl.errors import HostError
from scenario_dsl.model import System

GUEST = Path(__file__).parent / "guest"
LAB = "usr/lib/sched"
"""Where the guest programs lie."""
_MODULES = ("virtio_net", "net_failover", "failover")
_CONTROL = "usr/bin/schedctl"
_PROGRAMS = {f"{LAB}/watchdog": "watchdog", f"{LAB}/filler": "filler", _CONTROL: "schedctl"}
"""Path in the guest -> our own C source."""
_USERS = (("operator", 1000, "/bin/bash"), ("service", 900, "/usr/sbin/nologin"), ("batch", 901, "/usr/sbin/nologin"))
_SSHD = """\
HostKey /run/keys/host
AuthorizedKeysFile /run/keys/%u
AllowUsers root
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
LogLevel ERROR
ClientAliveInterval 0
"""
_PACKED = {b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\0": "xz", b"\x1f\x8b\x08": "gzip", b"\x02\x21\x4c\x18": "lz4"}
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """id: `sha256:…`; kernel and disk: files; programs: folder with all that is ours in the guest, by its path there;
    objects: name of a BPF object -> sha256 of its bytes."""

    system: str
    id: str
    release: str
    kernel: Path
    disk: Path
    programs: Path
    packages: tuple[str, ...]
    objects: dict[str, str]


def build(system: System, say: Say, *, anew: bool = False) -> Image:
    """Make what is missing of a system's image. anew: fetch the packages again. Raises HostError, AuthorError."""
    recipe = Recipe.of(system)
    if os.geteuid() != 0:
        raise HostError("making an image needs root", remedy="run it as root")
    folder = cache_folder() / "vm"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        base = folder / f"base-{_base_name(recipe)}"
        if anew or not (base / "packages.json").exists():
            _make_base(recipe, base, say)
        place = folder / image_name(system)
        if anew or not (place / "image.json").exists():
            _make_image(system, recipe, base, place, say)
            remove_old(folder, place)
        return _open(system, place)


def headers(system: System) -> Path:
    """The folder of the kernel's `vmlinux.h`, once the system's image was built."""
    return cache_folder() / "vm" / f"base-{_base_name(Recipe.of(system))}"


def find(system: System) -> Image:
    """A system's image. Raises HostError where it was not built."""
    place = cache_folder() / "vm" / image_name(system)
    if not (place / "image.json").exists():
        raise HostError(
            f"the image of the system {system.name} is not built here",
            remedy=f"breakfix image build {system.name} (about two minutes, as root)",
        )
    return _open(system, place)


def image_name(system: System) -> str:
    """Follows from the description and the guest programs."""
    described = dump({"files": system.files, "settings": system.settings})
    return f"vm-{hashlib.sha256(described + _guest_digest().encode()).hexdigest()[:16]}"


def built() -> tuple[tuple[str, str, int], ...]:
    """(system, id, bytes) of the images that are here."""
    found = []
    for file in sorted((cache_folder() / "vm").glob("vm-*/image.json")):
        document = json.loads(file.read_text())
        found.append((document["system"], document["id"], (file.parent / "disk").stat().st_blocks * 512))
    return tuple(found)


def _open(system: System, place: Path) -> Image:
    document = json.loads((place / "image.json").read_text())
    return Image(
        system=system.name,
        id=document["id"],
        release=document["release"],
        kernel=place / "kernel",
        disk=place / "disk",
        programs=place / "programs",
        packages=tuple(document["packages"]),
        objects=document["objects"],
    )


def _make_base(recipe: Recipe, base: Path, say: Say) -> None:
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir()
    say(f"fetching a kernel from {recipe.backports}")
    release = fetch_kernel(recipe, base)
    say("fetching and unpacking the packages (half a minute)")
    packages = make_root(recipe, base)
    say("reading the kernel's types")
    _unpack(_only(base / "kernel", "vmlinuz*"), base / "root/tmp/vmlinux")
    dumped = run(
        ["chroot", str(base / "root"), "bpftool", "btf", "dump", "file", "/tmp/vmlinux", "format", "c"],
        "name `bpftool` among the packages of system.yml",
    )
    (base / "root/tmp/vmlinux").unlink()
    (base / "vmlinux.h").write_text(dumped)
    (base / "packages.json").write_text(json.dumps({"release": release, "packages": packages}, indent=1))


def _make_image(system: System, recipe: Recipe, base: Path, place: Path, say: Say) -> None:
    known = json.loads((base / "packages.json").read_text())
    work = place.with_suffix(f".{os.getpid()}")
    shutil.rmtree(work, ignore_errors=True)
    (work / "src").mkdir(parents=True)
    try:
        root = work / "root"
        run(["cp", "-a", str(base / "root"), str(root)], "is there room on the disk?")
        say("compiling")
        lab = root / LAB
        lab.mkdir(parents=True)
        for path, text in recipe.files.items():
            for to in (work / "src" / Path(path).name, root / path.lstrip("/")):
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(text)
        objects = {
            _object(source): compile_object(work / "src" / Path(source).name, base, lab / _object(source))
            for source in recipe.objects
        }
        for program, source in recipe.programs.items():
            _compile(work / "src" / Path(source).name, root / program.lstrip("/"))
        for program, name in _PROGRAMS.items():
            _compile(GUEST / f"{name}.c", root / program)
        _install(root, recipe, objects)
        for path in (LAB, *(program.lstrip("/") for program in recipe.programs), _CONTROL):
            _copy(root / path, work / "programs" / path)
        _add_modules(base / "kernel", root, known["release"])
        say("writing the disk")
        _write_disk(root, work / "disk")
        shutil.copyfile(_only(base / "kernel", "vmlinuz*"), work / "kernel")
        identity = hashlib.sha256(
            dump({"packages": tuple(known["packages"]), "release": known["release"], "objects": objects,
                  "files": system.files, "settings": system.settings, "guest": _guest_digest()})
        ).hexdigest()  # fmt: skip
        document = {
            "system": system.name,
            "id": f"sha256:{identity}",
            "objects": objects,
            "base": base.name,
            **known,
        }
        (work / "image.json").write_text(json.dumps(document, indent=1))
        for left in ("root", "src"):
            shutil.rmtree(work / left)
        shutil.rmtree(place, ignore_errors=True)
        work.rename(place)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def remove_old(folder: Path, place: Path) -> tuple[str, ...]:
    """Remove images of the same system other than that at `place`, what killed builds left, and packages that no image
    is made of any more. One that a machine runs on is kept. Returns the names of what was removed."""
    system = json.loads((place / "image.json").read_text())["system"]
    used = set(_in_use(folder / "running"))
    gone = [part for part in folder.glob("vm-*.*") if part.is_dir()]
    bases = set()
    for file in folder.glob("vm-*/image.json"):
        document = json.loads(file.read_text())
        if document["system"] == system and file.parent != place and file.parent.name not in used:
            gone.append(file.parent)
        else:
            bases.add(document.get("base"))
    gone += [base for base in folder.glob("base-*") if base.name not in bases]
    for part in gone:
        shutil.rmtree(part, ignore_errors=True)
    return tuple(sorted(part.name for part in gone))


def _in_use(running: Path) -> Iterator[str]:
    for marker in running.glob("*.json"):
        with suppress(OSError, ValueError):  # a machine may end meanwhile
            yield json.loads(marker.read_text()).get("image", "")


def _copy(source: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, to)


def _object(source: str) -> str:
    return Path(source).name.removesuffix(".c") + ".o"


def compile_object(source: Path, headers: Path, out: Path, *flags: str) -> str:
    """headers: the folder of `vmlinux.h`. Returns the sha256 of the object. Raises HostError."""
    run(
        ["clang", "-O2", "-g", "-target", "bpf", "-mcpu=v3", "-D__TARGET_ARCH_x86", f"-I{headers}", *flags,
         f"-ffile-prefix-map={source.parent}=.", "-c", str(source), "-o", str(out)],
        "apt-get install clang llvm libbpf-dev",
    )  # fmt: skip
    run(["llvm-strip", "-g", str(out)], "apt-get install llvm")
    return hashlib.sha256(out.read_bytes()).hexdigest()


def _compile(source: Path, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    run(
        ["clang", "-O2", "-static", "-s", "-o", str(out), str(source)], "apt-get install clang libc6-dev"
    )  # static: the guest's C library is another one


def _install(root: Path, recipe: Recipe, objects: dict[str, str]) -> None:
    lab = root / LAB
    for program in GUEST.glob("*.py"):
        shutil.copyfile(program, lab / program.name)
    (lab / "objects.json").write_text(json.dumps(objects))
    shutil.copyfile(GUEST / "init", root / "usr/sbin/lab-init")
    (root / "usr/sbin/lab-init").chmod(0o755)
    (root / "etc/ssh/lab.conf").write_text(_SSHD)
    for key in (root / "etc/ssh").glob("ssh_host_*"):
        key.unlink()
    (root / "etc/hostname").write_text(f"{recipe.hostname}\n")
    (root / "etc/machine-id").write_text("")
    with (root / "etc/passwd").open("a") as passwd, (root / "etc/group").open("a") as group:
        for name, uid, shell in _USERS:
            home = "/home/operator" if name == "operator" else "/nonexistent"
            passwd.write(f"{name}:x:{uid}:{uid}::{home}:{shell}\n")
            group.write(f"{name}:x:{uid}:\n")
    (root / "home/operator").mkdir(mode=0o755, exist_ok=True)


def _add_modules(kernel: Path, root: Path, release: str) -> None:
    source = next(path for path in kernel.rglob(f"lib/modules/{release}") if path.is_dir())
    to = root / "usr/lib/modules" / release
    to.mkdir(parents=True)
    for module in _MODULES:
        for file in source.rglob(f"{module}.ko*"):
            (to / file.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to / file.relative_to(source))
    for file in (*source.glob("modules.builtin*"), *source.glob("modules.order")):
        shutil.copyfile(file, to / file.name)
    run(["chroot", str(root), "depmod", release], "name `kmod` among the packages of system.yml")


def _write_disk(root: Path, disk: Path) -> None:
    size = int(run(["du", "-sm", str(root)], "run it as root").split()[0]) * 13 // 10 + 96
    with disk.open("wb") as file:
        file.truncate(size << 20)
    environment = {**os.environ, "E2FSPROGS_FAKE_TIME": str(EPOCH), "SOURCE_DATE_EPOCH": str(EPOCH)}
    run(
        ["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-E", "lazy_itable_init=1", "-d", str(root), str(disk)],
        "apt-get install e2fsprogs",
        env=environment,
    )


def _unpack(image: Path, out: Path) -> None:
    """The ELF file that a kernel image holds, packed by one of several programs."""
    data = image.read_bytes()
    for magic, program in _PACKED.items():
        for match in re.finditer(re.escape(magic), data):
            try:
                done = subprocess.run([program, "-dc"], input=data[match.start() :], capture_output=True, check=False)
            except FileNotFoundError:
                break
            if done.stdout[:4] == b"\x7fELF":
                out.write_bytes(done.stdout)
                return
    raise HostError(f"nothing here unpacks {image.name}", remedy="apt-get install zstd xz-utils lz4")


def _only(folder: Path, pattern: str) -> Path:
    return next(path for path in sorted(folder.rglob(pattern)) if path.is_file())


def _base_name(recipe: Recipe) -> str:
    given = [recipe.suite, recipe.backports, recipe.release, *sorted(recipe.packages)]
    return hashlib.sha256(json.dumps(given).encode()).hexdigest()[:16]


def _guest_digest() -> str:
    names = sorted(path for path in GUEST.iterdir() if path.is_file())
    data = b"".join(path.name.encode() + b"\0" + path.read_bytes() for path in names)
    return hashlib.sha256(data + _SSHD.encode()).hexdigest()
