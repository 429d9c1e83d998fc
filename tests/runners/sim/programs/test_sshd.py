"""sshd reads what its configuration includes, where it is included; the first line of a setting counts."""

from __future__ import annotations

from runners.backends.sim import SimWorld
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


def output(live: SimWorld, command: str) -> str:
    return typed(live, command).stdout.decode()
