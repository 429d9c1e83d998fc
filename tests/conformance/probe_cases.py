"""For each probe type and each argument of it: what holds on the small system, what does not, and a change that turns
that over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scenario_dsl.model import Probe
from tests.conformance.worlds import probe


class ProbeCase(NamedTuple):
    """`holds` and `fails` on the healthy system, or after `before` (shell text, as root) and a moment; after `change`
    the first of `holds` fails. No `change`: there is none that can be made by hand in a moment."""

    name: str
    holds: tuple[Probe, ...]
    fails: tuple[Probe, ...]
    change: str
    before: str


def case(
    name: str, holds: Probe | Sequence[Probe], fails: Probe | Sequence[Probe], change: str = "", before: str = ""
) -> ProbeCase:
    held, failed = (tuple([given] if isinstance(given, Probe) else given) for given in (holds, fails))
    return ProbeCase(name, held, failed, change, before)


def http(path: str, **expected: object) -> Probe:
    return probe("http", url=f"http://localhost/{path}", **expected)


def unit(name: str, **expected: object) -> Probe:
    return probe("unit", name=name, **expected)


def worker(**expected: object) -> Probe:
    return probe("file", path="/etc/default/worker", **expected)


def workers(**expected: object) -> Probe:
    return probe("process", matches="^nginx: worker", **expected)


def disk(**expected: object) -> Probe:
    return probe("disk", path="/var/log/nginx", **expected)


def tidy(**expected: object) -> Probe:
    return probe("cron", user="root", command="tidy", present=True, **expected)


def user(name: str, **expected: object) -> Probe:
    return probe("user", name=name, exists=True, **expected)


def health(**expected: object) -> Probe:
    return probe("log", path="/srv/www/health", matches="^fine", **expected)


def limit(name: str, at_least: int) -> Probe:
    return probe("limit", unit="worker", name=name, at_least=at_least)


SITE = "/etc/ssl/site"
LIMITS = {"nofile": 2048, "nproc": 512, "memory": 256 << 20, "core": 1 << 20, "fsize": 1 << 30, "stack": 4 << 20,
          "as": 1 << 30}  # fmt: skip
"""Those of the worker's unit."""
UNIT = "/etc/systemd/system/trial.service"

