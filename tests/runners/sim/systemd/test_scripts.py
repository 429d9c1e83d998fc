"""A service whose program is a script: what its processes are called, and which there are."""

from __future__ import annotations

import pytest

from runners.backends.sim import SimWorld
from tests.runners.sim.worlds import typed, web_server


@pytest.fixture
def live() -> SimWorld:
    return web_server()


def said(live: SimWorld, command: str) -> str:
    return typed(live, command, seconds=300).output.decode()


def serve(live: SimWorld, script: str) -> None:
    said(live, f"printf '#!/bin/bash\\n{script}\\n' > /usr/local/bin/x.sh; chmod +x /usr/local/bin/x.sh")
    said(live, "printf '[Service]\\nExecStart=/usr/local/bin/x.sh\\n' > /etc/systemd/system/x.service")
    said(live, "systemctl daemon-reload; systemctl start x; sleep 2")


def test_a_script_is_called_by_its_own_name(live: SimWorld) -> None:
    serve(live, "echo hello $$; sleep 60")
    pid = said(live, "systemctl show -p MainPID --value x").strip()
    assert f"x.sh[{pid}]: hello {pid}\n" in said(live, "journalctl -u x")
    assert said(live, f"ps -o comm= -p {pid}; pgrep -x x.sh; cat /proc/{pid}/comm") == f"x.sh\n{pid}\nx.sh\n"
    assert f"Main PID: {pid} (x.sh)" in said(live, "systemctl status x")


def test_its_children_are_in_the_services_group_and_end_with_it(live: SimWorld) -> None:
    serve(live, "sleep 60")
    lines = said(live, "systemctl status x").splitlines()
    at = next(index for index, line in enumerate(lines) if "CGroup" in line)
    tree = [line.lstrip(" ├└─0123456789") for line in lines[at + 1 : at + 3]]
    assert tree == ["/bin/bash /usr/local/bin/x.sh", "sleep 60"]
    said(live, "systemctl stop x")
    assert said(live, "pgrep -x sleep; pgrep -x x.sh") == ""


def test_what_a_script_becomes_is_the_main_process(live: SimWorld) -> None:
    serve(live, "exec sleep 100")
    assert said(live, "ps -o comm=,args= -p $(systemctl show -p MainPID --value x)") == "sleep           sleep 100\n"
    assert said(live, "sleep 80; systemctl is-active x; sleep 30; systemctl is-active x") == "active\ninactive\n"


def test_a_typed_script_has_its_name_too(live: SimWorld) -> None:
    said(live, "printf '#!/bin/sh\\nps -o comm= -p $$\\n' > /root/mine.sh; chmod +x /root/mine.sh")
    assert said(live, "/root/mine.sh; sh /root/mine.sh") == "mine.sh\nsh\n"
