"""Every module against the real one: the same tasks in the same tree give the same tree, `changed` and `failed`, twice.

One ansible-playbook run serves all cases, because starting it costs more than a hundred tasks.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
import yaml

from runners.sim.build import boot
from runners.sim.machine import Machine
from runners.sim.network.firewall import Tables
from runners.sim.shell.running import run_job
from runners.sim.tasks.play import apply
from runners.system import SystemSpec
from scenario_dsl.model import Task
from scenario_dsl.values import Value, freeze, thaw
from tests.conformance.worlds import library
from tests.runners.sim.tasks.bare import GROUP, PASSWD, SHADOW, bare_machine
from tests.runners.sim.tasks.cases import ACCOUNTS, COMMANDS, FILES, FIREWALL, LANGUAGE, Case

pytestmark = pytest.mark.ansible

_WORDS = {"when", "loop", "register", "ignore_errors"}
_KEPT = ("changed", "failed", "skipped", "rc", "content", "found", "envs", "jobs", "stdout", "stderr")
_STAT = ("exists", "mode", "isdir", "isreg", "islnk", "size", "checksum", "nlink", "rusr", "woth", "isuid", "isgid")
_ACCOUNT_FILES = ("passwd", "group", "shadow", "gshadow")
_GSHADOW = "root:*::\ndaemon:*::\nadm:*::\ncrontab:!::\napp:!::\n"


def test_files_and_the_language_agree(tmp_path: Path) -> None:
    _assert_agreement(tmp_path, FILES + LANGUAGE, bare_machine())


def test_commands_agree(tmp_path: Path) -> None:
    machine = boot(SystemSpec.of(library().systems["small"]), run_job=run_job)
    machine.view().mkdir("/scratch")
    _assert_agreement(tmp_path, COMMANDS, machine)


def _assert_agreement(tmp_path: Path, cases: Sequence[Case], machine: Machine) -> None:
    """Play the cases twice on both sides, and compare what every task says and the trees they leave."""
    assert os.geteuid() == 0, "ansible-playbook must run as root here, as it does on the hosts that faults break"
    real_root = tmp_path / "real"
    for number, case in enumerate(cases):
        _lay_real(real_root / f"{number:03}", case)
        _lay_sim(machine, f"/scratch/{number:03}", case)
    differences = []
    for turn in ("first", "second"):
        real = _play_real(tmp_path, cases, real_root)
        for number, case in enumerate(cases):
            here, there = f"/scratch/{number:03}", str(real_root / f"{number:03}")
            simulated = [_brief(result, here) for result in _play_sim(machine, here, case)]
            wanted = [_brief(result, there) for result in real[number]]
            if simulated != wanted:
                differences.append(f"{case.name}, {turn} run: real {wanted}, simulated {simulated}")
            trees = _tree_real(Path(there)), _tree_sim(machine, here)
            if trees[0] != trees[1]:
                differences.append(f"{case.name}, {turn} run: real tree {trees[0]}, simulated {trees[1]}")
    assert not differences, "\n".join(differences)


_CRONTAB = """#!/bin/sh
user=root
[ "$1" = -u ] && { user=$2; shift 2; }
table=/var/spool/cron/crontabs/$user
if [ "$1" = -l ]; then cat $table 2>/dev/null; exit; fi
cat "$1" > $table && chown $user:crontab $table && chmod 600 $table
"""
_PRIVATE = """
mount --bind "$1/etc" /etc && mount --bind "$1/homes" /home && mount --bind "$1/spool" /var/spool && shift && exec "$@"
"""


def test_accounts_agree(tmp_path: Path) -> None:
    """Accounts and crontabs, in a mount namespace with its own /etc, /home and /var/spool."""
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("needs the right to unshare mounts")
    shutil.copytree("/etc", tmp_path / "etc", symlinks=True, ignore_dangling_symlinks=True)
    (tmp_path / "homes").mkdir()
    (tmp_path / "spool/cron/crontabs").mkdir(parents=True)
    for name, text in zip(_ACCOUNT_FILES, (PASSWD, GROUP, SHADOW, _GSHADOW), strict=True):
        (tmp_path / "etc" / name).write_text(text)
    shutil.rmtree(tmp_path / "etc/skel")
    (tmp_path / "etc/skel").mkdir()
    (tmp_path / "etc/skel/.profile").write_text("# profile\n")
    machine = bare_machine()
    view = machine.view()
    view.mkdir("/etc/skel")
    view.write("/etc/skel/.profile", b"# profile\n")
    view.write("/etc/gshadow", _GSHADOW.encode())
    differences = []
    for turn in ("first", "second"):
        real = _play_real(tmp_path, ACCOUNTS, tmp_path, ["unshare", "-m", "sh", "-c", _PRIVATE, "sh", str(tmp_path)])
        for number, case in enumerate(ACCOUNTS):
            simulated = [_outcome(result) for result in _play_sim(machine, "/", case)]
            wanted = [_outcome(result) for result in real[number]]
            if simulated != wanted:
                differences.append(f"{case.name}, {turn} run: real {real[number]}, simulated {simulated}")
        for name in _ACCOUNT_FILES:
            one, other = (tmp_path / "etc" / name).read_text(), machine.view().text(f"/etc/{name}")
            if _undated(one) != _undated(other):
                differences.append(f"/etc/{name}, {turn} run: real\n{one}simulated\n{other}")
        trees = _tree_real(tmp_path / "homes"), _tree_sim(machine, "/home")
        if trees[0] != trees[1]:
            differences.append(f"/home, {turn} run: real {trees[0]}, simulated {trees[1]}")
        trees = _tree_real(tmp_path / "spool/cron/crontabs"), _tree_sim(machine, "/var/spool/cron/crontabs")
        if trees[0] != trees[1]:
            differences.append(f"crontabs, {turn} run: real {trees[0]}, simulated {trees[1]}")
    assert not differences, "\n".join(differences)


def test_firewalls_agree(tmp_path: Path) -> None:
    """Rules of the packet filter, in a network namespace of their own. After each task: what iptables-save prints."""
    if shutil.which("iptables-save") is None:
        pytest.skip("needs iptables: apt-get install iptables")
    if subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("needs the right to unshare the network")
    saved = {"command": {"argv": ["iptables-save"]}}
    cases = [Case(case.name, case.tree, [*case.tasks, saved]) for case in (*FIREWALL, *FIREWALL)]
    real = _play_real(tmp_path, cases, tmp_path, ["unshare", "-n"])
    machine = boot(SystemSpec.of(library().systems["small"]), run_job=run_job)
    machine.network.tables = _untouched(machine.network.tables)
    differences: list[str] = []
    last: list[str] = []
    for case, (wanted, filters) in zip(cases, real, strict=True):
        simulated, kept = _play_sim(machine, "/", case)
        if _outcome(simulated) != _outcome(wanted):
            differences.append(f"{case.name}: real {wanted}, simulated {simulated}")
        lines = list(unified_diff(_rules(filters), _rules(kept), "real", "simulated", n=0, lineterm=""))
        if lines != last:
            differences.append(f"{case.name}: {lines}")
        last = lines
    assert not differences, "\n".join(differences)


def _untouched(tables: Tables) -> Tables:
    return {
        table: {
            name: chain._replace(policy="ACCEPT", rules=()) for name, chain in chains.items() if chain.policy != "-"
        }
        for table, chains in tables.items()
    }


def _rules(saved: Mapping[str, Any]) -> list[str]:
    """The rules and policies that iptables-save printed, without tables that hold none."""
    lines = [re.sub(r" \[\d+:\d+\]$", "", line) for line in saved["stdout"].splitlines()]
    return [line for line in lines if line.startswith("-A") or (line.startswith(":") and " ACCEPT" not in line)]


def _outcome(result: Mapping[str, Any]) -> tuple[bool, bool]:
    return bool(result.get("changed")), bool(result.get("failed"))


def _undated(text: str) -> list[str]:
    """Lines of an account file without the day of the last change of a password."""
    lines = [line.split(":") for line in text.splitlines()]
    return [":".join([*fields[:2], "", *fields[3:]] if len(fields) == 9 else fields) for fields in lines]


def _brief(result: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """What both sides must agree on, with the case's folder written as `@`."""
    brief = {key: result[key] for key in _KEPT if key in result}
    if brief.get("skipped") is False:
        del brief["skipped"]
    brief.setdefault("failed", False)
    brief.setdefault("changed", False)
    if isinstance(result.get("stat"), Mapping):
        brief["stat"] = {key: result["stat"][key] for key in _STAT if key in result["stat"]}
        brief["stat"].pop("size" if result["stat"].get("isdir") else "", None)
        brief["stat"].pop("nlink" if result["stat"].get("isdir") else "", None)
    if "results" in result:
        brief["results"] = [_brief(item, folder) for item in result["results"]]
    if brief["failed"]:
        # What a failed module returns beside that is not the same for all of Ansible's versions.
        brief = {key: brief[key] for key in ("failed", "rc", "results", "stdout", "stderr") if key in brief}
    return json.loads(json.dumps(brief).replace(folder, "@"))


