"""Runs a script in the simulated server and in real bash, in folders with the same files at the same path."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from runners.sim.commands import COMMANDS
from runners.sim.files.content import Content
from runners.sim.files.inode import Inode
from runners.sim.files.tree import Mount
from runners.sim.machine import Machine
from runners.sim.shell.running import run_job, run_line
from runners.sim.shell.session import Limits, Session
from runners.system import SystemSpec

CASES = Path(__file__).parent / "cases"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "USER": "root"}
_DAY = 86400


class Outcome(NamedTuple):
    stdout: bytes
    status: int
    errors: str


class Case(NamedTuple):
    name: str
    script: str


def cases() -> list[Case]:
    """Of `*.lines` every line is a case; of `*.blocks` every run of lines up to a line `%%`. `#` begins comments."""
    found: list[Case] = []
    for path in sorted(CASES.iterdir()):
        text = path.read_text()
        if path.suffix == ".lines":
            scripts = [line for line in text.splitlines() if line and not line.startswith("# ")]
        else:
            scripts = [block.strip("\n") for block in re.split(r"^%%.*\n", text, flags=re.MULTILINE) if block.strip()]
        found += [Case(f"{path.stem}-{number}", script) for number, script in enumerate(scripts, 1)]
    return found


def _access_log() -> str:
    agents = ("curl/7.88.1", "Mozilla/5.0 (X11; Linux x86_64)", "kube-probe/1.27")
    paths = ("/", "/api/users", "/api/orders?id=7", "/static/app.js", "/login", "/healthz")
    codes = (200, 200, 200, 304, 404, 500, 502)
    lines = []
    for number in range(120):
        ip = f"10.0.{number % 3}.{number * 7 % 23}"
        moment = f"12/Mar/2024:{10 + number // 60:02d}:{number % 60:02d}:{number * 13 % 60:02d} +0000"
        path, code = paths[number * 5 % 6], codes[number * 3 % 7]
        lines.append(
            f'{ip} - - [{moment}] "GET {path} HTTP/1.1" {code} {number * 97 % 5000} "-" "{agents[number % 3]}"\n'
        )
    return "".join(lines)


def _syslog() -> str:
    rows = (
        "systemd[1]: Started nginx.service - A high performance web server.",
        "sshd[812]: Failed password for invalid user admin from 203.0.113.9 port 51234 ssh2",
        "sshd[812]: Failed password for root from 198.51.100.23 port 40022 ssh2",
        "CRON[1201]: (root) CMD (/usr/local/bin/backup.sh)",
        "kernel: [12345.678901] Out of memory: Killed process 4321 (java)",
        "app[990]: ERROR connection to db-primary:5432 refused",
        "app[990]: WARN retrying in 5s",
        "sshd[815]: Accepted publickey for deploy from 10.0.0.5 port 50111 ssh2: ED25519 SHA256:abc",
    )
    return "".join(f"Mar 12 10:{number:02d}:{number * 7 % 60:02d} web-01 {rows[number % 8]}\n" for number in range(40))


FILES: dict[str, str | bytes] = {
    "access.log": _access_log(),
    "syslog": _syslog(),
    "etc/app.conf": "# application\nport = 8080\nhost=127.0.0.1\n\n[db]\nhost = db-primary\nport=5432\n"
    "password = s3cr3t\n",
    "etc/nginx.conf": "user www-data;\nworker_processes auto;\nhttp {\n    server {\n        listen 80;\n"
    "        location / {\n            proxy_pass http://127.0.0.1:8080;\n        }\n    }\n}\n",
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
    "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\ndeploy:x:1000:1000:Deploy,,,:/home/deploy:/bin/bash\n"
    "alice:x:1001:1001::/home/alice:/bin/zsh\n",
    "etc/hosts": "127.0.0.1\tlocalhost\n10.0.0.10 db-primary db\n10.0.0.11  db-replica\n# cache\n10.0.0.12 cache-01\n",
    "data/users.csv": "id,name,role,age\n1,Ann,admin,34\n2,Bob,user,27\n3,Cy,user,45\n4,Dee,ops,27\n5,Eve,admin,51\n",
    "data/numbers.txt": "10\n9\n2\n33\n1\n2\n100\n-5\n3.5\n",
    "data/sizes.txt": "1K file-a\n512 file-b\n2M file-c\n1.5G file-d\n800K file-e\n",
    "data/versions.txt": "1.10.0\n1.2.3\n1.9\n2.0\n1.2.10\nv1.0\n",
    "data/words.txt": "banana\napple\ncherry\napple\nBanana\ndate\nbanana\napple\n",
    "data/spaces.txt": "  lead\ntrail  \n\n\ttab\tbed\n  two  words  here \n\n\nend\n",
    "data/utf8.txt": "h\u00e9llo w\u00f6rld\nna\u00efve caf\u00e9\n\u65e5\u672c\n",
    "data/empty.txt": "",
    "data/noeol.txt": "one\ntwo\nthree",
    "data/bin.dat": bytes(range(256)),
    "a.sorted": "ant\nbee\ncat\ndog\n",
    "b.sorted": "bee\ncow\ndog\nelk\n",
    "scripts/hello.sh": '#!/bin/bash\necho "hello $1 from $0"\nexit 3\n',
    "scripts/lib.sh": 'greet() { echo "hi $1"; }\nVALUE=42\n',
    "scripts/plain": "echo plain $#\n",
    "logs/app.log": "INFO start\nERROR disk full\nINFO ok\nWARN slow\nERROR timeout after 30s\n",
    "logs/app.log.1": "INFO old\nERROR old failure\n",
    "logs/old.gz.txt": "not really\n",
    "dir with space/file one.txt": "x\n",
    "tree/a/b/c/deep.txt": "deep\n",
    "tree/a/one.txt": "1\n",
    "tree/two.md": "two\n",
    "tree/.hidden": "h\n",
}
LINKS = {"link.conf": "etc/app.conf", "broken": "nowhere", "tree/up": "../etc"}
MODES = {"scripts/hello.sh": 0o755, "etc/app.conf": 0o640, "tree/two.md": 0o600}
AGES = {"logs/app.log.1": 10, "logs/old.gz.txt": 40, "tree/a/one.txt": 3, "tree/two.md": 400}


def _steps() -> Iterator[tuple[str, str | bytes]]:
    yield from FILES.items()


def build_real(folder: Path, now: float) -> None:
    """Make the tree on the real disk, from nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in _steps():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for name, target in LINKS.items():
        (folder / name).symlink_to(target)
    for path in sorted(folder.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else MODES.get(str(path.relative_to(folder)), 0o644))
            moment = int(now) - AGES.get(str(path.relative_to(folder)), 1) * _DAY
            os.utime(path, (moment, moment))


