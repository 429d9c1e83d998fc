"""What can go wrong with a scheduler and whoever watches it, on a real kernel: each ends as it should, and the host is
back on its own scheduler."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runners.kernel.host import Host, Hosts
from runners.kernel.image import compile_object, headers
from runners.kernel.link import Link
from runners.kernel.vm import QEMU, sweep
from runners.kernel.world import KernelWorld
from runners.worlds import WorldError
from scenario_dsl.model import Probe
from tests.runners.kernel.machines import LAB, RECIPE, SYSTEM, put_object, root, scheduler, typed

pytestmark = [
    pytest.mark.machine,
    pytest.mark.skipif(shutil.which(QEMU) is None, reason="QEMU is not installed"),
]
EJECTED = Probe(type="scheduler", arguments={"ejected": False})
PRIORITY = "schedctl priority --first checkout"


def ejected(host: Host) -> bool:
    world = object.__new__(KernelWorld)
    world._host = host
    return not world.observe([EJECTED])[0].holds


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    folder = tmp_path_factory.mktemp("objects")
    source = folder / "tiers.bpf.c"
    source.write_text(RECIPE.files["/usr/src/sched/tiers.bpf.c"])
    found = {}
    for name in ("WRONG_ECHO", "STALE_ECHO", "PLAIN"):
        compile_object(source, headers(SYSTEM), folder / name, f"-D{name}")
        found[name] = (folder / name).read_bytes()
    return found


def test_a_request_is_acknowledged_and_the_unload_verified(host: Host) -> None:
    assert typed(host, PRIORITY)[0] == 0
    status = scheduler(host)
    assert (status["state"], status["acknowledged"]["profile"]) == ("enabled", "priority")
    assert status["acknowledged"]["generation"] == status["generation"]
    assert host.reset()["state"] == "disabled"
    host.open(RECIPE.services)
    assert scheduler(host)["state"] == "disabled"


@pytest.mark.parametrize(
    "line",
    [
        "schedctl priority --first nowhere",
        "schedctl priority --first ../../etc",
        "schedctl weighted checkout=0",
        "schedctl priority --first checkout --slice-us 5",
        "schedctl priority --first checkout --generation 0",
    ],
)
def test_what_is_no_request_is_refused(host: Host, line: str) -> None:
    code, said = typed(host, line)
    assert code == 1
    assert "refused" in said
    assert scheduler(host)["state"] == "disabled"


def test_the_agent_has_no_other_way(host: Host) -> None:
    """It loads no BPF of its own, reaches no other process, and writes nowhere else."""
    for line in (
        f"bpftool struct_ops register {LAB}/tiers.bpf.o",
        "kill -9 $(pgrep -x watchdog)",
        "kill -9 $(pgrep -x checkout)",
        "echo S > /proc/sysrq-trigger",
        "echo 1 > /sys/fs/cgroup/cgroup.procs",
        f"touch {LAB}/x",
        "touch /run/load/x",
        "unshare -r true",
        "chrt -f 10 true",
    ):
        assert typed(host, line)[0] != 0, line


def test_a_killed_loader_unloads_and_is_our_failure(host: Host) -> None:
    assert typed(host, PRIORITY)[0] == 0
    root(host, "pkill", "-KILL", "-f", "^/usr/bin/python3 .*loader.py")
    host.ask("wait", seconds=1.0)
    assert scheduler(host)["state"] == "disabled"
    # It may take the kernel a while to be done with a dead process: its heart has stopped before.
    with pytest.raises(WorldError, match=r"the loader (died|missed its heartbeats)"):
        ejected(host)


def test_a_stalled_scheduler_is_thrown_out_and_held_against_the_agent(host: Host) -> None:
    assert typed(host, PRIORITY)[0] == 0
    stall(host)
    host.ask("wait", seconds=4.0)
    status = scheduler(host)
    assert status["state"] == "disabled"
    assert any("stalled" in event for event in status["events"])
    assert ejected(host)


def test_the_kernel_throws_out_what_no_watchdog_sees(host: Host) -> None:
    assert typed(host, PRIORITY)[0] == 0
    root(host, "pkill", "-STOP", "-x", "watchdog")
    stall(host)
    for _ in range(12):
        host.ask("wait", seconds=1.0)
        if scheduler(host)["state"] == "disabled":
            break
    status = scheduler(host)
    assert status["ejected"]["kind"] == 1026
    assert "stall" in status["ejected"]["reason"]
    assert ejected(host)
    root(host, "pkill", "-CONT", "-x", "watchdog")


def test_a_killed_watchdog_takes_the_scheduler_with_it(host: Host) -> None:
    assert typed(host, PRIORITY)[0] == 0
    root(host, "pkill", "-KILL", "-x", "watchdog")
    host.ask("wait", seconds=0.5)
    assert root(host, "cat", "/sys/kernel/sched_ext/state") == "disabled"
    with pytest.raises(WorldError, match="watchdog"):
        ejected(host)
    with pytest.raises(WorldError, match="the watchdog is gone"):
        host.reset()


def test_a_cut_connection_leaves_the_host_clean(host: Host) -> None:
    assert typed(host, PRIORITY)[0] == 0
    host._link._process.kill()
    with pytest.raises(WorldError):
        host.ask("measure")
    host._machine.go_on()
    time.sleep(3)
    again = Link(host._machine.ssh)
    try:
        assert again.hello["state"] == "disabled"
        again.ask("open", services=[])  # which a host that is not clean refuses
    finally:
        again.close()


def test_a_killed_machine_is_an_error_and_another_is_booted(hosts: Hosts, host: Host) -> None:
    process = host._machine._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with pytest.raises(WorldError):
        host.ask("measure")
    assert not host.usable()


def test_a_machine_ends_with_the_process_that_started_it() -> None:
    script = (
        "import sys; from runners.kernel.vm import VirtualMachine; from runners.kernel.image import find\n"
        "from tests.runners.kernel.machines import SYSTEM\n"
        "machine = VirtualMachine(find(SYSTEM), memory=512 << 20)\n"
        "print(machine._process.pid, flush=True); sys.stdin.read()\n"
    )
    starting = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert starting.stdout is not None
    number = int(starting.stdout.readline())
    assert b"qemu" in Path(f"/proc/{number}/cmdline").read_bytes()
    starting.kill()
    starting.wait()
    until = time.monotonic() + 30
    while time.monotonic() < until and b"qemu" in _command_of(number):
        time.sleep(0.2)
    assert b"qemu" not in _command_of(number)
    sweep()


def _command_of(number: int) -> bytes:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize(("name", "requests"), [("WRONG_ECHO", 1), ("STALE_ECHO", 2)])
def test_an_echo_of_another_request_is_no_acknowledgement(
    host: Host, variants: dict[str, bytes], name: str, requests: int
) -> None:
    put_object(host, variants[name], known=True)
    for _ in range(requests - 1):
        assert typed(host, PRIORITY)[0] == 0
    code, said = typed(host, PRIORITY)
    assert code == 1
    assert "not acknowledged" in said
    assert root(host, "cat", "/sys/kernel/sched_ext/state") == "disabled"


def test_an_object_with_an_altered_byte_is_refused(host: Host, variants: dict[str, bytes]) -> None:
    data = bytearray(variants["PLAIN"])
    data[-1] ^= 1
    put_object(host, bytes(data), known=False)
    code, said = typed(host, PRIORITY)
    assert code == 1
    assert "is not the object that was built" in said
    assert root(host, "cat", "/sys/kernel/sched_ext/state") == "disabled"


def stall(host: Host) -> None:
    """Have the loaded scheduler put everybody where nobody is taken from, as only root can."""
    status = scheduler(host)
    generation = status["generation"]
    fields = (status["id"].to_bytes(8, "little"), generation.to_bytes(8, "little"), (1).to_bytes(4, "little"))
    value = b"".join((*fields, (1).to_bytes(4, "little"), bytes(8)))
    key = (generation & 1).to_bytes(4, "little")
    words = ["bpftool", "map", "update", "name", "requests", "key", "hex", *hexed(key), "value", "hex", *hexed(value)]
    root(host, *words)


def hexed(data: bytes) -> list[str]:
    return [f"{byte:02x}" for byte in data]
