"""For each probe type: what holds on the healthy small system, what does not, and a change that turns that over."""

from __future__ import annotations

from typing import NamedTuple

from scenario_dsl.model import Probe
from tests.conformance.worlds import probe


class ProbeCase(NamedTuple):
    """`holds` and `fails` on the healthy system; after `change` (shell text, as root) `holds` fails. No `change`: there
    is none that can be made by hand in a moment."""

    name: str
    holds: Probe
    fails: Probe
    change: str = ""


CASES = [
    ProbeCase("http", probe("http", url="http://localhost/health", status=200, body_matches="^fine$", within="1s"),
              probe("http", url="http://localhost/nothing", status=200), "systemctl stop nginx"),
    ProbeCase("http header", probe("http", url="http://localhost/health", header={"Server": "nginx"}),
              probe("http", url="http://localhost/health", header={"X-Other": "."}),
              "iptables -I INPUT -p tcp --dport 80 -j DROP"),
    ProbeCase("http error", probe("http", url="http://localhost/nothing", status=404),
              probe("http", url="http://localhost/nothing"), "echo x > /srv/www/nothing"),
    ProbeCase("unit", probe("unit", name="redis-server", state="active", enabled=True, masked=False,
                            restarts_at_most=0),
              probe("unit", name="redis-server", state="failed"), "systemctl stop redis-server"),
    ProbeCase("unit enabled", probe("unit", name="worker", enabled=True), probe("unit", name="worker", enabled=False),
              "systemctl disable worker"),
    ProbeCase("unit masked", probe("unit", name="nginx", masked=False), probe("unit", name="nginx", masked=True),
              "systemctl mask nginx"),
    ProbeCase("file", probe("file", path="/etc/default/worker", exists=True, type="file", owner="root", group="app",
                            mode="0640", mode_at_most="0644", contains="^TOKEN=", lacks="^PASSWORD", size_at_most="1KB",
                            size_at_least=10, readable_by="app", readable_by_others=False),
              probe("file", path="/etc/default/worker", readable_by="www-data"), "chmod 0600 /etc/default/worker"),
    ProbeCase("file absent", probe("file", path="/etc/nologin", exists=False),
              probe("file", path="/etc/nologin", exists=True), "echo closed > /etc/nologin"),
    ProbeCase("file link", probe("file", path="/etc/ssl/site/current.pem", type="link", target="2026.pem"),
              probe("file", path="/etc/ssl/site/current.pem", type="file"),
              "ln -sfn 2024.pem /etc/ssl/site/current.pem"),
    ProbeCase("file content", probe("file", path="/srv/www/health", contains="^fine$"),
              probe("file", path="/srv/www/health", lacks="fine"), "echo ill > /srv/www/health"),
    ProbeCase("socket", probe("socket", port=6379, listening=True, address="127.0.0.1", process="redis-server"),
              probe("socket", port=6380, listening=True), "systemctl stop redis-server"),
    ProbeCase("socket free", probe("socket", port=8080, listening=False), probe("socket", port=80, listening=False)),
    ProbeCase("process", probe("process", matches="^nginx: worker", running=True, count_at_least=1, count_at_most=4,
                               user="www-data", memory_at_most="1GB"),
              probe("process", matches="^nginx: worker", running=False), "systemctl stop nginx"),
    ProbeCase("disk", probe("disk", path="/var/log/nginx", used_percent_at_most=50, free_at_least="100MB",
                            inodes_free_at_least=100, inodes_used_percent_at_most=50),
              probe("disk", path="/var/log/nginx", used_percent_at_least=90), "fallocate -l 380M /var/log/large"),
    ProbeCase("memory", probe("memory", available_at_least="5GB", used_percent_at_most=40),
              probe("memory", available_at_most="1GB")),
    ProbeCase("cron", probe("cron", user="root", command="tidy", present=True, schedule="*/5 * * * *"),
              probe("cron", user="root", command="tidy", present=True, schedule="0 3 * * *"),
              "echo > /etc/cron.d/tidy"),
    ProbeCase("user", probe("user", name="dev", exists=True, groups=["sudo"], shell="/bin/bash", sudo=True),
              probe("user", name="dev", exists=False), "gpasswd -d dev sudo"),
    ProbeCase("user sudo", probe("user", name="dev", exists=True, sudo_without_password=False),
              probe("user", name="dev", exists=True, sudo_without_password=True),
              "echo 'dev ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/dev"),
    ProbeCase("ssh", probe("ssh", passwords=False, keys=True), probe("ssh", passwords=True),
              "sed -i '1i PasswordAuthentication yes' /etc/ssh/sshd_config && systemctl reload ssh"),
    ProbeCase("user keys", probe("user", name="root", exists=True, authorized_keys_lack="stranger"),
              probe("user", name="root", exists=True, authorized_keys_lack="admin@office"),
              "echo 'ssh-ed25519 AAAA stranger' >> /root/.ssh/authorized_keys"),
    ProbeCase("log", probe("log", path="/srv/www/health", matches="^fine", count_at_least=1, count_at_most=1),
              probe("log", path="/srv/www/health", matches="ill"), "echo fine again >> /srv/www/health"),
    ProbeCase("log of a unit", probe("log", unit="nginx", matches="Started", count_at_least=1),
              probe("log", unit="nginx", matches="emerg")),
    ProbeCase("redis", probe("redis", command="PING", equals="PONG"), probe("redis", command="GET nothing", equals="x"),
              "systemctl stop redis-server"),
    ProbeCase("dns", probe("dns", name="db-primary", resolves=True, address="10.0.0.20"),
              probe("dns", name="db-primary", resolves=False), "echo 10.0.0.99 db-primary >> /etc/hosts"),
    ProbeCase("certificate", probe("certificate", path="/etc/ssl/site/current.pem", valid=True,
                                   valid_for_at_least="30d", host="www.small.example",
                                   matches_key="/etc/ssl/site/site.key"),
              probe("certificate", path="/etc/ssl/site/2024.pem", valid=True),
              "cat /etc/ssl/site/2024.pem > /etc/ssl/site/2026.pem"),
    ProbeCase("certificate served", probe("certificate", served="https://small.example/", valid=True,
                                          matches_key="/etc/ssl/site/site.key"),
              probe("certificate", served="https://small.example/", valid=False),
              # A reload is only asked for: the old workers go on until the new ones are there.
              "cat /etc/ssl/site/2024.pem > /etc/ssl/site/2026.pem && systemctl reload nginx && sleep 3"),
    ProbeCase("firewall", probe("firewall", chain="INPUT", rule="--dport 23 -j DROP", present=True),
              probe("firewall", chain="INPUT", rule="--dport 22", present=True), "iptables -F INPUT"),
    ProbeCase("client", probe("client", name="visitors", errors_at_most=0, within="60s"),
              probe("client", errors_at_most=-1)),
    ProbeCase("mount", probe("mount", path="/tmp", mounted=True, options=["rw"]),
              probe("mount", path="/srv", mounted=True), "mount -o remount,ro /tmp"),
    ProbeCase("sysctl", probe("sysctl", key="net.ipv4.ip_forward", equals="0"),
              probe("sysctl", key="net.ipv4.ip_forward", equals="1"), "sysctl -w net.ipv4.ip_forward=1"),
    ProbeCase("limit", probe("limit", unit="nginx", name="nofile", at_least=512),
              probe("limit", unit="nginx", name="nofile", at_least=10**9), "systemctl stop nginx"),
]  # fmt: skip
ELSEWHERE = {"sql", "latency", "throughput", "scheduler"}
"""Types that need what the small system has not; they are tried with the systems that have it."""
NOT_THERE = {
    ("container", "disk"): "its worlds have no file systems of a described size",
    ("container", "memory"): "a world may hold 2.5 GiB, whatever the system describes",
    ("container", "mount"): "what the engine has mounted cannot be mounted anew there",
    ("container", "log of a unit"): "the journal is the world's own",
}
"""(backend, case) -> why what the small system describes is not there."""
