"""What a machine cannot live without: its trees, a few single files, its disks."""

from __future__ import annotations

import posixpath
import re

from runners.typed.values import UNKNOWN

TREES = frozenset(
    (  # noqa: SIM905 (a table, read better so)
        "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /opt /proc /root /run /sbin /srv /sys /usr "
        "/usr/bin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/local /usr/sbin /usr/share /usr/lib/systemd "
        "/usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /lib/systemd /lib/x86_64-linux-gnu "
        "/lib/aarch64-linux-gnu /lib/modules /var /var/lib /var/lib/dpkg /var/lib/mysql /var/lib/postgresql "
        "/etc/pam.d /etc/ssh /etc/systemd"
    ).split()
)
"""Folders that are never removed, moved, emptied or opened as a whole."""
FILES = frozenset(
    (  # noqa: SIM905 (a table, read better so)
        "/etc/passwd /etc/shadow /etc/group /etc/fstab /etc/sudoers /etc/nsswitch.conf /bin/sh /bin/bash "
        "/bin/dash /usr/bin/sh /usr/bin/bash /usr/bin/dash /sbin/init /usr/sbin/init /lib/systemd/systemd "
        "/usr/lib/systemd/systemd /lib64/ld-linux-x86-64.so.2 /usr/lib64/ld-linux-x86-64.so.2 "
        "/lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libc.so.6 /dev/null /usr/bin/env "
        "/bin/systemctl /usr/bin/systemctl"
    ).split()
)
PACKAGES = re.compile(
    r"(?:libc6|libc-bin|systemd|systemd-sysv|init|coreutils|bash|dash|dpkg|apt|base-files|login|passwd|util-linux|"
    r"linux-image\S*|grub\S*|mount|perl-base|libsystemd0|openssh-server|\*|\.\*)(?::\w+)?"
)
_DISK = re.compile(
    r"/dev/(?:[shv]d[a-z]+\d*|xvd[a-z]+\d*|nvme\d+(?:n\d+(?:p\d+)?)?|mmcblk\d+(?:p\d+)?|md\d+|dm-\d+|loop\d+|"
    r"disk/by-[a-z]+/.+|mapper/(?!control$).+|root|sd[a-z]\*?|mem|kmem|port)"
)


def is_disk(path: str, *, glob: bool = False) -> bool:
    """A block device, or the memory itself."""
    if UNKNOWN in path:
        return False
    return _DISK.fullmatch(path) is not None or (glob and re.match(r"/dev/(?:[shv]d|xvd|nvme|\*|\?)", path) is not None)


def tree_of(path: str, *, glob: bool = False) -> str | None:
    """The vital folder that a path is, or all of whose entries a pattern means; None for anything else."""
    if UNKNOWN in path:
        return None
    if not glob:
        return path if path in TREES else None
    above, last = posixpath.split(path)
    if last.strip("*?.") == "" or (last.startswith(("[", "{")) and above == "/"):
        return above if above in TREES else None
    # `/b*`, `/us?`: a pattern among the top folders themselves.
    if above == "/" and any(_matches(last, name) for name in TREES):
        return path
    return None


def is_vital_file(path: str, *, glob: bool = False) -> bool:
    if UNKNOWN in path:
        return False
    if glob:
        return any(re.fullmatch(_pattern(path), name) for name in FILES)
    return path in FILES or re.fullmatch(r"/boot/(?:vmlinuz|initrd\.img)\S*", path) is not None


def _matches(pattern: str, tree: str) -> bool:
    return tree.count("/") == 1 and re.fullmatch(_pattern(pattern), tree[1:]) is not None


def _pattern(glob: str) -> str:
    return "".join({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)) for char in glob)
