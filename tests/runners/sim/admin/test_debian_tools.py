"""Tools that every Debian server has: what they print is what the real ones print."""

from __future__ import annotations

import pytest

from tests.runners.sim.admin.line import Terminal
from tests.runners.sim.worlds import opened, typed


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("namei /etc/localtime", "f: /etc/localtime\n d /\n d etc\n l localtime -> /usr/share/zoneinfo/Etc/UTC\n"
         "   d /\n   d usr\n   d share\n   d zoneinfo\n   d Etc\n   - UTC\n"),
        ("namei -l /etc/shadow", "f: /etc/shadow\ndrwxr-xr-x root root   /\ndrwxr-xr-x root root   etc\n"
         "-rw-r----- root shadow shadow\n"),
        ("namei -om /none/x", f"f: /none/x\n drwxr-xr-x root root /\n{' ' * 22}none - No such file or directory\n"),
        ("ionice -c 2 -n 3 -p 1; ionice -p 1; ionice -c3 -p 1; ionice -p 1", "best-effort: prio 3\nidle\n"),
        ("ionice -c3 echo runs", "runs\n"),
        ("taskset -p 1; taskset -cp 1 1; taskset -p 1", "pid 1's current affinity mask: 3\n"
         "pid 1's current affinity list: 0,1\npid 1's new affinity list: 1\npid 1's current affinity mask: 2\n"),
        ("taskset -c 0 echo runs", "runs\n"),
        ("printf 'h\\xc3\\xa9' | iconv -f utf-8 -t latin1 | od -An -tx1", " 68 e9\n"),
        ("printf '\\xe2\\x82\\xac' | iconv -t ascii//TRANSLIT", "EUR"),
        ("sg adm 'id -gn'", "adm\n"),
        ("fsck -N /dev/vda1", "fsck from util-linux 2.38.1\n[/sbin/fsck.ext4 (1) -- /] fsck.ext4 /dev/vda1 \n"),
        ("dpkg-statoverride --add root adm 0640 /etc/hosts; dpkg-statoverride --list", "root adm 640 /etc/hosts\n"),
        ("update-rc.d cron disable; systemctl is-enabled cron; update-rc.d cron defaults; systemctl is-enabled cron",
         "disabled\nenabled\n"),
        ("ldd /usr/local/bin/backup-shop.sh", "\tnot a dynamic executable\n"),
        ("loginctl --no-legend", "1 0 root - pts/0\n"),
        ("EDITOR='sed -i s/15/20/' crontab -e; crontab -l | tail -1", "*/20 * * * * /usr/local/sbin/check-disk.sh\n"),
        ("nft list tables", "table ip filter\n"),
        ("systemd-run -q --unit=nap sleep 60; systemctl is-enabled nap; systemctl is-active nap",
         "transient\nactive\n"),
        ("systemd-run -q --scope echo runs", "runs\n"),
    ],
)  # fmt: skip
def test_it_says(sh: Terminal, command: str, said: str) -> None:
    assert sh(command).out == said


@pytest.mark.parametrize(
    ("command", "said", "status"),
    [
        ("vi /etc/hosts < /dev/null", "Vim: Warning: Output is not to a terminal\n"
         "Vim: Warning: Input is not from a terminal\nVim: Error reading input, exiting...\nVim: Finished.\n", 1),
        ("newgrp nosuch", "newgrp: group 'nosuch' does not exist\n", 1),
        ("printf 'h\\xe9' | iconv -f ascii -t utf-8 > /dev/null", "iconv: illegal input sequence at position 1\n", 1),
        ("shred", "shred: missing file operand\nTry 'shred --help' for more information.\n", 1),
        ("fsck.ext4 | head -1", "", 0),
        ("update-rc.d nosuch defaults", "update-rc.d: error: unable to read /etc/init.d/nosuch\n", 1),
        ("ldd /none", "ldd: /none: No such file or directory\n", 1),
        ("namei", "namei: pathname argument is missing\nTry 'namei --help' for more information.\n", 1),
        ("pmap 4000000", "", 42),
        ("VISUAL=true crontab -e", "crontab: no changes made to crontab\n", 0),
        ("EDITOR='sed -i s/15/x/' crontab -e > /dev/null; crontab -l | grep -c '^[*]/15'; ls -A /tmp",
         "crontab: installing new crontab\n", 0),
    ],
)  # fmt: skip
def test_it_complains(sh: Terminal, command: str, said: str, status: int) -> None:
    result = sh(command)
    assert said in result.err
    assert result.status == status


def test_shred_leaves_nothing(sh: Terminal) -> None:
    lines = sh("echo secret > s; shred -v s 2>&1; wc -c < s; grep -c secret s; shred -u s; ls s 2>&1").lines
    assert lines == [
        "shred: s: pass 1/3 (random)...", "shred: s: pass 2/3 (random)...", "shred: s: pass 3/3 (random)...", "4096",
        "0", "ls: cannot access 's': No such file or directory",
    ]  # fmt: skip


def test_a_map_adds_up_to_what_ps_says(sh: Terminal) -> None:
    vsz, rss = sh("ps -o vsz=,rss= -p $(pgrep -o nginx)").out.split()
    total = sh("pmap -x $(pgrep -o nginx) | tail -1").out.split()
    assert total[2:4] == [vsz, rss]
    assert "libc.so.6" in sh("pmap $(pgrep -o nginx)").out


def test_lsof_shows_what_every_process_has(sh: Terminal) -> None:
    rows = [line.split() for line in sh("lsof -p $(pgrep -o nginx)").lines[1:]]
    kinds = [row[3] for row in rows]
    assert kinds[:3] == ["cwd", "rtd", "txt"]
    assert {"mem", "0r", "1u", "2w", "3w"} <= set(kinds)
    assert any(row[-1].startswith("/usr/lib/x86_64-linux-gnu/libssl") for row in rows)


def test_nft_shows_the_rules_of_iptables(sh: Terminal) -> None:
    sh("iptables -I INPUT -p tcp --dport 8080 -s 10.1.0.0/16 -j REJECT")
    lines = [line.strip() for line in sh("nft list ruleset").lines]
    assert "ip saddr 10.1.0.0/16 tcp dport 8080 counter packets 0 bytes 0 reject" in lines
    assert any(line.startswith("tcp dport { 80,443 } counter packets ") for line in lines)
    assert sh("iptables -P INPUT DROP; nft list ruleset").out.count("policy drop;") == 1


def test_find_compares_any_times(sh: Terminal) -> None:
    sh("mkdir d; touch -d 2026-01-01 d/old; touch -d 2026-03-01 d/new")
    assert sh("find d -type f -newermt 2026-02-01").out == "d/new\n"
    assert sh("find d -type f -newermm d/old").out == "d/new\n"
    assert sh("find d -type f -newerct 2026-02-01 | sort").out == "d/new\nd/old\n"


def test_last_reads_the_file_that_it_is_given(sh: Terminal) -> None:
    assert sh("last -f /var/log/btmp").out == sh("lastb").out
    assert "root             pts/0" in sh("lastlog -u root").out
    assert "**Never logged in**" in sh("lastlog -u daemon").out


def test_a_command_runs_as_a_service_made_on_the_spot() -> None:
    live = opened().live

    def said(command: str) -> str:
        return typed(live, command).output.decode()

    assert said("systemd-run -q --wait touch /tmp/one; ls /tmp") == "one\n"
    assert "Main processes terminated with: code=exited, status=1/FAILURE" in said("systemd-run --wait false")
    assert said("systemd-run -q --on-active=5 touch /tmp/two; ls /tmp; sleep 10; ls /tmp") == "one\none\ntwo\n"