def _at(value: Any, folder: str) -> Any:
    if isinstance(value, str):
        return value.replace("@", folder)
    if isinstance(value, list):
        return [_at(item, folder) for item in value]
    if isinstance(value, dict):
        return {key: _at(item, folder) for key, item in value.items()}
    return value


# -- the real one


def _lay_real(folder: Path, case: Case) -> None:
    folder.mkdir(parents=True)
    for name, entry in case.tree.items():
        text, mode = entry if isinstance(entry, tuple) else (entry, None)
        path = folder / name
        if text == "/":
            path.mkdir()
            path.chmod(0o755)
        elif text.startswith("-> "):
            path.symlink_to(text[3:])
        else:
            path.write_text(text)
            path.chmod(0o644 if mode is None else mode)


def _play_real(
    tmp_path: Path, cases: Sequence[Case], root: Path, inside: Sequence[str] = ()
) -> list[list[dict[str, Any]]]:
    """The results of every task of every case, from one run. `inside`: a command to run ansible-playbook with."""
    tasks: list[dict[str, Any]] = []
    collect: list[list[str]] = []
    for number, case in enumerate(cases):
        names = []
        for index, task in enumerate(case.tasks):
            name = task.get("register", f"r_{number}_{index}")
            one = _at(task, str(root / f"{number:03}")) | {"name": f"{number}.{index}", "ignore_errors": True}
            names.append(f"kept_{number}_{index}")
            tasks.append(one | {"register": name})
            tasks.append({"set_fact": {names[-1]: "{{ " + name + " }}"}})
        collect.append(names)
    out = tmp_path / "results.json"
    # Data goes through variables: text that looks like a template is never rendered twice.
    everything = "[" + ", ".join("[" + ", ".join(names) + "]" for names in collect) + "]"
    tasks.append({"copy": {"content": "{{ " + everything + " | to_json }}", "dest": str(out)}})
    playbook = tmp_path / "play.yml"
    playbook.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}], width=1 << 20))
    binaries = tmp_path / "bin"
    if not binaries.exists():
        binaries.mkdir()
        # The cron module asks for crontab(1), which few machines that run tests have.
        (binaries / "crontab").write_text(_CRONTAB)
        (binaries / "crontab").chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{os.environ['PATH']}:{binaries}",
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_HOME": str(tmp_path / "home"),
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "ANSIBLE_DEPRECATION_WARNINGS": "false",
        "LC_ALL": "C.UTF-8",
    }
    playbook_command = shutil.which("ansible-playbook", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert playbook_command is not None
    done = subprocess.run(
        [*inside, playbook_command, "-c", "local", "-i", "localhost,", str(playbook)],
        capture_output=True, text=True, env=environment, timeout=900, umask=0o022, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    results: list[list[dict[str, Any]]] = json.loads(out.read_text())
    out.unlink()
    return results


def _tree_real(folder: Path) -> dict[str, tuple[object, ...]]:
    tree: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        name = str(path.relative_to(folder))
        if path.is_symlink():
            tree[name] = ("link", os.readlink(path).replace(str(folder), "@"))
        elif path.is_dir():
            tree[name] = ("directory", oct(stat.S_IMODE(status.st_mode)), status.st_uid, status.st_gid)
        else:
            tree[name] = (path.read_text(), oct(stat.S_IMODE(status.st_mode)), status.st_uid, status.st_gid,
                          status.st_nlink)  # fmt: skip
    return tree


# -- the simulated one


def _lay_sim(machine: Machine, folder: str, case: Case) -> None:
    view = machine.view()
    view.mkdir(folder)
    for name, entry in case.tree.items():
        text, mode = entry if isinstance(entry, tuple) else (entry, None)
        if text == "/":
            view.mkdir(f"{folder}/{name}")
        elif text.startswith("-> "):
            view.symlink(text[3:], f"{folder}/{name}")
        else:
            view.write(f"{folder}/{name}", text.encode())
            view.chmod(f"{folder}/{name}", 0o644 if mode is None else mode)


def _play_sim(machine: Machine, folder: str, case: Case) -> list[dict[str, Any]]:
    variables: dict[str, Value] = {}
    results = []
    for written in case.tasks:
        task = _at(written, folder)
        module = next(key for key in task if key not in _WORDS)
        loop = task.get("loop")
        result = apply(
            machine,
            Task(
                name="", module=module, arguments=freeze(task[module]), when=task.get("when"),
                loop=tuple(freeze(item) for item in loop) if isinstance(loop, list) else loop,
                register=task.get("register"),
            ),
            variables,
        )  # fmt: skip
        if "register" in task:
            variables[task["register"]] = result.registered()
        kept = thaw(result.registered())
        assert isinstance(kept, dict)
        results.append(kept)
    return results


def _tree_sim(machine: Machine, folder: str, inside: str = "") -> dict[str, tuple[object, ...]]:
    view = machine.view()
    tree: dict[str, tuple[object, ...]] = {}
    for name in view.names(f"{folder}/{inside}"):
        path = f"{inside}/{name}" if inside else name
        inode = view.stat(f"{folder}/{path}", follow=False)
        if inode.target is not None:
            tree[path] = ("link", inode.target.replace(folder, "@"))
        elif inode.is_dir:
            tree[path] = ("directory", oct(inode.permissions), inode.uid, inode.gid)
            tree |= _tree_sim(machine, folder, path)
        else:
            text = inode.content.read().decode()
            tree[path] = (text, oct(inode.permissions), inode.uid, inode.gid, inode.nlink)
    return tree


def test_slurped_content_is_base64() -> None:
    machine = bare_machine()
    machine.view().write("/scratch/a", b"\0\xff")
    result = apply(machine, Task(name="", module="slurp", arguments={"src": "/scratch/a"}), {})
    assert base64.b64decode(str(result.values["content"])) == b"\0\xff"
