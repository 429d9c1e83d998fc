"""Whatever is typed: an answer or a time-out within bounds, never an exception, and a world that is usable afterwards."""

from __future__ import annotations

import random
import resource
import time

import pytest

from runners.backends.sim import SimWorld
from runners.sim.commands import COMMANDS
from runners.sim.shell.builtins.table import BUILTINS
from runners.worlds import CommandResult
from tests.runners.sim.worlds import typed, web_server

_OUTPUT = 64 << 10
_SLOW = 10.0
"""Processor seconds that one line may take, whatever it does."""
_GROWTH = 500 << 10
"""KiB that this process may grow by in one line."""


def hostile(live: SimWorld, line: str, *, seconds: float = 60) -> CommandResult:
    """Type it, and see that time, memory and output stay in bounds and that the world lives on, here and in a fork."""
    memory, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    result = typed(live, line, seconds=seconds)
    took = time.process_time() - start
    assert took < _SLOW, f"{took:.1f} s for {line[:200]!r}"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < _GROWTH, line[:200]
    assert len(result.output) <= _OUTPUT + 200
    assert result.seconds < 3600
    # Whoever typed it is looked at afterwards, and the machine lives on by itself.
    live.facts()
    live.wait(90)
    for other in (live.fork(seed=0), live):
        alive = other.run("\n/bin/echo alive", output_bytes=_OUTPUT, seconds=20)
        ends = alive.exit_code in (127, 126) or alive.stdout.endswith(b"alive\n")
        assert ends or not result.exit_code or "set -n" in line or "exec" in line, (line[:200], alive.output[:200])
    return result


ENDLESS = (
    "while :; do :; done", "until false; do :; done", "for ((;;)); do :; done", ":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb",
    "yes", "yes | sort | head -1", "yes | sort", "yes | tac", "sort /dev/zero", "tac /dev/zero", "rev /dev/zero",
    "grep x /dev/zero", "cat /dev/zero", "cat /dev/urandom > /root/x", "base64 /dev/zero > /dev/null", "base64 -d /dev/zero",
    "gzip -c /dev/zero > /root/z", "head -c 10G /dev/zero | tail -c 1", "head -c 10G /dev/urandom | md5sum", "md5sum /dev/zero",
    "awk 'BEGIN { while (1); }'", "awk 'BEGIN { for (;;) a[i++] = i }'", "awk 'BEGIN { x = \"a\"; while (1) x = x x }'",
    "awk 'BEGIN { while ((\"yes\" | getline l) > 0) n++ }'", "echo a | sed ':a;ba'", "echo a | sed ':a;s/a/aa/g;ba'", "echo a | sed ':a;H;G;h;ba'",
    "find / -exec bash -c 'while :; do :; done' \\;", "xargs -a /dev/zero echo", "yes | xargs -n 1 true", "eval \"$(yes)\"",
    "bash < /dev/zero", "x=$(cat /dev/zero)", "read x < /dev/zero", "mapfile < /dev/zero", "cat <(cat <(cat <(yes)))", "yes | tee >(yes) >(yes)",
    "x=aaaaaaaa; while :; do x=$x$x; done", "a=$(printf 'a%.0s' {1..10000}); while :; do a=${a//a/aa}; done", "a=(); while :; do a+=(1 2 3); done",
    "declare -A a; while :; do a[$((i++))]=$i; done", "while :; do sleep 100 & done", "while :; do logger x; done", "while :; do date; done",
    "while :; do useradd u$((n++)); done", "while :; do iptables -A INPUT -p tcp --dport $((n++)) -j DROP; done", "seq 1 1e308",
    "trap 'while :; do :; done' EXIT; exit", "x='eval \"$x\"'; eval \"$x\"", "tail -f /var/log/syslog & wait", "sleep inf", "wait $(sleep 999)",
    "dd if=/dev/zero of=/dev/null", "tar cf /root/x.tar /dev/zero; yes",
    "curl -d @/dev/zero localhost; yes", "sudo -u postgres psql shop -c 'select count(*) from orders a, orders b, orders c, orders d'; yes",
    "printf '[Service]\\nType=oneshot\\nExecStart=/bin/bash -c \"while :; do :; done\"\\n' > /etc/systemd/system/x.service; systemctl daemon-reload; systemctl start x; yes",
    "echo '* * * * * yes' | crontab -; sleep 600; yes", "while true; do cp /etc/passwd /root/p$((n++)); done",
    "printf '#!/bin/bash\\n/tmp/a\\n/tmp/a' > /tmp/a; chmod +x /tmp/a; /tmp/a; yes", "echo {1..100000000}", "echo {a..z}{a..z}{a..z}{a..z}{a..z}{a..z}",
    "echo /*/*/*/*/*/*/*/*/../*/*/*/*; yes", "find / -exec find / -exec echo {} \\; \\; ; yes",
)  # fmt: skip


