"""The userland of an image: Debian packages as one tar, made by mmdebstrap, byte for byte the same for one archive."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from runners.hosts.recipe import EPOCH, Recipe
from scenario_dsl.errors import HostError

_SECONDS = 1200
_SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")
_LEAVE_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
_BEFORE = (
    'mkdir -p "$1/etc/postgresql-common"; '
    'echo "create_main_cluster = false" > "$1/etc/postgresql-common/createcluster.conf"'
)
"""Each installation makes secrets and clusters of its own: not in an image."""
_SECRETS_AND_TRACES = (
    "etc/apt/sources.list",
    "etc/apt/sources.list.d/*",
    "etc/hostname",
    "etc/resolv.conf",
    "etc/ssh/ssh_host_*",
    "etc/ssl/certs/ssl-cert-snakeoil.pem",
    "etc/ssl/private/ssl-cert-snakeoil.key",
    "tmp/*",
    "var/cache/apt/*.bin",
    "var/cache/apt/archives/*.deb",
    "var/cache/debconf/*",
    "var/cache/ldconfig/*",
    "var/lib/apt/lists/*",
    "var/lib/systemd/*/*",
    "var/log/*",
)
_AFTER = (
    f'cd "$1" && rm -rf {" ".join(_SECRETS_AND_TRACES)}; '
    "find etc/ssl/certs -lname '*snakeoil*' -delete; : > etc/machine-id"
)


def make_userland(recipe: Recipe, out: Path) -> tuple[str, ...]:
    """Write the userland's tar to `out`. Returns the installed packages as `name=version`, sorted.

    Raises HostError where a program, a right or the archive is missing.
    """
    if shutil.which("mmdebstrap") is None:
        raise HostError("mmdebstrap is not installed", remedy="apt-get install mmdebstrap")
    if os.geteuid() != 0:
        raise HostError("making an image needs root", remedy="run it as root")
    sources = next((path for path in _SOURCES if Path(path).is_file()), None)
    if sources is None:
        raise HostError("no package sources are configured", remedy=f"write {_SOURCES[0]}")
    part, lock = out.with_suffix(".part.tar"), out.with_suffix(".lock")
    listing = f"chroot \"$1\" dpkg-query -W -f '${{Package}}=${{Version}}\\n' > {shlex.quote(str(lock))}"
    call = [
        "mmdebstrap", "--variant=minbase", "--format=tar", f"--include={','.join(recipe.packages)}",
        "--dpkgopt=force-unsafe-io", *(f"--dpkgopt=path-exclude={path}" for path in _LEAVE_OUT),
        f"--essential-hook={_BEFORE}", f"--customize-hook={listing}", f"--customize-hook={_AFTER}",
        recipe.suite, str(part), sources,
    ]  # fmt: skip
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH), "LANG": "C.UTF-8"}
    try:
        done = subprocess.run(call, env=environment, capture_output=True, text=True, errors="replace", timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise HostError(
            f"mmdebstrap took longer than {_SECONDS} s", remedy="is the package archive reachable?"
        ) from None
    if done.returncode:
        # The first complaint is the cause; those after it only say that everything around it failed too.
        lines = done.stderr.splitlines()
        said = next((line for line in lines if line.startswith("E:")), lines[-1] if lines else "it says not why")
        part.unlink(missing_ok=True)
        raise HostError(f"mmdebstrap failed: {said}", remedy="see `mmdebstrap --help`")
    part.rename(out)
    return tuple(sorted(lock.read_text().split()))
