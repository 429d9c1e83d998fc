"""The described system as a real one: its files and accounts in a container, so that both sides read the same text."""

from __future__ import annotations

import io
import re
import shlex
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

SYSTEM = Path(__file__).resolve().parents[3] / "packs/common/systems/web-server"
LEFT_OUT = (
    # What the container has of its own, or would wait for disks and devices that it has not.
    "etc/fstab", "etc/modules", "etc/machine-id", "etc/network/", "etc/apt/", "etc/ssh/ssh_host_", "etc/mtab",
    "etc/shells", "etc/systemd/timesyncd.conf", "etc/debian_version", "etc/os-release", "etc/services",
    "etc/protocols", "etc/localtime", "etc/cron.daily/", "etc/iptables/", "boot/", "swapfile", "usr/share/",
    "usr/lib/", "var/spool/", "etc/sysctl", "var/log/wtmp", "var/log/btmp", "var/log/lastlog",
    "etc/systemd/system/getty", "var/lib/postgresql", "etc/adduser.conf", "etc/login.defs",
)  # fmt: skip
UNITS = ("nginx", "postgresql", "redis-server", "cron", "ssh", "rsyslog")
"""Unit files of the distribution that are taken from the described system; the rest stay the container's."""


def described() -> Mapping[str, object]:
    return yaml.safe_load((SYSTEM / "system.yml").read_text())


def wanted(path: str) -> bool:
    if path.startswith("lib/systemd/system/"):
        return Path(path).name in {f"{unit}.service" for unit in UNITS}
    return not path.startswith(LEFT_OUT)


def tree() -> bytes:
    """The system's file tree as a tar, owned by root; modes as the described system has by default."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path in sorted((SYSTEM / "files").rglob("*")):
            name = str(path.relative_to(SYSTEM / "files"))
            if path.is_file() and wanted(name):
                entry = tarfile.TarInfo(f"usr/{name}" if name.startswith("lib/") else name)
                entry.size, entry.mode = path.stat().st_size, 0o644
                tar.addfile(entry, io.BytesIO(path.read_bytes()))
    return buffer.getvalue()


def accounts(system: Mapping[str, object]) -> Iterator[str]:
    for name in ("shop", "anna", "deploy"):
        user = next(one for one in system["users"] if one["name"] == name)
        # Numbers that a package of the container took are left to it.
        yield f"groupadd -g {user['gid']} {name} 2> /dev/null || groupadd -r {name}"
        options = f"-g {name} -d {user['home']} -s {user['shell']} -c {shlex.quote(user['comment'])}"
        made = f"{options} -M {name} 2> /dev/null"
        yield f"useradd -u {user['uid']} {made} || useradd -r {made}"
        for group in user.get("groups", ()):
            yield f"usermod -aG {group} {name}"
        yield f"usermod -p {shlex.quote(user['password'])} {name}"
        if user["home"].startswith("/home"):
            yield f"mkdir -p {user['home']} && chown {name}:{name} {user['home']}"


def attributes(system: Mapping[str, object]) -> Iterator[str]:
    for entry in system["files"]:
        path = entry["path"]
        if not wanted(path.lstrip("/")):
            continue
        quoted = shlex.quote(path)
        if entry.get("type") == "link":
            yield f"mkdir -p {Path(path).parent} && ln -sfn {shlex.quote(entry['target'])} {quoted}"
            continue
        if entry.get("type") == "directory":
            yield f"mkdir -p {quoted}"
        elif "content" in entry:
            yield f"mkdir -p {Path(path).parent} && printf %s {shlex.quote(entry['content'])} > {quoted}"
        owner = f"{entry.get('owner', 'root')}:{entry.get('group', 'root')}"
        yield f"test ! -e {quoted} || chown {owner} {quoted}"
        if "mode" in entry:
            yield f"test ! -e {quoted} || chmod {entry['mode']} {quoted}"


def crontabs() -> Iterator[str]:
    for path in sorted((SYSTEM / "files/var/spool/cron/crontabs").glob("*")):
        # crontab writes the three lines of its header itself.
        lines = [line for line in path.read_text().splitlines() if not re.match(r"# (?:DO NOT EDIT|\()", line)]
        text = "\n".join(lines)
        yield f"crontab -u {path.name} - <<'CRONTAB'\n{text}\nCRONTAB"


def database(system: Mapping[str, object]) -> Iterator[str]:
    settings = system["databases"]["postgres"]
    for role in settings["roles"]:
        yield f"CREATE ROLE {role['name']} LOGIN PASSWORD '{role['password']}';"
    for name, base in settings["databases"].items():
        yield f"CREATE DATABASE {name} OWNER {base['owner']};"
        yield f"\\c {name}"
        for table, content in base["tables"].items():
            yield f"CREATE TABLE {table} ({', '.join(content['columns'])});"
            for row in content["rows"]:
                values = ", ".join("'" + str(value).replace("'", "''") + "'" for value in row)
                yield f"INSERT INTO {table} VALUES ({values});"
            yield f"ALTER TABLE {table} OWNER TO {base['owner']};"
        for role in settings["roles"]:
            yield f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role['name']};"


def script() -> str:
    """What makes accounts, ownership, crontabs, firewall and the files of SQL that provision.sh goes on with."""
    system = described()
    rules = "\n".join(system["firewall"])
    lines = [*accounts(system), *attributes(system), *crontabs()]
    lines.append(f"cat > /root/rules <<'RULES'\n{rules}\nRULES")
    lines.append("cat > /root/tables.sql <<'SQL'\n" + "\n".join(line for line in database(system) if line) + "\nSQL")
    return "\n".join(lines) + "\n"
