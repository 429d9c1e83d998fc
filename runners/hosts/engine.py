"""The container engine, by its API: every call ends within a time of its own, everything made carries our labels."""

from __future__ import annotations

import io
import os
import socket
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec

from runners.here.owning import owner
from scenario_dsl.errors import HostError

try:
    import docker
    import docker.errors
    import requests.exceptions
    from docker.types import LogConfig
except ModuleNotFoundError as missing:
    raise HostError(f"containers need the library {missing.name}", remedy="pip install 'breakfix[hosts]'") from None

LABEL = "breakfix"
"""Its value says what a thing is: `world`, `builder` or `image`."""
OWNER = "breakfix.owner"
"""The process that a container belongs to: see `owner`."""
Given = ParamSpec("Given")
_SECONDS = 120
_WRITTEN_SECONDS, _PAUSE = 20.0, 0.01
_START = (
    "apt-get install docker.io iptables, then as root `dockerd --userns-remap=default`; $DOCKER_HOST names another "
    "socket (docs/containers.md)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a program run by the engine gave."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class EngineError(HostError):
    """The engine refused or did not answer."""

    def __init__(self, message: str) -> None:
        super().__init__(message, remedy="look into the engine's own log")


class Engine:
    """A connection to the engine. `api`: the calls that have no name here; `url`: its socket."""

    def __init__(self, api: docker.APIClient, url: str) -> None:
        self.api, self.url = api, url

    @classmethod
    def connect(cls) -> Engine:
        """Raises HostError where no engine answers."""
        url = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
        try:
            api = docker.APIClient(base_url=url, version="auto", timeout=_SECONDS)
        except docker.errors.DockerException as error:
            raise HostError(f"no container engine answers at {url}: {_first(error)}", remedy=_START) from None
        if not any("name=userns" in option for option in _call(api.info).get("SecurityOptions") or ()):
            # Without them root in a world, who may mount and trace there, would be root of this machine.
            raise HostError(f"the container engine at {url} has no user namespaces", remedy=_START)
        return cls(api, url)

    def answers(self) -> bool:
        try:
            return bool(_call(self.api.ping))
        except EngineError:
            return False

    # -- images

    def image_id(self, name: str) -> str | None:
        """`sha256:…`, or None where there is no such image."""
        try:
            return str(self.api.inspect_image(name)["Id"])
        except docker.errors.ImageNotFound:
            return None

    def image_label(self, name: str, label: str) -> str:
        """A label of an image; empty where it has none."""
        found = _call(self.api.inspect_image, name)["Config"].get("Labels") or {}
        return str(found.get(label, ""))

    def images(self) -> Iterator[tuple[str, str, int]]:
        """(name, id, bytes) of every image that carries our names."""
        for image in _call(self.api.images, name=f"{LABEL}/*"):
            for name in image.get("RepoTags") or ():
                yield str(name), str(image["Id"]), int(image["Size"])

    def remove_image(self, name: str) -> None:
        _call(self.api.remove_image, name, force=True)

    def load(self, tar: Path) -> None:
        with tar.open("rb") as file:
            for line in _call(self.api.load_image, file) or ():
                if "error" in line:
                    raise EngineError(str(line["error"]))

    def commit(self, container: str, repository: str, tag: str, labels: Mapping[str, str]) -> str:
        """Keep a container's file system as an image; returns its id."""
        made = _call(
            self.api.commit,
            container,
            repository=repository,
            tag=tag,
            changes=[f"LABEL {key}={value}" for key, value in labels.items()],
        )
        return str(made["Id"])

    # -- containers

    def create(
        self,
        image: str,
        *,
        name: str,
        hostname: str,
        command: Sequence[str],
        kind: str,
        tmpfs: Mapping[str, str],
        memory: int,
        cpus: float,
        asked: bool = False,
    ) -> str:
        """A container that will run systemd, cut off from every network. asked: see `attach_first`. Returns its id."""
        host = self.api.create_host_config(
            network_mode="none",
            cgroupns="private",
            cap_add=["SYS_ADMIN", "SYS_PTRACE", "NET_ADMIN"],
            cap_drop=["AUDIT_WRITE", "MKNOD", "SETFCAP"],
            tmpfs=dict(tmpfs),
            mem_limit=memory,
            memswap_limit=memory,
            nano_cpus=int(cpus * 1_000_000_000),
            pids_limit=2048,
            log_config=LogConfig(type="none"),
        )
        # The kernel guards /proc by the user namespace; systemd could not isolate its units behind the engine's masks.
        host |= {"MaskedPaths": [], "ReadonlyPaths": []}
        made = _call(
            self.api.create_container,
            image,
            command=list(command),
            name=name,
            hostname=hostname,
            host_config=host,
            stdin_open=asked,
            stop_signal="SIGRTMIN+3",
            labels={LABEL: kind, OWNER: owner()},
        )
        return str(made["Id"])

    def put(self, container: str, folder: str, files: Mapping[str, bytes]) -> None:
        """Write plain files of root's into a folder of a container."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            for name, data in files.items():
                member = tarfile.TarInfo(name)
                member.size, member.mode, member.mtime = len(data), 0o644, int(time.time())
                tar.addfile(member, io.BytesIO(data))
        self.put_tar(container, folder, buffer.getvalue())

    def put_tar(self, container: str, folder: str, tar: bytes) -> None:
        """Unpack a tar into a folder of a container, with the owners that it names."""
        _call(self.api.put_archive, container, folder, tar)

    def start(self, container: str) -> int:
        """Start it and return the process id, on this host, of its first process."""
        _call(self.api.start, container)
        return self.pid(container)

    def pid(self, container: str) -> int:
        """The first process of a container; 0 while it does not run."""
        return int(_call(self.api.inspect_container, container)["State"]["Pid"])

    def inspect(self, container: str) -> Mapping[str, object]:
        found: Mapping[str, object] = _call(self.api.inspect_container, container)
        return found

    def kill(self, container: str) -> None:
        _call(self.api.kill, container)

    def remove(self, container: str) -> None:
        """Gone at once, running or not; no error where it is gone already."""
        try:
            self.api.remove_container(container, v=True, force=True)
        except docker.errors.NotFound:
            return
        except docker.errors.APIError as error:
            if "already in progress" not in str(error):
                raise EngineError(_first(error)) from None

    def ours(self) -> Iterator[tuple[str, str]]:
        """(id, owner) of every container that carries our label."""
        for one in _call(self.api.containers, all=True, filters={"label": LABEL}):
            yield str(one["Id"]), str((one.get("Labels") or {}).get(OWNER, ""))

    # -- programs in them

    def attach(
        self, container: str, argv: Sequence[str], environment: Mapping[str, str], folder: str
    ) -> tuple[str, socket.socket]:
        """Run a program with its standard input on a socket; frames of its output come back on it, as the engine
        multiplexes them: 1 or 2, three zeros, four bytes of length, data. Returns the engine's name for it too."""
        made = _call(
            self.api.exec_create, container, list(argv), stdin=True, environment=dict(environment), workdir=folder
        )
        return str(made["Id"]), _plain(_call(self.api.exec_start, made["Id"], socket=True))

    def attach_first(self, container: str) -> socket.socket:
        """The standard input and output, as `attach` has them, of the first process of a container that is about to be
        started and was made to be `asked`."""
        return _plain(_call(self.api.attach_socket, container, params={"stdin": 1, "stdout": 1, "stream": 1}))

    def exec_pid(self, name: str) -> int:
        """Its number on this host. A program may have said something before the engine has written that down. Raises
        EngineError."""
        until = time.monotonic() + _WRITTEN_SECONDS
        while not (pid := int(_call(self.api.exec_inspect, name)["Pid"] or 0)):
            if time.monotonic() > until:
                raise EngineError("the engine knows no number of a program that it runs")
            time.sleep(_PAUSE)
        return pid

    def exec_status(self, name: str) -> int:
        return int(_call(self.api.exec_inspect, name)["ExitCode"] or 0)

    def run(
        self, container: str, argv: Sequence[str], *, seconds: float, user: str = "root", given: bytes = b""
    ) -> Finished:
        """Run a program to its end, with `given` on its standard input. Raises EngineError where it takes longer."""
        limited = ["timeout", "-k1", str(max(1, int(seconds))), *argv]
        settings = {"LANG": "C.UTF-8", "HOME": "/root", "USER": "root"}
        made = _call(
            self.api.exec_create,
            container,
            limited,
            user=user,
            environment=settings,
            stdin=bool(given),
            workdir="/root",
        )
        link = _plain(_call(self.api.exec_start, made["Id"], socket=True))
        streams: dict[int, list[bytes]] = {1: [], 2: []}
        link.settimeout(seconds + 10)
        try:
            if given:
                link.sendall(given)
                link.shutdown(socket.SHUT_WR)
            for stream, data in frames(link):
                streams[stream].append(data)
        except TimeoutError:
            raise EngineError(f"`{argv[0]}` did not end within {seconds} s") from None
        finally:
            link.close()
        code = self.exec_status(str(made["Id"]))
        return Finished(exit_code=code, stdout=b"".join(streams[1]), stderr=b"".join(streams[2]))


def _call(call: Callable[Given, Any], *given: Given.args, **named: Given.kwargs) -> Any:
    """What the engine's library says, with its errors as ours. The library publishes no types."""
    try:
        return call(*given, **named)
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        raise EngineError(_first(error)) from None


def _plain(raw: Any) -> socket.socket:
    """The socket itself, which the engine's library may wrap."""
    link = getattr(raw, "_sock", raw)
    assert isinstance(link, socket.socket)
    return link


def frames(link: socket.socket) -> Iterator[tuple[int, bytes]]:
    """The frames on an attached socket until its end. Raises TimeoutError by the socket's own time-out."""
    while True:
        head = _exactly(link, 8)
        if head is None:
            return
        body = _exactly(link, int.from_bytes(head[4:], "big"))
        if body is None:
            return
        yield head[0], body


def _exactly(link: socket.socket, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = link.recv(min(size, 1 << 16))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _first(error: Exception) -> str:
    lines = str(getattr(error, "explanation", None) or error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
