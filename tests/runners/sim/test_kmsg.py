"""/dev/kmsg: what root writes there is the kernel's word everywhere."""

from __future__ import annotations

from tests.runners.sim.worlds import opened, typed

_TEXT = "Out of memory: Killed process 4711 (java) total-vm:1024kB, anon-rss:512kB"


def test_what_is_written_is_told_everywhere() -> None:
    live = opened().live

    def said(command: str) -> str:
        return typed(live, command).output.decode()

    said(f"echo '<3>{_TEXT}' > /dev/kmsg; echo plain words | tee /dev/kmsg")
    assert said("dmesg | tail -2").splitlines()[0].endswith(f"] {_TEXT}")
    assert _TEXT in said("dmesg -l err")
    assert "plain words" in said("dmesg -l warn")
    assert f"kernel: {_TEXT}" in said("journalctl -k -p err")
    for log in ("kern.log", "syslog"):
        assert f"web-01 kernel: {_TEXT}" in said(f"tail -2 /var/log/{log}")
    assert said("tail -c 200 /dev/kmsg | tail -1").endswith(",-;plain words\n")
    assert said("stat -c '%A %t,%T' /dev/kmsg") == "crw-r--r-- 1,b\n"


def test_only_root_may_write() -> None:
    live = opened().live
    result = typed(live, "su -s /bin/bash anna -c 'echo no > /dev/kmsg'")
    assert b"Permission denied" in result.output
    assert b"no" not in typed(live, "dmesg | tail -1").output.split()


def test_what_the_journal_forgets_the_kernel_still_knows() -> None:
    live = opened().live
    before = typed(live, "dmesg").output
    assert before.count(b"\n") > 2
    typed(live, "journalctl --vacuum-time=1s")
    assert typed(live, "journalctl -k -q").output == b""
    assert typed(live, "dmesg").output == before
    assert typed(live, "dmesg -c").output == before
    assert typed(live, "dmesg").output == b""
