"""Where a number is read, whatever stands there is answered and crashes nothing: a crash warns, and warnings fail."""

from __future__ import annotations

import pytest

from tests.runners.sim.worlds import opened, typed

NUMBERS = ("abc", "²", "-1")
LINES = (
    "head -n {} /etc/passwd", "tail -c {} /etc/passwd", "kill -{} 1", "sleep {}", "exit {}", "wait {}", "shift {}",
    "ss -tn sport = :{}", "chmod {} /tmp", "chown {}:{} /tmp", "id {}", "ps -p {}", "systemctl status {}",
    "systemctl status nginx -n {}", "journalctl -n {}", "journalctl -p {} -n 1", "journalctl --vacuum-size={}",
    "journalctl --vacuum-time={}", "find /etc -maxdepth {}", "find /etc -size {}", "find /etc -mtime {}",
    "find /etc -perm {}", "du -d {} /etc", "nice -n {} true", "timeout {} true", "truncate -s {} /tmp/x",
    "dd if=/dev/null of=/tmp/x bs={}", "iptables -A INPUT -p tcp --dport {} -j ACCEPT", "iptables -D INPUT {}",
    "ip addr add 10.0.0.{} dev eth0", "ip link set eth0 mtu {}", "ip route add 10.1.0.0/{} via 10.0.0.1",
    "ping -c {} localhost", "ping -c 1 -i {} localhost", "curl -s localhost:{}", "curl -sm {} localhost",
    "curl -s --retry {} localhost", "curl -s --max-redirs {} localhost", "wget -qO- -T {} localhost",
    "wget -qO- -t {} localhost", "wget -qO- --max-redirect {} localhost", "nc -w {} -z localhost 80",
    "nc -z localhost {}", "lsof -i :{}", "fuser {}/tcp", "pgrep -u {}", "usermod -u {} anna", "useradd -u {} bob",
    "chage -M {} anna", "echo '{} * * * * true' | crontab -", "date -d @{}", "date -d '{} days'", "touch -t {} /tmp/x",
    "grep -m {} root /etc/passwd", "sed -n {}p /etc/passwd", "awk -v n={} 'BEGIN{{print n + 1, substr(\"abc\", n)}}'",
    "xargs -n {} echo < /etc/hostname", "sort -k {} /etc/passwd", "uniq -f {} /etc/passwd", "cut -c {} /etc/passwd",
    "fold -w {} /etc/passwd", "column -c {} /etc/passwd", "xxd -l {} /etc/passwd", "base64 -w {} /etc/passwd",
    "split -l {} /etc/passwd /tmp/s", "shuf -n {} /etc/passwd", "seq {} 3", "expr {} + 1", "factor {}", "numfmt {}",
    "numfmt --header={} 1", "printf '%{}d' 3", "printf %d {}", "sysctl -w kernel.panic={}", "ulimit -n {}", "umask {}",
    "echo ${{PATH:{}}}", "echo $(({}))", "history {}", "fg {}", "trap : {}", "read -t {} x < /dev/null",
    "read -n {} x < /dev/null", "echo x >&{}", "test {} -gt 3", "[[ {} -gt 3 ]]", "ionice -c {} true",
    "prlimit --nofile={} true", "redis-cli -p {} ping", "redis-cli setex a {} b", "redis-cli config set maxmemory {}",
    "psql -p {} -c 'select 1'", "sudo -u postgres psql -c \"select '{}'::int\"", "pg_isready -t {}",
    "flock -E {} /tmp/l true", "mount -o size={} -t tmpfs x /mnt", "top -bn{}", "vmstat {} 1",
    "free -c {}", "watch -n {} -g true", "systemctl set-property nginx MemoryMax={}",
    "openssl x509 -in /etc/ssl/certs/shop.pem -noout -checkend {}",
    "openssl rand -hex {}", "tar --strip-components={} -tf /etc/hostname", "dash -c 'exit {}'",
    "dash -c 'echo $(({}))'", "cat /proc/{}/status",
)  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_what_is_no_number_crashes_nothing(line: str) -> None:
    for number in NUMBERS:
        typed(opened().live, line.format(number, number))


def test_accounts_with_numbers_that_are_none_are_read_past() -> None:
    live = opened().live
    typed(live, "sed -i 's/^anna:x:[0-9]*/anna:x:²/' /etc/passwd")
    assert typed(live, "id root").exit_code == 0
    assert typed(live, "id anna").exit_code == 1
    assert typed(live, "ls -l /home; ps aux | tail -1").exit_code == 0
