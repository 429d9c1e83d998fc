"""What an installation of the operating system holds beside the files that a system describes: listed, never read.

A system's `installed.txt` has a line for each: `SIZE PATH` of a file, `PATH -> TARGET` of a link, `PATH/` of a folder.
"""

from __future__ import annotations

from runners.sim.files.content import Content
from runners.sim.machine import Machine, mix
from runners.sim.request_history import DAY
from runners.system import text

_PROGRAM, _LIBRARY, _MODULE = (
    b"\x7fELF\x02\x01\x01" + abi + b"\0" * 8 + kind + b"\0>\0\x01\0\0\0"
    for abi, kind in ((b"\0", b"\x03"), (b"\x03", b"\x03"), (b"\0", b"\x01"))
)
_FIRST_BYTES = {
    "magic.mgc": b"\x1c\x04\x1e\xf1",
    "/zoneinfo/": b"TZif2",
    "/modules.": b"# Aliases extracted from modules themselves.\n",
    ".so": _LIBRARY,
    ".ko": _MODULE,
}
_JOURNAL, _JOURNAL_SIZE = "/var/log/journal", 8 << 20


def install(machine: Machine) -> None:
    """Put everything in its place that is not there yet."""
    view, at = machine.view(), machine.spec.start_time - 160 * DAY
    for line in text(machine.spec.settings, "installed").splitlines():
        if line.endswith("/"):
            _folder(machine, line.rstrip("/"))
            continue
        link, arrow, target = line.partition(" -> ")
        size, _, path = line.partition(" ")
        path = link if arrow else path
        _folder(machine, path.rpartition("/")[0])
        if view.find(path, follow=False).inode is not None:
            continue
        if arrow:
            view.symlink(target, path)
        else:
            view.write(path, Content.filled(_first_bytes(path), int(size)))
            view.chmod(path, 0o755 if "/bin/" in path or "/openssh/" in path else 0o644)
        inode = view.stat(path, follow=False)
        machine.files.put(inode._replace(mtime=at - mix(path) % (30 * DAY), ctime=at))


def start_journal(machine: Machine) -> None:
    """The file that journald keeps open, where it keeps one: it is made 8 MiB large at once."""
    view = machine.view()
    if view.exists(_JOURNAL) and view.exists("/etc/machine-id"):
        folder = f"{_JOURNAL}/{view.text('/etc/machine-id').strip()}"
        group = view.stat(_JOURNAL).gid
        view.mkdir(folder, 0o755)
        view.write(f"{folder}/system.journal", Content.filled(b"LPKSHHRH", _JOURNAL_SIZE))
        for path, mode in ((folder, 0o2755), (f"{folder}/system.journal", 0o640)):
            view.chown(path, 0, group)
            view.chmod(path, mode)


def _folder(machine: Machine, path: str) -> None:
    view = machine.view()
    missing = []
    while not view.exists(path):
        missing.append(path)
        path = path.rpartition("/")[0] or "/"
    for folder in reversed(missing):
        view.mkdir(folder, 0o755)


def _first_bytes(path: str) -> bytes:
    return next((start for part, start in _FIRST_BYTES.items() if part in path), _PROGRAM)