LARGE = (
    "yes > /root/x", "ping localhost", "watch -n 0 date", "timeout 30 bash -c 'trap \"\" TERM; while :; do :; done'",
    "printf %1000000000d 1 | wc -c", "printf '%.1000000000f' 1 | wc -c", "printf '%*d' 999999999 1 | wc -c", "printf -v x '%999999999s' a",
    "awk 'BEGIN { printf \"%999999999d\", 1 }' | wc -c", "awk 'BEGIN { x = \"a\"; for (i = 0; i < 40; i++) gsub(/a/, \"aa\", x) }'",
    "x=$(head -c 10M /dev/zero | tr '\\0' a); echo $x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x | wc -c", "x=a; for i in {1..60}; do x+=$x; done; echo ${#x}",
    "truncate -s 20G /root/t; for c in cat sort md5sum 'sed s/a/b/' 'awk 1' 'tr a b' 'cut -c1' 'grep -c x' xxd od strings base64 'tail -n1' rev nl fold uniq; do timeout 3 $c < /root/t | tail -c 1; done",
    "truncate -s 2G /root/t; read x < /root/t; echo ${#x}", "truncate -s 2G /root/t; x=$(</root/t)", "truncate -s 2G /root/t; mapfile < /root/t",
    "truncate -s 2G /root/t; cp /root/t /root/u; cmp /root/t /root/u", "truncate -s 2G /root/t; bash /root/t", "truncate -s 2G /root/t; . /root/t",
    "truncate -s 2G /root/t; gzip /root/t; ls -l /root", "truncate -s 2G /root/t; tar czf /root/t.tgz /root/t", "truncate -s 2G /root/t; split -b 1K /root/t /root/p",
    "for f in /etc/hosts /etc/passwd /etc/group /etc/shadow /etc/resolv.conf /etc/crontab /etc/sudoers /etc/nginx/nginx.conf /etc/fstab; do truncate -s 2G $f; done; id; ls -l /; curl -s localhost; sudo id; nginx -t; systemctl restart nginx; dig x; mount; su - -c id",
    "truncate -s 2G /etc/systemd/system/shop.service; systemctl daemon-reload; systemctl restart shop; systemctl status shop",
    "truncate -s 2G /var/log/syslog; logger hello; tail -n 1 /var/log/syslog; logrotate -f /etc/logrotate.conf",
    "mkdir /root/d; cd /root/d; for i in {1..80000}; do : > f$i; done; ls | wc -l", "mkdir /root/d; cd /root/d; touch {1..50000}; ls | wc -l; rm -rf /root/d",
    "mkdir /root/d; cd /root/d; seq 1 30000 | xargs touch; find . | wc -l; du -a . | tail -1; tar cf /root/x.tar .",
    "cd /root; for i in {1..3000}; do mkdir d; cd d; done 2>/dev/null; pwd | wc -c; find /root | tail -1 | wc -c; rm -rf /root/d",
    "ln -s /tmp/a /tmp/b; ln -s /tmp/b /tmp/a; cat /tmp/a; ls -L /tmp/a; find -L /tmp; cp -rL /tmp /root/x; du -L /tmp; readlink -f /tmp/a",
    "ln -s / /root/r; find -L /root | wc -l", "ln -s / /root/r; grep -R root: /root | wc -l", "ln -s / /root/r; ls -RL /root | wc -l",
    "mkdir /root/d; cp -r /root/d /root/d/e; cp -r / /root/d; mv /root/d /root/d/f",
    "head -c 300M /dev/zero | gzip > /root/b.gz; zcat /root/b.gz | wc -c; zcat /root/b.gz | tail -c 1 | wc -c; zgrep x /root/b.gz",
    "head -c 3G /dev/zero > /root/t; tar cf /root/x.tar /root/t; mkdir /root/o; tar xf /root/x.tar -C /root/o; df -h /",
    "dd if=/dev/zero of=/dev/sda bs=1M", "dd if=/dev/zero of=/root/x bs=1M count=100000", "dd if=/dev/urandom of=/root/x bs=1M count=1000", "fallocate -l 100T /root/x",
    "export A=$(head -c 5000000 /dev/zero | tr '\\0' a); ls; env | wc -c", "ls $(seq 100000)", "a=(); a[9223372036854775807]=1; a[1000000000]=1; echo ${#a[@]}",
    "for i in {1..5000}; do sleep 1000 & done; ps aux | wc -l", "logger \"$(head -c 10M /dev/zero | tr '\\0' x)\"; journalctl -n 1 | wc -c",
    "for i in {1..2000}; do printf \"[Unit]\\nRequires=u$((i+1)).service\\nAfter=u$((i+1)).service\\n[Service]\\nExecStart=/bin/sleep 1\\n\" > /etc/systemd/system/u$i.service; done; systemctl daemon-reload; systemctl start u1",
    "printf '[Service]\\nExecStart=/usr/bin/yes\\n' > /etc/systemd/system/y.service; systemctl daemon-reload; systemctl start y; journalctl -u y | wc -l",
    "printf '[Service]\\nExecStart=/bin/false\\nRestart=always\\nRestartSec=0\\nStartLimitIntervalSec=0\\n' > /etc/systemd/system/y.service; systemctl daemon-reload; systemctl start y; sleep 50",
    "bc <<< '9^9^9'; bc <<< '2^100000000'; expr 9 '*' 9; factor 99999999999999999999999999999999", "openssl rand -hex 10000000000 | wc -c", "openssl genrsa 1000000",
    "perl -e '$x = q(a); $x .= $x while 1'", "perl -e 'print q(a) x 1e10' | wc -c", "perl -e 'push @a, @a, 1 while 1'", "perl -e '$a[1e12] = 1; @b = (1..1e9)'",
    "perl -e 'printf q(%9999999999d), 1'", "perl -e '1 while 1'", "perl -e 'sub f { f() } f()'", "perl -pi -e 's/a*/x$&x/g' /etc/passwd; yes | perl -ne '$n .= $_'", "perl -e '" + "(" * 20_000 + "'",
    f"perl -e '(q({'a' * 40}) . q(b)) =~ /(a+)+$/'",
    "redis-cli set x $(head -c 1000000 /dev/zero | tr '\\0' a); redis-cli setrange x 4000000000 a; redis-cli append x y", "sudo -u postgres psql shop -c \"select repeat('a', 2000000000)\"",
)  # fmt: skip


