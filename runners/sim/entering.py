"""The agent's way in: root, over ssh, at a terminal of its own."""

from __future__ import annotations

from runners.sim.files.inode import ROOT
from runners.sim.logins import logins, sessions
from runners.sim.machine import Machine
from runners.sim.network.state import Interface
from runners.sim.processes import OpenFile, Process, Socket
from runners.sim.shell.session import Session, login_session
from runners.sim.ssh_keys import accepted, client_port
from runners.sim.systemd.journal import log
from runners.sim.users import accounts

_SSH_PORT = 22


def enter(machine: Machine, *, user: str = "root") -> Session:
    """Log in: the processes of a session as sshd leaves them, their lines in the journal, and the shell's state.

    Where the system's own log-ins say that the user is on already, this is that session, and the journal has it.
    """
    account = accounts(machine).user(user)
    cred = accounts(machine).cred(user) if account is not None else ROOT
    home, shell = (account.home, account.shell) if account is not None else ("/root", "/bin/bash")
    on_now = sessions(machine)
    known = next((login for login in reversed(on_now) if login.user == user and login.host), None)
    number = len(on_now) if known is not None else 1 + len(on_now)
    tty, scope = known.tty if known is not None else f"pts/{number - 1}", f"session-{number}.scope"
    listener = machine.processes.listener("tcp", _SSH_PORT)
    outward = machine.network.interfaces[-1]
    admin = known.host if known is not None else _admin_address(machine, user, outward)
    now = machine.clock.now if known is None else known.began
    port = client_port(user, now)
    gate_pid = _let_in_by(machine, user, admin, port)
    gate = machine.processes.put(
        Process(
            gate_pid, 1 if listener is None else listener.pid, ROOT, (f"sshd: {user}@{tty}",),
            "/usr/sbin/sshd", "sshd", "/", now, rss=11 << 20, vsz=18 << 20, unit=scope,
            sockets=(Socket("tcp", outward.address, _SSH_PORT, "ESTABLISHED", admin, port, fd=4),),
        )
    )  # fmt: skip
    terminal = tuple(OpenFile(fd, 0, f"/dev/{tty}", "u") for fd in (0, 1, 2, 255))
    own = machine.processes.put(
        Process(
            machine.processes.allocate(), gate.pid, cred, ("-bash",), "/usr/bin/bash", "bash", home, now,
            rss=5 << 20, vsz=8 << 20, tty=tty, unit=scope, files=terminal,
        )
    )  # fmt: skip
    if known is None:
        unit = listener.unit if listener is not None else None
        opened = f"pam_unix(sshd:session): session opened for user {user}(uid={cred.uid}) by (uid=0)"
        log(machine, "sshd", accepted(machine, user, admin, port), pid=gate.pid, unit=unit)
        log(machine, "sshd", opened, pid=gate.pid, unit=unit)
    session = login_session(machine, user, cred, home, shell, tty=tty)
    session.pid = session.home_pid = own.pid
    session.ppid = gate.pid
    session.variables["SSH_TTY"] = session.variables["TERM"].copy()
    session.variables["SSH_TTY"].value = f"/dev/{tty}"
    connection = session.variables["TERM"].copy()
    connection.value = f"{admin} {port} {outward.address} {_SSH_PORT}"
    session.variables["SSH_CONNECTION"] = connection
    session.variables["PPID"].value = str(gate.pid)
    return session


def _let_in_by(machine: Machine, user: str, host: str, port: int) -> int:
    """The process that let the user in, as the journal has it; a new one if it tells of none."""
    words = f" for {user} from {host} port {port} "
    for entry in reversed(machine.journal):
        if entry.identifier == "sshd" and words in entry.message:
            return entry.pid if machine.processes.get(entry.pid) is None else machine.processes.allocate()
    return machine.processes.allocate()


def _admin_address(machine: Machine, user: str, outward: Interface) -> str:
    """Where the user came from the last time, or somewhere in the machine's own network."""
    known = (login for login in reversed(logins(machine)) if login.user == user and not login.failed)
    before = (login.host for login in known if login.host)
    return next(before, f"{outward.address.rpartition('.')[0]}.250")
