"""The same seed gives the same bytes: in any process, at any time of day, wherever it runs."""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runners.sim.worlds import typed_all, web_server

ROOT = Path(__file__).parents[3]
SIM = ROOT / "runners" / "sim"

SESSION = (
    "date; uptime; whoami; id; hostname; uname -a; env | sort; set | head -40",
    "ps aux; ps -ef --forest | tail -30; top -b -n 1 | head -20; free -m; vmstat; df -h; df -i; du -sh /var/*",
    "systemctl status nginx shop postgresql --no-pager; systemctl list-units --no-pager; systemctl list-timers --no-pager",
    "journalctl -n 50 --no-pager; dmesg | tail; last -n 5; w; tail -n 20 /var/log/nginx/access.log /var/log/syslog /var/log/auth.log",
    "ls -laR /etc | md5sum; find / -xdev -newer /etc/hostname | sort | head -50; stat /etc/passwd; lsof -i; ss -tulpn; netstat -s",
    "curl -si localhost/; curl -s localhost/health; dig db-primary; ping -c 2 cache-01; redis-cli info | head -20",
    "sudo -u postgres psql shop -c 'select * from orders limit 5'; psql -l",
    "echo $RANDOM $$ $PPID $SECONDS; mktemp -u; shuf -i 1-100 | head -3; head -c 8 /dev/urandom | xxd; cat /proc/sys/kernel/random/uuid",
    "sort -R /etc/passwd | md5sum; awk 'BEGIN { srand(); print rand(); for (k in ENVIRON) print k }'; openssl rand -hex 8",
    "declare -A a=([x]=1 [y]=2 [long key]=3); echo ${!a[@]} ${a[@]}; for f in /etc/*; do echo $f; done | md5sum; echo {a..e}{1..3}",
    "systemctl stop redis-server; sleep 45; systemctl start redis-server; kill -9 $(pgrep -o nginx); sleep 10; systemctl is-active nginx",
    "useradd -m bob; echo bob:pw | chpasswd; grep bob /etc/shadow; ssh-keygen -q -t ed25519 -N '' -f /tmp/key; cat /tmp/key.pub",
    "yes | head -c 100000 | md5sum; while :; do :; done",
    "for i in 1 2 3; do (sleep $i; echo $i) & done; wait; jobs; logger hello; tail -n 2 /var/log/syslog; tar cf - /etc 2>/dev/null | md5sum",
    "locale; date -d yesterday; printf \"%'d %.2f\\n\" 1234567 1.5; ls -l --time-style=full-iso /etc | head -5; umask; ulimit -a; pwd",
)  # fmt: skip


def transcript(seed: int) -> bytes:
    live = web_server(seed)
    said = typed_all(live, SESSION)
    live.wait(900)
    return said + typed_all(live.fork(seed=0), SESSION[:4]) + repr(sorted(live.facts().persistent.items())).encode()  # type: ignore[attr-defined]


def digest(seed: int) -> str:
    return hashlib.sha256(transcript(seed)).hexdigest()


def test_twice_in_this_process() -> None:
    first = transcript(11)
    assert len(first) > 50_000
    assert first == transcript(11)


CIRCUMSTANCES = (
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C", "HOME": "/nonexistent", "USER": "someone", "COLUMNS": "40"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/Caracas", "LC_ALL": "C.UTF-8", "LANG": "tr_TR.UTF-8", "PATH": "/bin", "TERM": "dumb"},
)  # fmt: skip
_ELSEWHERE = """
import os, sys, time, datetime
os.umask({umask})
os.chdir({folder!r})
sys.path.insert(0, {root!r})
real = time.time
time.time = lambda: real() + {shift}
from tests.runners.sim.test_determinism import digest
print(digest(11), flush=True)
"""


def test_in_other_processes(tmp_path: Path) -> None:
    """Other hash seeds, time zones, locales, folders, masks, environments, and another time of day."""
    runs = []
    for number, circumstances in enumerate(CIRCUMSTANCES):
        code = _ELSEWHERE.format(
            umask="0o077" if number else "0", folder=str(tmp_path), root=str(ROOT), shift=(1 - 2 * number) * 41_000
        )
        runs.append(subprocess.Popen(
            [sys.executable, "-c", code], env=circumstances, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ))  # fmt: skip
    expected = digest(11)
    for run in runs:
        out, problems = run.communicate(timeout=120)
        assert run.returncode == 0, problems
        assert out.strip() == expected


