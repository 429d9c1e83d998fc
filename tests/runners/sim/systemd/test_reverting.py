"""systemctl revert: what an administrator changed about a unit is taken back, and the vendor's version is in force."""

from __future__ import annotations

import pytest

from runners.sim.machine import Machine
from runners.sim.systemd import manager
from tests.runners.sim.admin.line import Terminal

SHOP = "/etc/systemd/system/shop.service"


@pytest.fixture
def sh() -> Terminal:
    return Terminal()


def write(machine: Machine, path: str, text: str) -> None:
    view, folder = machine.view(), path.rpartition("/")[0]
    if not view.exists(folder):
        view.mkdir(folder)
    view.write(path, text.encode())
    manager.daemon_reload(machine)


def test_drop_ins_go_and_a_unit_without_a_vendor_stays(sh: Terminal) -> None:
    write(sh.machine, f"{SHOP}.d/hardening.conf", "[Service]\nGroup=nogroup\n")
    assert sh("systemctl show shop -p Group").out == "Group=nogroup\n"
    done = sh("systemctl revert shop")
    assert (done.err, done.status) == (f'Removed "{SHOP}.d".\n', 0)
    assert sh("systemctl show shop -p Group").out == "Group=shop\n"
    assert sh(f"test -f {SHOP}").status == 0
    assert sh("systemctl revert shop").err == ""


def test_a_file_over_the_vendors_goes_and_so_does_a_mask(sh: Terminal) -> None:
    write(sh.machine, "/etc/systemd/system/cron.service", "[Service]\nExecStart=/bin/true\n")
    sh("systemctl mask rsyslog")
    assert sh("systemctl revert cron rsyslog").err == (
        'Removed "/etc/systemd/system/cron.service".\nRemoved "/etc/systemd/system/rsyslog.service".\n'
    )
    assert sh("systemctl show cron -p FragmentPath").out == "FragmentPath=/lib/systemd/system/cron.service\n"
    assert sh("systemctl is-enabled rsyslog").out == "enabled\n"


def test_it_takes_a_right(sh: Terminal) -> None:
    done = sh("sudo -u nobody systemctl revert redis-server")
    assert (done.status, "Interactive authentication required." in done.err) == (1, True)