def base_machine(now: float) -> Machine:
    """A bare server with every command installed."""
    spec = SystemSpec(name="bare", hostname="web-01", start_time=now, uptime=5000.0, files=(), settings={})
    machine = Machine(spec, 1, {}, run_job=run_job)
    machine.files.mount(Mount(1, "/", "/dev/vda1", "ext4", 1 << 30, 100_000, 0), None)
    view = machine.view()
    for folder in ("/usr", "/usr/bin", "/usr/sbin", "/etc", "/tmp", "/root", "/dev", "/var"):
        view.mkdir(folder)
    view.chmod("/tmp", 0o1777)
    view.symlink("usr/bin", "/bin")
    view.symlink("usr/sbin", "/sbin")
    for command in COMMANDS.values():
        if shutil.which(command.name) is not None or command.name in ("bash", "dash"):
            view.write(command.path, Content(12, (b"\x7fELF\0binary",), command.name))
            view.chmod(command.path, 0o755)
    view.symlink("dash", "/usr/bin/sh")
    for name, minor in (("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9)):
        machine.files.create(view.stat("/dev"), name, stat.S_IFCHR | 0o666, 0, 0, device=(1, minor))
    view.write(
        "/etc/passwd", b"root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/:/bin/sh\nwww-data:x:33:33::/:/bin/sh\n"
    )
    view.write("/etc/group", b"root:x:0:\ndaemon:x:1:\nadm:x:4:\nwww-data:x:33:\n")
    return machine


def build_sim(machine: Machine, folder: str, now: float) -> None:
    """The same tree in the simulated server."""
    view = machine.view()

    def make(path: str) -> None:
        parts = path.split("/")
        for count in range(2, len(parts) + 1):
            here = "/".join(parts[:count])
            if not view.exists(here):
                view.mkdir(here)

    make(folder)
    for name, content in _steps():
        path = f"{folder}/{name}"
        make(path.rsplit("/", 1)[0])
        view.write(path, content if isinstance(content, bytes) else content.encode())
        view.chmod(path, MODES.get(name, 0o644))
    for name, target in LINKS.items():
        view.symlink(target, f"{folder}/{name}")
    top = view.stat(folder)

    def age(inode: Inode, relative: str) -> None:
        current = machine.files.inodes[inode.number]
        if not current.is_link:
            moment = float(int(now) - AGES.get(relative, 1) * _DAY)
            machine.files.put(current._replace(mtime=moment))
        for name in inode.entries or {}:
            age(view.stat(f"{folder}/{relative}/{name}" if relative else f"{folder}/{name}", follow=False),
                f"{relative}/{name}" if relative else name)  # fmt: skip

    age(top, "")


def kind(errors: bytes) -> str:
    """What standard error says, without bash's prefixes, line numbers and the tools' hints."""
    kept = []
    for line in errors.decode("utf-8", "replace").splitlines():
        line = re.sub(r"^(bash|[\w./-]+\.sh|environment): ", "", line)
        line = re.sub(r"^(-c: )?line \d+: ", "", line)
        kept.append(line)
    return "\n".join(kept)


class Pair:
    """Both sides, prepared once; every case starts from the same tree again. `shell`: bash, or dash as sh."""

    def __init__(self, folder: Path, shell: str = "bash") -> None:
        self.folder = folder
        self.shell = "sh" if shell == "dash" else shell
        self.dialect = shell
        self.environment = _with_mawk(folder.with_name(f"{folder.name}-bin"))
        self.now = float(int(time.time()))
        self.machine = base_machine(self.now)
        build_sim(self.machine, str(folder), self.now)

    def simulated(self, script: str) -> Outcome:
        machine = self.machine.fork()
        session = Session(
            variables=dict(ENVIRONMENT), cwd=str(self.folder), mode="command", name=self.shell,
            pid=machine.processes.allocate(), started=machine.clock.now, seed=1, dialect=self.dialect,
        )  # fmt: skip
        result = run_line(machine, session, script, Limits(output_bytes=1 << 20, seconds=60.0))
        return Outcome(result.stdout, 124 if result.timed_out else result.exit_code, self.errors(result.stderr))

    def real(self, script: str) -> Outcome:
        build_real(self.folder, self.now)
        done = subprocess.run(
            [self.shell, "-c", script], cwd=self.folder, capture_output=True, timeout=30, stdin=subprocess.DEVNULL,
            env=self.environment, check=False,
        )  # fmt: skip
        return Outcome(
            done.stdout, done.returncode if done.returncode >= 0 else 128 - done.returncode, self.errors(done.stderr)
        )

    def errors(self, said: bytes) -> str:
        """What is compared of standard error: of dash, which numbers lines in all that it says, every byte."""
        return kind(said) if self.dialect == "bash" else said.decode("utf-8", "replace")


def _with_mawk(folder: Path) -> dict[str, str]:
    """Debian's awk is mawk: where another one has been installed since, the real side still uses that."""
    mawk, awk = shutil.which("mawk"), shutil.which("awk")
    if mawk is None or awk is None or os.path.realpath(awk) == os.path.realpath(mawk):
        return ENVIRONMENT
    folder.mkdir(exist_ok=True)
    link = folder / "awk"
    if not link.is_symlink():
        link.symlink_to(mawk)
    return {**ENVIRONMENT, "PATH": f"{folder}:{ENVIRONMENT['PATH']}"}