CASES = [
    case("http", http("health", status=200, body_matches="^fine$", within="1s"),
         [http("nothing", status=200), http("health", body_matches="ill"), http("health", within=0)],
         "systemctl stop nginx"),
    case("http header", http("health", header={"Server": "nginx"}), http("health", header={"X-Other": "."}),
         "iptables -I INPUT -p tcp --dport 80 -j DROP"),
    case("http error", http("nothing", status=404), http("nothing"), "echo x > /srv/www/nothing"),
    case("http host", http("health", host="gone.example", status=410), http("health", host="gone.example", status=200),
         "sed -i s/gone.example/left.example/ /etc/nginx/nginx.conf && systemctl restart nginx"),
    case("http method", [http("health", method="HEAD", status=200, header={"Content-Length": "^5$"}),
                         http("health", method="GET", status=200, body_matches="fine"),
                         *(http("health", method=method, status=405) for method in ("POST", "PUT", "DELETE"))],
         [http("health", method="HEAD", body_matches="fine"), http("health", method="POST")], "rm /srv/www/health"),
    case("unit", unit("redis-server", state="active", enabled=True, masked=False, restarts_at_most=0),
         unit("redis-server", state="failed"), "systemctl stop redis-server"),
    case("unit enabled", unit("worker", enabled=True), unit("worker", enabled=False), "systemctl disable worker"),
    case("unit linked", unit("trial", enabled=False), unit("trial", enabled=True), "systemctl enable trial",
         f"printf '[Service]\\nExecStart=/usr/bin/sleep infinity\\n[Install]\\nWantedBy=multi-user.target\\n' > "
         f"/srv/trial.service && ln -s /srv/trial.service {UNIT} && systemctl daemon-reload"),
    case("unit masked", unit("nginx", masked=False), unit("nginx", masked=True), "systemctl mask nginx"),
    case("unit stopped", unit("worker", state="inactive"), unit("worker", state="active"), "systemctl start worker",
         "systemctl stop worker"),
    case("unit failed", unit("trial", state="failed"), unit("trial", state="inactive"), "systemctl reset-failed trial",
         f"printf '[Service]\\nExecStart=/usr/bin/false\\n' > {UNIT} && systemctl daemon-reload && "
         "systemctl start trial"),
    case("unit on its way", unit("trial", state="activating"), unit("trial", state="active"), "systemctl stop trial",
         f"printf '[Service]\\nExecStart=/usr/bin/false\\nRestart=always\\nRestartSec=300\\n' > {UNIT} && "
         "systemctl daemon-reload && systemctl start trial"),
    case("unit restarted", unit("redis-server", restarts_at_most=1), unit("redis-server", restarts_at_most=0),
         "systemctl kill -s KILL redis-server && sleep 2", "systemctl kill -s KILL redis-server"),
    case("file", worker(exists=True, type="file", owner="root", group="app", mode="0640", mode_at_most="0644",
                        contains="^TOKEN=", lacks="^PASSWORD", size_at_most="1KB", size_at_least=10, readable_by="app",
                        readable_by_others=False),
         [worker(readable_by="www-data"), worker(readable_by="nobody-such"), worker(readable_by_others=True),
          worker(exists=False), worker(owner="app"), worker(group="root"), worker(mode="0644"),
          worker(mode_at_most="0600"), worker(contains="^PASSWORD"), worker(lacks="^TOKEN="), worker(size_at_most=10),
          worker(size_at_least="1KB")], "chmod 0600 /etc/default/worker"),
    case("file absent", probe("file", path="/etc/nologin", exists=False),
         probe("file", path="/etc/nologin", exists=True), "echo closed > /etc/nologin"),
    case("file link", probe("file", path=f"{SITE}/current.pem", type="link", target="2026.pem"),
         [probe("file", path=f"{SITE}/current.pem", type="file"),
          probe("file", path=f"{SITE}/current.pem", target="2024.pem")], f"ln -sfn 2024.pem {SITE}/current.pem"),
    case("file link to nowhere", [probe("file", path="/srv/lost", exists=True, type="link", owner="root")],
         [probe("file", path="/srv/lost", lacks="x"), probe("file", path="/srv/lost", size_at_most=99),
          probe("file", path="/srv/lost", readable_by_others=False)], "rm /srv/lost", "ln -s /srv/gone /srv/lost"),
    case("file directory", probe("file", path="/srv/www", type="directory"),
         probe("file", path="/srv/www", type="file"), "rm -r /srv/www"),
    case("file content", probe("file", path="/srv/www/health", contains="^fine$"),
         probe("file", path="/srv/www/health", lacks="fine"), "echo ill > /srv/www/health"),
    case("socket", probe("socket", port=6379, listening=True, address="127.0.0.1", process="redis-server"),
         [probe("socket", port=6380, listening=True), probe("socket", port=6379, listening=True, process="nginx"),
          probe("socket", port=6379, listening=True, address="10.0.0.10")], "systemctl stop redis-server"),
    case("socket free", probe("socket", port=8080, listening=False), probe("socket", port=80, listening=False)),
    case("socket protocol", [probe("socket", port=5300, protocol="udp", listening=True),
                             probe("socket", port=80, protocol="tcp", listening=True)],
         [probe("socket", port=5300, protocol="tcp", listening=True),
          probe("socket", port=80, protocol="udp", listening=True)], "pkill nc && sleep 1",
         "nc -u -l -p 5300 > /dev/null 2>&1 < /dev/zero &"),
    case("process", workers(running=True, count_at_least=1, count_at_most=4, user="www-data", memory_at_most="1GB"),
         [workers(running=False), workers(count_at_least=9), workers(count_at_most=0),
          workers(running=True, user="app"), workers(memory_at_most=1)], "systemctl stop nginx"),
    case("disk", disk(used_percent_at_most=50, free_at_least="100MB", inodes_free_at_least=100,
                      inodes_used_percent_at_most=50),
         [disk(used_percent_at_least=90), disk(free_at_most="100MB"), disk(inodes_used_percent_at_least=50)],
         "fallocate -l 380M /var/log/large"),
    case("disk the other way", disk(used_percent_at_least=15, free_at_most="450MB", inodes_used_percent_at_least=1),
         [disk(used_percent_at_most=15), disk(free_at_least="450MB"), disk(inodes_free_at_least=40_000),
          disk(inodes_used_percent_at_most=0)], "rm /var/log/large", "fallocate -l 100M /var/log/large"),
    case("memory", probe("memory", available_at_least="5GB", used_percent_at_most=40),
         probe("memory", available_at_most="1GB")),
    case("memory the other way", probe("memory", available_at_most="8GB"),
         [probe("memory", available_at_least="8GB"), probe("memory", used_percent_at_most=1)]),
    case("cron", tidy(schedule="*/5 * * * *"),
         [tidy(schedule="0 3 * * *"), probe("cron", user="app", command="tidy", present=True)],
         "echo > /etc/cron.d/tidy"),
    case("cron runs", tidy(succeeded_within="10m"), tidy(succeeded_within="1s")),
    case("user", user("dev", groups=["sudo"], shell="/bin/bash", sudo=True),
         [probe("user", name="dev", exists=False), user("dev", groups=["adm"]), user("dev", shell="/bin/sh"),
          user("dev", sudo=False)], "gpasswd -d dev sudo"),
    case("user locked", user("dev", locked=True), user("dev", locked=False), "echo dev:secret | chpasswd"),
    case("user sudo", user("dev", sudo_without_password=False), user("dev", sudo_without_password=True),
         "echo 'dev ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/dev"),
    case("user keys", user("root", authorized_keys_lack="stranger"), user("root", authorized_keys_lack="admin@office"),
         "echo 'ssh-ed25519 AAAA stranger' >> /root/.ssh/authorized_keys"),
    case("ssh", [probe("ssh", passwords=False, keys=True), probe("ssh", port=22, user="dev", passwords=False)],
         [probe("ssh", passwords=True), probe("ssh", keys=False), probe("ssh", port=2222, keys=True),
          probe("ssh", user="dev", passwords=True)],
         "sed -i '1i PasswordAuthentication yes' /etc/ssh/sshd_config && systemctl reload ssh"),
    case("log", health(count_at_least=1, count_at_most=1),
         [probe("log", path="/srv/www/health", matches="ill"), health(count_at_least=2), health(count_at_most=0),
          probe("log", path="/srv/www/nothing", matches=".", count_at_most=0)], "echo fine again >> /srv/www/health"),
    case("log of late", probe("log", path="/srv/log", matches="Started", within="30m", count_at_most=0),
         [probe("log", path="/srv/log", matches="Started", count_at_most=0),
          probe("log", path="/srv/log", matches="Started", within="30m")],
         "echo $(date -u +%Y-%m-%dT%H:%M:%SZ) Started again. >> /srv/log",
         "echo 2026-03-14T08:00:00Z Started. > /srv/log"),
    case("log of a unit", probe("log", unit="nginx", matches="Started", count_at_least=1),
         probe("log", unit="nginx", matches="emerg")),
    case("redis", [probe("redis", command="PING", equals="PONG"), probe("redis", command="PING", matches="^PO"),
                   probe("redis", command="GET nothing")],
         [probe("redis", command="GET nothing", equals="x"), probe("redis", command="PING", matches="^NO"),
          probe("redis", command="NONSENSE")], "systemctl stop redis-server"),
    case("redis behind a password", probe("redis", command="PING", equals="PONG"), probe("redis", command="NONSENSE"),
         "systemctl stop redis-server",
         "echo requirepass s3cret >> /etc/redis/redis.conf && systemctl restart redis-server"),
    case("dns", probe("dns", name="db-primary", resolves=True, address="10.0.0.20"),
         [probe("dns", name="db-primary", resolves=False), probe("dns", name="nothing.example", resolves=True),
          probe("dns", name="db-primary", resolves=True, address="10.0.0.21")],
         "echo 10.0.0.99 db-primary >> /etc/hosts"),
    case("certificate", probe("certificate", path=f"{SITE}/current.pem", valid=True, valid_for_at_least="30d",
                              host="www.small.example", matches_key=f"{SITE}/site.key"),
         [probe("certificate", path=f"{SITE}/2024.pem", valid=True),
          probe("certificate", path=f"{SITE}/current.pem", valid=True, valid_for_at_least="3600d"),
          probe("certificate", path=f"{SITE}/current.pem", valid=True, host="other.example"),
          probe("certificate", path=f"{SITE}/current.pem", valid=True, matches_key="/etc/ssh/ssh_host_ed25519_key")],
         f"cat {SITE}/2024.pem > {SITE}/2026.pem"),
    case("certificate served", probe("certificate", served="https://small.example/", valid=True,
                                     matches_key=f"{SITE}/site.key"),
         probe("certificate", served="https://small.example/", valid=False),
         # A reload is only asked for: the old workers go on until the new ones are there.
         f"cat {SITE}/2024.pem > {SITE}/2026.pem && systemctl reload nginx && sleep 3"),
    case("firewall", probe("firewall", chain="INPUT", rule="--dport 23 -j DROP", present=True),
         [probe("firewall", chain="INPUT", rule="--dport 22", present=True),
          probe("firewall", chain="OUTPUT", rule="--dport 23 -j DROP", present=True)], "iptables -F INPUT"),
    case("client", probe("client", name="visitors", errors_at_most=0, within="60s"),
         [probe("client", errors_at_most=-1), probe("client", name="visitors", errors_at_most=-1, within="60s")]),
    case("client of late", probe("client", name="visitors", errors_at_most=9, within="60s"),
         [probe("client", name="visitors", errors_at_most=0),
          probe("client", name="visitors", errors_at_most=0, within="60s")],
         before="systemctl stop nginx"),
    case("mount", probe("mount", path="/tmp", mounted=True, options=["rw"]),
         [probe("mount", path="/srv", mounted=True), probe("mount", path="/tmp", mounted=True, options=["ro"])]),
    case("mount remounted", probe("mount", path="/tmp", mounted=True, options=["rw"]),
         probe("mount", path="/tmp", mounted=False), "mount -o remount,ro /tmp"),
    case("sysctl", probe("sysctl", key="net.ipv4.ip_forward", equals="0"),
         probe("sysctl", key="net.ipv4.ip_forward", equals="1"), "sysctl -w net.ipv4.ip_forward=1"),
    case("limit", [limit(name, value) for name, value in LIMITS.items()],
         [limit(name, value + 1) for name, value in LIMITS.items()], "systemctl stop worker"),
]  # fmt: skip