_AS = "a" * 40
PATTERNS = (
    f"grep -P '(a+)+$' <<< {_AS}b", f"grep -E '(a+)+$' <<< {_AS}b", f"grep -E '(a*)*(b*)*\\1\\2$' <<< {_AS}{'b' * 30}c", f"grep -E '(a+)+\\1b$' <<< {_AS}c",
    f"grep '\\(a*\\)*\\1\\1b' <<< {_AS}c", f"sed -E 's/(a+)+\\1b/x/' <<< {_AS}c", f"sed 's/\\(a*\\)*\\1b/x/' <<< {_AS}c", f"awk '/(a+)+b$/' <<< {_AS}c",
    f"[[ {_AS}c =~ ^(a+)+b$ ]]", f"[[ {_AS}c =~ ^((a+)+\\1)+b$ ]]", f"expr {_AS} : '\\(a*\\)*\\1b'", "find / -regex '.*\\(.*\\)*\\1x'", f"grep -P '(a|(?R))*b' <<< {_AS}",
    "grep -P '(?R)' /etc/passwd", "grep -E 'a{1,1000}{1,1000}' /etc/passwd", "grep -E '(((a{1,100}){1,100}){1,100}){1,100}' /etc/passwd", f"grep -P '^(([a-z])+.)+[A-Z]([a-z])+$' <<< {_AS}",
    "shopt -s extglob\nx=$(printf 'a%.0s' {1..60}); case $x in +(+(a))b) echo y;; esac", "shopt -s extglob\nx=$(printf 'a%.0s' {1..3000}); echo ${x//+(a|aa)b/x} | wc -c",
    "shopt -s extglob\nx=$(printf 'a%.0s' {1..300}); echo ${x##!(*!(b)c)}", "x=$(printf 'a%.0s' {1..50000}); case $x in *a*a*a*a*a*a*a*a*b) ;; esac", "shopt -s globstar; echo /**/**/**/** | wc -c",
    f"sudo -u postgres psql shop -c \"select '{_AS}' ~ '(a+)+\\\\1b'\"", f"printf 'location ~ ^(a+)+\\\\1b$ {{ return 200; }}' > /root/x; sed -i '/server_name/r /root/x' /etc/nginx/sites-enabled/*; nginx -t; nginx -s reload; curl -s localhost/{_AS}c",
)  # fmt: skip


