"""tty names the terminal of the session, where standard input is one."""

from __future__ import annotations

from tests.runners.sim.worlds import typed, web_server


def test_only_a_terminal_is_named() -> None:
    live = web_server()
    assert typed(live, 'test "$(tty)" = "$SSH_TTY"').exit_code == 0
    done = typed(live, "tty < /etc/passwd")
    assert (done.stdout, done.exit_code) == (b"not a tty\n", 1)
