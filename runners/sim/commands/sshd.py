"""sshd as a command: check its configuration, show it, or start it by hand."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.lifecycle import Failure, spawn
from runners.sim.programs.sshd import CONFIG, ConfigError, check, parse

PATH = "/usr/sbin/sshd"


def main(ctx: Context) -> int:
    letters = "".join(word[1:] for word in ctx.args if word.startswith("-") and not word.startswith("--"))
    if "V" in letters:
        ctx.stderr.write(b"OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.15 3 Sep 2024\n")
        return 0
    if ctx.args and ctx.args[0].startswith("--"):
        ctx.stderr.write(
            b"unknown option -- -\nOpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.15 3 Sep 2024\nusage: "
            b"sshd [-46DdeiqTtV] [-C connection_spec] [-c host_cert_file]\n            [-E log_file] "
            b"[-f config_file] [-g login_grace_time]\n            [-h host_key_file] [-o option] [-p port] [-u len]\n"
        )
        return 1
    if "t" in letters or "T" in letters:
        problems = check(ctx.machine)
        for line in problems:
            ctx.stderr.write((line + "\n").encode("utf-8", "surrogateescape"))
        if problems:
            return 255
        if "T" in letters:
            _show(ctx)
        return 0
    if "/" not in ctx.argv[0]:
        ctx.stderr.write(b"sshd re-exec requires execution with an absolute path\n")
        return 255
    said: list[str] = []
    started = spawn(ctx.machine, ctx.argv, cred=ctx.cred, cwd=ctx.files.cwd, stderr=said)
    for line in said:
        ctx.stderr.write((line + "\n").encode("utf-8", "surrogateescape"))
    return 1 if isinstance(started, Failure) or ctx.machine.processes.get(started.pid) is None else 0


def _show(ctx: Context) -> None:
    try:
        config = parse(ctx.machine.view().text(CONFIG))
    except (OSError, ConfigError):
        return
    defaults = {
        "port": ("22",),
        "addressfamily": ("any",),
        "permitrootlogin": ("without-password",),
        "pubkeyauthentication": ("yes",),
        "passwordauthentication": ("yes",),
        "maxauthtries": ("6",),
        "maxsessions": ("10",),
        "x11forwarding": ("no",),
    }
    for name, values in {**defaults, **config}.items():
        for value in values:
            ctx.line(f"{name} {value}")
