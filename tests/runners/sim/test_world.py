"""Worlds as a whole: alike, independent, cheap, and with lasting facts that tell changes apart."""

from __future__ import annotations

import pickle
import time

import pytest

from runners.backends.sim import SimBackend, _Base
from runners.sim.facts import persistent_facts
from runners.sim.files.acl import Acl
from runners.sim.machine import Machine
from runners.sim.memory import memory, set_resident
from runners.sim.network.firewall import EMPTY_TABLES, parse_rule, with_chain
from runners.sim.probes.baseline import Baseline
from runners.sim.restore import restore
from runners.sim.systemd import manager
from runners.sim.users import accounts
from tests.runners.sim.servers import base, messages, server


def picture(machine: Machine) -> tuple[object, ...]:
    view = machine.view()
    return (
        [tuple(entry) for entry in machine.journal],
        view.read("/var/log/nginx/access.log"),
        view.read("/var/log/shop/app.log"),
        [(one.pid, one.argv) for one in machine.processes],
        machine.traffic,
    )


def test_the_same_seed_gives_the_same_world_and_another_one_does_not() -> None:
    first, second, other = server(5), server(5), server(6)
    for machine in (first, second, other):
        machine.advance(900)
    assert picture(first) == picture(second)
    assert picture(first) != picture(other)


def test_a_fork_leaves_its_origin_alone() -> None:
    machine = server()
    before = picture(machine)
    fork = machine.fork()
    fork.advance(300)
    fork.view().unlink("/etc/hosts")
    manager.stop(fork, "nginx")
    assert picture(machine) == before
    assert machine.view().exists("/etc/hosts")


def test_clients_are_served_for_an_hour_without_an_error() -> None:
    machine = server()
    machine.advance(3600)
    assert len(machine.traffic) > 400
    assert {sample.detail for sample in machine.traffic if not sample.ok} == set()
    assert machine.counters.get("requests_failed", 0) == 0
    manager.stop(machine, "nginx")
    machine.advance(120)
    assert machine.counters["requests_failed"] > 3


def test_an_hour_of_normal_life_changes_no_lasting_fact() -> None:
    machine = server()
    machine.advance(3600)
    assert persistent_facts(machine) == persistent_facts(base())


def test_facts_tell_what_changed() -> None:
    machine = server()
    view = machine.view()
    before = persistent_facts(machine)
    view.write("/etc/hosts", b"# more\n", append=True)
    view.chmod("/etc/shop/app.env", 0o644)
    view.write("/etc/new.conf", b"x")
    view.mkdir("/srv/deep")
    view.write("/srv/deep/file", b"x")
    view.unlink("/etc/fstab")
    view.touch("/etc/hostname")
    machine.network.tables = EMPTY_TABLES
    after = persistent_facts(machine)
    changed = {key for key in {*before, *after} if before.get(key) != after.get(key)}
    assert {key for key in changed if not key.startswith("firewall:")} == {
        "/etc/hosts", "/etc/shop/app.env", "/etc/new.conf", "/srv/deep", "/srv/deep/file", "/etc/fstab",
    }  # fmt: skip
    assert "firewall:filter:INPUT" in changed
    view.write("/etc/hosts", base().view().read("/etc/hosts"))
    assert persistent_facts(machine)["/etc/hosts"] == before["/etc/hosts"]


def test_access_lists_are_lasting_facts_and_are_put_back() -> None:
    healthy, machine = server(), server()
    listed = "+Beside(users=((996, 0),), group=4, groups=())"
    before = persistent_facts(healthy)
    view = machine.view()
    view.set_acl("/etc/shop/secret.key", Acl(6, ((996, 0),), 4, (), 4, 0), None)
    view.set_acl("/etc/shop", Acl(7, (), 5, (), None, 5), Acl(7, (), 5, (), None, 0))
    after = persistent_facts(machine)
    assert {key for key in after if after[key] != before[key]} == {"/etc/shop", "/etc/shop/secret.key"}
    assert after["/etc/shop/secret.key"] == before["/etc/shop/secret.key"].replace(":994:", f":994{listed}:")
    assert restore(machine, before, healthy) == ()
    assert machine.view().stat("/etc/shop/secret.key").acl is None


def insert(machine: Machine, rule: str) -> None:
    chain = machine.network.tables["filter"]["INPUT"]
    rules = (parse_rule(rule.split()), *chain.rules)
    machine.network.tables = with_chain(machine.network.tables, "filter", chain._replace(rules=rules))