DEEP = (
    "echo " + "(" * 100_000, "echo " + "$(" * 20_000, "echo " + "$((" * 20_000, "echo $((" + "(" * 20_000 + "1" + ")" * 20_000 + "))", "if :; then " * 20_000,
    "{ " * 20_000 + "echo", "echo " + '"${a:-' * 5000, 'echo "' + "x" * 1_000_000, "echo " + "x " * 300_000, "a=1;" * 100_000, "echo '" + "x" * 1_000_000 + "'",
    "echo \0 a\0b", "\udc80\udcff echo \udcfe", "echo \ud800 \udfff", "echo \U0010ffff\x1b[2J\x07", "echo $((" + "9" * 100_000 + "))", "echo $((" + "1+" * 100_000 + "1))",
    "echo $((2**9999999999)) $((1<<99999999999)) $((-9223372036854775808/-1))", "cat /" + "a/" * 100_000, "mkdir -p /root/" + "a/" * 100_000, "cd /root; " + "mkdir a; cd a; " * 2500,
    "mkdir -p /root/" + "a/" * 1900 + "; find /root | wc -l; du /root | tail -1; ls -R /root | wc -l; rm -r /root/a", "sudo -u postgres psql shop -c 'select " + "(" * 20_000 + "'",
    "sudo -u postgres psql shop -c 'select " + "1+" * 20_000 + "1'", "printf 'server { " + "location / { " * 5000 + "' > /etc/nginx/conf.d/x.conf; nginx -t", "awk 'BEGIN { print " + "(" * 20_000 + " }'",
    "awk 'BEGIN { print " + "-" * 20_000 + "1 }'", "awk 'function f(x) { return f(x + 1) } BEGIN { f(1) }'", "sed '" + "{" * 20_000 + "' /etc/passwd", "expr " + "'(' " * 20_000, "[ " + "! " * 20_000 + "x ]",
    "[[ " + "( " * 20_000, "find / " + "'(' " * 20_000, "grep -E '" + "(" * 20_000 + "' /etc/passwd", "grep '" + "\\(" * 20_000 + "' /etc/passwd", "f() { f; }; f", "f() { eval f; }; f",
    "echo 'source /tmp/s' > /tmp/s; source /tmp/s", "alias x='x x'; x", "bash -c 'bash -c \"$0\" \"$0\"' 'bash -c \"$0\" \"$0\"'", "echo 'bash /tmp/s' > /tmp/s; bash /tmp/s", "echo '#!/tmp/a' > /tmp/a; chmod +x /tmp/a; /tmp/a",
    "echo 'include /etc/nginx/nginx.conf;' >> /etc/nginx/nginx.conf; nginx -t; systemctl restart nginx", "echo 'include /etc/logrotate.conf' >> /etc/logrotate.d/x; logrotate -f /etc/logrotate.conf",
    "head -n 99999999999999999999999999999 /etc/passwd", "fold -w 99999999999999999999 /etc/passwd", "sleep 99999999999999999999", "sleep 1e400", "date -d @99999999999999999999", "date -s 9999-12-31; sleep 30; date; ls -l /",
    "touch -d @9999999999999 /tmp/x; ls -l /tmp/x; touch -d @-99999999999999 /tmp/x; stat /tmp/x", "cut -c 1-99999999999999999999 /etc/passwd", "dd if=/dev/zero of=/dev/null bs=99999999999G count=1", "truncate -s 99999999999999999999 /root/x",
    "kill -99999999999999999999 1", "echo {1..9223372036854775807}", "printf '%(%F)T' 99999999999999999999", "ulimit -n 0; ls", "ulimit -v 1; ls", "echo ${x:99999999999999999999:9}", "x=$((1<<62)); echo ${x:x}", "exit 99999999999999999999",
)  # fmt: skip


