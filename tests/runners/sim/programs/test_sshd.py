"""sshd reads what its configuration includes, where it is included; the first line of a setting counts."""

from __future__ import annotations

from runners.backends.sim import SimWorld
from runners.worlds import Observation
from scenario_dsl.model import Probe
from scenario_dsl.values import Value
from tests.runners.sim.worlds import typed, web_server

_DROP_IN = "/etc/ssh/sshd_config.d/10-x.conf"


def test_a_bad_line_in_an_included_file_is_found() -> None:
    live = web_server()
    said = live.run(f"echo Foo 1 > {_DROP_IN}; sshd -t", output_bytes=1 << 16, seconds=60.0)
    assert said.exit_code == 255
    assert f"{_DROP_IN}: line 1: Bad configuration option: Foo\n" in said.stderr.decode()
    assert f"{_DROP_IN}: terminating, 1 bad configuration options" in said.stderr.decode()


def test_the_first_line_of_a_setting_counts_and_ports_add_up() -> None:
    live = web_server()
    output(
        live, f"printf 'PasswordAuthentication yes\\nPort 2222\\n' > {_DROP_IN}; echo Port 22 >> /etc/ssh/sshd_config"
    )
    shown = output(live, "sshd -T").splitlines()
    assert [line for line in shown if line.startswith(("passwordauth", "port "))] == [
        "port 2222",
        "port 22",
        "passwordauthentication yes",
    ]
    assert not any(line.startswith("include") for line in shown)
    output(live, "systemctl restart ssh")
    assert "0.0.0.0:2222" in output(live, "ss -tln")
    assert "0.0.0.0:22 " in output(live, "ss -tln")


def test_what_stands_in_a_match_block_is_not_for_everybody() -> None:
    live = web_server()
    output(live, f"printf 'Match User anna\\nPasswordAuthentication yes\\n' > {_DROP_IN}")
    assert "passwordauthentication no\n" in output(live, "sshd -T")


def test_a_match_block_is_for_whom_it_names() -> None:
    live = web_server()
    output(live, f"printf 'Match User anna,!root\\nPasswordAuthentication yes\\n' > {_DROP_IN}; systemctl reload ssh")
    assert offers(live, "anna") == "(publickey,password)"
    assert offers(live, "deploy") == "(publickey)"
    output(live, f"printf 'Match Group sudo Address 127.0.0.0/8\\nPasswordAuthentication yes\\n' > {_DROP_IN}")
    assert offers(live, "anna") == "(publickey,password)", "a file that sshd has not read changes nothing"
    output(live, "systemctl reload ssh; userdel deploy; gpasswd -d anna sudo")
    assert offers(live, "anna") == "(publickey)"


def test_keyboard_interactive_asks_for_passwords_too() -> None:
    live = web_server()
    output(live, f"echo KbdInteractiveAuthentication yes > {_DROP_IN}; systemctl reload ssh")
    assert offers(live, "anna") == "(publickey,keyboard-interactive)"
    assert observe(live, "ssh", passwords=False).holds is False
    output(live, f"echo UsePAM no >> {_DROP_IN}; systemctl reload ssh")
    assert observe(live, "ssh", passwords=False).holds is True


def test_a_server_that_does_not_answer_closes_no_door() -> None:
    live = web_server()
    assert observe(live, "ssh", passwords=False).holds
    output(live, "systemctl stop ssh")
    assert not observe(live, "ssh", passwords=False).holds
    output(live, "exec -a sshd nc -lkp 22 & sleep 1")
    assert observe(live, "ssh", passwords=False).detail == "what answers on port 22 is not the SSH server"


def offers(live: SimWorld, user: str) -> str:
    """What the client is told that it could have tried."""
    shown = typed(live, f"ssh -o StrictHostKeyChecking=no {user}@localhost true").stderr.decode()
    return shown.rsplit("Permission denied ", 1)[1].strip(". \n")


def observe(live: SimWorld, kind: str, **arguments: Value) -> Observation:
    return live.observe([Probe(type=kind, arguments=arguments)])[0]


def output(live: SimWorld, command: str) -> str:
    return typed(live, command).stdout.decode()
