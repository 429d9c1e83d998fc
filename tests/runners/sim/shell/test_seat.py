"""Shells typed at the prompt are entered: what follows is theirs until they end."""

from __future__ import annotations

import pytest

from runners.backends.sim import SimWorld
from tests.runners.sim.worlds import typed, web_server


def say(live: SimWorld, line: str) -> str:
    return typed(live, line).output.decode()


def test_su_changes_user_folder_and_prompt_until_logout() -> None:
    live = web_server()
    entered = typed(live, "su - postgres")
    assert (entered.output, entered.prompt) == (b"", "postgres@web-01:~$ ")
    assert say(live, "id -un; pwd; echo $HOME") == "postgres\n/var/lib/postgresql\n/var/lib/postgresql\n"
    assert say(live, "echo no > /etc/hostname") == "bash: /etc/hostname: Permission denied\n"
    left = typed(live, "exit 4")
    assert (left.output, left.exit_code, left.prompt) == (b"logout\n", 4, "root@web-01:~# ")
    assert say(live, "echo $?; id -un") == "4\nroot\n"


def test_the_programs_between_live_as_long_as_the_shell() -> None:
    live = web_server()
    typed(live, "sudo -u shop -s")
    assert say(live, "ps -o comm= -p $PPID") == "sudo\n"
    assert "session closed for user shop" not in say(live, "journalctl -q -t sudo -n 1; true")
    assert say(live, "\x04") == "exit\n"
    assert say(live, "pgrep -c -x sudo") == "0\n"
    assert "session closed for user shop" in say(live, "journalctl -q -t sudo -n 1")


def test_lines_typed_ahead_go_to_the_shell_that_reads_them() -> None:
    live = web_server()
    assert say(live, "cd /etc && bash; echo back\nX=inner; pwd\nexit\necho [$X]; id -un\nsu postgres\nid -un") == (
        "/etc\nexit\nback\n[]\nroot\npostgres\n"
    )
    assert typed(live, "exit").prompt == "root@web-01:/etc# "


def test_a_fork_has_the_same_shells() -> None:
    live = web_server()
    typed(live, "su - postgres")
    other = live.fork(seed=0)
    assert typed(live, "exit").prompt == "root@web-01:~# "
    assert typed(other, "whoami").output == b"postgres\n"  # type: ignore[arg-type]


def test_where_nobody_types_a_shell_reads_what_there_is() -> None:
    live = web_server()
    assert say(live, "echo id -un | su - postgres; bash < /dev/null; (bash); bash | cat; echo $(bash); id -un") == (
        "postgres\n\nroot\n"
    )


@pytest.mark.parametrize("line", ["bash & bash", "set -m; bash & sleep 1; echo ok", "su - postgres & su - postgres"])
def test_a_shell_in_the_background_takes_no_terminal(line: str) -> None:
    live = web_server()
    typed(live, line)
    said = say(live, "echo here")
    assert said == "here\n"


def test_a_killed_shell_gives_the_terminal_back() -> None:
    live = web_server()
    typed(live, "bash")
    typed(live, "kill -9 $$")
    assert not live.nested
    assert say(live, "echo ok") == "ok\n"


def test_logout_is_for_log_in_shells() -> None:
    live = web_server()
    typed(live, "bash")
    assert say(live, "logout") == "bash: logout: not login shell: use `exit'\n"