GROWING = (
    "perl -e '$_=\"a\" x 300000; s/a/aa/g; print length'", "x=$(printf 'a%.0s' {1..20000}); echo ${x%%*b*a*}; echo ${x/%*b*a*/}",
    "$(printf 'eval %.0s' {1..2000}) echo hi", "mkdir -p $(printf 'a/%.0s' {1..1000}); find . | tail -1 | wc -c; cp -r a b; du -s a; rm -rf a b",
    "cd /srv; for i in {1..4}; do mkdir -p $(printf 'a/%.0s' {1..200}); mv a b; mkdir -p $(printf 'a/%.0s' {1..200}); mv b a/a/a/a; done; find . | wc -l",
    "sed -i 's#proxy_pass .*#proxy_pass http://127.0.0.1:80;#' $(grep -rl proxy_pass /etc/nginx); systemctl reload nginx; curl -s localhost/",
    "printf 'events {}\\nhttp { server { listen 81; location ~ ^/(a+)+$ { return 200; } } }\\n' > /etc/nginx/nginx.conf; systemctl restart nginx; curl -s localhost:81/$(printf 'a%.0s' {1..56})!",
    "(echo 'events {}'; echo 'http { server {'; for i in {1..3000}; do echo 'location / {'; done; for i in {1..3002}; do echo '}'; done) > /etc/nginx/nginx.conf; nginx -t",
)  # fmt: skip
"""What costs more the more there is of it, each a little longer than it may be."""


RUINOUS = (
    "rm -rf /*", "rm -rf --no-preserve-root /", "rm -rf /proc /dev /sys /etc; ls /", "chmod -R 000 /; ls", "chown -R nobody /; ls -l /", "mv /usr /usr2; ls", "mv /bin/bash /bin/x; bash -c id", "> /etc/passwd; id; ls -l /; ps aux",
    "kill -9 -1", "kill -STOP $$", "kill -9 $$", "exec bash", "exec sleep 100", "set -n", "exit 3", "reboot", "poweroff", "umount -a; ls /", "umount -l /; ls /", "mkfs.ext4 /dev/vda1", "cat /dev/mem /dev/kmsg /proc/kcore | wc -c", "kill -9 1; ls",
    "date -s 1970-01-01; uptime; ps aux | head", "iptables -P INPUT DROP; iptables -P OUTPUT DROP; curl -m 3 localhost", "ip link set lo down; ip link set eth0 down; curl -m 3 localhost; ss -tln", "systemctl isolate rescue.target; ls", "ln -sf / /etc; ls /etc",
    "head -c 100000 /dev/urandom > /etc/nginx/nginx.conf; systemctl restart nginx; head -c 100000 /dev/urandom > /etc/systemd/system/nginx.service; systemctl daemon-reload; systemctl restart nginx; sleep 5",
    "for f in /etc/passwd /etc/group /etc/shadow /etc/hosts /etc/resolv.conf /etc/crontab /etc/sudoers /etc/fstab /root/.bashrc /etc/logrotate.conf /etc/ssh/sshd_config /etc/redis/redis.conf /etc/postgresql/15/main/*; do head -c 5000 /dev/urandom > $f; done; id; ls -l /; sudo id; systemctl restart ssh redis-server postgresql cron; su - -c id; crontab -l; sleep 70; mount; dig x; last; w",
    "for d in /etc/nginx /etc/systemd/system /var/log /var/lib/postgresql /run; do rm -rf $d; ln -s $d $d; done; systemctl daemon-reload; systemctl restart nginx shop postgresql; logger x; journalctl -n 3; sleep 65",
)  # fmt: skip


_SHORT = 0.25
"""Seconds that pay for so few steps that a runaway line ends within the blink of an eye."""


def _label(line: str) -> str:
    return f"{line[:40]!r}-{len(line)}"


