"""rsyslogd: the journal's lines, sorted into the files that /etc/rsyslog.conf names."""

from __future__ import annotations

import errno
import re
from functools import lru_cache
from typing import NamedTuple

from runners.sim.lifecycle import open_file
from runners.sim.machine import Machine, Program, Say
from runners.sim.processes import Process
from runners.sim.programs.descriptors import append, current, hold

_PRIORITIES = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")
_CONFIG = "/etc/rsyslog.conf"


class Route(NamedTuple):
    """One line of rsyslog.conf: which facilities (`*` for all) from which priority up, which not, to which file."""

    facilities: frozenset[str]
    excluded: frozenset[str]
    priority: int
    path: str


class Rsyslogd(Program):
    """`held`: its routes."""

    reloads = True
    notifies = True

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        try:
            text = machine.view(process.cred).text(_CONFIG)
        except OSError as error:
            say(
                f"rsyslogd: could not open config file '{_CONFIG}': {error.strerror} [v8.2302.0 try https://www.rsyslog.com/e/2104 ]"
            )
            return 1
        hold(machine, process, routes(text), rss=6 << 20, share=0.00003)
        return None

    def reload(self, machine: Machine, process: Process) -> None:
        """SIGHUP closes the files; they are opened anew (by name) with the next line."""
        for file in process.files:
            machine.files.close(file.inode)
        machine.processes.put(process._replace(files=()))

    def serve(self, machine: Machine, process: Process, request: object, connection: object) -> object:
        """Take one line: `(facility, line, priority)`. A file that cannot be written loses it, as in life."""
        del connection
        assert isinstance(request, tuple)
        facility, line, priority = request
        held = process.held
        if not isinstance(held, tuple):
            return None
        for route in held:
            if priority > route.priority or facility in route.excluded:
                continue
            if "*" in route.facilities or facility in route.facilities:
                self._write(machine, process, route.path, line)
        return None

    def _write(self, machine: Machine, process: Process, path: str, line: str) -> None:
        process = current(machine, process)
        file = next((one for one in process.files if one.path == path), None)
        try:
            if file is None:
                new = not machine.view().exists(path)
                file = open_file(machine, process, path)
                if new:
                    adm = 4
                    machine.view().chown(path, 0, adm)
            append(machine, file, line.encode("utf-8", "surrogateescape"))
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EACCES, errno.EROFS, errno.ENOENT, errno.EISDIR, errno.ENOTDIR):
                raise


@lru_cache(maxsize=64)
def routes(text: str) -> tuple[Route, ...]:
    """The selector lines that lead to files; everything else in the configuration is left alone."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"\s*([\w*,.;!=]+)\s+-?(/\S+)\s*", line)
        if match is None:
            continue
        facilities: set[str] = set()
        excluded: set[str] = set()
        priority = 7
        for selector in match[1].split(";"):
            names, _, level = selector.rpartition(".")
            if level == "none":
                excluded.update(names.split(","))
                continue
            facilities.update(names.split(","))
            priority = _PRIORITIES.index(level) if level in _PRIORITIES else 7
        if "authpriv" in facilities:
            facilities.add("auth")
        if "authpriv" in excluded:
            excluded.add("auth")
        found.append(Route(frozenset(facilities), frozenset(excluded), priority, match[2]))
    return tuple(found)


PROGRAMS = {"rsyslogd": Rsyslogd()}
