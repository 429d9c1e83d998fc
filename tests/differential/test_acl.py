"""setfacl and getfacl, and what lists do to files: as Debian's own acl package and this host's kernel have it."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from runners.sim.files.acl import Beside
from runners.sim.files.inode import EXECUTE, READ, WRITE, Cred, Inode, permits
from tests.differential.harness import Case
from tests.differential.test_differential import disagreements

SCRIPTS = Path(__file__).with_name("acl.lines")
needs_acl = pytest.mark.skipif(shutil.which("setfacl") is None, reason="there is no setfacl: apt-get install acl")


def check(cases: list[Case]) -> None:
    found = disagreements(cases)
    assert not found, "\n".join(f"{case.script}\n  ours   {ours}\n  theirs {theirs}" for case, ours, theirs in found)


def scripts() -> list[Case]:
    lines = [line for line in SCRIPTS.read_text().splitlines() if line]
    assert len(lines) > 40
    return [Case(f"acl-{number}", script) for number, script in enumerate(lines, 1)]


@needs_acl
def test_a_fourth_of_the_scripts_agree_with_the_tools_of_debian() -> None:
    check(scripts()[::4])


@needs_acl
@pytest.mark.slow
def test_all_scripts_agree_with_the_tools_of_debian() -> None:
    check(scripts())


_FILE, _OWNER, _GROUP = 7001, 7100, 7200
_LISTS = (
    Beside(((7101, READ),), READ | WRITE, ((7201, WRITE),)),
    Beside(((7101, 0),), READ, ((7201, READ | EXECUTE),)),
    Beside((), 0, ((7201, READ), (7202, WRITE))),
    Beside(((7101, 7),), 7, ()),
)


def _entries(acl: Beside, mode: int) -> str:
    users = [f"u:{uid}:{bits}" for uid, bits in acl.users]
    groups = [f"g:{gid}:{bits}" for gid, bits in acl.groups]
    base = (f"u::{mode >> 6 & 7}", f"g::{acl.group}", f"m::{mode >> 3 & 7}", f"o::{mode & 7}")
    return ",".join((*base, *users, *groups))


_ASK = """
import json, os, sys
questions, said = json.load(sys.stdin), []
for path, uid, gid, groups in questions:
    os.setgroups(groups), os.setegid(gid), os.seteuid(uid)
    said.append([os.access(path, want, effective_ids=True) for want in (4, 2, 1)])
    os.seteuid(0), os.setegid(0)
print(json.dumps(said))
"""
"""Asks the kernel as somebody else, in a process of its own."""


@needs_acl
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can ask as somebody else")
def test_who_may_what_is_what_the_kernel_says() -> None:
    """Every kind of caller, with masks that let all, some and nothing through."""
    callers = [
        Cred(uid, gid, frozenset({gid, *more}))
        for uid in (_OWNER, 7101, 7300)
        for gid in (_GROUP, 7201, 7400)
        for more in ((), (7202,), (_GROUP, 7201))
    ]
    lists = list(itertools.product(_LISTS, (0o640, 0o604, 0o674, 0o714)))
    with tempfile.TemporaryDirectory(prefix="acl-") as top:
        Path(top).chmod(0o755)
        for number, (acl, mode) in enumerate(lists):
            path = Path(top) / str(number)
            path.write_text("")
            os.chown(path, _OWNER, _GROUP)
            subprocess.run(["setfacl", "--set", _entries(acl, mode), path], check=True)
            assert path.stat().st_mode & 0o777 == mode
        asked = [(number, cred) for number in range(len(lists)) for cred in callers]
        questions = [(f"{top}/{number}", cred.uid, cred.gid, sorted(cred.groups)) for number, cred in asked]
        done = subprocess.run(
            [sys.executable, "-c", _ASK], input=json.dumps(questions), capture_output=True, text=True, check=True
        )
    for (number, cred), said in zip(asked, json.loads(done.stdout), strict=True):
        acl, mode = lists[number]
        inode = Inode(_FILE, 1, 0o100000 | mode, _OWNER, _GROUP, 1, 0.0, 0.0, acl=acl)
        assert [permits(inode, cred, want) for want in (READ, WRITE, EXECUTE)] == said, (oct(mode), acl, cred)
