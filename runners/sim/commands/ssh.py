"""ssh, scp, sftp and ssh-keygen of OpenSSH 9.2."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from runners.sim.commands.context import Context
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.programs.sshd import offered
from runners.sim.ssh_keys import fingerprint
from runners.sim.users import accounts
from runners.text import is_digits

NAMES = ("ssh", "scp", "sftp", "ssh-keygen", "ssh-copy-id", "ssh-keyscan")

_VERSION = "OpenSSH_9.2p1 Debian-2+deb12u2, OpenSSL 3.0.11 19 Sep 2023"
_USAGE = (
    "usage: ssh [-46AaCfGgKkMNnqsTtVvXxYy] [-B bind_interface] [-b bind_address]\n"
    "           [-c cipher_spec] [-D [bind_address:]port] [-E log_file]\n"
    "           [-e escape_char] [-F configfile] [-I pkcs11] [-i identity_file]\n"
    "           [-J destination] [-L address] [-l login_name] [-m mac_spec] [-O ctl_cmd]\n"
    "           [-o option] [-p port] [-Q query_option] [-R address] [-S ctl_path]\n"
    "           [-W host:port] [-w local_tun[:remote_tun]] destination [command [argument ...]]\n"
)


class _Target(NamedTuple):
    user: str
    host: str
    port: int
    timeout: float
    strict: bool


def main(ctx: Context) -> int:
    if ctx.name == "ssh-keygen":
        return _keygen(ctx)
    if ctx.name == "ssh-keyscan":
        return _keyscan(ctx)
    if "-V" in ctx.args and ctx.name == "ssh":
        ctx.stderr.write((_VERSION + "\n").encode("utf-8", "surrogateescape"))
        return 0
    target = _target(ctx)
    if target is None:
        ctx.stderr.write(
            _USAGE.encode("utf-8", "surrogateescape")
            if ctx.name == "ssh"
            else f"usage: {ctx.name} [options] source ... target\n".encode("utf-8", "surrogateescape")
        )
        return 255 if ctx.name == "ssh" else 1
    status = _connect(ctx, target)
    if ctx.name in ("scp", "sftp") and status:
        ctx.stderr.write(
            f"{ctx.name}: Connection closed\n".encode("utf-8", "surrogateescape")
            if ctx.name == "scp"
            else b"Connection closed\n"
        )
    return status


def _target(ctx: Context) -> _Target | None:
    user = accounts(ctx.machine).user_name(ctx.cred.uid)
    port, timeout, strict = 22, 130.0, True
    words = list(ctx.args)
    while words:
        word = words.pop(0)
        if word in ("-p", "-P") and words:
            text = words.pop(0)
            port = int(text) if is_digits(text) else port
        elif word == "-l" and words:
            user = words.pop(0)
        elif word == "-o" and words:
            name, _, value = words.pop(0).partition("=")
            if name.lower() == "connecttimeout" and is_digits(value):
                timeout = float(value)
            elif name.lower() == "stricthostkeychecking":
                strict = value not in ("no", "accept-new", "off")
        elif (
            word in ("-i", "-F", "-J", "-L", "-R", "-D", "-c", "-m", "-b", "-E", "-S", "-W", "-e", "-O", "-Q", "-w")
            and words
        ):
            words.pop(0)
        elif word.startswith("-"):
            continue
        elif ctx.name == "scp":
            remote = [one for one in [word, *words] if ":" in one and not one.startswith(("/", "."))]
            if not remote:
                return None
            place = remote[0].split(":", 1)[0]
            name, at, host = place.rpartition("@")
            return _Target(name if at else user, host, port, timeout, strict)
        else:
            name, at, host = word.removeprefix("ssh://").rpartition("@")
            return _Target(name if at else user, host.split(":")[0], port, timeout, strict)
    return None


def _connect(ctx: Context, target: _Target) -> int:
    link = connect(ctx.machine, target.host, target.port, cred=ctx.cred, timeout=target.timeout)
    ctx.sleep(link.seconds)
    if isinstance(link, ConnectFailure):
        if link.kind == "no-such-host":
            ctx.stderr.write(
                f"ssh: Could not resolve hostname {target.host}: {link.message}\n".encode("utf-8", "surrogateescape")
            )
        else:
            ctx.stderr.write(
                f"ssh: connect to host {target.host} port {target.port}: {link.message}\n".encode(
                    "utf-8", "surrogateescape"
                )
            )
        return 255
    server = link.process.program if link.process is not None else link.remote.kind if link.remote is not None else ""
    if server not in ("sshd", "ssh"):
        ctx.stderr.write(
            f"kex_exchange_identification: Connection closed by remote host\nConnection closed by "
            f"{link.address} port {target.port}\n".encode("utf-8", "surrogateescape")
        )
        return 255
    home = ctx.environment.get("HOME", "/")
    known = ""
    try:
        known = ctx.files.text(f"{home}/.ssh/known_hosts")
    except OSError:
        known = ""
    if target.host not in known and link.address not in known:
        if target.strict:
            ctx.stderr.write(b"Host key verification failed.\n")
            return 255
        ctx.stderr.write(
            f"Warning: Permanently added '{target.host}' (ED25519) to the list of known hosts.\n".encode(
                "utf-8", "surrogateescape"
            )
        )
    ways: tuple[str, ...] = ("publickey",)
    if link.process is not None:
        ways = offered(ctx.machine, link.process, target.user, link.source)
    ctx.stderr.write(
        f"{target.user}@{target.host}: Permission denied ({','.join(ways)}).\n".encode("utf-8", "surrogateescape")
    )
    return 255


def _keyscan(ctx: Context) -> int:
    for word in ctx.args:
        if word.startswith("-"):
            continue
        link = connect(ctx.machine, word, 22, cred=ctx.cred, timeout=5.0)
        ctx.sleep(link.seconds)
        if isinstance(link, ConnectFailure):
            ctx.stderr.write(f"{word}: {link.message}\n".encode("utf-8", "surrogateescape"))
            continue
        ctx.stderr.write(f"# {word}:22 SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\n".encode("utf-8", "surrogateescape"))
        try:
            key = ctx.machine.view().text("/etc/ssh/ssh_host_ed25519_key.pub").split()
            ctx.line(f"{word} {key[0]} {key[1]}")
        except (OSError, IndexError):
            continue
    return 0


def _keygen(ctx: Context) -> int:
    values: dict[str, str] = {}
    words = list(ctx.args)
    while words:
        word = words.pop(0)
        if word in ("-t", "-f", "-N", "-C", "-b", "-R", "-F", "-E", "-P", "-m") and words:
            values[word] = words.pop(0)
        elif word.startswith("-"):
            # Letters may be joined; the last one may take the next word.
            for letter in word[1:]:
                takes = f"-{letter}" in ("-f", "-t", "-N", "-C") and letter == word[-1] and words
                values[f"-{letter}"] = words.pop(0) if takes else ""
    home = ctx.environment.get("HOME", "/")
    if "-A" in values:
        return _host_keys(ctx)
    if "-l" in values:
        return _fingerprint(ctx, values.get("-f", f"{home}/.ssh/id_ed25519.pub"))
    if "-y" in values:
        path = values.get("-f", f"{home}/.ssh/id_ed25519")
        try:
            ctx.out(ctx.files.text(f"{path}.pub"))
        except OSError as error:
            ctx.stderr.write(f"{path}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
            return 255
        return 0
    if "-R" in values or "-F" in values:
        return _known_hosts(ctx, f"{home}/.ssh/known_hosts", values)
    kind = values.get("-t", "rsa")
    path = values.get("-f", f"{home}/.ssh/id_{kind}")
    ctx.line(f"Generating public/private {kind} key pair.")
    if ctx.files.exists(path):
        ctx.line(f"{path} already exists.")
        ctx.out("Overwrite (y/n)? ")
        if not ctx.stdin.read(1).lower().startswith(b"y"):
            ctx.line()
            return 1
    comment = values.get("-C", f"{accounts(ctx.machine).user_name(ctx.cred.uid)}@{ctx.machine.spec.hostname}")
    private, public = _pair(ctx, path, comment)
    try:
        ctx.files.write(path, private, mode=0o600)
        ctx.files.write(f"{path}.pub", public.encode("utf-8", "surrogateescape"), mode=0o644)
    except OSError as error:
        ctx.line(f'Saving key "{path}" failed: {error.strerror}')
        return 1
    ctx.line(f"Your identification has been saved in {path}\nYour public key has been saved in {path}.pub")
    ctx.line("The key fingerprint is:")
    ctx.line(f"{fingerprint(public.split()[1])} {comment}")
    return 0


def _pair(ctx: Context, path: str, comment: str) -> tuple[bytes, str]:
    """A key that follows from the machine and the file's name, so that the same run makes the same one."""
    count = ctx.machine.count("ssh keys")
    seed = hashlib.sha256(f"{ctx.machine.seed}:{path}:{count}".encode()).digest()
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    # OpenSSH's own container holds random check bytes; PKCS#8 says the same and always alike.
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private, f"{public} {comment}\n"


