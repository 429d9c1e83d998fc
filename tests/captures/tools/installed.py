"""List what an installation of Debian holds beside the files that a system describes: `installed.txt` of a system.

Usage: python installed.py IMAGE.tar > packs/PACK/systems/NAME/installed.txt

The tar is the root file system that image.sh makes. Listed are folders, libraries and programs' helpers: what one sees
with ls, find and du, and nobody reads. A line is `SIZE PATH`, `PATH -> TARGET` of a link, or `PATH/` of a folder.
"""

from __future__ import annotations

import re
import sys
import tarfile
from collections.abc import Iterator

_FILES = re.compile(
    r"usr/lib/x86_64-linux-gnu/([^/]*\.so[^/]*|(security|nginx/modules|rsyslog|gconv|engines-3|ossl-modules|perl-base/auto/.*)/[^/]*\.so)"
    r"|usr/lib/postgresql/15/(lib/[^/]*\.so|bin/[^/]*)|usr/lib/(openssh|apt/methods|apt/solvers|dbus-1.0)/[^/]*"
    r"|usr/lib/systemd/(systemd[^/.]*|libsystemd[^/]*\.so|system-generators/[^/]*)|usr/libexec/sudo/[^/]*\.so[^/]*"
    r"|usr/lib/python3\.11/lib-dynload/[^/]*\.so|usr/lib/file/magic\.mgc|usr/share/zoneinfo/([A-Z][^/]*|Europe/[^/]*)"
    r"|usr/share/locale/.*\.mo|usr/share/misc/magic\.mgc|usr/share/postgresql/15/timezonesets/.*\.tgz"
)
_FOLDERS = re.compile(r"(usr|var|opt|srv|mnt|media|home)(/[^/]+){0,3}")
_NOT_FOLDERS = re.compile(
    r"usr/(share/(perl|zoneinfo|i18n|doc|postgresql)/.*/.*|share/doc/.*/.*|include/.*)|var/lib/dpkg/info/.*"
)


def lines(image: str) -> Iterator[str]:
    with tarfile.open(image) as tar:
        members = sorted(tar, key=lambda member: member.name)
    for member in members:
        path = member.name.removeprefix("./").rstrip("/")
        if member.isdir() and _FOLDERS.fullmatch(path) and not _NOT_FOLDERS.fullmatch(path):
            yield f"/{path}/"
        elif _FILES.fullmatch(path) and member.issym():
            yield f"/{path} -> {member.linkname}"
        elif _FILES.fullmatch(path) and member.isfile():
            yield f"{member.size} /{path}"


if __name__ == "__main__":
    print("\n".join(lines(sys.argv[1])))
