"""Nothing that an agent can read tells it what it is in: no word of ours, no fault's name, no trace of this machine."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import re2

from breakfix.content import SHIPPED, shipped_packs
from compiler.bundle import compile_pack
from compiler.model import PackContent
from compiler.verify import verify_under_ephemeral_key
from runners.backends.sim import SimBackend
from runners.opening import inject, wait_for_witness
from runners.sim.commands import COMMANDS
from runners.sim.files.view import FileView
from runners.sim.machine import Machine
from runners.sim.shell.builtins.table import BUILTINS
from scenario_dsl.library import load_library
from scenario_dsl.model import Library
from scenario_dsl.worlds import ResolvedScenario, World
from tests.runners.sim.worlds import Base, Opened, base_of, open_on, opened, typed

_WORDS = (
    "simulat(?:e|es|ed|ing|or|ors|ion|ions)", "sandbox(?:ed)?", "mock(?:ed|s)?", "fake[ds]?", "stub(?:s|bed)?", "breakfix",
    "not implemented", "unimplemented", "unsupported", "fault injection", "injected",
    # Python's own.
    "traceback", "exception", "NoneType", "KeyError", "ValueError", "TypeError", "AttributeError", "AssertionError",
    "RecursionError", "WorldError",
)  # fmt: skip
_PIECES = (
    r"runners\.(?:sim|backends)", r"scenario_dsl", r"site-packages", r"\.pyenv", r"<(?:function|class|bound method|object) ",
    r" object at 0x[0-9a-f]+", r"File \"/", r"\b\w+\.pyc?\b",
)  # fmt: skip

REAL: tuple[tuple[str, str], ...] = (
    (r"^class \w+\(Exception\):", "the source of the system's own application"),
    (r"configuration file \"/", "the words of the real postgres about the file that it cannot open"),
    (r"--?fake\b|\bfake$|-f, --fake", "an option of the real mount"),
    (r"--quiet-unsupported", "an option of the real fstrim, in its unit file"),
    (r"error: unsupported (?:SysV )?option", "the words of the real ps"),
    (r"unsupported option \"", "the words of the real sshd about its configuration"),
)
"""What the real system's own files and programs say, and why it may stay."""


@lru_cache(maxsize=1)
def _packs() -> dict[str, Library]:
    return {name: load_library(folder, SHIPPED) for name, folder in sorted(shipped_packs().items())}


@lru_cache(maxsize=1)
def _forbidden() -> re.Pattern[str]:
    names = {name for pack in _packs().values() for name in (*pack.faults, *pack.scenarios)}
    ours = [re.escape(name) for name in sorted(names)]
    here = {str(Path.cwd()), str(Path.home() / ".cache"), sys.prefix, sys.base_prefix, os.path.dirname(os.__file__)}
    host = socket.gethostname()
    places = [re.escape(place) for place in sorted(here) if len(place) > 5 and place not in ("/usr", "/root")]
    places += [rf"\b{re.escape(host)}\b"] if len(host) > 5 and host not in ("localhost", "debian") else []
    words = "|".join((*_WORDS, *ours))
    return re.compile(rf"(?i)(?<![\w-])(?:{words})(?![\w-])|{'|'.join((*_PIECES, *places))}")


@lru_cache(maxsize=1)
def _quick() -> Any:
    """The same words without regard to what stands around them, in linear time: most texts hold none."""
    return re2.compile(_forbidden().pattern.replace(r"(?<![\w-])", "").replace(r"(?![\w-])", ""))


@lru_cache(maxsize=1)
def _own_scripts() -> frozenset[str]:
    """Names of Python files that a system describes as its own: an application may well be written in it."""
    files = (file.path for pack in _packs().values() for system in pack.systems.values() for file in system.files)
    return frozenset(path.rpartition("/")[2] for path in files if path.endswith(".py"))


def found(text: str) -> list[str]:
    """The giveaways in a text, each with the line it is in."""
    if _quick().search(text) is None:
        return []
    hits = []
    for match in _forbidden().finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        line = text[start : end if end >= 0 else len(text)]
        at = match.start() - start
        if match.group() in _own_scripts():
            continue
        if not any(real.start() <= at < real.end() for pattern, _ in REAL for real in re.finditer(pattern, line)):
            hits.append(line[max(0, at - 80) : at + 80])
    return hits


