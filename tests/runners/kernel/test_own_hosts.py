"""Hosts that somebody owns: refused by name where they lack something, and afterwards as they were, whoever was killed.

The host is the virtual machine of the image, started without anything of ours on it and named in an inventory.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from breakfix.content import SHIPPED
from compiler.bundle import compile_pack
from compiler.verify import verify_under_ephemeral_key
from runners.backends.kernel import KernelBackend
from runners.kernel.image import find
from runners.kernel.own.inventory import Place, read_inventory
from runners.kernel.own.machine import look, refuse_unless_fit, sweep_own
from runners.kernel.recipe import Recipe
from runners.kernel.vm import QEMU, VirtualMachine
from runners.opening import Site
from scenario_dsl.errors import AuthorError, HostError
from scenario_dsl.library import load_library
from scenario_dsl.model import Probe

PACK = Path(__file__).parents[3] / "kernel_packs/scheduling"
LIBRARY = load_library(PACK, SHIPPED)
SYSTEM = LIBRARY.systems["sched-ext-vm"]
STATE = "/sys/kernel/sched_ext/state"
FORGET = """
mount -o remount,rw / && rm -rf /usr/lib/sched /usr/bin/load /usr/bin/schedctl /home/operator
sed -i '/^operator:x:1000:/d; /^service:/d; /^batch:/d' /etc/passwd /etc/group
mkdir -p /etc/kept; cp /etc/passwd /etc/group /etc/shadow /etc/gshadow /etc/kept/
"""
"""Makes of our machine one that has never seen us."""
DIFFERENCE = r"""
for file in passwd group shadow gshadow; do cmp /etc/$file /etc/kept/$file; done
ls -d /usr/lib/sched /usr/bin/load /usr/bin/schedctl /home/operator 2>/dev/null
ls -d /run/sched /run/load /run/breakfix-ansible 2>/dev/null
find /sys/fs/cgroup -mindepth 1 -type d; cat /sys/fs/cgroup/cgroup.subtree_control
pgrep -x 'checkout|watchdog|filler|canary'; grep -v disabled /sys/kernel/sched_ext/state; true
"""


def as_inventory(folder: Path, line: str) -> Path:
    file = folder / "hosts.ini"
    file.write_text(f"[lab]\n{line}\n")
    return file


def test_an_inventory_says_how_a_host_is_reached(tmp_path: Path) -> None:
    line = "box ansible_host=10.1.2.3 ansible_port=2222 ansible_user=me ansible_become=true"
    (place,) = read_inventory(as_inventory(tmp_path, f"{line} ansible_ssh_common_args='-o Foo=bar'"))
    assert place.name == "box"
    assert place.ssh[-4:] == ("10.1.2.3", "sudo", "-n", "--")
    assert {"-p", "2222", "-l", "me", "Foo=bar"} <= set(place.ssh)


def test_an_inventory_that_names_nobody_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AuthorError, match="names no host"):
        read_inventory(as_inventory(tmp_path, ""))
    with pytest.raises(AuthorError, match="there is no inventory"):
        read_inventory(tmp_path / "nowhere.ini")


@pytest.mark.skipif(os.path.exists("/sys/kernel/sched_ext"), reason="this machine's own kernel has sched_ext")
def test_a_host_without_sched_ext_is_refused_by_the_options_name(tmp_path: Path) -> None:
    here = Place(name="here", inventory=tmp_path / "hosts.ini", ssh=("env",))
    with pytest.raises(HostError, match=r"here cannot be used, it lacks: .*CONFIG_SCHED_CLASS_EXT"):
        refuse_unless_fit(here)


def test_a_host_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="gone cannot be asked"):
        look(Place(name="gone", inventory=tmp_path / "hosts.ini", ssh=("false",)))


@pytest.fixture(scope="module")
def somebodys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The inventory."""
    if shutil.which(QEMU) is None:
        pytest.skip("QEMU is not installed")
    try:
        image = find(SYSTEM)
    except HostError as missing:
        pytest.skip(f"{missing}: {missing.remedy}")
    machine = VirtualMachine(image, memory=Recipe.of(SYSTEM).memory)
    try:
        known = machine.key.parent / "known_hosts"
        line = (
            f"somebodys ansible_host=127.0.0.1 ansible_port={machine.port} ansible_user=root "
            f"ansible_ssh_private_key_file={machine.key} "
            f"ansible_ssh_common_args='-F none -o IdentitiesOnly=yes -o UserKnownHostsFile={known}'"
        )
        inventory = as_inventory(tmp_path_factory.mktemp("own"), line)
        asked(inventory, FORGET)
        yield inventory
        assert machine.runs(), machine._console.read_text(errors="replace")[-2000:]
    finally:
        machine.close()


