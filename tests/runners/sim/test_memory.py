"""When memory runs out the kernel takes the largest, and says so everywhere in the same words."""

from __future__ import annotations

from tests.runners.sim.worlds import typed, web_server

_HOG = (
    "printf '[Service]\\nExecStart=/usr/local/bin/report-export --rows 11000000\\n%s\\n' "
    "> /etc/systemd/system/hog.service; "
    "systemctl daemon-reload; systemctl start hog; sleep 1; "
)


def test_the_largest_is_the_victim_and_all_logs_agree() -> None:
    live = web_server()
    assert typed(live, _HOG % "" + "systemctl show -p Result hog").stdout == b"Result=oom-kill\n"
    told = typed(live, "dmesg -t | grep '^Out of memory'").stdout.decode()
    assert "(report-export) total-vm:11014336kB, anon-rss:11014336kB" in told
    assert told.strip() in typed(live, "tail -n 5 /var/log/kern.log").stdout.decode()
    assert told.strip() in typed(live, "journalctl -k -o cat -n 5").stdout.decode()
    assert typed(live, "dmesg -t | grep -c 'report-export invoked oom-killer: gfp_mask='").stdout == b"1\n"
    assert typed(live, "systemctl is-active redis-server").stdout == b"active\n"


def test_adjustments_choose_another() -> None:
    live = web_server()
    typed(live, _HOG % "OOMScoreAdjust=-1000")
    assert "(shop-server)" in typed(live, "dmesg | grep Killed | head -n 1").stdout.decode()


def test_what_proc_tells_of_it() -> None:
    live = web_server()
    assert typed(live, "cat /proc/$(pgrep -o -x sshd)/oom_score_adj").stdout == b"-1000\n"
    assert int(typed(live, "cat /proc/$(pgrep -x shop-server)/oom_score").stdout) in range(667, 680)
