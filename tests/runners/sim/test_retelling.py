"""What is written into auth.log as of the past is told by the journal and by last as well."""

from __future__ import annotations

from runners.backends.sim import SimWorld
from tests.conformance.worlds import task
from tests.runners.sim.worlds import typed, web_server

_LINES = (
    "2026-03-14T03:40:11.118302+00:00 web-01 sshd[18042]: Failed password for anna from 185.220.101.34 "
    "port 41120 ssh2",
    "2026-03-14T03:41:02.667120+00:00 web-01 sshd[18043]: Accepted password for anna from 185.220.101.34 "
    "port 41246 ssh2",
    "2026-03-14T03:41:02.671655+00:00 web-01 sshd[18043]: pam_unix(sshd:session): session opened for user "
    "anna(uid=1000) by (uid=0)",
    "2026-03-14T03:43:47.020093+00:00 web-01 sudo:     anna : TTY=pts/0 ; PWD=/home/anna ; USER=root ; COMMAND=/bin/id",
    "2026-03-14T03:44:30.402177+00:00 web-01 sshd[18043]: pam_unix(sshd:session): session closed for user anna",
    "2026-03-14T04:02:15.207788+00:00 web-01 sshd[18055]: Accepted publickey for deploy from 193.32.162.79 port 60460 "
    "ssh2: ED25519 SHA256:abc",
)  # fmt: skip


def _world() -> SimWorld:
    live = web_server()
    block = "\n".join(_LINES)
    failure = live.apply([task("shell", cmd=f"printf '%s\\n' '{block}' >> /var/log/auth.log")])
    assert failure is None
    return live


def test_the_journal_tells_it_in_its_place() -> None:
    told = typed(_world(), "journalctl -u ssh --since '2026-03-14 03:40' --until '2026-03-14 03:45' --no-pager")
    lines = [line for line in told.stdout.decode().splitlines() if "1804" in line]
    assert lines[0] == (
        "Mar 14 03:40:11 web-01 sshd[18042]: Failed password for anna from 185.220.101.34 port 41120 ssh2"
    )
    assert lines[-1] == "Mar 14 03:44:30 web-01 sshd[18043]: pam_unix(sshd:session): session closed for user anna"
    sudo = typed(_world(), "journalctl -t sudo -o cat --no-pager | grep /bin/id").stdout.decode()
    assert sudo == "    anna : TTY=pts/0 ; PWD=/home/anna ; USER=root ; COMMAND=/bin/id\n"


def test_it_is_told_once() -> None:
    live = _world()
    assert live.apply([task("shell", cmd="touch /var/log/auth.log; systemctl reload ssh")]) is None
    count = "journalctl -u ssh --no-pager | grep -c 'sshd.18043.: Accepted'"
    assert typed(live, count).stdout == b"1\n"


def test_sessions_and_failures_are_on_record() -> None:
    live = _world()
    last = typed(live, "last").stdout.decode().splitlines()
    assert "anna     pts/0        185.220.101.34   Sat Mar 14 03:41 - 03:44  (00:03)" in last
    # A log-in without a session of its own is a command that was run: it has no terminal.
    assert not any(line.startswith("deploy") and "193.32" in line for line in last)
    failed = typed(live, "lastb; stat -c %s /var/log/btmp").stdout.decode().splitlines()
    assert failed[0] == "anna     ssh:notty    185.220.101.34   Sat Mar 14 03:40 - 03:40  (00:00)"
    assert failed[-1] == "384"


def test_what_is_no_line_of_a_log_is_left_alone() -> None:
    live = web_server()
    before = typed(live, "journalctl --no-pager | wc -l").stdout
    assert live.apply([task("shell", cmd="echo nonsense >> /var/log/auth.log; truncate -s 1G /var/log/syslog")]) is None
    assert typed(live, "journalctl --no-pager | wc -l").stdout == before
