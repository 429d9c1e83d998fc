"""The userland of an image: Debian packages as one tar, made by mmdebstrap, byte for byte the same for one archive."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from runners.here.archive import EPOCH, LEAVE_OUT, sources
from runners.here.programs import run
from runners.hosts.recipe import Recipe
from scenario_dsl.errors import HostError

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
    if os.geteuid() != 0:
        raise HostError("making an image needs root", remedy="run it as root")
    part, lock = out.with_suffix(".part.tar"), out.with_suffix(".lock")
    listing = f"chroot \"$1\" dpkg-query -W -f '${{Package}}=${{Version}}\\n' > {shlex.quote(str(lock))}"
    call = [
        "mmdebstrap", "--variant=minbase", "--format=tar", f"--include={','.join(recipe.packages)}",
        "--dpkgopt=force-unsafe-io", *LEAVE_OUT,
        f"--essential-hook={_BEFORE}", f"--customize-hook={listing}", f"--customize-hook={_AFTER}",
        recipe.suite, str(part), str(sources()),
    ]  # fmt: skip
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH), "LANG": "C.UTF-8"}
    try:
        run(call, "apt-get install mmdebstrap; is the package archive reachable?", env=environment)
    except HostError:
        part.unlink(missing_ok=True)
        raise
    part.rename(out)
    return tuple(sorted(lock.read_text().split()))
