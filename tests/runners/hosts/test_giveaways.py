"""Nothing in a broken container tells an agent what it is in: no word of ours, no fault's name, no trace of Ansible.

`mount` is left out: an overlay shows the engine's folder (docs/containers.md, "Limits of it").
"""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from breakfix.content import SHIPPED, shipped_packs
from compiler.bundle import compile_pack
from compiler.verify import verify_under_ephemeral_key
from runners.backends.registry import find_backend
from runners.opening import Site
from scenario_dsl.library import load_library
from tests.conformance.worlds import run
from tests.engine import built

_WORDS = ("breakfix", "ansible", "ansiballz", "fault injection", "injected", "maintenance/ansible", "dockerd")
_LOOKS = (
    "hostname; cat /proc/*/environ /proc/*/cmdline /proc/*/comm 2>/dev/null | tr '\\0' '\\n'",
    "env; set; alias; declare -F",
    "ps auxwwe",
    "journalctl --no-pager -o verbose",
    "systemctl list-units --all --no-pager --full; systemctl list-unit-files --no-pager",
    "find / -xdev -not -path '/usr/*' -not -path '/var/lib/dpkg/*' -newer /etc/machine-id",
    "find /run /tmp /var/tmp /dev/shm /root /home /var/log /etc -xdev",
    "last; lastlog; cat /root/.bash_history /home/*/.bash_history 2>/dev/null",
    "dmesg 2>/dev/null | tail -n 50",
    "ss -anp; ip addr; ip neigh; cat /etc/hosts /etc/resolv.conf /etc/hostname",
)
"""What somebody would look at."""
_FILES = (
    "grep -rIliE {words} /etc /root /home /run /tmp /var/tmp /var/log /var/spool /opt /srv /dev/shm 2>/dev/null; true"
)
"""And the text of every file that is not a package's."""


def forbidden() -> tuple[str, ...]:
    """Our words, the names of faults and scenarios that are no ordinary words, and this machine's own name."""
    packs = [load_library(folder, SHIPPED) for folder in shipped_packs().values()]
    names = {name for pack in packs for name in (*pack.faults, *pack.scenarios) if re.search("[-_]", name)}
    host = socket.gethostname()
    return (*_WORDS, *sorted(names), *((host,) if len(host) > 8 else ()), str(Path(__file__).parents[3]))


@pytest.mark.engine
@pytest.mark.parametrize(
    ("pack", "name"), [("starter", "process-recovery"), ("starter", "permission-repair"), ("repair", "disk-full")]
)
def test_nothing_gives_it_away(pack: str, name: str) -> None:
    built("web-server")
    content = verify_under_ephemeral_key(compile_pack(load_library(shipped_packs()[pack], SHIPPED))).content
    site = Site(content=content, scenario=content.scenarios[name], backend=find_backend("container"))
    words = re.compile("|".join(rf"(?<![\w-]){re.escape(word)}(?![\w-])" for word in forbidden()), re.IGNORECASE)
    live = site.broken(site.scenario.worlds[0], seed=0)
    try:
        said = {look: run(live, look) for look in _LOOKS}
        pattern = "|".join(re.escape(word) for word in forbidden())
        said["files"] = run(live, _FILES.format(words=f"'{pattern}'"))
    finally:
        live.close()
    found = [
        (look, line.strip()[:160])
        for look, text in said.items()
        for line in text.splitlines()
        if words.search(line) or (look == "files" and line.strip())
    ]
    # Of our own looking only the words that we typed are there.
    assert not [one for one in found if "grep -rIliE" not in one[1]]
    assert all(said[look].strip() for look in _LOOKS[:6])
