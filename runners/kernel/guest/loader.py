#!/usr/bin/python3
"""Loads and steers one sched_ext scheduler, for typed requests over a local socket. Runs as root, under its watchdog.

What it loads is named in `objects.json` by the sha256 of its bytes; nothing else is. A request is acknowledged only by
what the scheduler itself wrote into its `ack` map: this request's id, profile and generation. A look at what the
scheduler does, whichever it is, takes a moment in a thread of its own, so that nobody waits for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import select
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

# They lie beside this file, wherever that is.
import looking  # type: ignore[import-not-found] # noqa: E402
from bpf import Failed, Library, Object  # type: ignore[import-not-found] # noqa: E402

SOCKET, STATE, OPS = "/run/sched/control", "/sys/kernel/sched_ext/state", "/sys/kernel/sched_ext/root/ops"
GROUPS = "/sys/fs/cgroup"
BEAT = 3
OBJECT, MAP, LOOK = "tiers.bpf.o", "tiers_ops", "look.bpf.o"
PROFILES = {"priority": 1, "weighted": 2}
ACK_SECONDS = 1.0
NAME = re.compile(r"/?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")
MOST = 32
FIELDS = {"do", "profile", "first", "weights", "slice_us", "generation"}
LOOK_FIELDS = {"do", "what", "ms"}


class Refused(Exception):  # noqa: N818 (it reads as what it is)
    """What was asked for is none of what can be asked for."""


def read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def beat() -> None:
    os.write(BEAT, b".")


class Loader:
    def __init__(self) -> None:
        self._objects = json.loads(read(f"{HERE}/objects.json"))
        self._known: Object | Refused | Failed
        try:
            # The kernel's verifier takes its time: it is done with the object before anybody asks.
            self._known = Object(Library(), self._bytes(OBJECT))
        except (Refused, Failed) as error:
            self._known = error
        self._generation, self._id = 0, int.from_bytes(os.urandom(4), "little") << 16
        self._request: dict[str, Any] | None = None
        self._ended: dict[str, Any] | None = None
        self._sight: Object | None = None
        self._looks = threading.Lock()

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
        raise Refused("do: load, unload, status or look")

    def load(self, document: dict[str, Any]) -> dict[str, Any]:
        request = self._checked(document)
        profile: str = request["profile"]
        self._bytes(OBJECT)  # nobody has touched it since
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
                self._scheduler.attach_struct_ops(MAP)
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
            # How the kernel ended it, in the scheduler's own words.
            kind, _, _, reason, message = self._scheduler.get("ended", "<iiq64s128s")
            self._ended = {"kind": kind, "reason": text(reason), "message": text(message)}
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

    def look(self, document: dict[str, Any], gone: Callable[[float], bool]) -> dict[str, Any]:
        """Count for a while. gone: waits so many seconds, and says whether whoever asked went away meanwhile."""
        what, ms = document.get("what"), document.get("ms", 1000)
        if not set(document) <= LOOK_FIELDS or what not in looking.WHAT:
            raise Refused(f"a look is an object with do, what ({', '.join(looking.WHAT)}) and ms")
        if not whole(ms, looking.SHORTEST_MS, looking.LONGEST_MS):
            raise Refused(f"ms: from {looking.SHORTEST_MS} to {looking.LONGEST_MS}")
        if not self._looks.acquire(blocking=False):
            raise Refused("somebody is looking already")
        try:
            data = self._bytes(LOOK)  # nobody has touched it since
            self._sight = self._sight or Object(Library(), data)
            look = looking.Look(self._sight, what)
            try:
                if gone(ms / 1000):
                    raise Failed("nobody waits for it")
                seen: dict[str, Any] = look.result()
                return seen
            finally:
                look.stop()
        finally:
            self._looks.release()

    @property
    def _scheduler(self) -> Object:
        if isinstance(self._known, Object):
            return self._known
        raise self._known

    def _bytes(self, name: str) -> bytes:
        with open(f"{HERE}/{name}", "rb") as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != self._objects.get(name):
            raise Refused(f"{name} is not the object that was built")
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


def text(field: bytes) -> str:
    return field.split(b"\0")[0].decode("utf-8", "replace")


def hear(link: socket.socket, allowed: set[int]) -> tuple[Any, int]:
    """(the request, who asks)"""
    _, uid, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if uid not in allowed:
        raise Refused("this is not for you")
    said = b""
    try:
        while not said.endswith(b"\n") and len(said) < 8192:
            part = link.recv(4096)
            if not part:
                break
            said += part
        return json.loads(said), uid
    except (OSError, ValueError) as error:
        raise Refused(f"no request: {error}") from None


def reply(link: socket.socket, work: Callable[[], dict[str, Any]]) -> None:
    """Say what the work gives, or why it gives nothing, and hang up."""
    with link:
        try:
            said = work()
        except Refused as error:
            said = {"refused": str(error)}
        except (Failed, OSError) as error:
            said = {"failed": str(error)}
        with contextlib.suppress(OSError):
            link.sendall(json.dumps(said).encode() + b"\n")


def serve(link: socket.socket, loader: Loader, allowed: set[int]) -> None:
    """Answer one request. A look goes on in a thread, and answers when it is over."""
    link.settimeout(1.0)

    def gone(seconds: float) -> bool:
        return bool(select.select([link], [], [], seconds)[0])

    try:
        document, uid = hear(link, allowed)
    except Refused as error:
        refusal = {"refused": str(error)}
        return reply(link, lambda: refusal)
    if isinstance(document, dict) and document.get("do") == "look":
        looking_on = threading.Thread(target=reply, args=(link, lambda: loader.look(document, gone)), daemon=True)
        return looking_on.start()
    return reply(link, lambda: loader.answer(document, uid))


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
                serve(listening.accept()[0], loader, allowed)
    finally:
        loader.unload()


if __name__ == "__main__":
    main()
