"""The agent's own session is one of those that the machine tells of."""

from __future__ import annotations

from runners.sim.entering import enter
from runners.sim.logins import sessions
from runners.sim.systemd.journal import log
from tests.runners.sim.admin.line import Terminal
from tests.runners.sim.servers import server


def test_the_session_is_the_one_that_who_shows() -> None:
    line = Terminal()
    (own,) = (words.split() for words in line("who").lines)
    user, tty, _, _, host = own
    assert user == line("whoami").out.strip()
    assert f"/dev/{tty}" == line("echo $SSH_TTY").out.strip()
    assert line("echo $SSH_CONNECTION").out.split()[0] == host.strip("()")


def test_nobody_else_was_let_in_at_the_opening() -> None:
    line = Terminal()
    accepted = line("grep Accepted /var/log/auth.log | tail -n 1").out
    assert " for root from 10.0.3.5 port " in accepted
    assert line("grep -c 10.0.0.250 /var/log/auth.log").out == "0\n"


def test_keys_and_ports_in_the_log_are_those_of_the_session() -> None:
    line = Terminal()
    known = line("ssh-keygen -lf /root/.ssh/authorized_keys").out.split()[1]
    port = line("echo $SSH_CONNECTION").out.split()[1]
    assert (
        line("grep 'Accepted publickey for root' /var/log/auth.log | tail -n 1")
        .out.strip()
        .endswith(f"port {port} ssh2: ED25519 {known}")
    )
    assert f":{port} " in line("ss -tn state established").out


def test_who_comes_later_is_on_since_then_only() -> None:
    machine = server()
    machine.advance(240)
    session = enter(machine)
    assert [login.began for login in sessions(machine)] == [machine.clock.now]
    assert session.variables["SSH_TTY"].value == "/dev/pts/0"


def test_nobody_comes_from_where_passwords_were_guessed() -> None:
    machine = server()
    log(machine, "sshd", "Failed password for root from 192.0.2.9 port 4000 ssh2", pid=4000, unit="ssh.service")
    assert sessions(machine) == []
    enter(machine)
    assert [login.host for login in sessions(machine)] == ["10.0.3.5"]
