"""Debian packages for a virtual machine: a kernel from backports and a root folder, both from this machine's mirror.

Nothing of this machine's own package state is touched: the other suite is reached by way of a private configuration.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from runners.here.archive import LEAVE_OUT, mirror
from runners.here.programs import run
from runners.kernel.recipe import Recipe
from scenario_dsl.errors import HostError

_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
_CONFIGURATION = """\
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "{folder}/none";
Dir::Etc::preferences "{folder}/none";
Dir::Etc::preferencesparts "{folder}/none";
Dir::State::lists "{folder}/lists";
Dir::Cache "{folder}/cache";
APT::Sandbox::User "root";
"""


def fetch_kernel(recipe: Recipe, folder: Path) -> str:
    """Unpack a kernel with sched_ext below `folder`/kernel. Returns its release. Raises HostError."""
    apt = folder / "apt"
    for name in ("lists/partial", "cache/archives/partial", "none", "debs"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    (apt / "sources.list").write_text(f"deb [signed-by={_KEYS}] {mirror()} {recipe.backports} main\n")
    (apt / "apt.conf").write_text(_CONFIGURATION.format(folder=apt))
    environment = {**os.environ, "APT_CONFIG": str(apt / "apt.conf"), "LANG": "C.UTF-8"}
    run(["apt-get", "update", "-qq"], "is the package archive reachable?", env=environment)
    pattern = "^linux-(image|binary)-[0-9].*-cloud-amd64$"
    found = run(["apt-cache", "search", "--names-only", pattern], "apt-get install apt", env=environment)
    release, packages = _choose(found, recipe.release)
    run(
        ["apt-get", "download", "-qq", *packages],
        "is the package archive reachable?",
        env=environment,
        cwd=apt / "debs",
    )
    kernel = folder / "kernel"
    shutil.rmtree(kernel, ignore_errors=True)
    kernel.mkdir()
    for package in sorted((apt / "debs").glob("*.deb")):
        run(["dpkg", "-x", str(package), str(kernel)], "apt-get install dpkg")
    shutil.rmtree(apt)
    configurations = [*kernel.rglob(f"config-{release}"), *kernel.rglob("config")]
    if not any("CONFIG_SCHED_CLASS_EXT=y" in file.read_text() for file in configurations):
        raise HostError(f"the kernel {release} has no sched_ext", remedy="name another `release` in system.yml")
    return release


def make_root(recipe: Recipe, folder: Path) -> tuple[str, ...]:
    """A root folder at `folder`/root. Returns the installed packages as `name=version`, sorted. Raises HostError."""
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    call = [
        "mmdebstrap", "-q", "--variant=minbase", "--dpkgopt=force-unsafe-io",
        *LEAVE_OUT, f"--include={','.join(recipe.packages)}", recipe.suite, str(root), mirror(),
    ]  # fmt: skip
    run(call, "apt-get install mmdebstrap; is the package archive reachable?")
    listing = run(["chroot", str(root), "dpkg-query", "-W", "-f", "${Package}=${Version}\\n"], "run it as root")
    for place in ("var/lib/apt/lists", "var/cache/apt"):
        shutil.rmtree(root / place, ignore_errors=True)
    return tuple(sorted(listing.split()))


def _choose(listing: str, preferred: str) -> tuple[str, tuple[str, ...]]:
    """The newest kernel of the preferred line, or else of all, and the packages that it is in."""
    known: dict[str, set[str]] = {}
    for line in listing.splitlines():
        match = re.match(r"linux-(image|binary)-(\d[^ ]*-cloud-amd64) ", line)
        if match:
            known.setdefault(match[2], set()).add(match[1])
    usable = [release for release in known if release.startswith(f"{preferred}.")] or list(known)
    if not usable:
        raise HostError("the archive has no kernel for clouds", remedy="name other `backports` in system.yml")
    release = max(usable, key=lambda name: [int(number) for number in re.findall(r"\d+", name)])
    if "binary" in known[release]:
        return release, (f"linux-binary-{release}", f"linux-modules-{release}")
    return release, (f"linux-image-{release}",)