def asked(database: str, query: str, user: str = "postgres", **expected: object) -> Probe:
    return probe("sql", database=database, query=query, user=user, **expected)


QUESTIONS = (
    (asked("shop", "SELECT count(*) FROM orders", equals="10"), True),
    (asked("shop", "SELECT count(*) FROM orders", equals="11"), False),
    (asked("shop", "SELECT customer FROM orders WHERE id = 2", matches="^Tomas"), True),
    (asked("shop", "SELECT customer FROM orders WHERE id = 2", matches="^Nobody"), False),
    (asked("shop", "SELECT count(*) FROM products", user="reports"), True),
    (asked("shop", "SELECT count(*) FROM products", user="nobody_such"), False),
    (asked("shop", "SELECT name FROM products WHERE id = 999", equals=""), False),
    (asked("shop", "SELECT count(*) FROM nothing"), False),
    (asked("nothing", "SELECT 1"), False),
)
"""To the web server's database, which the small system has not: whether it holds."""
NOT_THERE = {
    ("container", "memory"): "a world may hold 2.5 GiB, whatever the system describes",
    ("container", "memory the other way"): "a world may hold 2.5 GiB, whatever the system describes",
    ("container", "mount remounted"): "what the engine has mounted cannot be mounted anew there",
    ("container", "log of a unit"): "the journal is the world's own",
    ("container", "cron runs"): "cron keeps no record of how a job ended",
}
"""(backend, case) -> why what the small system describes is not there."""
