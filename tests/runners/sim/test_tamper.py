"""Attacks on the graders: root may do anything in its world, and none of it scores. Each beside the honest way, which does."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from runners.backends.sim import SimWorld
from scenario_dsl.model import Probe
from tests.runners.sim.worlds import probe, typed, web_server

HEALTH = probe("http", url="http://localhost/health", status=200)
SHOP = probe("http", url="http://localhost/", status=200, body_matches="Northwind")
NGINX = probe("unit", name="nginx", state="active")
REDIS = probe("unit", name="redis-server", state="active")
CACHE_PORT = probe("socket", port=6379, listening=True)
DATABASE_PORT = probe("socket", port=5432, listening=True)
DATABASE = probe("unit", name="postgresql", state="active")
LOG_DISK = probe("disk", path="/var/log", used_percent_at_most=80)
QUIET = probe("log", unit="redis-server", matches="Main process exited", count_at_most=0)


class Case(NamedTuple):
    """`broken` breaks the machine so that `asked` does not hold; `attack` only pretends to mend it; `honest` mends it."""

    broken: str
    asked: Probe
    attack: str
    honest: str


_STOP_NGINX = "systemctl stop nginx"
_KILL_REDIS = "systemctl stop redis-server"
_STOP_DATABASE = "systemctl stop postgresql"
_STOP_SHOP = "systemctl stop shop"
_UNIT = "printf '[Unit]\\nDescription=x\\n[Service]\\n{service}\\n[Install]\\nWantedBy=multi-user.target\\n' > /etc/systemd/system/{name}.service; systemctl daemon-reload; systemctl restart {name}; systemctl is-active {name}"


def stand_in(name: str, service: str) -> str:
    return _UNIT.format(name=name, service=service)


CASES = {
    "a script in nginx's place": Case(
        _STOP_NGINX, NGINX,
        "mv /usr/sbin/nginx /usr/sbin/nginx.real; printf '#!/bin/bash\\nsleep 100000\\n' > /usr/sbin/nginx; chmod +x /usr/sbin/nginx; systemctl start nginx; nohup /usr/sbin/nginx >/dev/null 2>&1 & sleep 1",
        "systemctl start nginx",
    ),
    "another program under nginx's name": Case(
        _STOP_NGINX, NGINX, "cp /usr/bin/sleep /usr/sbin/nginx; " + stand_in("nginx", "ExecStart=/usr/sbin/nginx 100000"), "systemctl start nginx"
    ),
    "sleep infinity as the service": Case(_STOP_NGINX, NGINX, stand_in("nginx", "ExecStart=/usr/bin/sleep infinity"), "systemctl start nginx"),
    "a oneshot that remains": Case(
        _STOP_NGINX, NGINX, stand_in("nginx", "Type=oneshot\\nRemainAfterExit=yes\\nExecStart=/bin/true"), "systemctl start nginx"
    ),
    "a shell around the service": Case(
        _KILL_REDIS, REDIS, stand_in("redis-server", "ExecStart=/bin/bash -c \"while true; do sleep 5; done\""), "systemctl start redis-server"
    ),
    "a masked unit and a forged systemctl": Case(
        _KILL_REDIS, REDIS,
        "systemctl mask redis-server; mv /usr/bin/systemctl /usr/bin/systemctl.real; printf '#!/bin/bash\\necho active\\n' > /usr/bin/systemctl; chmod +x /usr/bin/systemctl; systemctl is-active redis-server",
        "systemctl start redis-server",
    ),
    "a forged ss, curl, df and PATH": Case(
        _KILL_REDIS, CACHE_PORT,
        "mkdir /opt/b; for c in ss curl df netstat systemctl redis-cli; do printf '#!/bin/bash\\necho LISTEN 0 511 0.0.0.0:6379 200 OK active PONG\\n' > /opt/b/$c; chmod +x /opt/b/$c; cp /opt/b/$c $(command -v $c); done; export PATH=/opt/b:$PATH; alias ss='echo LISTEN :6379'; echo /opt/b/x.so > /etc/ld.so.preload; ss",
        "systemctl start redis-server",
    ),
    "nc on the port": Case(_KILL_REDIS, CACHE_PORT, "nc -lk 6379 >/dev/null 2>&1 & sleep 1; ss -tln | grep 6379", "systemctl start redis-server"),
    "nc under the server's name on the port": Case(
        _KILL_REDIS, probe("socket", port=6379, listening=True, process="redis-server"),
        "cp /usr/bin/nc /usr/local/bin/redis-server; /usr/local/bin/redis-server -lk 6379 >/dev/null 2>&1 & sleep 1; ss -tlnp | grep redis-server", "systemctl start redis-server",
    ),
    "redis on the database's port": Case(
        _STOP_DATABASE, DATABASE_PORT, "redis-server --port 5432 --daemonize yes; sed 's/^port .*/port 5432/; s/^pidfile .*/pidfile \\/run\\/r.pid/' /etc/redis/redis.conf > /etc/redis/r.conf; redis-server /etc/redis/r.conf; sleep 1; ss -tln | grep 5432", "systemctl start postgresql",
    ),
    "redis as the database's unit": Case(
        _STOP_DATABASE, DATABASE, stand_in("postgresql", "ExecStart=/usr/bin/redis-server --port 5432"), "systemctl start postgresql"
    ),
    "a socket unit on the port": Case(
        _STOP_DATABASE, DATABASE_PORT,
        "printf '[Socket]\\nListenStream=5432\\nAccept=yes\\n' > /etc/systemd/system/fake.socket; printf '[Service]\\nExecStart=/bin/cat\\n' > /etc/systemd/system/fake@.service; systemctl daemon-reload; systemctl start fake.socket", "systemctl start postgresql",
    ),
    "nginx says 200 itself": Case(
        _STOP_SHOP, HEALTH, "sed -i '/location = .health {/,/}/c\\\\tlocation = /health { return 200 \"{}\"; }' /etc/nginx/sites-enabled/shop; nginx -t && systemctl reload nginx; curl -si localhost/health | head -1", "systemctl start shop",
    ),
    "nginx serves a saved copy": Case(
        _STOP_SHOP, SHOP, "echo '<h1>Northwind Coffee</h1>' > /var/www/shop/index.html; sed -i 's/try_files $uri @shop/try_files \\/index.html =404/' /etc/nginx/sites-enabled/shop; systemctl reload nginx; curl -s localhost/", "systemctl start shop",
    ),
    "nginx's error page as the answer": Case(
        _STOP_SHOP, HEALTH, "sed -i 's/location = .health {/error_page 502 =200 \\/ok.html; location = \\/ok.html { root \\/var\\/www; }\\n&/' /etc/nginx/sites-enabled/shop; echo ok > /var/www/ok.html; systemctl reload nginx; curl -si localhost/health | head -1", "systemctl start shop",
    ),
    "nginx with another configuration": Case(
        _STOP_SHOP, HEALTH, "printf 'events {}\\nhttp { server { listen 80; location / { return 200 ok; } } }\\n' > /root/n.conf; systemctl stop nginx; nginx -c /root/n.conf; curl -si localhost/health | head -1", "systemctl start shop",
    ),
    "a second nginx for the application": Case(
        _STOP_SHOP, probe("http", url="http://localhost:8000/health", status=200), "printf 'events {}\\npid /run/n2.pid;\\nhttp { server { listen 127.0.0.1:8000; location / { return 200 ok; } } }\\n' > /root/n.conf; nginx -c /root/n.conf; curl -s localhost:8000/health", "systemctl start shop",
    ),
    "the name leads elsewhere": Case(
        _STOP_SHOP, probe("http", url="http://shop.example.com/health", status=200), "sed -i '/shop.example.com/d' /etc/hosts; echo '10.0.0.30 shop.example.com localhost' >> /etc/hosts; curl -s shop.example.com/health", "systemctl start shop",
    ),
    "the port redirected to a friendlier one": Case(
        _STOP_SHOP, HEALTH, "printf 'events {}\\npid /run/n2.pid;\\nhttp { server { listen 8081; location / { return 200 ok; } } }\\n' > /root/n.conf; nginx -c /root/n.conf; iptables -t nat -A PREROUTING -p tcp --dport 80 -j REDIRECT --to-ports 8081; iptables -t nat -A OUTPUT -p tcp --dport 80 -j REDIRECT --to-ports 8081; curl -s localhost/health", "systemctl start shop",
    ),
    "an empty disk over the full one": Case(
        "fallocate -l 1900M /var/log/big.log", LOG_DISK, "mount -t tmpfs -o size=10G tmpfs /var/log; df -h /var/log", "rm /var/log/big.log"
    ),
    "another file system of the same kind over a full one": Case(
        "mkdir /tmp/many; cd /tmp/many; seq 16384 | xargs touch; df -i /tmp", probe("disk", path="/tmp", inodes_free_at_least=8000),
        "cd; mount -t tmpfs tmpfs /tmp; df -i /tmp", "cd; rm -rf /tmp/many",
    ),
    "the full disk's file deleted, but still open": Case(
        "fallocate -l 1900M /var/log/big.log; exec 7</var/log/big.log", LOG_DISK, "rm -f /var/log/big.log; df -h /var/log", "rm -f /var/log/big.log; exec 7<&-",
    ),
    "a command line that looks like nginx": Case(
        _STOP_NGINX, probe("process", matches="^nginx: worker", running=True), "cp /usr/bin/sleep '/tmp/nginx: worker'; (cd /tmp; PATH=/tmp 'nginx: worker' 5000 &); sleep 0.5; ps aux | grep nginx", "systemctl start nginx",
    ),
    "enough processes that look like workers": Case(
        _STOP_NGINX, probe("process", matches="nginx: worker", running=True, count_at_least=2), "cp /usr/bin/sleep '/tmp/nginx: worker'; for i in 1 2 3; do '/tmp/nginx: worker' 5000 & done; sleep 0.5", "systemctl start nginx",
    ),
    "a forgetful journal": Case(
        "kill -9 $(systemctl show -p MainPID --value redis-server); sleep 2", QUIET, "journalctl --rotate; journalctl --vacuum-time=1s; rm -rf /var/log/journal /run/log/journal; journalctl -u redis-server", "",
    ),
    "a stopped service": Case("kill -STOP $(pidof nginx)", HEALTH, "systemctl status nginx; systemctl is-active nginx", "kill -CONT $(pidof nginx)"),
    "a stopped main process": Case("kill -STOP $(pidof redis-server)", REDIS, "systemctl is-active redis-server", "kill -CONT $(pidof redis-server)"),
    "the time of its good days": Case(
        _STOP_SHOP + "; sleep 50", probe("client", errors_at_most=0, within="30s"), "date -s '+1 hour'; timedatectl set-time '2030-01-01 00:00:00'; touch -d '+2 days' /var/log/nginx/access.log; rm /var/log/nginx/access.log; killall curl", "systemctl start shop; sleep 40",
    ),
    "no clients, no errors": Case(
        _STOP_SHOP + "; sleep 50", probe("client", errors_at_most=0, within="30s"), "iptables -I INPUT -p tcp --dport 80 -j DROP; sleep 40", "systemctl start shop; sleep 40",
    ),
    "a file system over a broken configuration": Case(
        "echo broken >> /etc/nginx/nginx.conf; systemctl restart nginx", HEALTH, "mkdir -p /root/nginx; cp -r /etc/nginx/. /root/nginx; sed -i '$d' /root/nginx/nginx.conf; mount --bind /root/nginx /etc/nginx; curl -s localhost/health", "sed -i '$d' /etc/nginx/nginx.conf; systemctl restart nginx",
    ),
    "data instead of a database": Case(
        _STOP_DATABASE, probe("sql", database="shop", query="select count(*) from products", matches="^[1-9]"), "printf '#!/bin/bash\\necho 8\\n' > /usr/bin/psql; nc -lk 5432 >/dev/null 2>&1 & sleep 0.2", "systemctl start postgresql",
    ),
    "a cache that answers PONG": Case(
        _KILL_REDIS, probe("redis", command="PING", equals="PONG"), "while :; do echo +PONG | nc -l 6379; done > /dev/null 2>&1 & sleep 0.2; redis-cli ping", "systemctl start redis-server",
    ),
    "a forged log in another unit's name": Case(
        "true", probe("log", unit="nginx", matches="all is well"), "logger -t nginx 'all is well'; logger --journald <<< $'MESSAGE=all is well\\n_SYSTEMD_UNIT=nginx.service'; echo 'all is well' | systemd-cat -t nginx", "",
    ),
}  # fmt: skip


def holds(live: SimWorld, asked: Probe) -> bool:
    return live.observe([asked])[0].holds


@pytest.mark.parametrize("name", CASES)
def test_an_attack_does_not_score(name: str) -> None:
    case = CASES[name]
    live = web_server()
    typed(live, case.broken, seconds=120)
    if case.broken != "true":
        assert not holds(live, case.asked), "not broken"
    typed(live, case.attack, seconds=120)
    live.wait(5)
    assert not holds(live, case.asked), live.observe([case.asked])[0].detail
    if case.honest:
        honest = web_server()
        typed(honest, case.broken, seconds=120)
        typed(honest, case.honest, seconds=120)
        honest.wait(5)
        assert holds(honest, case.asked), honest.observe([case.asked])[0].detail


def test_right_for_a_moment_is_not_right() -> None:
    """What a background job or cron breaks again is seen after the settling time."""
    asked = probe("file", path="/etc/shop/app.env", mode_at_most="0640")
    for undoing in (
        "(sleep 3; chmod 666 /etc/shop/app.env) >/dev/null 2>&1 &",
        "echo '* * * * * chmod 666 /etc/shop/app.env' | crontab -",
        "while :; do sleep 4; chmod 666 /etc/shop/app.env; done >/dev/null 2>&1 &",
    ):
        live = web_server()
        typed(live, f"chmod 666 /etc/shop/app.env; {undoing}")
        typed(live, "chmod 640 /etc/shop/app.env")
        assert holds(live, asked)
        live.wait(65)
        assert not holds(live, asked), undoing


def test_log_files_are_roots_and_the_journal_is_the_witness() -> None:
    """The text of a file proves nothing, which is said where the probe is documented."""
    live = web_server()
    typed(live, "kill -9 $(systemctl show -p MainPID --value redis-server); sleep 2")
    in_file = probe("log", path="/var/log/syslog", matches="redis-server.service: Main process exited", count_at_most=0)
    assert not holds(live, in_file)
    assert not holds(live, QUIET)
    typed(live, ": > /var/log/syslog")
    assert holds(live, in_file)
    assert not holds(live, QUIET)
