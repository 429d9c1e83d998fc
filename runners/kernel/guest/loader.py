#!/usr/bin/python3
"""Loads and steers one sched_ext scheduler, for typed requests over a local socket. Runs as root, under its watchdog.

What it loads is named in `objects.json` by the sha256 of its bytes; nothing else is. A request is acknowledged only by
what the scheduler itself wrote into its `ack` map: this request's id, profile and generation.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import select
import signal
import socket
import struct
import sys
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
SOCKET, STATE, OPS = "/run/sched/control", "/sys/kernel/sched_ext/state", "/sys/kernel/sched_ext/root/ops"
GROUPS = "/sys/fs/cgroup"
BEAT = 3
OBJECT, MAP = "tiers.bpf.o", "tiers_ops"
PROFILES = {"priority": 1, "weighted": 2}
ACK_SECONDS = 1.0
NAME = re.compile(r"/?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")
MOST = 32
FIELDS = {"do", "profile", "first", "weights", "slice_us", "generation"}


class Refused(Exception):  # noqa: N818 (it reads as what it is)
    """What was asked for is none of what can be asked for."""


class Failed(Exception):  # noqa: N818 (likewise)
    """It could be asked for, and was not done."""


def read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def beat() -> None:
    os.write(BEAT, b".")


class Library:
    """As much of libbpf as is needed."""

    def __init__(self) -> None:
        self._bpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
        pointer, number = ctypes.c_void_p, ctypes.c_int
        for name, result, arguments in (
            ("bpf_object__open_mem", pointer, (pointer, ctypes.c_size_t, pointer)),
            ("bpf_object__load", number, (pointer,)),
            ("bpf_object__close", None, (pointer,)),
            ("bpf_object__find_map_by_name", pointer, (pointer, ctypes.c_char_p)),
            ("bpf_map__fd", number, (pointer,)),
            ("bpf_map__attach_struct_ops", pointer, (pointer,)),
            ("bpf_link__destroy", number, (pointer,)),
            ("bpf_map_update_elem", number, (number, pointer, pointer, ctypes.c_uint64)),
            ("bpf_map_lookup_elem", number, (number, pointer, pointer)),
            ("bpf_map_delete_elem", number, (number, pointer)),
        ):
            function = getattr(self._bpf, name)
            function.restype, function.argtypes = result, arguments
        self._bpf.libbpf_set_print(None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bpf, f"bpf_{name}")


class Scheduler:
    """One object, known to the kernel; attached where a link is held. The link ends with this process."""

    def __init__(self, library: Library, data: bytes) -> None:
        self._library = library
        self._object = library.object__open_mem(data, len(data), None)
        if not self._object:
            raise Failed(f"the object cannot be opened: errno {ctypes.get_errno()}")
        self._link: int | None = None
        if library.object__load(self._object):
            raise Failed(f"the kernel refuses the object: errno {ctypes.get_errno()}")

    def _fd(self, name: str) -> int:
        found = self._library.object__find_map_by_name(self._object, name.encode())
        if not found:
            raise Failed(f"the object has no map {name}")
        return int(self._library.map__fd(found))

    def put(self, name: str, key: bytes, value: bytes) -> None:
        if self._library.map_update_elem(self._fd(name), key, value, 0):
            raise Failed(f"map {name} cannot be written: errno {ctypes.get_errno()}")

    def get(self, name: str, layout: str) -> tuple[Any, ...]:
        """The only entry of an array."""
        room = ctypes.create_string_buffer(struct.calcsize(layout))
        if self._library.map_lookup_elem(self._fd(name), bytes(4), room):
            raise Failed(f"map {name} cannot be read: errno {ctypes.get_errno()}")
        return struct.unpack(layout, room.raw)

    def attach(self) -> None:
        self._link = self._library.map__attach_struct_ops(
            self._library.object__find_map_by_name(self._object, MAP.encode())
        )
        if not self._link:
            raise Failed(f"the scheduler cannot be attached: errno {ctypes.get_errno()}")

    def ending(self) -> tuple[int, str, str]:
        """How the kernel ended it: (kind, reason, message)."""
        kind, _, _, reason, message = self.get("ended", "<iiq64s128s")
        said = [text.split(b"\0")[0].decode("utf-8", "replace") for text in (reason, message)]
        return kind, said[0], said[1]

    def detach(self) -> None:
        if self._link:
            self._library.link__destroy(self._link)
            self._link = None


class Loader:
    def __init__(self) -> None:
        self._objects = json.loads(read(f"{HERE}/objects.json"))
        self._known: Scheduler | Refused | Failed
        try:
            # The kernel's verifier takes its time: it is done with the object before anybody asks.
            self._known = Scheduler(Library(), self._bytes())
        except (Refused, Failed) as error:
            self._known = error
        self._generation, self._id = 0, int.from_bytes(os.urandom(4), "little") << 16
        self._request: dict[str, Any] | None = None
        self._ended: dict[str, Any] | None = None

    def answer(self, document: Any, uid: int) -> dict[str, Any]:
        if not isinstance(document, dict) or not set(document) <= FIELDS:
            raise Refused("a request is an object with: " + ", ".join(sorted(FIELDS)))
        do = document.get("do")
        if do == "load":
            return self.load(document)
        if do == "unload":
            self.unload()
            return {"state": read(STATE)}
        if do == "status":
            return self.status()
        if do == "forget" and uid == 0:
            self._ended = None
            return {}
        raise Refused("do: load, unload or status")

    def load(self, document: dict[str, Any]) -> dict[str, Any]:
        request = self._checked(document)
        profile: str = request["profile"]
        self._bytes()  # nobody has touched it since
        attached, generation = self._request is not None, request["generation"]
        if not attached and read(STATE) != "disabled":
            raise Refused(f"another scheduler is loaded: {read(OPS)}")
        self._id += 1
        for cgroup, tier, weight in request["groups"]:
            self._scheduler.put("groups", struct.pack("<Q", cgroup), struct.pack("<IIQ", tier, weight, generation))
        slot = struct.pack("<I", generation & 1)
        wanted = struct.pack("<QQIIQ", self._id, generation, PROFILES[profile], 0, request["slice_us"] * 1000)
        self._scheduler.put("requests", slot, wanted)
        self._scheduler.put("current", struct.pack("<I", 0), struct.pack("<Q", generation))
        self._generation = generation
        self._request = {key: document[key] for key in ("profile", "first", "weights", "slice_us") if document.get(key)}
        if not attached:
            self._ended = None
            try:
                self._scheduler.attach()
            except Failed:
                self.unload()
                raise
        return self._acknowledged(profile)

    def _acknowledged(self, profile: str) -> dict[str, Any]:
        wanted = (self._id, self._generation, PROFILES[profile])
        until = time.monotonic() + ACK_SECONDS
        said: tuple[Any, ...] = ()
        while time.monotonic() < until:
            identity, generation, number, _, decisions, at = self._scheduler.get("ack", "<QQIIQQ")
            said = (identity, generation, number)
            if said == wanted and decisions:
                acknowledged = {"id": identity, "profile": profile, "generation": generation, "at_ns": at}
                time.sleep(0.01)  # a scheduler that fails at once has said so as well
                if read(STATE) == "enabled":
                    return {"acknowledged": acknowledged, "state": "enabled"}
            if read(STATE) == "disabled":
                break
            beat()
            time.sleep(0.005)
        self.tick()
        self.unload()
        if self._ended:
            raise Failed(f"the kernel threw it out: {self._ended['reason']}: {self._ended['message']}")
        raise Failed(f"not acknowledged: wanted id, generation, profile {wanted}, the scheduler says {said}")

    def unload(self) -> None:
        if self._request is not None:
            self._scheduler.detach()
            self._request = None
        until = time.monotonic() + 5
        while read(STATE) != "disabled" and time.monotonic() < until:
            beat()
            time.sleep(0.005)

    def tick(self) -> None:
        """Has the kernel thrown the scheduler out?"""
        if self._request is not None and read(STATE) == "disabled":
            kind, reason, message = self._scheduler.ending()
            self._ended = {"kind": kind, "reason": reason, "message": message}
            self.unload()

    def status(self) -> dict[str, Any]:
        self.tick()
        loaded = self._request is not None
        acknowledged = None
        if loaded:
            identity, generation, number, _, _, _ = self._scheduler.get("ack", "<QQIIQQ")
            name = next((name for name, value in PROFILES.items() if value == number), str(number))
            acknowledged = {"id": identity, "profile": name, "generation": generation}
        return {
            "state": read(STATE),
            "scheduler": read(OPS),
            "request": self._request,
            "generation": self._generation,
            "id": self._id if loaded else None,
            "acknowledged": acknowledged,
            "ejected": self._ended,
        }

    @property
    def _scheduler(self) -> Scheduler:
        if isinstance(self._known, Scheduler):
            return self._known
        raise self._known

    def _bytes(self) -> bytes:
        with open(f"{HERE}/{OBJECT}", "rb") as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != self._objects.get(OBJECT):
            raise Refused(f"{OBJECT} is not the object that was built")
        return data

    def _checked(self, document: dict[str, Any]) -> dict[str, Any]:
        profile = document.get("profile")
        if not isinstance(profile, str) or profile not in PROFILES:
            raise Refused("profile: " + " or ".join(PROFILES))
        generation = document.get("generation", self._generation + 1)
        if not whole(generation, self._generation + 1, 1 << 62):
            raise Refused(f"generation: a number above {self._generation}, which was the last")
        slice_us = document.get("slice_us", 0)
        if not whole(slice_us, 0, 20000) or 0 < slice_us < 100:
            raise Refused("slice_us: from 100 to 20000")
        first, weights = document.get("first", []), document.get("weights", {})
        if not isinstance(first, list) or not isinstance(weights, dict) or len(first) + len(weights) > MOST:
            raise Refused(f"first: groups; weights: a weight for each group; at most {MOST}")
        if profile == "priority" and (weights or not first):
            raise Refused("priority: needs the first groups, and no weights")
        if profile == "weighted" and (first or not weights):
            raise Refused("weighted: needs weights, and no first groups")
        if not all(whole(weight, 1, 10000) for weight in weights.values()):
            raise Refused("a weight: from 1 to 10000")
        groups = [(cgroup(name), 1, 0) for name in first] + [(cgroup(name), 0, w) for name, w in weights.items()]
        return {"profile": profile, "generation": generation, "slice_us": slice_us, "groups": groups}


def whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def cgroup(name: object) -> int:
    """The id of a control group: the number of its folder."""
    if not isinstance(name, str) or not NAME.fullmatch(name) or ".." in name:
        raise Refused(f"no such group: {name!r}")
    path = f"{GROUPS}/{name.strip('/')}"
    if os.path.realpath(path) != path or not os.path.isdir(path):
        raise Refused(f"no such group: {name!r}")
    return os.stat(path).st_ino


def respond(link: socket.socket, loader: Loader, allowed: set[int]) -> None:
    link.settimeout(1.0)
    _, uid, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    try:
        if uid not in allowed:
            raise Refused("this is not for you")
        said = b""
        while not said.endswith(b"\n") and len(said) < 8192:
            part = link.recv(4096)
            if not part:
                break
            said += part
        reply = loader.answer(json.loads(said), uid)
    except Refused as error:
        reply = {"refused": str(error)}
    except Failed as error:
        reply = {"failed": str(error)}
    except (OSError, ValueError) as error:
        reply = {"refused": f"no request: {error}"}
    with contextlib.suppress(OSError):
        link.sendall(json.dumps(reply).encode() + b"\n")


def main() -> None:
    allowed = {0, *(int(uid) for uid in sys.argv[1:])}
    loader = Loader()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(SOCKET)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(SOCKET)
    os.chmod(SOCKET, 0o666)  # noqa: S103 (who may ask is decided by who the kernel says they are)
    listening.listen(8)
    try:
        while True:
            beat()
            loader.tick()
            if select.select([listening], [], [], 0.25)[0]:
                link, _ = listening.accept()
                with link:
                    respond(link, loader, allowed)
    finally:
        loader.unload()


if __name__ == "__main__":
    main()
