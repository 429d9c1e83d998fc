"""Putting what lasts back to what it was: the rollback of somebody who wrote none."""

from __future__ import annotations

import contextlib
import shutil
import stat
import subprocess
from collections.abc import Callable, Mapping, Sequence

from runners.hosts.facts import Node
from runners.hosts.kernel import in_network
from runners.hosts.outside import Outside

_SECONDS = 30


def restore(
    outside: Outside,
    now: Mapping[str, str],
    before: Mapping[str, str],
    was: Callable[[str], Node | None],
    firewall: Sequence[str],
) -> None:
    """Make the lasting files and the packet filter what they were. What cannot be put back is left as it is.

    now, before: lasting facts; was: what was at a path; firewall: as `iptables-save` printed it.
    """
    changed = sorted(name for name in now.keys() | before.keys() if now.get(name) != before.get(name))
    if any(name.startswith("firewall:") for name in changed):
        with in_network(outside.box.inside):
            program = shutil.which("iptables-restore") or "iptables-restore"
            text = "".join(f"{line}\n" for line in firewall)
            subprocess.run([program], input=text, text=True, capture_output=True, timeout=_SECONDS, check=False)
    paths = [name for name in changed if name.startswith("/")]
    # Away with what is new or of another kind, deepest first; then back with what was, from the top.
    for path in reversed(paths):
        node, here = was(path) if path in before else None, outside.files.stat(path, follow=False)
        if here is not None and (node is None or stat.S_IFMT(node.mode) != stat.S_IFMT(here.mode)):
            with contextlib.suppress(OSError):
                outside.files.remove(path)
    for path in paths:
        node = was(path) if path in before else None
        if node is not None and (node.data is not None or stat.S_ISDIR(node.mode)):
            with contextlib.suppress(OSError):
                outside.files.put(path, node.mode, node.uid, node.gid, node.data, node.lists)
