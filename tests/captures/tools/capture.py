"""Takes the captures: what a real Debian 12 host answers to administrators' commands, healthy and broken.

    python capture.py build WORK            # from packages to the image of the healthy machine (about 90 s)
    python capture.py take WORK [STATE…]    # every state of ../states in a fresh machine, into ../data

WORK is a scratch folder (1.5 GB). Needs root, docker's engine on $DOCKER_HOST or the default socket, mmdebstrap,
iproute2, util-linux and e2fsprogs. No network: the machines see only each other, over a bridge without an address.
Nothing is left running. README.md beside this file says what the machine looks like and how it differs from a host.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import furnish
import yaml

HERE = Path(__file__).resolve().parent
STATES = HERE.parent / "states"
DATA = HERE.parent / "data"
BASE = "captures:base"
HEALTHY = "captures:healthy"
BRIDGE = "captures0"
ADDRESS = "10.0.0.10"
SECONDS = 25
KERNEL = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1 (2024-11-22)"
LONGEST = 6000
"""Bytes of one output that are kept; structure needs no more."""
ENVIRONMENT = {"LANG": "C.UTF-8", "HOME": "/root", "USER": "root", "LOGNAME": "root", "SHELL": "/bin/bash"}


def call(*argv: str, check: bool = True, text: str | None = None) -> str:
    done = subprocess.run(argv, input=text, capture_output=True, text=True, errors="replace", check=False)
    if check and done.returncode:
        raise SystemExit(f"{' '.join(argv)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(work: Path) -> None:
    image = work / "image.tar"
    if not image.exists():
        call("bash", str(HERE / "image.sh"), str(image))
    start = ["-c", 'CMD ["/bin/sh", "/init.sh"]', "-c", "ENV container=docker"]
    call("docker", "import", *start, str(image), BASE)
    call("docker", "rm", "-f", "made", check=False)
    call("docker", "create", "--name", "made", BASE)
    call("docker", "cp", str(HERE / "init.sh"), "made:/init.sh")
    call("docker", "commit", *start, "made", BASE)
    call("docker", "rm", "-f", "made")
    with network(), machine(work, BASE, disk=False) as name:
        (work / "tree.tar").write_bytes(furnish.tree())
        (work / "furnish.sh").write_text(furnish.script())
        for file in ("tree.tar", "furnish.sh"):
            call("docker", "cp", str(work / file), f"{name}:/root/{file}")
        print(call("docker", "exec", "-i", name, "bash", "-s", text=(HERE / "provision.sh").read_text()))
        call("docker", "exec", name, "sh", "-c", "rm -f /root/tree.tar /root/furnish.sh /root/tables.sql")
        call("docker", "exec", name, "systemctl", "stop", "postgresql", "redis-server", "nginx", "rsyslog")
        call("docker", "commit", *start, name, HEALTHY)


@contextmanager
def network() -> Iterator[None]:
    """A bridge, and the container that plays the other machines."""
    call("ip", "link", "del", BRIDGE, check=False)
    call("ip", "link", "add", BRIDGE, "type", "bridge")
    call("ip", "link", "set", BRIDGE, "up")
    others = "captures-others"
    call("docker", "rm", "-f", others, check=False)
    try:
        call(
            "docker", "run", "-d", "--name", others, "--network", "none", "--cap-add", "NET_ADMIN", BASE, "sleep", "inf"
        )
        plug(others, "captures1", "10.0.0.1", None)
        call("docker", "cp", str(HERE / "neighbours.sh"), f"{others}:/neighbours.sh")
        call("docker", "exec", "-d", others, "sh", "/neighbours.sh")
        yield
    finally:
        call("docker", "rm", "-f", others, check=False)
        call("ip", "link", "del", BRIDGE, check=False)


def plug(container: str, port: str, address: str, gateway: str | None) -> None:
    """Give the container an eth0 on the bridge."""
    pid = call("docker", "inspect", "-f", "{{.State.Pid}}", container).strip()
    inside = ("nsenter", "-t", pid, "-n", "ip")
    call("ip", "link", "del", port, check=False)
    call("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", pid)
    call("ip", "link", "set", port, "master", BRIDGE, "up")
    call(
        *inside,
        "link",
        "set",
        "eth0",
        "address",
        "52:54:00:" + ":".join(f"{int(n):02x}" for n in address.split(".")[1:]),
    )
    call(*inside, "addr", "add", f"{address}/24", "brd", "+", "dev", "eth0")
    call(*inside, "link", "set", "eth0", "up")
    if gateway:
        call(*inside, "route", "add", "default", "via", gateway)


@contextmanager
def machine(work: Path, image: str, *, disk: bool = True) -> Iterator[str]:
    """web-01, booted: its own name files, and /var/log on a small ext4 file system of its own."""
    name, folder, file = "captures-web", work / "log", work / "log.img"
    call("docker", "rm", "-f", name, check=False)
    call("umount", str(folder), check=False)
    options = ["--hostname", "web-01", "--network", "none", "--cgroupns", "private", "--stop-signal", "SIGRTMIN+3"]
    options += [
        "--cap-add",
        "SYS_ADMIN",
        "--cap-add",
        "SYS_PTRACE",
        "--cap-add",
        "NET_ADMIN",
        "--security-opt",
        "systempaths=unconfined",
    ]
    options += ["--tmpfs", "/run", "--tmpfs", "/run/lock", "--tmpfs", "/tmp:size=64m,mode=1777,exec"]
    if disk:
        folder.mkdir(exist_ok=True)
        file.unlink(missing_ok=True)
        call("truncate", "-s", "256M", str(file))
        call("mkfs.ext4", "-q", "-F", "-m", "0", str(file))
        call("mount", "-o", "loop", str(file), str(folder))
        call("docker", "create", "--name", name, image)
        call("sh", "-c", f"docker cp -a {name}:/var/log/. - | tar -x -p --numeric-owner -C '{folder}'")
        call("docker", "rm", name)
        options += ["-v", f"{folder}:/var/log"]
    try:
        call("docker", "run", "-d", "--name", name, *options, image)
        plug(name, "captures2", ADDRESS, "10.0.0.1")
        inside(name, "for port in all lo eth0; do echo 0 > /proc/sys/net/ipv6/conf/$port/disable_ipv6; done")
        inside(name, "umount /etc/resolv.conf /etc/hosts /etc/hostname")
        for path in ("hosts", "resolv.conf", "hostname"):
            text = (furnish.SYSTEM / "files/etc" / path).read_text()
            inside(name, f"cat > /etc/{path} <<'TEXT'\n{text}TEXT")
        inside(name, "test ! -e /root/rules || iptables-restore /root/rules")
        for _ in range(100):
            if inside(name, "systemctl is-system-running")["stdout"].strip() in ("running", "degraded"):
                break
            time.sleep(0.1)
        yield name
    finally:
        call("docker", "rm", "-f", name, check=False)
        call("umount", str(folder), check=False)


def inside(name: str, command: str) -> dict[str, object]:
    """One command by root's bash in a container, without a terminal."""
    settings = [word for key, value in ENVIRONMENT.items() for word in ("-e", f"{key}={value}")]
    argv = ["docker", "exec", *settings, "-w", "/root", name, "timeout", "-k1", str(SECONDS), "bash", "-c", command]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode and b"No such container" in done.stderr:
        raise SystemExit(f"{name} is gone")
    return {
        "command": command,
        "stdout": scrub(done.stdout.decode(errors="replace")),
        "stderr": scrub(done.stderr.decode(errors="replace")),
        "exit_code": done.returncode,
    }


