"""What this machine has of all that virtual machines with sched_ext need, and how to get the rest."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from runners.here.programs import Need
from runners.kernel.image import built, find
from runners.kernel.vm import QEMU
from scenario_dsl.errors import HostError
from scenario_dsl.model import System

_TO_RUN = ((QEMU, "qemu-system-x86"), ("ssh", "openssh-client"), ("setpriv", "util-linux"))
_TO_REACH = (("ssh", "openssh-client"),)
_TO_BUILD = (
    ("mmdebstrap", "mmdebstrap"),
    ("clang", "clang libc6-dev libbpf-dev"),
    ("llvm-strip", "llvm"),
    ("mke2fs", "e2fsprogs"),
    ("zstd", "zstd"),
)


def needs() -> Iterator[Need]:
    """Everything that is needed, in the order in which one would get it. Nothing is started.

    What only building an image takes is not asked for where there is one.
    """
    there = bool(built())
    for program, package in _TO_RUN + (() if there else _TO_BUILD):
        yield Need(f"the program {program}", "" if shutil.which(program) else f"apt-get install {package}")
    if not there:
        yield Need("root's rights to build an image", "" if os.geteuid() == 0 else "run breakfix as root")
    yield Need("a virtual machine's image", "" if there else "breakfix image build sched-ext-vm")
    machine = os.uname().machine
    yield Need("an x86-64 processor", "" if machine == "x86_64" else f"the image is made for x86-64, this is {machine}")


def no_host(system: System, *, virtual: bool) -> Iterator[str]:
    """Why no world of the system can be opened from here. virtual: on a virtual machine, not on somebody's host."""
    for program, package in _TO_RUN if virtual else _TO_REACH:
        if shutil.which(program) is None:
            yield f"there is no usable host here: {program} is not installed (apt-get install {package})"
    try:
        find(system)
    except HostError as lacking:
        yield f"there is no usable host here: {lacking} ({lacking.remedy})"
