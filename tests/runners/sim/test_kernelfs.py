"""/proc and /sys: what the kernel says of the machine is what everything else says."""

from __future__ import annotations

from tests.runners.sim.worlds import opened, typed

_HOG = (
    "printf '[Service]\\nMemoryMax=64M\\nExecStart=/usr/bin/sleep 1000\\n' > /etc/systemd/system/hog.service; "
    "systemctl daemon-reload; systemctl start hog"
)
_GROUP = "/sys/fs/cgroup/system.slice"


def test_a_services_control_group_says_what_systemd_says() -> None:
    live = opened().live

    def said(command: str) -> str:
        return typed(live, command).output.decode().strip()

    said(_HOG)
    assert said(f"cat {_GROUP}/hog.service/memory.max") == str(64 << 20)
    assert said(f"cat {_GROUP}/nginx.service/memory.max") == "max"
    assert said(f"cat {_GROUP}/hog.service/cgroup.procs") == said("systemctl show hog -p MainPID --value")
    assert said(f"cat {_GROUP}/nginx.service/memory.current") == said("systemctl show nginx -p MemoryCurrent --value")
    assert said(f"cat {_GROUP}/nginx.service/pids.current") == said("systemctl show nginx -p TasksCurrent --value")
    assert said("cat /proc/$(pgrep -o nginx)/cgroup") == "0::/system.slice/nginx.service"
    assert said("cat /proc/self/cgroup").endswith("/user-0.slice/session-1.scope")
    # The groups of the services are all that is in their slice, and they have no folder once they have ended.
    whole = sum(int(line) for line in said(f"cat {_GROUP}/*.service/pids.current").split())
    assert said(f"cat {_GROUP}/pids.current") == str(whole)
    said("systemctl stop hog")
    assert said(f"ls -d {_GROUP}/hog.service").endswith("No such file or directory")


def test_control_groups_are_not_for_others_to_change() -> None:
    live = opened().live
    done = typed(live, f"echo 1 > {_GROUP}/nginx.service/memory.max")
    assert done.exit_code == 1
    assert b"Read-only file system" in done.output


def test_a_busy_machine_waits_for_its_processors() -> None:
    machine, live = opened()
    assert typed(live, "cat /proc/pressure/cpu").output.startswith(b"some avg10=0.00 ")
    processors = int(typed(live, "nproc").output)
    busy = machine.processes.get(1)
    assert busy is not None
    machine.processes.put(busy._replace(cpu_share=processors + 1.0))
    assert typed(live, "cat /proc/pressure/cpu").output.startswith(b"some avg10=5")
    assert typed(live, "cat /proc/pressure/memory").output.startswith(b"some avg10=0.00 ")


def test_who_the_kernel_killed_is_counted() -> None:
    live = opened().live
    counted = "grep oom_kill /proc/vmstat"
    assert typed(live, counted).output == b"oom_kill 0\n"
    typed(live, "echo '<3>Out of memory: Killed process 4711 (java)' > /dev/kmsg")
    assert typed(live, counted).output == b"oom_kill 1\n"
