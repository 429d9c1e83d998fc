"""Space, mounts and open files."""

from __future__ import annotations

from tests.runners.sim.admin.line import Terminal


def test_df_shows_a_filling_disk(sh: Terminal) -> None:
    assert sh("df -h /").lines[0] == "Filesystem      Size  Used Avail Use% Mounted on"
    before = int(sh("df --output=pcent /var/log | tail -1").out.strip().rstrip("%"))
    sh("fallocate -l 1G /var/log/big")
    after = int(sh("df --output=pcent /var/log | tail -1").out.strip().rstrip("%"))
    assert after > before + 30
    sh("rm /var/log/big")
    assert int(sh("df --output=pcent /var/log | tail -1").out.strip().rstrip("%")) == before
    assert sh("df /nosuch") == ("", "df: /nosuch: No such file or directory\n", 1)


def test_du_adds_up_and_tells_of_what_is_missing(sh: Terminal) -> None:
    sh("mkdir -p /root/a/b; head -c 10000 /dev/zero > /root/a/b/f")
    assert sh("du -a /root/a").out == "12\t/root/a/b/f\n16\t/root/a/b\n20\t/root/a\n"
    assert sh("du -sh /root/a").out == "20K\t/root/a\n"
    assert sh("du -sb /root/a/b/f").out == "10000\t/root/a/b/f\n"
    assert sh("du /nosuch") == ("", "du: cannot access '/nosuch': No such file or directory\n", 1)


def test_a_files_device_is_the_one_that_lsblk_lists(sh: Terminal) -> None:
    listed = {words[-1]: words[1] for words in map(str.split, sh("lsblk -ln").lines) if len(words) == 7}
    assert {"/", "/boot", "/var/log"} <= listed.keys()
    for place, number in listed.items():
        assert sh(f"stat -c %Hd:%Ld {place}").out.strip() == number
        major, minor = number.split(":")
        assert sh(f"stat -c %d {place}").out.strip() == str(int(major) << 8 | int(minor))
    assert sh("stat -c %Hd /tmp").out == "0\n"


def test_no_file_was_born_after_it_was_changed(sh: Terminal) -> None:
    sh("chmod 600 /etc/motd")
    modified, born = sh("stat -c '%Y %W' /etc/motd").out.split()
    assert int(born) <= int(modified)


def test_mounts_can_be_made_read_only_and_taken_away(sh: Terminal) -> None:
    sh("mkdir /mnt/x")
    assert sh("mount -t tmpfs -o size=1m tmpfs /mnt/x").status == 0
    assert sh("findmnt -n -o FSTYPE /mnt/x").out == "tmpfs\n"
    sh("mount -o remount,ro /mnt/x")
    assert "Read-only file system" in sh("touch /mnt/x/f").err
    assert sh("umount /mnt/x").status == 0
    assert sh("umount /mnt/x") == ("", "umount: /mnt/x: not mounted.\n", 32)


def test_free_and_vmstat_have_their_headings(sh: Terminal) -> None:
    lines = sh("free -m").lines
    assert lines[0] == "               total        used        free      shared  buff/cache   available"
    assert [line.split()[0] for line in lines[1:]] == ["Mem:", "Swap:"]
    assert sh("vmstat").lines[1] == (" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st")


def test_logrotate_moves_a_log_on(sh: Terminal) -> None:
    sh(
        "printf '/var/log/own.log {\\n rotate 2\\n create 0640 root adm\\n}\\n' > /root/own; echo one "
        "> /var/log/own.log"
    )
    assert sh("logrotate -f /root/own").status == 0
    assert sh("cat /var/log/own.log.1").out == "one\n"
    assert sh("stat -c '%a %s' /var/log/own.log").out == "640 0\n"
    assert sh("logrotate --bogus") == ("", "logrotate: bad argument --bogus: unknown error\n", 2)
