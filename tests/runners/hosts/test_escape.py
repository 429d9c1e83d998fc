"""What an agent who is root in its world must not reach: this host, other worlds, the engine, the graders."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.backends.registry import find_backend
from runners.worlds import LiveWorld
from tests.conformance.worlds import open_small, run, task
from tests.engine import built, engine

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorld]:
    built("small")
    world = open_small(find_backend("container"))
    yield world
    world.close()


@pytest.fixture
def service() -> Iterator[int]:
    """A service of this host, on all its addresses."""
    with socket.create_server(("0.0.0.0", 0)) as listener:
        yield listener.getsockname()[1]


def addresses() -> list[str]:
    """This host's own, and where engines and clouds like to be found."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probing:
        probing.connect(("203.0.113.1", 9))
        own = probing.getsockname()[0]
    return ["127.0.0.1", own, "172.17.0.1", "10.0.0.1", "169.254.169.254"]


def test_no_service_of_the_host_is_reached(live: LiveWorld, service: int) -> None:
    for address in addresses():
        done = live.run(f"timeout 2 bash -c '</dev/tcp/{address}/{service}'", output_bytes=1000, seconds=10)
        assert done.exit_code != 0, address


def test_the_internet_is_not_there(live: LiveWorld) -> None:
    assert live.run("curl -s -m 3 http://example.com/ || curl -s -m 3 http://93.184.215.14/", output_bytes=1000,
                    seconds=20).exit_code != 0  # fmt: skip


def test_another_world_is_not_reached(live: LiveWorld) -> None:
    """Both have the same address, and each finds only itself there."""
    other = open_small(find_backend("container"))
    try:
        run(other, "echo other > /srv/www/whose")
        assert "other" not in run(live, "curl -s http://10.0.0.10/whose; ip neigh; ping -c1 -W1 10.0.0.11")
        assert int(run(live, "ls -d /proc/[0-9]* | wc -l")) < 60
    finally:
        other.close()


def test_no_socket_of_the_engine(live: LiveWorld) -> None:
    found = run(
        live, "find / -xdev -name 'docker*.sock' -o -xdev -name 'containerd*' 2>/dev/null; ls /run/docker* 2>&1"
    )
    assert "sock" not in found


def test_root_there_is_nobody_here(live: LiveWorld) -> None:
    run(live, "sleep 4711 & disown")
    found = [path for path in Path("/proc").glob("[0-9]*") if b"sleep\x004711" in read(path / "cmdline")]
    assert found
    assert all(path.stat().st_uid > 0 for path in found)


@pytest.mark.parametrize(
    "attempt",
    [
        "mkdir -p /mnt/x && mount -t ext4 /dev/vda /mnt/x",
        "mknod /tmp/disk b 254 0 && dd if=/tmp/disk of=/dev/null count=1",
        "echo x > /proc/sys/kernel/core_pattern",
        "echo c > /proc/sysrq-trigger",
        "mkdir -p /mnt/c && mount -t cgroup -o memory none /mnt/c && echo /x > /mnt/c/release_agent",
        "mount -t debugfs none /mnt",
        "insmod /lib/modules/x.ko",
        "nsenter -t 1 -m -u -i -n -p -- test -e /work -o -e /var/lib/docker/containers",
        "date -s 2001-01-01",
        "echo 1 > /sys/kernel/mm/transparent_hugepage/enabled",
        "unshare -Ur mount -t ext4 /dev/vda1 /mnt",
        "cat /proc/1/root/../../../../var/lib/docker/image/overlay2/repositories.json",
        "head -c 1 /proc/kcore",
        "dmesg -c",
        'sysctl -w kernel.hostname=owned.example; test "$(cat /proc/sys/kernel/ostype)" != Linux',
    ],
)
def test_the_kernel_refuses(attempt: str, live: LiveWorld) -> None:
    done = live.run(attempt, output_bytes=1000, seconds=15)
    assert done.exit_code != 0, done.output


def test_no_file_of_the_graders(live: LiveWorld) -> None:
    found = run(
        live,
        "env; cat /proc/1/environ /proc/1/cmdline /proc/self/mountinfo | tr '\\0' '\\n'; hostname; ps axww; "
        "ls -a / /root /run /tmp /opt /var/tmp; grep -rIls breakfix /etc /usr/local /opt /srv /root /run /var/log 2>/dev/null",
    )
    for word in ("breakfix", "scenario", "ansible", "gold", os.environ.get("BREAKFIX_CACHE", "/.cache/breakfix")):
        assert word not in found.lower(), word


def test_ansible_leaves_no_trace(live: LiveWorld) -> None:
    assert live.apply([task("copy", dest="/etc/motd", content="hello\n"), task("command", argv=["true"])]) is None
    found = run(
        live,
        "journalctl --no-pager | grep -i ansible; grep -ril ansible /var/log /root /run /tmp /home 2>/dev/null; "
        "find / -xdev -iname '*ansible*' -not -path '/proc/*' 2>/dev/null; ls -A /run | grep maintenance; tail -2 /var/log/auth.log",
    )
    assert "ansible" not in found.lower()
    assert "maintenance" not in found
    assert "sudo" not in found


def test_limits_hold(live: LiveWorld) -> None:
    """Too much memory and too many processes end in the world, and the shell goes on."""
    run(
        live,
        "timeout 20 python3 -c 'x = bytearray(4 << 30)'; for n in $(seq 3000); do sleep 3 & done 2>/dev/null; wait",
    )
    assert run(live, "echo still here") == "still here\n"
    limits = engine().api.containers(filters={"label": "breakfix"})
    assert limits


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