def scrub(text: str) -> str:
    """Nothing of the machine that the captures were taken on."""
    text = text.replace(os.uname().release, "6.1.0-28-amd64").replace(
        os.uname().version, "#1 SMP PREEMPT_DYNAMIC Debian"
    )
    text = re.sub(rf"\b{re.escape(socket.gethostname())}\b(?!\.)", "web-01", text)
    # A container's lsof complains of the host's cgroup mounts, which it cannot see.
    text = re.sub(
        r"lsof: WARNING: can't stat\(\) \S+ file system \S+\n +Output information may be incomplete.\n", "", text
    )
    text = re.sub(r"(?:lower|upper|work)dir=[^,) ]*", "dir=x", text)
    return text[:LONGEST]


def take(work: Path, chosen: list[str]) -> None:
    DATA.mkdir(exist_ok=True)
    with network():
        for path in sorted(STATES.glob("*.yml")):
            if not chosen or path.stem in chosen:
                take_state(work, path)


def take_state(work: Path, path: Path) -> None:
    state = yaml.safe_load(path.read_text())
    with machine(work, HEALTHY) as name:
        inside(name, "for n in 1 2 3 4 5; do curl -s -o /dev/null http://localhost/api/orders; sleep 0.2; done")
        made = inside(name, state["script"])
        if made["exit_code"]:
            sys.exit(f"{path.stem}: the script failed: {made}")
        lines = [json.dumps(inside(name, command), ensure_ascii=False) for command in state["commands"]]
    (DATA / f"{path.stem}.jsonl").write_text("\n".join(lines) + "\n")
    print(path.stem, len(lines), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["build", "take"])
    parser.add_argument("work", type=Path)
    parser.add_argument("states", nargs="*")
    given = parser.parse_args()
    if given.action == "build":
        build(given.work)
    else:
        take(given.work, given.states)