def test_another_seed_changes_chance_and_nothing_else() -> None:
    first, second = web_server(1), web_server(2)
    by_chance = (
        "echo $RANDOM",
        "head -c 8 /dev/urandom | xxd",
        "mktemp -u",
        "shuf -i 1-1000 | head -3",
        "openssl rand -hex 4",
    )
    for line in by_chance:
        assert typed_all(first, [line]) != typed_all(second, [line]), line
    first, second = web_server(1), web_server(2)
    certain = (
        "ls -laR /etc", "systemctl list-units --all --no-pager --plain", "cat /etc/passwd /etc/hosts", "df -h /", "ps -eo args",
        "nginx -T", "sudo -u postgres psql shop -c 'select count(*) from products'", "journalctl --no-pager -n 20 -u ssh",
    )  # fmt: skip
    for line in certain:
        assert typed_all(first, [line]) == typed_all(second, [line]), line


# -- what the sources may not do

FORBIDDEN = frozenset({"time", "random", "uuid", "secrets", "socket", "subprocess", "threading", "tempfile", "locale", "platform", "getpass", "glob", "multiprocessing", "asyncio", "requests", "urllib.request"})  # fmt: skip
FORBIDDEN_NAMES = {
    "os": frozenset({"environ", "getenv", "listdir", "scandir", "walk", "urandom", "getpid", "getcwd", "umask", "open", "stat", "system", "popen", "uname", "getuid", "cpu_count", "times"}),
    "datetime": frozenset({"now", "today", "utcnow"}),
    "date": frozenset({"today"}),
    "Path": frozenset({"cwd", "home"}),
}  # fmt: skip
FORBIDDEN_CALLS = frozenset({"hash", "id", "open", "input", "print", "vars", "globals"})

ALLOWED = {
    ("commands/journalctl.py", "id()"): "which of two lists' entries are the same object; their order is the list's",
    ("commands/paste.py", "id()"): "`paste - -` reads one input by one iterator",
    ("probes/evaluate.py", "id()"): "a probe's own place in the memo, which is never gone through",
}
"""(module below runners/sim, what it uses): why that shows nowhere."""


def _sins(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (f"import {name.name}" for name in node.names if name.name in FORBIDDEN)
        elif isinstance(node, ast.ImportFrom):
            if node.module in FORBIDDEN:
                yield f"import {node.module}"
            elif node.module == "os":
                yield from (f"os.{name.name}" for name in node.names if name.name in FORBIDDEN_NAMES["os"])
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in FORBIDDEN_NAMES.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            yield from [f"{name}()"] * (name in FORBIDDEN_CALLS and name not in own and not _imported(tree, name))
        yield from _set_order(node)


def _imported(tree: ast.Module, name: str) -> bool:
    return any(
        (alias.asname or alias.name) == name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )


def _set_order(node: ast.AST) -> Iterator[str]:
    """A set written down and gone through at once, in whatever order its hashes give."""
    iterated: list[ast.expr] = []
    if isinstance(node, ast.For | ast.comprehension):
        iterated.append(node.iter)
    elif isinstance(node, ast.Call) and node.args:
        if (isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple", "enumerate", "next", "iter")) or (
            isinstance(node.func, ast.Attribute) and node.func.attr == "join"
        ):
            iterated.append(node.args[0])
    elif isinstance(node, ast.Starred):
        iterated.append(node.value)
    for expression in iterated:
        made = isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name)
        if isinstance(expression, ast.Set | ast.SetComp) or (made and expression.func.id in ("set", "frozenset")):  # type: ignore[attr-defined]
            yield f"line {expression.lineno}: the order of a set"


MODULES = sorted(path.relative_to(SIM).as_posix() for path in SIM.rglob("*.py"))


def test_the_sources_ask_nothing_of_the_host() -> None:
    found = {
        (module, sin)
        for module in MODULES
        for sin in _sins(SIM / module)
        if not _into_a_set(module, sin)
    }  # fmt: skip
    assert found == set(ALLOWED)


def _into_a_set(module: str, sin: str) -> bool:
    """Sets that are only gone through to make another set, or to be sorted, have no order to show."""
    if "the order of a set" not in sin:
        return False
    line = (SIM / module).read_text(encoding="utf-8").splitlines()[int(sin.split()[1][:-1]) - 1]
    return any(word in line for word in ("sorted(", "{", "any(", "all(", "sum(", "max(", "min(", "frozenset("))


@pytest.mark.parametrize(
    ("source", "sin"),
    [
        ("import time", "import time"), ("from random import choice", "import random"), ("import os\nos.environ['X']", "os.environ"),
        ("x = datetime.now()", "datetime.now"), ("hash('a')", "hash()"), ("for x in {1, 2}: pass", "line 1: the order of a set"),
        ("list(set(x))", "line 1: the order of a set"),
    ],
)  # fmt: skip
def test_the_search_finds_what_it_looks_for(source: str, sin: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(source)
    assert sin in list(_sins(path))
