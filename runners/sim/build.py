"""From a system's description to a running, healthy machine."""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Mapping

from runners.sim import traffic
from runners.sim.commands import COMMANDS
from runners.sim.events import HANDLERS
from runners.sim.facts import remember
from runners.sim.files.content import Content
from runners.sim.files.inode import ROOT, Inode
from runners.sim.files.tree import Mount
from runners.sim.generated import write_data, write_history
from runners.sim.installed import install, start_journal
from runners.sim.kernelfs.mount import KINDS, KernelFiles
from runners.sim.lifecycle import Failure, spawn
from runners.sim.machine import Event, JobRunner, Machine, mix, no_shell
from runners.sim.memory import installed
from runners.sim.network.described import describe
from runners.sim.processes import Process
from runners.sim.programs.table import PROGRAMS
from runners.sim.retelling import date_records
from runners.sim.service_logs import write_logs
from runners.sim.systemd import manager
from runners.sim.systemd.journal import KMSG, kernel, log
from runners.sim.systemd.units import reread
from runners.sim.users import accounts
from runners.system import SystemSpec, integer, size, text, texts
from scenario_dsl.model import SystemFile

_FOLDERS = (  # noqa: SIM905 (a table, read better so)
    "/bin /boot /dev /etc /home /lib /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /var /usr/bin "
    "/usr/sbin /usr/lib /usr/local /usr/local/bin /usr/local/sbin /usr/share /var/backups /var/cache /var/lib "
    "/var/log /var/mail /var/spool /var/tmp /run/lock /run/systemd /run/systemd/system /etc/systemd/system "
    "/usr/lib/systemd/system "
).split()
DAY = 86400
_DEVICES = {
    "null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "kmsg": KMSG, "tty": (5, 0),
}  # fmt: skip
_THREADS = (  # noqa: SIM905
    "kthreadd rcu_gp rcu_par_gp slub_flushwq netns mm_percpu_wq rcu_tasks_kthread ksoftirqd/0 rcu_preempt "
    "migration/0 cpuhp/0 cpuhp/1 migration/1 ksoftirqd/1 kdevtmpfs kauditd khungtaskd oom_reaper kcompactd0 "
    "khugepaged kswapd0 kworker/u4:2-events_unbound jbd2/vda1-8 ext4-rsv-conver "
).split()
_BANNER = (
    "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU "
    "Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)"
)


def boot(spec: SystemSpec, *, run_job: JobRunner = no_shell) -> Machine:
    """The healthy machine at its opening time: every world of the system is a fork of it.

    `run_job` is the shell that cron and units run scripts by. Raises nothing of its own: what a description gets wrong
    (an unknown owner, a unit that will not start) shows as it would on a server.
    """
    machine = Machine(spec, 0, HANDLERS, programs=PROGRAMS, run_job=run_job)
    machine.clock.now = machine.clock.boot
    _mount(machine)
    _accounts(machine)
    for file in sorted(spec.files, key=lambda one: one.type == "link"):
        _place(machine, file)
    _binaries(machine)
    install(machine)
    start_journal(machine)
    describe(machine)
    write_data(machine)
    _fill_mounts(machine)
    _start(machine)
    write_history(machine)
    settled = machine.events
    counters = write_logs(machine)
    machine.clock.now = spec.start_time
    _resume(machine, settled)
    _age_directories(machine)
    _last_checkpoint(machine)
    date_records(machine)
    traffic.count_past(machine)
    traffic.plan(machine)
    machine.counters = counters
    machine.base = remember(machine)
    return machine


def reseed(machine: Machine, seed: int) -> Machine:
    """Make the machine one of its own: all its chances follow from `seed` from now on."""
    machine.seed = seed
    return machine


def open_world(base: Machine, seed: int) -> Machine:
    """A fresh machine, a fork of the healthy one."""
    return reseed(base.fork(), seed)


def _resume(machine: Machine, planned: tuple[Event, ...]) -> None:
    """What daemons planned at the boot comes up after the opening instead, spread as it was."""
    machine.events = ()
    for event in planned:
        if event.kind == "timer":
            HANDLERS["timer-armed"](machine, event.argument)
        elif event.kind == "program" and isinstance(event.argument, tuple) and event.argument[1] == "minute":
            machine.schedule(61.0 - machine.clock.now % 60.0, event.kind, event.argument)
        else:
            machine.schedule(1.0 + (event.due - machine.clock.boot) % 29.0, event.kind, event.argument)