def _host_keys(ctx: Context) -> int:
    made = ["ED25519"]
    for kind in made:
        path = f"/etc/ssh/ssh_host_{kind.lower()}_key"
        if ctx.files.exists(path):
            continue
        private, public = _pair(ctx, path, f"root@{ctx.machine.spec.hostname}")
        ctx.files.write(path, private, mode=0o600)
        ctx.files.write(f"{path}.pub", public.encode("utf-8", "surrogateescape"), mode=0o644)
        ctx.line(f"ssh-keygen: generating new host keys: {kind}")
    return 0


def _fingerprint(ctx: Context, path: str) -> int:
    try:
        text = ctx.files.text(path if path.endswith(".pub") or not ctx.files.exists(f"{path}.pub") else f"{path}.pub")
    except OSError as error:
        ctx.stderr.write(f"ssh-keygen: {path}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        return 255
    status = 255
    for line in text.splitlines():
        words = line.split()
        for index, word in enumerate(words):
            if word.startswith(("ssh-", "ecdsa-")) and index + 1 < len(words):
                try:
                    digest = fingerprint(words[index + 1])
                except ValueError:
                    break
                kind, bits = (
                    ("ED25519", 256) if "ed25519" in word else ("RSA", 3072) if "rsa" in word else ("ECDSA", 256)
                )
                ctx.line(f"{bits} {digest} {' '.join(words[index + 2 :]) or 'no comment'} ({kind})")
                status = 0
                break
    if status:
        ctx.stderr.write(f"{path} is not a public key file.\n".encode("utf-8", "surrogateescape"))
    return status


def _known_hosts(ctx: Context, path: str, values: dict[str, str]) -> int:
    host = values.get("-R") or values.get("-F") or ""
    try:
        lines = ctx.files.text(path).splitlines()
    except OSError as error:
        ctx.stderr.write(f"Cannot stat {path}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        return 255
    kept = [line for line in lines if host not in line.split(" ", 1)[0].split(",")]
    if "-F" in values:
        for number, line in enumerate(lines, 1):
            if line not in kept:
                ctx.line(f"# Host {host} found: line {number}\n{line}")
        return 0 if len(kept) < len(lines) else 1
    if len(kept) == len(lines):
        ctx.stderr.write(f"Host {host} not found in {path}\n".encode("utf-8", "surrogateescape"))
        return 0
    ctx.files.write(f"{path}.old", "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape"))
    ctx.files.write(path, "".join(line + "\n" for line in kept).encode("utf-8", "surrogateescape"))
    ctx.line(f"# Host {host} found: line {lines.index(next(line for line in lines if line not in kept)) + 1}")
    ctx.line(f"{path} updated.\nOriginal contents retained as {path}.old")
    return 0