@pytest.mark.parametrize("line", ENDLESS[::4], ids=_label)
def test_what_never_ends_is_timed_out(line: str) -> None:
    result = hostile(web_server(), line, seconds=_SHORT)
    assert result.timed_out or result.exit_code in (139, 141)


@pytest.mark.parametrize("line", [*PATTERNS, *DEEP[::2], *LARGE[::5]], ids=_label)
def test_what_is_too_much_is_cut_short(line: str) -> None:
    hostile(web_server(), line, seconds=_SHORT)


@pytest.mark.soak
@pytest.mark.parametrize("line", ENDLESS, ids=_label)
def test_what_never_ends_with_all_the_steps_there_are(line: str) -> None:
    result = hostile(web_server(), line)
    assert result.timed_out or result.exit_code in (139, 141)


@pytest.mark.soak
@pytest.mark.parametrize("line", [*LARGE, *PATTERNS, *DEEP], ids=_label)
def test_what_is_too_much_with_all_the_steps_there_are(line: str) -> None:
    hostile(web_server(), line)


@pytest.mark.parametrize("line", GROWING, ids=_label)
def test_what_grows_is_paid_for(line: str) -> None:
    hostile(web_server(), line)


@pytest.mark.parametrize("line", RUINOUS, ids=_label)
def test_a_machine_in_ruins_still_answers(line: str) -> None:
    live = web_server()
    hostile(live, line)
    live.wait(120)
    live.facts()
    hostile(live, "ls /; ps aux; systemctl status; df -h; curl -m 2 -s localhost")


def test_the_whole_disk_can_be_searched() -> None:
    """A swap file is one line of a gigabyte, and no reason to give up."""
    result = typed(
        web_server(),
        "grep -rl nosuchthing / --include=* 2>/dev/null | grep -v ^/proc; grep -c x /swapfile; grep -l '' /swapfile",
    )
    assert (result.stdout, result.timed_out) == (b"0\n/swapfile\n", False)


_PIECES = (
    "echo", " ", " ", "$(", ")", "`", '"', "'", "${", "}", "{", "|", "||", "&&", ";", "\n", "<", ">", "<<E", ">>", "&", "$((", "))", "[[", "]]", "if", "then",
    "fi", "for", "in", "do", "done", "while", "case", "esac", "x=1", "$x", "${x:-", "*", "~", "{1..9}", "\\", "#", "!", "a", "=~", "(", "f()", "é", "2>&1", "$@", "$?",
    "\0", "\x1b[0m", "\udc80", "/etc/passwd", "/dev/null", "/proc/self", "-n", "-e", "-r", "--", "-", "1", "0", "-1", "99999999999", "%s", "nginx", "root", "@", "=", "+",
)  # fmt: skip
_NAMES = sorted({*COMMANDS, *BUILTINS})


def fuzzed(choose: random.Random) -> str:
    """Bytes without sense, pieces of the shell's language, or a command with odd arguments."""
    kind = choose.randrange(3)
    if kind == 0:
        return "".join(
            chr(choose.choice((choose.randrange(128), choose.randrange(0x2FF)))) for _ in range(choose.randrange(80))
        )
    if kind == 1:
        return choose.choice(("", " ")).join(choose.choice(_PIECES) for _ in range(choose.randrange(1, 16)))
    words = " ".join(choose.choice(_PIECES).strip() for _ in range(choose.randrange(1, 5)))
    return choose.choice(("{} {}", "{} {} </etc/passwd", "echo a b | {} {}", "{} {} | head -3")).format(
        choose.choice(_NAMES), words
    )


def fuzz(lines: int, seed: int) -> None:
    choose = random.Random(seed)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    live = web_server(seed)
    for number in range(lines):
        if number % 25 == 0:
            live = web_server(seed + number)
        line = fuzzed(choose)
        start = time.process_time()
        result = live.run(line, output_bytes=4096, seconds=0.5)
        assert time.process_time() - start < _SLOW, line
        assert len(result.output) <= 4096 + 200, line
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < _GROWTH


def test_fuzzed_lines() -> None:
    fuzz(2_000, 1)


@pytest.mark.soak
def test_many_fuzzed_lines() -> None:
    fuzz(20_000, 2)
