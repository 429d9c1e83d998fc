"""Places where two accounts of the same thing must agree."""

from __future__ import annotations

import re
from itertools import pairwise

from runners.backends.sim import SimWorld
from tests.runners.sim.worlds import opened, typed, web_server


def said(live: SimWorld, command: str) -> str:
    return typed(live, command, seconds=3600).output.decode()


def test_made_up_files_have_numbers_too() -> None:
    live = opened().live
    assert said(live, "stat -c %i /proc /sys") == "1\n1\n"
    assert "-" not in said(live, "ls -di /proc/1 /proc/uptime; find /proc/1 -maxdepth 1 -printf '%i\\n'")
    assert said(live, "find /proc -maxdepth 1 -inum 1") == "/proc\n"


def test_a_control_process_that_failed_has_the_pid_of_its_lines() -> None:
    live = opened().live
    said(live, "echo broken >> /etc/nginx/nginx.conf; systemctl restart nginx")
    status = said(live, "systemctl status nginx")
    found = re.search(r"Process: (\d+) ExecStartPre=", status)
    assert found
    assert f"nginx[{found[1]}]: " in status


def test_rules_count_what_they_decide() -> None:
    live = opened().live

    def counted(rule: str) -> int:
        found = re.search(rf"^ *(\d+) +\d+ {rule}", said(live, "iptables -xnvL INPUT"), re.MULTILINE)
        assert found
        return int(found[1])

    before = counted("ACCEPT +6 .*dports 80,443")
    assert before > 10000
    said(live, "sleep 60")
    after = counted("ACCEPT +6 .*dports 80,443")
    assert 3 <= after - before <= 20
    said(live, "iptables -I INPUT -p tcp --dport 80 -j DROP; sleep 60")
    assert counted("DROP +6 .*dpt:80") > 3
    said(live, "iptables -D INPUT 1; iptables -I INPUT -p tcp --dport 80 -j DROP")
    assert counted("DROP +6 .*dpt:80") == 0
    said(live, "iptables -Z")
    assert counted("ACCEPT +0 .*RELATED,ESTABLISHED") == 0


def test_a_dump_is_as_large_as_last_nights() -> None:
    live = opened().live
    folder = "/var/backups/postgresql"
    old = said(live, f"stat -c '%s %y' {folder}/shop-2026-03-14.dump").split()
    assert old[2].startswith("02:30:0")
    said(live, "su - postgres -s /bin/bash -c /usr/local/bin/backup-shop.sh")
    size, day, *_ = said(live, f"stat -c '%s %y' {folder}/shop-2026-03-14.dump").split()
    assert day == "2026-03-14"
    assert 0.9 < int(size) / int(old[0]) < 1.2


def test_a_dump_holds_what_the_database_does() -> None:
    live = opened().live
    text = said(live, "cd /tmp; sudo -u postgres pg_dump shop")
    assert "COPY public.products (id, name, price, stock) FROM stdin;\n1\tHouse Blend 250 g\t7.90\t140\n" in text
    assert "CREATE TABLE" not in said(live, "cd /tmp; sudo -u postgres pg_dump -a -t products shop")
    assert said(live, "cd /tmp; sudo -u postgres pg_dump nowhere").startswith("pg_dump: error: connection to server")
    assert said(live, "cd /tmp; sudo -u postgres pg_dump -Fc shop | head -c 5") == "PGDMP"


def test_the_boot_took_as_long_as_the_journal_says() -> None:
    live = opened().live
    assert said(live, "systemd-analyze").split("\n")[0].strip() in said(live, "journalctl -b")
    blame = said(live, "systemd-analyze blame").splitlines()
    assert any(line.endswith(" nginx.service") for line in blame)


def test_what_every_debian_has() -> None:
    live = opened().live
    assert said(live, "ls /usr/bin/chsh /usr/bin/systemd-analyze /usr/sbin/chsh 2>/dev/null").split() == [
        "/usr/bin/chsh", "/usr/bin/systemd-analyze",
    ]  # fmt: skip
    assert said(live, "cat /proc/sys/kernel/core_pattern") == "core\n"
    assert "@include common-auth" in said(live, "cat /etc/pam.d/sshd")
    assert said(live, "stat -c %F /etc/profile.d") == "directory\n"


def test_a_file_system_has_one_identity() -> None:
    live = web_server()
    fstab, device = said(live, "awk '$2 == \"/\" { print $1 }' /etc/fstab; blkid -s UUID -o value /dev/vda1").split()
    assert fstab == f"UUID={device}"
    assert said(live, "findmnt -no UUID /; lsblk -no UUID /dev/vda1").split() == [device, device]
    numbers = "stat -c %Hd:%Ld /; findmnt -no MAJ:MIN /; lsblk -no MAJ:MIN /dev/vda1"
    assert said(live, numbers).split() == ["254:1"] * 3


def test_a_socket_has_one_inode() -> None:
    live = web_server()
    master = typed(live, "pgrep -o nginx").stdout.decode().strip()
    links = typed(live, f"ls -l /proc/{master}/fd").stdout.decode()
    inode = typed(live, "ss -ltneH 'sport = :80'").stdout.decode().partition("ino:")[2].split()[0]
    assert f"socket:[{inode}]" in links
    assert inode in typed(live, "lsof -nP -iTCP:80").stdout.decode()
    assert inode in typed(live, "grep ':0050 ' /proc/net/tcp").stdout.decode()


def test_the_records_of_log_ins_begin_with_the_boot_and_are_as_old_as_the_last() -> None:
    live = web_server()
    assert typed(live, "last | tail -1").stdout == b"wtmp begins Fri Feb 20 04:17:17 2026\n"
    assert typed(live, "date -r /var/log/wtmp '+%F %H:%M'").stdout == b"2026-03-14 09:24\n"


def test_settings_of_the_kernel_are_written_as_files_too() -> None:
    live = web_server()
    assert typed(live, "echo 1 > /proc/sys/net/ipv4/ip_forward; sysctl -n net.ipv4.ip_forward").stdout == b"1\n"
    assert typed(live, "echo 20 | tee /proc/sys/vm/swappiness; cat /proc/sys/vm/swappiness").stdout == b"20\n20\n"
    refused = typed(live, "echo x > /proc/sys/vm/swappiness")
    assert refused.exit_code == 1
    assert b"write error: Invalid argument" in refused.output
    assert said(live, "sync; echo 3 > /proc/sys/vm/drop_caches; sysctl -w vm.drop_caches=1") == "vm.drop_caches = 1\n"


def test_who_waits_for_another_sleeps() -> None:
    live = web_server()
    running = said(live, "bash -c 'timeout 5 ps -eo stat=,comm= | grep ^R; true'").split()
    assert running[1::2] == ["ps"]
    assert "Tasks:" in said(live, "bash -c 'top -bn1 | head -2'")
    assert re.search(r" 1 running", said(live, "bash -c 'top -bn1 | head -2; true'"))


def test_the_clock_goes_on_between_two_commands_alike_for_the_same_seed() -> None:
    first, again, other = (opened(seed=seed).live for seed in (3, 3, 4))
    told = [[int(typed(live, "date +%s%N").output) for _ in range(6)] for live in (first, again, other)]
    assert told[0] == told[1] != told[2]
    pauses = [(later - earlier) / 1e9 for earlier, later in pairwise(told[0])]
    assert all(0.5 <= pause <= 2.5 for pause in pauses)
    assert len(set(pauses)) == len(pauses)
