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
import fcntl
import json
import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

# They lie beside this file, wherever that is.
import shell as shells  # type: ignore[import-not-found] # noqa: E402
from accounts import GROUPS, LOADS, Account, read  # type: ignore[import-not-found] # noqa: E402

LOAD, EVENTS = "/usr/bin/load", "/run/sched/events"
BEFORE, LOCK = "/run/sched/before", "/run/sched/lock"
"""How the host was before us, for whoever cleans it; and who has it."""
STATE, CONTROL = "/sys/kernel/sched_ext/state", "/run/sched/control"
USERS = ("operator", "service", "batch")
KNOBS = ("cpu.weight", "cpu.max", "cpu.idle", "cgroup.freeze")
DELEGATED = (*KNOBS, "cpu.weight.nice")
CONTROLLERS = ("cpu", "memory", "pids")
SETTLE, WINDOW = 0.3, 1.0
"""Seconds after a change before anything is measured, and of what is measured."""
TAKEOVER = 60.0
"""Seconds that whoever was here before may take to be gone."""
TYPING = 1.1
"""Seconds that go by before a command."""
PR_SET_PDEATHSIG = 1


class Trouble(Exception):  # noqa: N818 (it reads as what it is)
    """This host does not do as it should."""


def call(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Trouble(f"{words[0]} {words[1]}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def die_with_us() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def alone() -> IO[str]:
    """Be the only one here, for as long as the file is open. An earlier one may still be cleaning up."""
    file = open(LOCK, "w")  # noqa: SIM115 (held until the process ends)
    until = time.monotonic() + TAKEOVER
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError:
            if time.monotonic() > until:
                raise Trouble("somebody else is using this host") from None
            time.sleep(0.1)


def before_us() -> tuple[frozenset[str], frozenset[str]]:
    """(groups, controllers) that were there before the first of us came, in this boot."""
    if not os.path.exists(BEFORE):
        controllers = read(f"{GROUPS}/cgroup.subtree_control").split()
        write(f"{BEFORE}.new", json.dumps([os.listdir(GROUPS), controllers]))
        os.rename(f"{BEFORE}.new", BEFORE)
    groups, controllers = json.loads(read(BEFORE))
    return frozenset(groups), frozenset(controllers)


class Warden:
    def __init__(self) -> None:
        if not os.path.exists(STATE):
            raise Trouble(f"the kernel {os.uname().release} has no sched_ext: it needs CONFIG_SCHED_CLASS_EXT")
        os.makedirs("/run/sched", exist_ok=True)
        self._lock = alone()
        self._users = {name: pwd.getpwnam(name) for name in USERS}
        operator = self._users["operator"]
        self._shell = shells.Shell(operator.pw_uid, operator.pw_gid, os.uname().nodename)
        os.makedirs(LOADS, exist_ok=True)
        # Who competes has to be in one place: where there are several processors, all of ours share the last one.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
        self._groups, self._controllers = before_us()
        write(f"{GROUPS}/cgroup.subtree_control", " ".join(f"+{name}" for name in CONTROLLERS))
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
            write(f"{LOADS}/.rate", rate)
        self._accounts: dict[str, Account] = {}
        self._changed = time.monotonic()
        self._await_loader()
        if self.remains():
            self.reset()  # of a world whose warden was killed

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
            write(f"{folder}/{knob}", value)

    def reset(self) -> dict[str, Any]:
        """End the world. Returns what is not as it was before it."""
        self._shell.close()
        if os.path.isdir(shells.GROUP):
            write(f"{shells.GROUP}/cgroup.kill", "1")
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

    def leave(self) -> None:
        """Put everything back. Where that was done, nobody has to do it again."""
        wrong = self.reset()["remains"]
        for name in CONTROLLERS:
            if name not in self._controllers:
                with contextlib.suppress(OSError):
                    write(f"{GROUPS}/cgroup.subtree_control", f"-{name}")
        if not wrong:
            os.unlink(BEFORE)

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
        return [name for name in found if not self._is_theirs(name.split("/")[4])]

    def _is_theirs(self, name: str) -> bool:
        """Was this group there before us, or is it one that systemd makes as it likes?"""
        return name in self._groups or name.endswith((".slice", ".scope", ".service", ".mount"))

    def _remove_groups(self) -> None:
        for folder in sorted(self._made_groups(), key=len, reverse=True):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


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
    warden.leave()


if __name__ == "__main__":
    main()
