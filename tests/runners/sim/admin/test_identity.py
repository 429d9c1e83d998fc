"""Being somebody else: with which groups each tool starts a command, as initgroups(3) and the manuals have it."""

from __future__ import annotations

import pytest

from tests.runners.sim.admin.line import Terminal

SECRET = "test -r /etc/shop/secret.key; echo $?"
LOST = "uid=996(shop) gid=65534(nogroup) groups=65534(nogroup)\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sudo -u shop -g nogroup id", "uid=996(shop) gid=65534(nogroup) groups=65534(nogroup),994(shop)\n"),
        ("sudo -g adm id -Gn", "adm root\n"),
        ("runuser -u shop -g nogroup -- id", LOST),
        ("runuser -u postgres -g adm -G disk -- id", "uid=108(postgres) gid=4(adm) groups=4(adm),6(disk)\n"),
        ("runuser -u postgres -G disk -- id", "uid=108(postgres) gid=6(disk) groups=6(disk)\n"),
        ("systemd-run -q --wait -P -p User=shop -p Group=nogroup id", LOST),
        (f"systemd-run -q --wait -P -p User=shop -p Group=nogroup sh -c '{SECRET}'", "1\n"),
        (f"systemd-run -q --wait -P -p User=shop sh -c '{SECRET}'", "0\n"),
        (f"systemd-run -q -P -p User=shop -p Group=nogroup -p SupplementaryGroups=shop sh -c '{SECRET}'", "0\n"),
        ("systemd-run -q -P -p User=shop sh -c 'pwd; echo $HOME'", "/\n/opt/shop\n"),
        ("systemd-run -q -P -p User=nosuch id; echo $?", "217\n"),
        ("setpriv --reuid shop --regid nogroup --clear-groups id", LOST),
        ("setpriv --reuid postgres --regid adm --init-groups id -G", "4 102 112\n"),
        (f"setfacl -m u:shop:- /etc/shop/secret.key; sudo -u shop sh -c '{SECRET}'", "1\n"),
        (f"chmod 700 /etc/shop; setfacl -m u:shop:x /etc/shop; sudo -u shop sh -c '{SECRET}'", "0\n"),
        ("chmod 700 /etc/shop; setfacl -m u:shop:x /etc/shop; sudo -u shop ls /etc/shop", ""),
        ("ps -o supgid=,supgrp= -C postgres | head -1 | tr -s ' '", "102 ssl-cert\n"),
    ],
)  # fmt: skip
def test_who_somebody_is(sh: Terminal, command: str, said: str) -> None:
    assert sh(command).out == said


def test_what_a_process_may_is_what_its_groups_were_when_it_began(sh: Terminal) -> None:
    groups = "grep ^Groups /proc/$(systemctl show worker -p MainPID --value)/status"
    assert sh(groups).out == "Groups:\t994 \n"
    sh("usermod -aG ssl-cert shop")
    assert sh(f"id -G shop; {groups}").out == "994 102\nGroups:\t994 \n"
    assert sh(f"systemctl restart worker; {groups}").out == "Groups:\t102 994 \n"


def test_only_root_becomes_somebody_else(sh: Terminal) -> None:
    done = sh("sudo -u nobody setpriv --reuid shop --clear-groups id")
    assert (done.out, done.status) == ("", 1)
    assert "setpriv: setresuid failed: Operation not permitted" in done.err
