"""sshd as a command: check its configuration, show it, or start it by hand."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.lifecycle import Failure, spawn
from runners.sim.programs.sshd import check
from runners.sim.programs.sshd_config import load

PATH = "/usr/sbin/sshd"
_DEFAULTS = {
    "port": ("22",), "addressfamily": ("any",), "listenaddress": ("::", "0.0.0.0"),  # noqa: S104
    "usepam": ("no",), "logingracetime": ("120",), "x11displayoffset": ("10",), "maxauthtries": ("6",),
    "maxsessions": ("10",), "clientaliveinterval": ("0",), "clientalivecountmax": ("3",),
    "permitrootlogin": ("without-password",), "ignorerhosts": ("yes",), "ignoreuserknownhosts": ("no",),
    "hostbasedauthentication": ("no",), "pubkeyauthentication": ("yes",), "kerberosauthentication": ("no",),
    "gssapiauthentication": ("no",), "passwordauthentication": ("yes",), "kbdinteractiveauthentication": ("yes",),
    "printmotd": ("yes",), "printlastlog": ("yes",), "x11forwarding": ("no",), "x11uselocalhost": ("yes",),
    "permittty": ("yes",), "permituserrc": ("yes",), "strictmodes": ("yes",), "tcpkeepalive": ("yes",),
    "permitemptypasswords": ("no",), "compression": ("yes",), "gatewayports": ("no",), "usedns": ("no",),
    "allowtcpforwarding": ("yes",), "allowagentforwarding": ("yes",), "disableforwarding": ("no",),
    "allowstreamlocalforwarding": ("yes",), "streamlocalbindunlink": ("no",), "fingerprinthash": ("SHA256",),
    "exposeauthinfo": ("no",), "pidfile": ("/run/sshd.pid",), "versionaddendum": ("none",), "loglevel": ("INFO",),
    "syslogfacility": ("AUTH",), "authorizedkeysfile": (".ssh/authorized_keys .ssh/authorized_keys2",),
    "hostkey": ("/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key"),
    "maxstartups": ("10:30:100",), "permittunnel": ("no",), "permituserenvironment": ("no",),
}  # fmt: skip


def main(ctx: Context) -> int:
    letters = "".join(word[1:] for word in ctx.args if word.startswith("-") and not word.startswith("--"))
    if "V" in letters:
        ctx.stderr.write(b"OpenSSH_9.2p1 Debian-2+deb12u2, OpenSSL 3.0.11 19 Sep 2023\n")
        return 0
    if ctx.args and ctx.args[0].startswith("--"):
        ctx.stderr.write(
            b"unknown option -- -\nOpenSSH_9.2p1 Debian-2+deb12u2, OpenSSL 3.0.11 19 Sep 2023\nusage: "
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
    """Every setting that has a value, as `sshd -T` dumps them: lower case, defaults included."""
    config = load(ctx.machine.view()).settings
    port = config.get("port", ("22",))
    shown = {**_DEFAULTS, **config, "port": port}
    for name, values in shown.items():
        for value in values:
            ctx.line(f"{name} {_shown(name, value, port[0])}")


def _shown(name: str, value: str, port: str) -> str:
    if name == "permitrootlogin" and value == "prohibit-password":
        return "without-password"
    if name == "listenaddress" and ":" not in value:
        return f"{value}:{port}"
    if name == "listenaddress" and not value.startswith("["):
        return f"[{value}]:{port}"
    return value