# -- files


def _mount(machine: Machine) -> None:
    tree = machine.files
    entries = list(machine.spec.entries("mounts")) or [{"path": "/", "device": "/dev/vda1", "size": "20GB"}]
    entries.sort(key=lambda entry: (text(entry, "path").count("/"), text(entry, "path") != "/"))
    view = machine.view()
    for number, entry in enumerate(entries, start=1):
        path = text(entry, "path", "/")
        over: Inode | None = None
        if path != "/":
            _make_folder(machine, path)
            over = view.stat(path)
        kind = text(entry, "fstype", "ext4")
        total = size(entry.get("size", 0))
        mount = Mount(
            number, path, text(entry, "device", kind), kind, total, integer(entry, "inodes", total // 16384), 0,
            texts(entry.get("options")) or ("rw", "relatime"),
        )  # fmt: skip
        top = tree.mount(mount, over)
        if kind in KINDS:
            tree.synthetic = {**tree.synthetic, number: KernelFiles(machine, number, kind)}
        if path in ("/tmp", "/dev/shm"):  # noqa: S108
            tree.put(top._replace(mode=stat.S_IFDIR | 0o1777))
        if kind == "ext4":
            tree.create(top, "lost+found", stat.S_IFDIR | 0o700, 0, 0)
        if path == "/":
            for folder in _FOLDERS:
                if folder in ("/bin", "/sbin", "/lib"):
                    view.symlink(f"usr{folder}", folder)
                elif not view.exists(folder):
                    _make_folder(machine, folder)
            view.symlink("../run", "/var/run")
            view.symlink("../run/lock", "/var/lock")
    for folder in _FOLDERS:
        if not view.exists(folder):
            _make_folder(machine, folder)
    view.chmod("/tmp", 0o1777)  # noqa: S108
    view.chmod("/var/tmp", 0o1777)  # noqa: S108
    view.chmod("/root", 0o700)
    for name, device in _DEVICES.items():
        parent = view.stat("/dev")
        if name not in (parent.entries or {}):
            tree.create(parent, name, stat.S_IFCHR | (0o644 if device == KMSG else 0o666), 0, 0, device=device)
    for name, target in (
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ):
        if name not in (view.stat("/dev").entries or {}):
            view.symlink(target, f"/dev/{name}")


def _make_folder(machine: Machine, path: str) -> None:
    view = machine.view()
    made = ""
    for part in path.strip("/").split("/"):
        made = f"{made}/{part}"
        if not view.exists(made):
            view.mkdir(made, 0o755)


def _accounts(machine: Machine) -> None:
    """passwd, group and shadow from the users and groups of the description, unless it has those files itself."""
    given = {file.path for file in machine.spec.files}
    users = list(machine.spec.entries("users"))
    groups: dict[str, tuple[int, list[str]]] = {
        text(entry, "name"): (integer(entry, "gid"), []) for entry in machine.spec.entries("groups")
    }
    passwd, shadow = [], []
    days = int(machine.clock.boot // DAY) - 120
    for entry in users:
        name, uid = text(entry, "name"), integer(entry, "uid")
        gid = integer(entry, "gid", uid)
        if not any(number == gid for number, _ in groups.values()):
            groups[name] = (gid, [])
        for other in texts(entry.get("groups")):
            groups.setdefault(other, (900 + len(groups), []))[1].append(name)
        comment, home, shell = (
            text(entry, "comment"),
            text(entry, "home", "/nonexistent"),
            text(entry, "shell", "/usr/sbin/nologin"),
        )
        passwd.append(f"{name}:x:{uid}:{gid}:{comment}:{home}:{shell}\n")
        shadow.append(f"{name}:{text(entry, 'password', '*')}:{days}:0:99999:7:::\n")
    group = [f"{name}:x:{gid}:{','.join(members)}\n" for name, (gid, members) in groups.items()]
    gshadow = [
        f"{name}:{'!' if gid >= 1000 else '*'}::{','.join(members)}\n" for name, (gid, members) in groups.items()
    ]
    view = machine.view()
    for path, lines, mode in (
        ("/etc/passwd", passwd, 0o644),
        ("/etc/group", group, 0o644),
        ("/etc/shadow", shadow, 0o640),
        ("/etc/gshadow", gshadow, 0o640),
    ):
        if path not in given:
            view.write(path, "".join(lines).encode("utf-8", "surrogateescape"))
            view.chmod(path, mode)
    shadow_group = accounts(machine).group("shadow")
    for path in ("/etc/shadow", "/etc/gshadow"):
        if shadow_group is not None and path not in given:
            view.chown(path, 0, shadow_group.gid)
    for entry in users:
        home = text(entry, "home")
        if home.startswith("/home/") and not view.exists(home):
            _make_folder(machine, home)
            view.chown(home, integer(entry, "uid"), integer(entry, "gid", integer(entry, "uid")))
            view.chmod(home, 0o750)


def _place(machine: Machine, file: SystemFile) -> None:
    view = machine.view(ROOT)
    parent = posixpath.dirname(file.path)
    if not view.exists(parent):
        _make_folder(machine, parent)
    if file.type == "link":
        if view.find(file.path, follow=False).inode is None:
            view.symlink(file.target or "", file.path)
        return
    if file.type == "directory":
        if not view.exists(file.path):
            _make_folder(machine, file.path)
        default = 0o755
    else:
        data = (file.content or "").encode("utf-8", "surrogateescape")
        content = Content.of(data)
        if file.size is not None and file.size > len(data):
            content = Content.filled(data or b"\0", file.size)
        view.write(file.path, content)
        default = 0o644
    names = accounts(machine)
    owner, group = names.user(file.owner), names.group(file.group)
    view.chown(file.path, owner.uid if owner else 0, group.gid if group else 0)
    view.chmod(file.path, int(file.mode, 8) if file.mode else default)
    age = file.age or 40 * DAY + mix(file.path) % (30 * DAY)
    at = machine.spec.start_time - age
    inode = view.stat(file.path)
    machine.files.put(inode._replace(mtime=at, ctime=at))


_SH = "/usr/bin/sh"


def _binaries(machine: Machine) -> None:
    """Put every command's binary in its place, save those the machine lacks, and the daemons' that it names."""
    absent = frozenset(texts(machine.spec.settings.get("absent")))
    paths = {command.path: name for name, command in COMMANDS.items() if name not in absent}
    for path, program in machine.spec.section("programs").items():
        paths[path] = str(program)
    view = machine.view()
    given = {file.path for file in machine.spec.files}
    for path, program in paths.items():
        if path in given:
            # A script of the system's own: it reads as it does, and runs as the program that it is.
            inode = view.stat(path)
            machine.files.put(inode._replace(content=inode.content._replace(program=program)))
            continue
        folder = posixpath.dirname(path)
        if not view.exists(folder):
            _make_folder(machine, folder)
        length = 35000 + sum(map(ord, path)) * 37 % 160000
        body = (
            b"\x7fELF\x02\x01\x01"
            + b"\0" * 9
            + b"\x03\0>\0\x01\0\0\0"
            + path.encode("utf-8", "surrogateescape")
            + b"\0GCC: (Debian 12.2.0-14) 12.2.0\0"
        )
        content = Content.of(body).concat(Content.filled(b"\0", length - len(body)))._replace(program=program)
        view.write(path, content)
        view.chmod(path, 0o4755 if program in ("sudo", "su", "passwd", "mount", "umount", "newgrp", "chsh") else 0o755)
        _installed_at(machine, path)
    if not view.exists(_SH):
        view.symlink("dash", _SH)
        _installed_at(machine, _SH)


def _installed_at(machine: Machine, path: str) -> None:
    inode = machine.view().stat(path, follow=False)
    at = machine.spec.start_time - 160 * DAY - mix(path) % (2 * DAY)
    machine.files.put(inode._replace(mtime=at, ctime=at))


def _last_checkpoint(machine: Machine) -> None:
    """PostgreSQL has written its control file minutes ago, not at the boot."""
    for entry in machine.files.inodes.values():
        if entry.entries and "pg_control" in entry.entries:
            control = machine.files.inodes[entry.entries["pg_control"]]
            machine.files.put(control._replace(mtime=machine.clock.now - 187, ctime=machine.clock.now - 187))


def _fill_mounts(machine: Machine) -> None:
    """Make df show what the description says is used: the rest of an operating system that the tree does not hold."""
    for entry in machine.spec.entries("mounts"):
        path = text(entry, "path", "/")
        mount = next(one for one in machine.files.mounts if one.path == path)
        usage = machine.files.usage[mount.dev]
        machine.files.update_mount(
            path,
            reserved=max(size(entry.get("used", 0)) - usage.bytes, 0),
            inodes_reserved=max(integer(entry, "inodes_used") - usage.inodes, 0),
        )


def _age_directories(machine: Machine) -> None:
    """No directory was made at boot: give each the time of its newest file."""
    tree = machine.files
    old = machine.spec.start_time - 160 * DAY
    for number in sorted(tree.inodes):
        inode = tree.inodes[number]
        if inode.entries is None or inode.mtime > machine.clock.boot + 30:
            continue
        inside = [tree.inodes[child] for child in inode.entries.values() if child in tree.inodes]
        newest = max((child.mtime for child in inside if child.entries is None), default=old)
        tree.put(inode._replace(mtime=min(max(newest, old), machine.clock.boot), ctime=machine.clock.boot))


# -- the boot


def _start(machine: Machine) -> None:
    machine.processes.put(
        Process(1, 0, ROOT, ("/sbin/init",), "/usr/lib/systemd/systemd", "systemd", "/", machine.clock.now, cpu=9.3,
                rss=12 << 20, vsz=164 << 20, unit="init.scope")
    )  # fmt: skip
    machine.processes.next_pid = 2
    for name in _THREADS:
        machine.processes.put(
            Process(machine.processes.allocate(), 0 if name == "kthreadd" else 2, ROOT, (f"[{name}]",), "", "", "/",
                    machine.clock.now, rss=0, vsz=0, state="S" if name == "kthreadd" or "/" in name else "I")
        )  # fmt: skip
    kernel(machine, _BANNER, priority=5)
    kernel(machine, f"Command line: BOOT_IMAGE=/boot/vmlinuz-6.1.0-18-amd64 root={_root(machine)} ro quiet")
    total = size(machine.spec.section("memory").get("total", 8 << 30)) >> 10
    taken = total - (installed(machine) >> 10)
    kernel(
        machine,
        f"Memory: {total - taken - 516}K/{total - 516}K available (14342K kernel code, 2332K rwdata, 9060K rodata, "
        f"2796K init, 17404K bss, {taken}K reserved, 0K cma-reserved)",
    )
    machine.moment(1.2)
    kernel(
        machine,
        f"EXT4-fs ({_root(machine).rsplit('/', 1)[-1]}): mounted filesystem with ordered data mode. Quota mode: none.",
    )
    machine.moment(0.9)
    log(machine, "systemd", "systemd 252.22-1~deb12u1 running in system mode", pid=1)
    log(machine, "systemd", f"Hostname set to <{machine.spec.hostname}>.", pid=1)
    machine.processes.next_pid = 241
    for entry in machine.spec.entries("processes"):
        _background(machine, entry)
    units = machine.spec.section("units")
    view = machine.view()
    for name in texts(units.get("enabled")):
        full = manager.full_name(name)
        if view.exists(f"/lib/systemd/system/{full}") or view.exists(f"/etc/systemd/system/{full}"):
            try:
                manager.enable(machine, name, reload=False)
            except manager.UnitError as refusal:
                log(machine, "systemd", f"{full}: {refusal.text}", pid=1, priority=3)
    for name in texts(units.get("running")):
        machine.processes.next_pid += 7
        try:
            manager.start(machine, name)
        except manager.UnitError as refusal:
            log(machine, "systemd", f"Failed to start {refusal.unit}: {refusal.text}", pid=1, priority=3)
    log(machine, "systemd", "Startup finished in 2.184s (kernel) + 6.518s (userspace) = 8.702s.", pid=1)
    reread(machine)


def _root(machine: Machine) -> str:
    return next((mount.source for mount in machine.files.mounts if mount.path == "/"), "/dev/vda1")


def _background(machine: Machine, entry: Mapping[str, object]) -> None:
    argv = texts(entry.get("argv"))  # type: ignore[arg-type]
    user = accounts(machine).user(str(entry.get("user", "root")))
    cred = accounts(machine).cred(user.name) if user is not None else ROOT
    spawned = spawn(machine, argv, cred=cred)
    if isinstance(spawned, Failure):
        machine.processes.put(
            Process(machine.processes.allocate(), 1, cred, argv, argv[0], "", "/", machine.clock.now,
                    rss=size(entry.get("rss", 4 << 20)))  # type: ignore[arg-type]
        )  # fmt: skip