def asked(inventory: Path, script: str) -> str:
    (place,) = read_inventory(inventory)
    done = subprocess.run([*place.ssh, "sh", "-s"], input=script, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    return done.stdout


def opened(inventory: Path) -> tuple[KernelBackend, Site]:
    content = verify_under_ephemeral_key(compile_pack(LIBRARY)).content
    backend = KernelBackend(inventory)
    return backend, Site(content=content, scenario=content.scenarios["noisy-neighbour"], backend=backend)


@contextmanager
def closing(backend: KernelBackend) -> Iterator[None]:
    """Whatever a test finds, the host is given back."""
    try:
        yield
    finally:
        for hosts in backend._hosts.values():
            hosts.close()


@pytest.mark.machine
def test_worlds_come_and_go_on_it_and_it_is_as_it_was(somebodys: Path) -> None:
    before = asked(somebodys, DIFFERENCE)
    backend, site = opened(somebodys)
    assert backend.unsupported(site.content, site.scenario) is None
    assert backend.image(site.content, site.scenario).startswith("own:")
    probes = [one.check for one in site.scenario.worlds[0].objectives if isinstance(one.check, Probe)]
    with closing(backend):
        for _ in range(2):  # the second one finds it set up
            with contextlib.closing(site.broken(site.scenario.worlds[0], seed=0)) as live:
                done = live.run("schedctl priority --first checkout", output_bytes=10_000, seconds=60)
                assert done.exit_code == 0, done
                # Others work on somebody's host, too: as in an episode, a repair may take a moment to show.
                looks = [live.observe(probes)[0] for _ in range(3)]
                assert any(look.holds for look in looks), looks
                assert asked(somebodys, f"cat {STATE}").strip() == "enabled"
            assert asked(somebodys, f"cat {STATE}").strip() == "disabled"
        assert backend.booted == 1
    assert asked(somebodys, DIFFERENCE) == before


@pytest.mark.machine
def test_a_killed_process_leaves_the_default_scheduler_and_the_next_one_the_rest(somebodys: Path) -> None:
    before = asked(somebodys, DIFFERENCE)
    script = (
        "import sys; from pathlib import Path\n"
        "from tests.runners.kernel.test_own_hosts import opened\n"
        f"backend, site = opened(Path({str(somebodys)!r}))\n"
        "live = site.broken(site.scenario.worlds[0], seed=0)\n"
        "print(live.run('schedctl priority --first checkout', output_bytes=99, seconds=60).exit_code, flush=True)\n"
        "sys.stdin.read()\n"
    )
    playing = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert playing.stdout is not None
    assert playing.stdout.readline() == b"0\n"
    assert asked(somebodys, f"cat {STATE}").strip() == "enabled"
    os.kill(playing.pid, signal.SIGKILL)
    playing.wait()
    until = time.monotonic() + 60
    while time.monotonic() < until and asked(somebodys, f"cat {STATE}; pgrep -x checkout; true").strip() != "disabled":
        time.sleep(0.5)
    assert asked(somebodys, f"cat {STATE}; pgrep -x checkout; true").strip() == "disabled"
    with pytest.raises(HostError, match="it lacks: room for a user batch"):
        refuse_unless_fit(read_inventory(somebodys)[0])
    assert sweep_own() == ("somebodys",)
    assert asked(somebodys, DIFFERENCE) == before


@pytest.mark.machine
def test_a_killed_warden_is_put_right_by_the_next(somebodys: Path) -> None:
    """The one program that puts back is killed itself, with a world open."""
    before = asked(somebodys, DIFFERENCE)
    backend, site = opened(somebodys)
    live = site.broken(site.scenario.worlds[0], seed=0)
    assert live.run("schedctl priority --first checkout", output_bytes=99, seconds=60).exit_code == 0
    asked(somebodys, "pkill -KILL -f '^/usr/bin/python3 .*warden.py'; sleep 1")
    assert asked(somebodys, f"cat {STATE}").strip() == "disabled"
    with pytest.raises(Exception, match="the host is gone"):
        live.close()
    assert asked(somebodys, DIFFERENCE) == before
    refuse_unless_fit(read_inventory(somebodys)[0])
    assert not any(hosts._free for hosts in backend._hosts.values())


@pytest.mark.machine
def test_what_is_there_already_is_not_touched(somebodys: Path) -> None:
    asked(somebodys, "echo mine > /usr/bin/load")
    try:
        _, site = opened(somebodys)
        with pytest.raises(HostError, match="it lacks: room for /usr/bin/load"):
            site.broken(site.scenario.worlds[0], seed=0)
        assert asked(somebodys, "cat /usr/bin/load") == "mine\n"
    finally:
        asked(somebodys, "rm /usr/bin/load")
