"""A bare machine for tests of tasks: one file system with the account files, no services."""

from __future__ import annotations

from runners.sim.files.content import Content
from runners.sim.files.tree import Mount
from runners.sim.machine import JobRunner, Machine, no_shell
from runners.system import SystemSpec

PASSWD = (
    "root:x:0:0:root:/root:/bin/bash\n"
    "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
    "app:x:1000:1000:App:/home/app:/bin/bash\n"
)
GROUP = "root:x:0:\ndaemon:x:1:\nadm:x:4:\ncrontab:x:101:\napp:x:1000:\n"
SHADOW = "root:*:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\napp:!:19000:0:99999:7:::\n"


def bare_machine(run_job: JobRunner = no_shell) -> Machine:
    spec = SystemSpec(name="bare", hostname="bare", start_time=1_700_000_000.0, uptime=86400.0, files=(), settings={})
    machine = Machine(spec, 0, {}, run_job=run_job)
    machine.files.mount(Mount(1, "/", "/dev/vda1", "ext4", 1 << 30, 65536, 0), None)
    view = machine.view()
    for folder in ("/etc", "/etc/cron.d", "/root", "/home", "/tmp", "/var", "/var/spool", "/var/spool/cron",
                   "/var/spool/cron/crontabs", "/scratch"):  # fmt: skip
        view.mkdir(folder)
    for name, text in (("passwd", PASSWD), ("group", GROUP), ("shadow", SHADOW)):
        view.write(f"/etc/{name}", text.encode())
    for folder in ("/usr", "/usr/bin", "/bin"):
        view.mkdir(folder)
    for path in ("/bin/sh", "/usr/bin/true"):
        view.write(path, Content.of(b"\x7fELF")._replace(program=path.rpartition("/")[2]))
        view.chmod(path, 0o755)
    return machine
