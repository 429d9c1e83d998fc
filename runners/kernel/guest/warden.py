#!/usr/bin/python3
"""One host with sched_ext, as root: opens worlds on it, looks into them, and takes them away again.

It speaks lines of JSON over its standard input and output: a request, a reply. When its input ends it puts everything
back and goes; what it started dies with it, and the kernel unloads what a dead loader had attached.

A world is a set of services in control groups, a shell of an unprivileged user and the scheduler; `reset` ends all of
it and says what is not as it was.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import mmap
import os
import pwd
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import shell as shells  # type: ignore[import-not-found] # noqa: E402 (it lies beside this file, wherever that is)

LOAD, LOADS, GROUPS, EVENTS = "/usr/bin/load", "/run/load", "/sys/fs/cgroup", "/run/sched/events"
STATE, CONTROL = "/sys/kernel/sched_ext/state", "/run/sched/control"
USERS = ("operator", "service", "batch")
KNOBS = ("cpu.weight", "cpu.max", "cpu.idle", "cgroup.freeze")
DELEGATED = (*KNOBS, "cpu.weight.nice")
RING, HEAD = 8192, 56
SETTLE, WINDOW = 0.3, 1.0
"""Seconds after a change before anything is measured, and of what is measured."""
TYPING = 1.1
"""Seconds that go by before a command."""
PERCENTILES = (50, 90, 95, 99)
PR_SET_PDEATHSIG = 1


class Trouble(Exception):  # noqa: N818 (it reads as what it is)
    """This host does not do as it should."""


def read(path: str, default: str = "") -> str:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return default


def call(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Trouble(f"{words[0]} {words[1]}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def die_with_us() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Account:
    """What a load has done, read from the page that it counts in."""

    def __init__(self, name: str) -> None:
        self.name = name
        with open(f"{LOADS}/{name}", "rb") as file:
            self._page = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self.pid, self.kind = struct.unpack_from("<II", self._page, 8)

    def counts(self) -> tuple[int, int, int, int]:
        """(requests, given up, units of work, microseconds of a unit)"""
        requests, given_up, units, unit_us = struct.unpack_from("<QQQQ", self._page, 24)
        return requests, given_up, units, unit_us

    def percentiles(self, since: int, until: int) -> dict[str, int]:
        """Nanoseconds that so many in a hundred requests took at most, of those that were due and done between two
        moments of the monotonic clock; where none was done, how long somebody has been waiting at the least."""
        requests, found = self.counts()[0], list[int]()
        for number in range(requests - 1, max(-1, requests - RING), -1):
            at, latency = struct.unpack_from("<QQ", self._page, HEAD + 16 * (number % RING))
            if at < since:
                break
            if at <= until and at - latency >= since:
                found.append(latency)
        found = sorted(found) or [until - since]
        return {str(each): found[(len(found) - 1) * each // 100] for each in PERCENTILES}

    @property
    def group(self) -> str:
        return read(f"/proc/{self.pid}/cgroup").removeprefix("0::/")

    def standing(self) -> str:
        """How the kernel treats it: class, niceness, processors, group."""
        try:
            policy, cpus = os.sched_getscheduler(self.pid), sorted(os.sched_getaffinity(self.pid))
            nice = os.getpriority(os.PRIO_PROCESS, self.pid)
        except OSError:
            return "gone"
        return f"class {policy} nice {nice} cpus {','.join(map(str, cpus))} group {self.group}"

    def started(self) -> str:
        return "".join(read(f"/proc/{self.pid}/stat").rpartition(")")[2].split()[19:20])


class Warden:
    def __init__(self) -> None:
        if not os.path.exists(STATE):
            raise Trouble(f"the kernel {os.uname().release} has no sched_ext: it needs CONFIG_SCHED_CLASS_EXT")
        self._users = {name: pwd.getpwnam(name) for name in USERS}
        operator = self._users["operator"]
        self._shell = shells.Shell(operator.pw_uid, operator.pw_gid, os.uname().nodename)
        os.makedirs("/run/sched", exist_ok=True)
        os.makedirs(LOADS, exist_ok=True)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
        with open(f"{GROUPS}/cgroup.subtree_control", "w") as file:
            file.write("+cpu +memory +pids")
        self._filler = subprocess.Popen([f"{HERE}/filler"], stdin=subprocess.DEVNULL, preexec_fn=die_with_us)
        self._watchdog = subprocess.Popen(
            [f"{HERE}/watchdog", "/usr/bin/python3", "-ISE", f"{HERE}/loader.py", str(operator.pw_uid)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=die_with_us,
        )
        if not os.path.exists(f"{LOADS}/.rate"):
            rate = call(LOAD, "calibrate")
            with open(f"{LOADS}/.rate", "w") as file:
                file.write(rate)
        self._accounts: dict[str, Account] = {}
        self._changed = time.monotonic()
        self._await_loader()

    def _await_loader(self) -> None:
        until = time.monotonic() + 30
        while True:
            try:
                self.control({"do": "status"})
                return
            except (OSError, ValueError):
                if time.monotonic() > until or self._watchdog.poll() is not None:
                    raise Trouble("the loader does not answer") from None
                time.sleep(0.05)

    def control(self, document: Mapping[str, Any]) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(20)
            link.connect(CONTROL)
            link.sendall(json.dumps(document).encode() + b"\n")
            reply: dict[str, Any] = json.loads(link.makefile().readline())
            return reply

    # -- what can be asked

    def hello(self) -> dict[str, Any]:
        return {
            "kernel": os.uname().release,
            "boot": read("/proc/sys/kernel/random/boot_id"),
            "cpus": os.cpu_count(),
            "rate": int(read(f"{LOADS}/.rate", "0")),
            "state": read(STATE, "absent"),
        }

    def open(self, services: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """A fresh world with these services: `{name, group, every_us, work_us}`. It must be clean before."""
        wrong = self.remains()
        if wrong:
            raise Trouble(f"the host is not clean: {'; '.join(wrong)}")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(EVENTS)
        self.control({"do": "forget"})
        for one in services:
            every, work = str(one["every_us"]), str(one["work_us"])
            call(LOAD, "start", one["name"], one["group"], "service", "serve", every, work)
        self._after_change()
        return {"opened": self.clock()["now"], "generation": self.control({"do": "status"})["generation"]}

    def clock(self) -> dict[str, Any]:
        return {"now": time.monotonic()}

    def run(self, command: str, seconds: float, keep: int) -> dict[str, Any]:
        begun = time.monotonic()
        try:
            self._shell.begin()
            # Somebody reads and types; what our own looking took of the processor is then over, too.
            time.sleep(TYPING)
            begun = time.monotonic()
            said = self._shell.run(command, seconds, keep)
        except shells.Gone as error:
            text = f"{error}\n".encode()
            said = {
                "output": text,
                "stdout": b"",
                "stderr": text,
                "exit_code": 255,
                "timed_out": False,
                "dropped": False,
            }
        self._changed = time.monotonic()
        encoded = {key: base64.b64encode(said.pop(key)).decode() for key in ("output", "stdout", "stderr")}
        return {**said, **encoded, "seconds": self._changed - begun, "prompt": self._shell.prompt()}

    def prompt(self) -> dict[str, Any]:
        return {"prompt": self._shell.prompt()}

    def apply(self, argv: Sequence[str]) -> dict[str, Any]:
        """Run a program as root. Returns how it ended and what it said."""
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        self._after_change()
        return {"code": done.returncode, "said": (done.stderr or done.stdout).strip()[-2000:]}

    def wait(self, seconds: float) -> dict[str, Any]:
        time.sleep(seconds)
        return {}

    def measure(self) -> dict[str, Any]:
        """What every load achieves while nobody disturbs it, and the scheduler's state."""
        # Looking costs time too, and in a real-time class: what was due meanwhile is not counted.
        time.sleep(max(SETTLE / 2, self._changed + SETTLE - time.monotonic()))
        before = {name: account.counts() for name, account in self._accounts.items()}
        since = time.monotonic_ns()
        time.sleep(WINDOW)
        until = time.monotonic_ns()
        after = {name: account.counts() for name, account in self._accounts.items()}
        loads: dict[str, dict[str, Any]] = {}
        for name, account in sorted(self._accounts.items()):
            loads[name] = {"kind": account.kind, "group": account.group, "given_up": after[name][1]}
            if account.kind == 1:
                loads[name]["ns"] = account.percentiles(since, until)
            else:
                units, unit_us = after[name][2] - before[name][2], after[name][3]
                loads[name]["share"] = units * unit_us * 1000 / (until - since)
        return {"loads": loads, "scheduler": self.scheduler()}

    def scheduler(self) -> dict[str, Any]:
        try:
            status = self.control({"do": "status"})
        except (OSError, ValueError):
            status = {"state": read(STATE), "request": None, "acknowledged": None, "ejected": None, "lost": True}
        status["watched"] = self._watchdog.poll() is None
        status["events"] = read(EVENTS).splitlines()
        return status

    def facts(self) -> dict[str, Any]:
        status, others = self.scheduler(), dict[str, str]()
        lasting = {"scheduler": json.dumps([status["state"], status["request"]], sort_keys=True)}
        processes = {}
        for name, account in sorted(self._accounts.items()):
            lasting[f"load {name}"] = account.standing()
            knobs = (f"{knob}={read(f'{GROUPS}/{account.group}/{knob}', '-')}" for knob in KNOBS)
            lasting[f"group of {name}"] = " ".join(knobs)
            if account.started():
                processes[name] = f"{account.pid} since {account.started()}"
        for pid in shells.members():
            if pid != self._shell.pid:
                line = read(f"/proc/{pid}/cmdline").replace("\0", " ").strip() or read(f"/proc/{pid}/comm")
                others[str(pid)] = line
        failed = sum(account.counts()[1] for account in self._accounts.values() if account.kind == 1)
        return {"persistent": lasting, "processes": processes, "others": others, "requests_failed": failed}

    def restore(self, persistent: Mapping[str, str]) -> dict[str, Any]:
        """Put the scheduler and the groups' knobs back to what facts said of them."""
        wanted = json.loads(persistent["scheduler"])
        self.control({"do": "load", **wanted[1]} if wanted[1] else {"do": "unload"})
        for name, account in self._accounts.items():
            for pair in persistent.get(f"group of {name}", "").split(" "):
                self._turn(f"{GROUPS}/{account.group}", pair)
        return {}

    def _turn(self, folder: str, pair: str) -> None:
        knob, _, value = pair.partition("=")
        now = read(f"{folder}/{knob}", "-")
        if knob in KNOBS and value not in ("-", now):
            with open(f"{folder}/{knob}", "w") as file:
                file.write(value)

    def reset(self) -> dict[str, Any]:
        """End the world. Returns what is not as it was before it."""
        self._shell.close()
        if os.path.isdir(shells.GROUP):
            with open(f"{shells.GROUP}/cgroup.kill", "w") as file:
                file.write("1")
        unloaded = "the loader does not answer"
        with contextlib.suppress(OSError, ValueError):
            unloaded = str(self.control({"do": "unload"}).get("state", ""))
        for name in os.listdir(LOADS):
            if not name.startswith("."):
                self._turn(f"{GROUPS}/{Account(name).group}", "cgroup.freeze=0")
                call(LOAD, "stop", name)
        self._after_change()
        until = time.monotonic() + 5
        while True:
            self._remove_groups()
            wrong = self.remains()
            if not wrong or time.monotonic() > until:
                break
            time.sleep(0.02)
        if unloaded not in ("disabled", "") and read(STATE) != "disabled":
            wrong.append(unloaded)
        return {"remains": wrong, "state": read(STATE), "events": read(EVENTS).splitlines()}

    def remains(self) -> list[str]:
        """What of a world is still there."""
        wrong = []
        if read(STATE) != "disabled":
            wrong.append(f"a scheduler is loaded: {read(STATE)}")
        if self._watchdog.poll() is not None:
            wrong.append("the watchdog is gone")
        wrong += [f"a process of {user}: {pid}" for user, pid in self._strays()]
        wrong += [f"a load: {name}" for name in os.listdir(LOADS) if not name.startswith(".")]
        wrong += [f"a group: {name}" for name in sorted(self._made_groups())]
        return wrong

    # -- in between

    def _after_change(self) -> None:
        """Loads may have come and gone: look at them anew, and hand their groups' knobs to the operator."""
        # It takes the kernel's scheduler a moment longer to forget who had waited how long.
        self._changed = time.monotonic() + 2 * SETTLE
        names = [name for name in os.listdir(LOADS) if not name.startswith(".")]
        self._accounts = {name: Account(name) for name in names}
        busy = any(account.kind == 2 for account in self._accounts.values())
        os.kill(self._filler.pid, signal.SIGSTOP if busy else signal.SIGCONT)
        operator = self._users["operator"]
        for group in {account.group for account in self._accounts.values()} - {""}:
            for knob in DELEGATED:
                if os.path.exists(f"{GROUPS}/{group}/{knob}"):
                    os.chown(f"{GROUPS}/{group}/{knob}", operator.pw_uid, operator.pw_gid)

    def _strays(self) -> Iterator[tuple[str, str]]:
        """(user, process) of all that our users run."""
        by_uid = {str(entry.pw_uid): name for name, entry in self._users.items()}
        for number in os.listdir("/proc"):
            if number.isdigit():
                # Who owns the folder says nothing: a process that cannot be looked into shows root's.
                uid = read(f"/proc/{number}/status").partition("\nUid:\t")[2].partition("\t")[0]
                if uid in by_uid:
                    yield by_uid[uid], number

    def _made_groups(self) -> list[str]:
        found: list[str] = []
        for folder, folders, _ in os.walk(GROUPS):
            found += [os.path.join(folder, name) for name in folders]
        return [name for name in found if name.split("/")[4] not in KEPT]

    def _remove_groups(self) -> None:
        for folder in sorted(self._made_groups(), key=len, reverse=True):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


KEPT = frozenset(os.listdir(GROUPS)) if os.path.isdir(GROUPS) else frozenset()
"""Groups that were there before us."""
ASKED = ("hello", "open", "clock", "run", "prompt", "apply", "wait", "measure", "facts", "restore", "reset")


def main() -> None:
    # Nothing but replies goes to our output, whatever a child says.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        warden = Warden()
    except (Trouble, OSError, KeyError) as error:
        replies.write(json.dumps({"trouble": f"{type(error).__name__}: {error}"}) + "\n")
        replies.flush()
        sys.exit(1)
    replies.write(json.dumps(warden.hello()) + "\n")
    replies.flush()
    for line in sys.stdin:
        request = json.loads(line)
        what = request.pop("ask")
        try:
            reply = getattr(warden, what)(**request) if what in ASKED else {"trouble": f"what is {what}?"}
        except (Trouble, OSError, ValueError, subprocess.SubprocessError) as error:
            reply = {"trouble": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
    warden.reset()


if __name__ == "__main__":
    main()
