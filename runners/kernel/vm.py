"""A virtual machine that runs as long as somebody holds it: QEMU on an image whose disk is never written.

It has no network but one port of this machine's loopback that leads to its ssh. Its instructions are counted, so that
its time goes by what it computes and not by how busy this machine is. It dies with the process that started it, and
what a process did not live to see the end of is swept when the next one starts.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from runners.here.cache import cache_folder
from runners.here.owning import is_alive, owner
from runners.kernel.image import Image
from runners.worlds import WorldError
from scenario_dsl.errors import HostError

QEMU = "qemu-system-x86_64"
_BOOT_SECONDS = 180.0
_NOBODYS = 65534
_NOBODY = (
    ("setpriv", f"--reuid={_NOBODYS}", f"--regid={_NOBODYS}", "--clear-groups", "--no-new-privs", "--")
    if os.geteuid() == 0
    else ()
)
"""What computes for an agent has no rights here. Changing them forgets whose death to die with, so it comes first."""
_CONTROL_SECONDS = 30.0
_COUNTED = ("-accel", "tcg,thread=single,tb-size=256", "-icount", "shift=3", "-cpu", "max")
"""Eight nanoseconds for each instruction. More than one thread for the processors is not reliable."""
_APPEND = (
    "console=ttyS0 quiet root=/dev/nvme0n1 ro init=/usr/sbin/lab-init panic=-1 mitigations=off net.ifnames=0 nokaslr"
)


def _nothing() -> None:
    """Nobody talks to it."""


class VirtualMachine:
    """Booted and reachable from the moment it is made. Raises WorldError where it does not come up."""

    def __init__(self, image: Image, *, memory: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="breakfix-vm-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._monitor: socket.socket | None = None
        self._marker = _running() / f"{self._folder.name}.json"
        try:
            self._start(image, memory)
            self._await_boot()
        except BaseException:
            self.close()
            raise

    def _start(self, image: Image, memory: int) -> None:
        key = Ed25519PrivateKey.generate()
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
        )
        self.key = self._folder / "key"
        self.key.touch(0o600)
        self.key.write_bytes(secret)
        public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        self.port = _free_port()
        self._console = self._folder / "console"
        self._console.touch()
        if os.geteuid() == 0:
            for path in (self._folder, self._console):
                os.chown(path, _NOBODYS, _NOBODYS)
        # Files are handed over open: nobody may not walk to where they are.
        given = {name: path.open("rb") for name, path in (("kernel", image.kernel), ("disk", image.disk))}
        paths = {name: f"/proc/self/fd/{file.fileno()}" for name, file in given.items()}
        call = [
            *_NOBODY, "setpriv", "--pdeathsig", "KILL", "--",
            QEMU, "-name", self._folder.name, "-M", "q35", *_COUNTED,
            "-smp", "1", "-m", f"{memory >> 20}M", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
            "-serial", f"file:{self._console}", "-qmp", f"unix:{self._folder / 'control'},server=on,wait=off",
            "-kernel", paths["kernel"], "-append", f"{_APPEND} sshkey={public.decode().split()[1]}",
            "-drive", f"file={paths['disk']},if=none,id=disk,format=raw,snapshot=on",
            "-device", "nvme,drive=disk,serial=1",
            "-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:22",
            "-device", "virtio-net-pci,netdev=net,romfile=", "-device", "virtio-rng-pci",
        ]  # fmt: skip
        if shutil.which(QEMU) is None:
            raise HostError(f"{QEMU} is not installed", remedy="apt-get install qemu-system-x86")
        started = threading.Event()
        failure: list[OSError] = []

        def keep() -> None:
            # A child dies with the thread that made it, so this one lives as long as the machine does.
            try:
                self._process = subprocess.Popen(
                    call,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=(self._folder / "errors").open("wb"),
                    env={"PATH": os.environ.get("PATH", ""), "TMPDIR": str(self._folder)},
                    pass_fds=[file.fileno() for file in given.values()],
                )
            except OSError as error:
                failure.append(error)
            started.set()
            if self._process is not None:
                self._process.wait()

        threading.Thread(target=keep, name=self._folder.name, daemon=True).start()
        started.wait()
        for file in given.values():
            file.close()
        if self._process is None:
            raise HostError(
                f"{failure[0].filename} is not installed", remedy="apt-get install qemu-system-x86 util-linux"
            )
        marker = {"owner": owner(), "pid": self._process.pid, "folder": str(self._folder)}
        marker["image"] = image.disk.parent.name
        self._marker.write_text(json.dumps(marker))

    def _await_boot(self) -> None:
        until = time.monotonic() + _BOOT_SECONDS
        while time.monotonic() < until:
            for line in self._console.read_bytes().decode("utf-8", "replace").splitlines():
                if line.startswith("HOSTKEY ") and len(line.split()) == 3:
                    known = f"[127.0.0.1]:{self.port} {line.removeprefix('HOSTKEY ').strip()}\n"
                    (self._folder / "known_hosts").write_text(known)
                    return
            if not self.runs():
                break
            time.sleep(0.05)
        last = (self._folder / "errors").read_text().strip() or self._console.read_text(errors="replace")[-300:]
        raise WorldError(f"the virtual machine did not boot: {last}")

    @property
    def ssh(self) -> tuple[str, ...]:
        """The program and arguments that reach it as root."""
        return (
            "ssh", "-F", "none", "-T", "-p", str(self.port), "-i", str(self.key), "-o", "BatchMode=yes",
            "-o", f"UserKnownHostsFile={self._folder / 'known_hosts'}", "-o", "StrictHostKeyChecking=yes",
            "-o", "IdentitiesOnly=yes", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=60",
            "root@127.0.0.1",
        )  # fmt: skip

    def pause(self) -> None:
        """Its time stands still. Raises WorldError."""
        self._control("stop")

    def go_on(self) -> None:
        """Raises WorldError."""
        self._control("cont")

    def _control(self, command: str) -> None:
        try:
            if self._monitor is None:
                self._monitor = socket.socket(socket.AF_UNIX)
                self._monitor.settimeout(_CONTROL_SECONDS)
                self._monitor.connect(str(self._folder / "control"))
                self._replies = self._monitor.makefile("rb")
                self._replies.readline()
                self._say("qmp_capabilities")
            self._say(command)
        except (OSError, ValueError) as error:
            raise WorldError(f"the virtual machine is gone: {error}") from None

    def _say(self, command: str) -> None:
        assert self._monitor is not None
        self._monitor.sendall(json.dumps({"execute": command}).encode() + b"\n")
        while line := self._replies.readline():
            if "return" in (reply := json.loads(line)) or "error" in reply:
                return
        raise OSError("it says nothing any more")

    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def close(self, hang_up: Callable[[], None] = _nothing) -> None:
        # Whatever it was doing, it goes; who talked to it has nobody to talk to then.
        if self._monitor is not None:
            self._replies.close()
            self._monitor.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._marker.unlink(missing_ok=True)
        _remove(self._folder)
        hang_up()


def sweep(*, everything: bool = False) -> int:
    """End the machines of processes that are gone (everything: of living ones too). Returns how many there were."""
    found = 0
    for marker in _running().glob("*.json"):
        try:
            document = json.loads(marker.read_text())
        except (OSError, ValueError):
            continue
        if not everything and is_alive(document["owner"]):
            continue
        found += 1
        # Its number may be another process's by now.
        with suppress(OSError):
            if Path(document["folder"]).name.encode() in Path(f"/proc/{document['pid']}/cmdline").read_bytes():
                os.kill(document["pid"], signal.SIGKILL)
        _remove(Path(document["folder"]))
        marker.unlink(missing_ok=True)
    return found


def _running() -> Path:
    folder = cache_folder() / "vm" / "running"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _remove(folder: Path) -> None:
    for file in folder.glob("*"):
        file.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
