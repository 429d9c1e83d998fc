"""What a reboot forgets, what it keeps, and shutdowns that are planned; files that may not change."""

from __future__ import annotations

import pytest

from tests.runners.sim.admin.line import Terminal


@pytest.fixture
def sh() -> Terminal:
    return Terminal()


def test_memory_is_empty_after_a_reboot_and_the_disk_is_not(sh: Terminal) -> None:
    sh("echo a > /dev/shm/a; mkdir /tmp/b; echo c > /run/c; echo d > /var/tmp/d; sysctl -w vm.swappiness=1")
    sh("echo 'vm.dirty_ratio = 7' > /etc/sysctl.d/99-x.conf; reboot")
    assert sh("ls /dev/shm /tmp").out.split() == ["/dev/shm:", "/tmp:"]
    assert sh("cat /run/c").status == 1
    assert sh("cat /var/tmp/d").out == "d\n"
    assert sh("sysctl -n vm.swappiness vm.dirty_ratio").lines[1] == "7"
    assert sh("sysctl -n vm.swappiness").out != "1\n"
    assert sh("systemctl is-active nginx postgresql shop").lines == ["active"] * 3


def test_a_planned_shutdown_can_be_seen_and_cancelled(sh: Terminal) -> None:
    assert "use 'shutdown -c' to cancel" in sh("shutdown -r +5").err
    assert sh("shutdown --show").status == 0
    assert sh("shutdown -c").status == 0
    assert sh("shutdown --show") == ("", "No scheduled shutdown.\n", 1)
    sh("sleep 400")
    assert sh("uptime -s").out.startswith("2026-02")


def test_an_immutable_file_cannot_be_changed_even_by_root(sh: Terminal) -> None:
    assert sh("chattr +i /etc/hosts").status == 0
    for command in ("echo x >> /etc/hosts", "rm -f /etc/hosts", "chmod 600 /etc/hosts", "mv /etc/hosts /root",
                    "chown anna /etc/hosts", "sed -i s/a/b/ /etc/hosts"):  # fmt: skip
        result = sh(command)
        assert result.status != 0, command
        assert "Operation not permitted" in result.err, command
    assert sh("lsattr /etc/hosts").out == "----i---------e------- /etc/hosts\n"
    assert sh("chattr -i /etc/hosts; echo '#' >> /etc/hosts").status == 0


def test_an_append_only_file_grows_and_nothing_else(sh: Terminal) -> None:
    sh("echo one > /root/log; chattr +a /root/log")
    assert sh("echo two >> /root/log").status == 0
    assert sh("echo three > /root/log").status == 1
    assert sh("rm -f /root/log").status == 1
    assert sh("cat /root/log").out == "one\ntwo\n"


def test_accounts_in_debian_manner(sh: Terminal) -> None:
    made = sh("adduser --disabled-password --gecos '' bob")
    assert made.status == 0
    assert "Creating home directory `/home/bob' ..." in made.out
    assert "bob" in sh("id bob; adduser bob sudo; id -Gn bob").lines[-1]
    assert "sudo" in sh("id -Gn bob").out
    assert sh("deluser bob sudo").status == 0
    assert "sudo" not in sh("id -Gn bob").out
    assert sh("deluser bob").status == 0
    assert sh("deluser bob") == ("", "deluser: The user `bob' does not exist.\n", 2)
