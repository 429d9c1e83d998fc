"""The Apache HTTP Server's configuration, as far as its default sites use it, and the errors its parser gives."""

from __future__ import annotations

import fnmatch
import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from runners.sim.files.inode import Cred
from runners.sim.files.view import FileView
from runners.sim.machine import Machine
from runners.sim.users import accounts
from runners.text import is_digits

ROOT_FOLDER = "/etc/apache2"
CONFIG = f"{ROOT_FOLDER}/apache2.conf"
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SETTINGS = frozenset(
    (  # noqa: SIM905 (a table, read better so)
        "accessfilename allowoverride customlog defaultruntimedir directoryindex documentroot errordocument errorlog "
        "group header hostnamelookups include includeoptional keepalive keepalivetimeout listen loadmodule logformat "
        "loglevel maxkeepaliverequests maxrequestworkers mutex options pidfile require serveradmin serveralias "
        "servername serverroot serversignature servertokens startservers timeout traceenable user"
    ).split()
)
_BLOCKS = frozenset({"virtualhost", "directory", "files", "filesmatch", "ifmodule", "location"})


class ConfigError(Exception):
    """What `apache2 -t` prints, one or two lines."""


@dataclass(frozen=True, slots=True)
class Host:
    """One virtual host: the port it answers on (0 for any), its names, what it serves and where it logs."""

    port: int
    names: tuple[str, ...]
    root: str
    access_log: str
    error_log: str
    indexes: tuple[str, ...] = ("index.html",)


@dataclass(frozen=True, slots=True)
class Config:
    """`listens`: (address, port) in the order of the files. `user`: what the workers run as."""

    listens: tuple[tuple[str, int], ...]
    hosts: tuple[Host, ...]
    user: Cred
    pid_file: str
    error_log: str
    named: bool

    @property
    def logs(self) -> tuple[str, ...]:
        paths = [self.error_log, *(path for host in self.hosts for path in (host.error_log, host.access_log))]
        return tuple(dict.fromkeys(path for path in paths if path))


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    words: tuple[str, ...]
    blocks: tuple[tuple[str, str], ...]
    file: str
    number: int


def variables(view: FileView) -> dict[str, str]:
    """What /etc/apache2/envvars exports."""
    try:
        text = view.text(f"{ROOT_FOLDER}/envvars")
    except OSError:
        return {}
    return {match[1]: match[2].strip("'\"") for match in re.finditer(r"(?m)^export (\w+)=(\S+)", text)}


def load(machine: Machine, cred: Cred) -> Config:
    """Raises ConfigError."""
    view = machine.view(cred)
    known = variables(view)
    lines = list(_lines(view, CONFIG, known, ()))
    general = {line.name: line.words for line in lines if not line.blocks}
    listens = tuple(_listen(line) for line in lines if line.name == "listen" and not _skipped(line))
    if not listens:
        raise ConfigError("no listening sockets available, shutting down\nAH00015: Unable to open logs")
    user = general.get("user", ("www-data",))[0]
    names = accounts(machine)
    if names.user(user) is None:
        raise ConfigError(f"AH00543: apache2: bad user name {user}")
    error_log = general.get("errorlog", ("/var/log/apache2/error.log",))[0]
    return Config(
        listens=listens,
        hosts=tuple(_hosts(lines, error_log)),
        user=names.cred(user),
        pid_file=general.get("pidfile", ("/run/apache2/apache2.pid",))[0],
        error_log=error_log,
        named="servername" in general,
    )


def _lines(view: FileView, path: str, known: dict[str, str], outer: tuple[tuple[str, str], ...]) -> Iterator[_Line]:
    """The directives of a file and of what it includes, each with the blocks it stands in."""
    try:
        text = view.text(path)
    except OSError as error:
        raise ConfigError(f"apache2: Could not open configuration file {path}: {error.strerror}") from error
    blocks = list(outer)
    for number, raw in enumerate(text.splitlines(), start=1):
        line = _VARIABLE.sub(lambda match: known.get(match[1], match[0]), raw.strip())
        where = f"AH00526: Syntax error on line {number} of {path}:\n"
        if not line or line.startswith("#"):
            continue
        if line.startswith("</"):
            name = line[2:].rstrip(">").strip()
            if len(blocks) == len(outer) or blocks[-1][0] != name.lower():
                raise ConfigError(f"{where}</{name}> without matching <{name}> section")
            blocks.pop()
        elif line.startswith("<"):
            if not line.endswith(">"):
                raise ConfigError(f"{where}{line.split()[0]}> directive missing closing '>'")
            name, _, rest = line[1:-1].partition(" ")
            if name.lower() not in _BLOCKS:
                raise ConfigError(f"{where}Invalid command '<{name}', {_UNKNOWN}")
            blocks.append((name.lower(), rest.strip().strip('"')))
        else:
            try:
                words = shlex.split(line, posix=True)
            except ValueError:
                words = line.split()
            name = words[0].lower()
            if name not in _SETTINGS:
                raise ConfigError(f"{where}Invalid command '{words[0]}', {_UNKNOWN}")
            if len(words) < 2:
                raise ConfigError(f"{where}{words[0]} takes one argument")
            found = _Line(name, tuple(words[1:]), tuple(blocks), path, number)
            if name in ("include", "includeoptional"):
                if not _skipped(found):
                    yield from _included(view, found, known)
            else:
                yield found
    if len(blocks) > len(outer):
        raise ConfigError(
            f"AH00526: Syntax error on line {len(text.splitlines())} of {path}:\n<{blocks[-1][0]}> was not closed."
        )


_UNKNOWN = "perhaps misspelled or defined by a module not included in the server configuration"


def _included(view: FileView, line: _Line, known: dict[str, str]) -> Iterator[_Line]:
    pattern = posixpath.join(ROOT_FOLDER, line.words[0])
    folder, name = posixpath.split(pattern)
    if not any(sign in name for sign in "*?["):
        if line.name == "include" or view.exists(pattern):
            yield from _lines(view, pattern, known, line.blocks)
        return
    try:
        found = sorted(view.names(folder))
    except OSError:
        found = []
    for one in fnmatch.filter(found, name):
        path = posixpath.join(folder, one)
        if view.exists(path):
            yield from _lines(view, path, known, line.blocks)


def _skipped(line: _Line) -> bool:
    """It stands below a module that is not loaded; of those that may be asked for, none is."""
    return any(name == "ifmodule" and not value.startswith("!") for name, value in line.blocks)


def _listen(line: _Line) -> tuple[str, int]:
    address, _, port = line.words[0].rpartition(":")
    if not is_digits(port) or not 0 < int(port) < 65536:
        raise ConfigError(f"AH00526: Syntax error on line {line.number} of {line.file}:\nPort must be specified")
    return address.strip("[]") or "::", int(port)


def _hosts(lines: list[_Line], error_log: str) -> Iterator[Host]:
    blocks = dict.fromkeys((line.file, value) for line in lines for name, value in line.blocks if name == "virtualhost")
    for file, value in blocks:
        own = [line for line in lines if line.file == file and ("virtualhost", value) in line.blocks]
        said = {line.name: line.words for line in own}
        port = value.rpartition(":")[2]
        yield Host(
            port=int(port) if is_digits(port) else 0,
            names=(*said.get("servername", ()), *said.get("serveralias", ())),
            root=said.get("documentroot", ("/var/www/html",))[0],
            access_log=said.get("customlog", ("",))[0],
            error_log=said.get("errorlog", (error_log,))[0],
            indexes=said.get("directoryindex", ("index.html",)),
        )
