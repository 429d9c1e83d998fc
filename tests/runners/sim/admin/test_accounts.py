"""Users, groups, passwords, sudo and cron tables."""

from __future__ import annotations

from tests.runners.sim.admin.line import Terminal


def test_a_user_comes_and_goes(sh: Terminal) -> None:
    assert sh("useradd -m -s /bin/bash bob") == ("", "", 0)
    assert sh("useradd bob") == ("", "useradd: user 'bob' already exists\n", 9)
    assert sh("usermod -aG sudo bob").status == 0
    assert "bob" in sh("getent group sudo").out
    assert sh("su - bob -c 'cd; pwd'").out == "/home/bob\n"
    assert sh("passwd -S bob").out.split()[:2] == ["bob", "L"]
    sh("echo bob:secret | chpasswd")
    assert sh("passwd -S bob").out.split()[:2] == ["bob", "P"]
    assert "userdel: bob mail spool (/var/mail/bob) not found" in sh("userdel -r bob").err
    assert sh("getent passwd bob").status == 2
    assert sh("ls -d /home/bob").status == 2


def test_groups(sh: Terminal) -> None:
    assert sh("groupadd web; groupadd web") == ("", "groupadd: group 'web' already exists\n", 9)
    assert sh("gpasswd -a shop web").out == "Adding user shop to group web\n"
    assert sh("groupdel nosuch") == ("", "groupdel: group 'nosuch' does not exist\n", 6)


def test_sudo_runs_as_another_user_and_logs_it(sh: Terminal) -> None:
    assert sh("sudo -u postgres /usr/bin/env | grep ^USER=").out == "USER=postgres\n"
    assert "COMMAND=/usr/bin/env" in sh("journalctl -t sudo -n 3 -o cat").out
    assert sh("sudo -u nosuch true").err.startswith("sudo: unknown user nosuch\n")
    assert sh("sudo nosuchcommand") == ("", "sudo: nosuchcommand: command not found\n", 1)
    assert sh("sudo -u shop sudo -n true") == ("", "sudo: a password is required\n", 1)


def test_a_broken_sudoers_file_is_found(sh: Terminal) -> None:
    assert sh("visudo -c").lines[0] == "/etc/sudoers: parsed OK"
    sh("echo 'deploy ALL=' > /etc/sudoers.d/broken; chmod 440 /etc/sudoers.d/broken")
    result = sh("visudo -c")
    assert result.status == 1
    assert "/etc/sudoers.d/broken:1:" in result.err


def test_crontabs_are_checked_and_kept(sh: Terminal) -> None:
    bad = sh("echo '99 * * * * true' | crontab -")
    assert bad == ("", '"-":0: bad minute\nerrors in crontab file, can\'t install.\n', 1)
    assert sh("echo '*/5 * * * * /bin/true' | crontab -u shop -").status == 0
    assert sh("crontab -u shop -l").out == "*/5 * * * * /bin/true\n"
    assert sh("crontab -u shop -r; crontab -u shop -l") == ("", "no crontab for shop\n", 1)
