"""sshd: reads its configuration, listens, and can be asked for its banner."""

from __future__ import annotations

from itertools import product

from runners.sim.machine import Machine, Program, Say
from runners.sim.processes import Process
from runners.sim.programs.descriptors import bind, hold
from runners.sim.programs.sshd_config import CONFIG, ConfigError, Configuration, Login, load, methods
from runners.sim.systemd.journal import log
from runners.sim.users import accounts

BANNER = "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2"


def check(machine: Machine) -> list[str]:
    """What `sshd -t` prints; nothing when all is well."""
    try:
        config = load(machine.view()).settings
    except OSError as error:
        return [f"{CONFIG}: {error.strerror}"]
    except ConfigError as error:
        return str(error).splitlines()
    lines = []
    for key in config.get("hostkey", ("/etc/ssh/ssh_host_ed25519_key", "/etc/ssh/ssh_host_rsa_key")):
        lines += _key_problem(machine, key)
    if lines and len(lines) >= len(config.get("hostkey", ("", ""))):
        lines.append("sshd: no hostkeys available -- exiting.")
        return lines
    if not machine.view().exists("/run/sshd"):
        return ["Missing privilege separation directory: /run/sshd"]
    return []


def _key_problem(machine: Machine, path: str) -> list[str]:
    try:
        inode = machine.view().stat(path)
    except OSError:
        return [f"Unable to load host key: {path}"]
    if inode.mode & 0o077:
        return [
            "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
            "@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @",
            "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
            f"Permissions {inode.permissions:04o} for '{path}' are too open.",
            "It is required that your private key files are NOT accessible by others.",
            "This private key will be ignored.",
            f'Unable to load host key "{path}": bad permissions',
        ]
    return []


class Sshd(Program):
    """`held`: the parsed configuration."""

    reloads = True
    notifies = True

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        problems = check(machine)
        if problems:
            for line in problems:
                say(line)
            return 255
        if "-t" in process.argv:
            return 0
        config = load(machine.view())
        ports = [int(port) for port in config.settings.get("port", ("22",))]
        addresses = config.settings.get("listenaddress", ("0.0.0.0", "::"))  # noqa: S104
        bound = 0
        for port, address in product(ports, addresses):
            problem = bind(machine, process, address, port, lowest_fd=3)
            if problem is not None:
                self._say(machine, process, f"error: Bind to port {port} on {address} failed: {problem.strerror}.")
                continue
            bound += 1
            self._say(machine, process, f"Server listening on {address} port {port}.")
        if not bound:
            self._say(machine, process, "fatal: Cannot bind any address.")
            return 255
        words = " ".join(process.argv)
        held = hold(machine, process, config, rss=9 << 20, share=0.00001)
        machine.processes.put(held._replace(argv=(f"sshd: {words} [listener] 0 of 10-100 startups",)))
        return None

    def reload(self, machine: Machine, process: Process) -> None:
        """SIGHUP: it starts itself anew; with a bad configuration it is gone."""
        self._say(machine, process, "Received SIGHUP; restarting.")
        try:
            config = load(machine.view())
        except (ConfigError, OSError):
            return
        hold(machine, process, config)
        self._say(machine, process, f"Server listening on 0.0.0.0 port {config.settings.get('port', ('22',))[0]}.")

    def stop(self, machine: Machine, process: Process, number: int) -> int:
        if number == 15:
            self._say(machine, process, "Received signal 15; terminating.")
        return 0

    def serve(self, machine: Machine, process: Process, request: object, connection: object) -> object:
        """Whatever is sent first, it answers with its banner."""
        del machine, process, request, connection
        return f"{BANNER}\r\n".encode("utf-8", "surrogateescape")

    def _say(self, machine: Machine, process: Process, text: str) -> None:
        log(machine, "sshd", text, pid=process.pid, unit=process.unit)


def offered(machine: Machine, process: Process, user: str, address: str) -> tuple[str, ...]:
    """The ways of logging in that a running server offers to a user who comes from an address."""
    known = accounts(machine)
    entry = known.user(user)
    groups = [group.name for group in known.groups.values() if user in group.members]
    if entry is not None:
        groups.append(known.group_name(entry.gid))
    config = process.held if isinstance(process.held, Configuration) else Configuration({})
    return methods(config.of(Login(user, tuple(groups), address)))


PROGRAMS = {"sshd": Sshd()}
