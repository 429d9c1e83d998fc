"""Every playbook of a shipped pack's bundle is one that ansible-playbook itself accepts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from breakfix.content import SHIPPED, find_pack
from compiler.bundle import compile_pack
from scenario_dsl.library import load_library


@pytest.mark.ansible
@pytest.mark.parametrize("pack", ["repair", "starter"])
def test_ansible_accepts_every_playbook(tmp_path: Path, pack: str) -> None:
    bundle = compile_pack(load_library(find_pack(pack), SHIPPED))
    books = {path: data for path, data in bundle.files.items() if "/playbooks/" in path}
    assert len(books) >= 2 * len([path for path in bundle.files if "/worlds/" in path])
    for path, data in books.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    done = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "--syntax-check", "-i", "localhost,", *sorted(books)],
        cwd=tmp_path,
        env={
            "HOME": str(tmp_path),
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "ANSIBLE_LOCAL_TEMP": str(tmp_path / "t"),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.count("playbook: ") == len(books)