def everything(view: FileView, top: str = "/", skip: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Every path with what it holds: bytes, or where a link leads. Huge files are read at both ends."""
    pending = [top]
    while pending:
        folder = pending.pop()
        for name in view.names(folder):
            path = f"{folder.rstrip('/')}/{name}"
            inode = view.stat(path, follow=False)
            if path in skip:
                continue
            if inode.is_dir:
                yield path, ""
                pending.append(path)
            elif inode.target is not None:
                yield path, inode.target
            elif inode.is_file:
                content = view.content(path)
                data = (
                    content.read()
                    if content.size < 1 << 21
                    else content.read(0, 1 << 19) + content.read(content.size - (1 << 19))
                )
                yield path, data.decode("utf-8", "replace")


def leaks(pairs: Iterator[tuple[str, str]]) -> list[str]:
    return [f"{path}: {hit}" for path, text in pairs for hit in found(f"{path}\n{text}")]


def history(machine: Machine) -> str:
    """The journal and the process table, whole."""
    lines = [f"{entry.identifier} {entry.message}" for entry in machine.journal]
    for process in machine.processes:
        lines += [" ".join(process.argv), process.exe, process.cwd, *(f"{k}={v}" for k, v in process.environment)]
    return "\n".join(lines)


@pytest.mark.parametrize("system", sorted({name for pack in _packs().values() for name in pack.systems}))
def test_no_file_of_a_system_gives_it_away(system: str) -> None:
    described = next(pack.systems[system] for pack in _packs().values() if system in pack.systems)
    machine = open_on(base_of(described)).machine
    assert leaks(everything(machine.view())) == []
    assert found(history(machine)) == []


def _worlds() -> list[tuple[str, str, str]]:
    return [
        (pack, scenario, world.name)
        for pack, (content, _) in _contents().items()
        for scenario, resolved in sorted(content.scenarios.items())
        if SimBackend().unsupported(content, resolved) is None
        for world in resolved.worlds
    ]


@lru_cache(maxsize=1)
def _contents() -> dict[str, tuple[PackContent, Library]]:
    packs = {name: pack for name, pack in _packs().items() if pack.scenarios}
    return {name: (verify_under_ephemeral_key(compile_pack(pack)).content, pack) for name, pack in packs.items()}


@lru_cache(maxsize=4)
def _base(pack: str, system: str) -> Base:
    return base_of(_contents()[pack][0].systems[system])


def _broken(pack: str, scenario: ResolvedScenario, world: World) -> tuple[Base, Opened]:
    """A world after its faults, after all its cascades, and some time later."""
    base = _base(pack, scenario.system)
    here = open_on(base, 3)
    inject(here.live, world.faults)
    assert wait_for_witness(here.live, world.faults) is None
    for cascade in world.cascades:
        here.live.wait(120)
        inject(here.live, cascade.inject)
    here.live.wait(300)
    return base, here


SEEN = (
    "ps auxww", "ps -ef --forest", "systemctl list-units --all --no-pager", "systemctl list-unit-files --no-pager",
    "systemctl --failed --no-pager", "journalctl --no-pager -n 500", "env", "set", "alias", "history", "mount", "df -h", "ss -tulpn",
    "last", "crontab -l", "dmesg", "iptables -S", "ls -laR /etc /tmp /var/log /root /run /opt", "top -b -n 1", "lsof", "id; who; w",
    "systemctl cat '*' --no-pager", "systemctl show nginx shop", "cat /proc/*/cmdline /proc/*/environ", "dpkg -l", "hostnamectl",
)  # fmt: skip


@pytest.mark.parametrize(("pack", "name", "world"), _worlds(), ids=lambda value: value.replace(" ", "-"))
def test_no_world_gives_its_scenario_away(pack: str, name: str, world: str) -> None:
    scenario = _contents()[pack][0].scenarios[name]
    base, here = _broken(pack, scenario, next(one for one in scenario.worlds if one.name == world))
    machine = here.machine
    old, view = base.machine.files.inodes, machine.view()
    # What the healthy machine holds too was read in its own test.
    changed = (
        (path, text)
        for path, text in everything(view, skip=("/proc", "/sys"))
        if old.get(view.stat(path, follow=False).number) is not view.stat(path, follow=False)
    )
    assert leaks(changed) == []
    assert found(history(machine)) == []
    for command in SEEN:
        assert found(typed(here.live.fork(seed=0), command).output.decode("utf-8", "replace")) == [], command  # type: ignore[arg-type]


CALLS = (
    "{}", "{} --help", "{} --version", "{} -h", "{} -V", "{} --no-such-option", "{} -Z", "{} nosuch", "{} nosuch /nowhere 99",
    "{} /etc/passwd", "{} /etc", "echo 'a b' | {}", "{} < /etc", "{} > /dev/full", "sudo -u nobody {} /etc/shadow", "man {}", "type {}",
    "{} ''", "{} -- --", "{} = ( ", "{} -1 -n 0 x",
)  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_no_command_gives_it_away(call: str) -> None:
    here = opened(5)
    hits = {}
    for name in sorted(set(COMMANDS) | set(BUILTINS)):
        live = here.live.fork(seed=0)
        line = call.format(name) if "=" not in call else f"{name} '=' '('"
        result = typed(live, line, seconds=5)  # type: ignore[arg-type]
        said = found(result.output.decode("utf-8", "replace"))
        if said:
            hits[line] = said
    assert hits == {}


def test_no_error_gives_it_away() -> None:
    live = opened(5).live
    lines = (
        "nosuchcommand", "/nowhere", "/etc", "/etc/passwd", ". /nowhere", "cd /nowhere", "python3 -c 1", "perl -e 1", "gcc x.c", "vi x",
        "nano x", "emacs", "apt-get install -y jq", "apt update", "dpkg -i x.deb", "docker ps", "git status", "make", "node -v", "ruby",
        "strace -p 1", "gdb", "tcpdump", "modprobe x", "insmod x", "echo $((1/0))", "echo ${x?}", "fi", "if", "((", "$(", "[[ a",
        "printf %d x", "ulimit -n 99999999999", "kill 99999", "cat /proc/1/mem", "cat /dev/mem", "ls /proc/self/fd", "cat /proc/version",
        "uname -a", "dmidecode", "lspci", "lsmod", "cat /sys/class/dmi/id/product_name", "systemd-detect-virt", "hostnamectl", "lscpu",
        "cat /proc/cpuinfo", "systemd-analyze", "virt-what", "awk 'BEGIN{'", "sed 's/'", "grep '['", "find / -nosuch", "sort -k 0",
        "date -d nonsense", "tar xf /etc/passwd", "gzip -d /etc/passwd", "curl nosuch.invalid", "curl localhost:1", "ssh nosuch.invalid",
        "psql nosuch", "redis-cli -p 1 ping", "nginx -c /etc/passwd -t", "openssl nosuch", "systemctl start nosuch", "systemctl nosuch",
        "journalctl --nosuch", "crontab /etc/passwd", "visudo -c -f /etc/passwd", "logrotate /etc/passwd", "iptables -A NOSUCH -j X",
        "ip nosuch", "sysctl nosuch", "mount /dev/nosuch /mnt", "useradd ''", "usermod nosuch", "passwd nosuch", "su nosuch",
    )  # fmt: skip
    for line in lines:
        said = typed(live, line, seconds=20).output.decode("utf-8", "replace")
        assert found(said) == [], line


def test_the_search_finds_what_it_looks_for() -> None:
    for giveaway in (
        "a simulated server",
        "Traceback (most recent call last)",
        "see fill_disk",
        "crash_service: done",
        "runners.sim.x",
        "/opt/x.py",
    ):
        assert found(giveaway), giveaway
    for innocent in ("stub_status on;", "mount --fake", "the fakery", "simulatedly"):
        assert not found(innocent), innocent
