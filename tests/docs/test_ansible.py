"""The page on plain Ansible: its commands as they stand there, against a machine that is reached over SSH."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler.bundle import compile_pack
from compiler.verify import verify_under_ephemeral_key
from runners.backends.container import ContainerBackend
from runners.here.owning import owner
from runners.worlds import LiveWorld
from scenario_dsl.library import load_library
from scenario_dsl.model import Probe
from scenario_dsl.worlds import World
from tests.docs.markdown import DOCS, blocks
from tests.engine import built, engine

pytestmark = pytest.mark.engine
PAGE = "ansible.md"
PACKS = DOCS.parent / "packs"
INSIDE = "/run/training"


@pytest.fixture
def shop() -> Iterator[tuple[LiveWorld, World]]:
    """The machine of the page's scenario, well."""
    built("web-server")
    content = verify_under_ephemeral_key(compile_pack(load_library(PACKS / "starter", [PACKS]))).content
    scenario = content.scenarios["permission-repair"]
    live = ContainerBackend().open(content, scenario, scenario.worlds[0], seed=0)
    yield live, scenario.worlds[0]
    live.close()


def ssh_into(live: LiveWorld, folder: Path) -> str:
    """The page's inventory, save that its machine is the container: an SSH server in it, without a network."""
    key = folder / "key"
    subprocess.run([_program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    public = key.with_suffix(".pub").read_text().strip()
    keys = f"echo '{public}' > {INSIDE}/keys && ssh-keygen -q -t ed25519 -N '' -f {INSIDE}/host"
    prepared = live.run(f"mkdir -p {INSIDE} /run/sshd && {keys}", output_bytes=1000, seconds=60)
    assert prepared.exit_code == 0, prepared.output
    (name,) = [name for name, whose in engine().ours() if whose == owner()]
    settings = f"-o HostKey={INSIDE}/host -o AuthorizedKeysFile={INSIDE}/keys -o StrictModes=no -o UsePAM=no"
    server = f"docker exec -i {name} /usr/sbin/sshd -i -f /dev/null -o PermitRootLogin=yes {settings}"
    options = f'-o ProxyCommand="{server}" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -i {key}'
    (inventory,) = [block.text for block in blocks(PAGE) if block.file == "hosts.ini"]
    return f"{inventory.rstrip()} ansible_ssh_common_args='{options}'\n"


def test_the_page_followed_to_the_letter(shop: tuple[LiveWorld, World], tmp_path: Path) -> None:
    live, world = shop
    (tmp_path / "hosts.ini").write_text(ssh_into(live, tmp_path), encoding="utf-8")
    (tmp_path / "packs").symlink_to(PACKS)
    goals = [goal.check for goal in world.objectives if isinstance(goal.check, Probe)]
    compile_and_break, mend = [block.text for block in blocks(PAGE) if block.language == "sh"]
    assert all(seen.holds for seen in live.observe(goals))
    follow(compile_and_break, tmp_path)
    assert not all(seen.holds for seen in live.observe(goals))
    follow(f"worlds={_worlds(compile_and_break)}\n{mend}", tmp_path)
    assert all(seen.holds for seen in live.observe(goals))


def _worlds(block: str) -> str:
    return next(line for line in block.splitlines() if line.startswith("worlds=")).partition("=")[2]


def follow(block: str, folder: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(DOCS.parent),
        "DOCKER_HOST": engine().url,
    }
    done = subprocess.run(
        ["bash", "-euc", block], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: apt-get install openssh-client")
    return found