@pytest.mark.parametrize(
    ("rule", "lasts"),
    [
        ("-s 192.0.2.7 -j DROP", False),  # the first of two decides; the second never sees a packet
        ("-p tcp --dport 5432 -j ACCEPT", False),
        ("-p tcp --dport 5432 -j LOG", True),  # writes twice
        ("-p tcp --dport 22 -m limit --limit 3/min -j ACCEPT", True),  # lets twice as many through
    ],
)
def test_a_rule_behind_its_equal_is_no_fact(rule: str, lasts: bool) -> None:
    machine = server()
    insert(machine, rule)
    once = persistent_facts(machine)
    insert(machine, rule)
    assert (persistent_facts(machine) != once) == lasts


def test_facts_by_identity_agree_with_facts_by_walking() -> None:
    machine = server()
    machine.view().rename("/etc/nginx", "/etc/nginx.old")
    machine.view().symlink("/etc/nginx.old", "/etc/nginx")
    quick = persistent_facts(machine)
    machine.base = None
    assert quick == persistent_facts(machine)


def test_forks_are_cheap() -> None:
    machine = base()
    start = time.perf_counter()
    for _ in range(200):
        machine.fork()
    assert (time.perf_counter() - start) / 200 < 0.0005


def test_the_kernel_kills_for_memory() -> None:
    machine = server()
    worker = next(one for one in machine.processes if one.program == "shop-worker")
    free = memory(machine).available
    assert set_resident(machine, worker, 200 << 20)
    assert memory(machine).available == free - (200 << 20) + worker.rss
    assert not set_resident(machine, worker, 700 << 20)
    said = messages(machine)
    assert any(one.startswith("Memory cgroup out of memory: Killed process") for one in said)
    assert "worker.service: Failed with result 'oom-kill'." in said
    assert "Killed process" in machine.view().text("/var/log/kern.log")


def test_proc_tells_of_the_machine() -> None:
    machine = server()
    view = machine.view()
    pid = manager.state_of(machine, "nginx").main_pid
    assert "MemTotal:        8193524 kB" in view.text("/proc/meminfo")
    assert view.text(f"/proc/{pid}/status").startswith("Name:\tnginx\n")
    assert view.stat(f"/proc/{pid}/exe", follow=False).target == "/usr/sbin/nginx"
    assert str(pid) in view.names("/proc")
    assert "/var/log/nginx/access.log" in {
        view.stat(f"/proc/{pid}/fd/{fd}", follow=False).target for fd in view.names(f"/proc/{pid}/fd")
    }
    shop = manager.state_of(machine, "shop").main_pid
    assert "Max open files            4096" in view.text(f"/proc/{shop}/limits")
    assert "DATABASE_URL=postgresql://" in view.text(f"/proc/{shop}/environ")
    view.write("/proc/sys/net/ipv4/ip_forward", b"1\n")
    assert machine.network.sysctl["net.ipv4.ip_forward"] == "1"
    assert server().network.sysctl["net.ipv4.ip_forward"] == "0"


def test_accounts_follow_the_files() -> None:
    machine = server()
    assert accounts(machine).cred("anna").groups >= {27, 4, 1000}
    machine.view().write("/etc/passwd", b"ghost:x:1500:100::/home/ghost:/bin/sh\n", append=True)
    assert accounts(machine).user(1500).name == "ghost"
    assert accounts(server()).user("ghost") is None


def test_logs_have_a_history_and_no_status_500() -> None:
    view = server().view()
    today, yesterday = (view.text(f"/var/log/nginx/access.log{end}").splitlines() for end in ("", ".1"))
    assert len(today) > 150
    assert len(yesterday) > 400
    statuses = {line.split('"')[2].split()[0] for line in today + yesterday}
    assert "500" not in statuses
    assert {"200", "404", "502"} <= statuses
    assert "CMD (/opt/shop/scripts/clean-sessions.sh)" in view.text("/var/log/cron.log")
    assert "Invalid user" in view.text("/var/log/auth.log")
    assert view.read("/var/log/nginx/access.log.2.gz")[:2] == b"\x1f\x8b"


def test_a_backend_in_use_goes_to_another_process_without_its_machines() -> None:
    backend = SimBackend()
    backend._bases["digest", "small"] = _Base(base(), Baseline.of(base()))
    again = pickle.loads(pickle.dumps(backend))
    assert again._bases == {}
    assert again._keep == backend._keep
