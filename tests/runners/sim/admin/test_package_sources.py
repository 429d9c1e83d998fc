"""apt update asks the sources that the machine's own lists name, and says why each does not answer."""

from __future__ import annotations

from tests.runners.sim.admin.line import Terminal

LIST = "/etc/apt/sources.list"


def test_the_sources_are_those_of_the_machine(sh: Terminal) -> None:
    sh(f"mkdir -p /etc/apt; echo 'deb [arch=amd64] http://127.0.0.1:8088/apt/ stable main # ours' > {LIST}")
    done = sh("apt update")
    assert "Err:1 http://127.0.0.1:8088/apt stable InRelease\n" in done.out
    assert "Could not connect to 127.0.0.1:8088 (127.0.0.1). - connect (111: Connection refused)" in done.out
    assert "\nW: Failed to fetch http://127.0.0.1:8088/apt/dists/stable/InRelease" in done.err


def test_a_name_that_nobody_knows_does_not_resolve(sh: Terminal) -> None:
    sh(f"mkdir -p /etc/apt; echo 'deb http://nowhere.example/debian bookworm main' > {LIST}")
    assert "Could not resolve 'nowhere.example'" in sh("apt-get update").out


def test_without_name_servers_it_is_a_temporary_failure(sh: Terminal) -> None:
    sh(f"mkdir -p /etc/apt; echo 'deb http://nowhere.example/debian bookworm main' > {LIST}")
    sh("iptables -I OUTPUT -p udp --dport 53 -j DROP; iptables -I OUTPUT -p tcp --dport 53 -j DROP")
    assert "Temporary failure resolving 'nowhere.example'" in sh("apt-get update").out


def test_a_machine_without_sources_has_nothing_to_ask(sh: Terminal) -> None:
    sh(f"rm -f {LIST}")
    assert sh("apt-get update") == ("Reading package lists... Done\n", "", 0)
