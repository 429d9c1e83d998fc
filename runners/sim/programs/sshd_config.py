"""sshd's configuration as sshd_config(5) describes it: files, what they include, and the settings that they come to.

The first line of a setting counts; a Match block is for some log-ins only, and there it goes before what is for all.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from runners.sim.files.view import FileView
from runners.sim.shell.globbing import expand
from runners.text import is_digits

CONFIG = "/etc/ssh/sshd_config"
KEYWORDS = frozenset(
    (  # noqa: SIM905 (a table, read better so)
        "acceptenv addressfamily allowagentforwarding allowgroups allowstreamlocalforwarding allowtcpforwarding allowusers "
        "authenticationmethods authorizedkeyscommand authorizedkeyscommanduser authorizedkeysfile "
        "authorizedprincipalscommand authorizedprincipalscommanduser authorizedprincipalsfile banner "
        "casignaturealgorithms challengeresponseauthentication chrootdirectory ciphers "
        "clientalivecountmax clientaliveinterval compression denygroups denyusers disableforwarding exposeauthinfo "
        "fingerprinthash forcecommand gatewayports gssapiauthentication gssapicleanupcredentials "
        "hostbasedacceptedalgorithms hostbasedauthentication hostcertificate hostkey hostkeyagent hostkeyalgorithms "
        "ignorerhosts ignoreuserknownhosts include ipqos "
        "kbdinteractiveauthentication kerberosauthentication kexalgorithms listenaddress logingracetime loglevel "
        "logverbose macs match maxauthtries "
        "maxsessions maxstartups passwordauthentication permitemptypasswords permitlisten permitopen permitrootlogin "
        "permittty permittunnel permituserenvironment permituserrc persourcemaxstartups persourcenetblocksize pidfile "
        "port printlastlog printmotd pubkeyacceptedalgorithms pubkeyacceptedkeytypes pubkeyauthentication pubkeyauthoptions "
        "rdomain rekeylimit requiredrsasize revokedkeys securitykeyprovider setenv streamlocalbindmask "
        "streamlocalbindunlink strictmodes subsystem syslogfacility tcpkeepalive trustedusercakeys usedns usepam "
        "versionaddendum x11displayoffset x11forwarding x11uselocalhost xauthlocation"
    ).split()
)
_GATHERED = frozenset(
    ("acceptenv", "allowgroups", "allowusers", "denygroups", "denyusers", "hostkey", "listenaddress", "port", "setenv",
     "subsystem")
)  # fmt: skip
"""Settings that each further line adds to; of all others the first line counts."""
_SPLIT = frozenset(("acceptenv", "allowgroups", "allowusers", "denygroups", "denyusers", "setenv"))
_FLAGS = ("kbdinteractiveauthentication", "passwordauthentication", "permitemptypasswords", "printmotd",
    "pubkeyauthentication", "strictmodes", "usepam", "x11forwarding")  # fmt: skip
_ROOT_LOGIN = ("yes", "no", "prohibit-password", "without-password", "forced-commands-only")
_DEPTH = 16

Settings = Mapping[str, tuple[str, ...]]


class ConfigError(Exception):
    """sshd refuses its configuration: the lines it prints."""


class Login(NamedTuple):
    """Who wants in, and from where: what a Match line can ask for."""

    user: str
    groups: tuple[str, ...]
    address: str
    port: int = 22


class Block(NamedTuple):
    """What follows a Match line. `criteria`: (keyword in lower case, patterns)."""

    criteria: tuple[tuple[str, str], ...]
    settings: Settings

    def is_for(self, login: Login) -> bool:
        return all(_matches(keyword, patterns, login) for keyword, patterns in self.criteria)


class Configuration(NamedTuple):
    """`settings`: for everybody; keyword (lower case) -> values."""

    settings: Settings
    blocks: tuple[Block, ...] = ()

    def of(self, login: Login) -> Settings:
        """What counts for one log-in."""
        for_it = [block.settings for block in self.blocks if block.is_for(login)]
        return {**self.settings, **ChainMap(*[dict(settings) for settings in for_it])}


def methods(settings: Settings) -> tuple[str, ...]:
    """The ways of logging in that the server offers, in the order in which it names them to a client."""
    keyboard = settings.get("kbdinteractiveauthentication") or settings.get("challengeresponseauthentication")
    offered = {
        "publickey": settings.get("pubkeyauthentication"),
        "password": settings.get("passwordauthentication"),
        "keyboard-interactive": keyboard if settings.get("usepam", ("no",))[0].lower() == "yes" else ("no",),
    }
    return tuple(name for name, value in offered.items() if value is None or value[0].lower() == "yes")


def _matches(keyword: str, patterns: str, login: Login) -> bool:
    if keyword == "all":
        return True
    candidates = {
        "user": (login.user,), "group": login.groups, "address": (login.address,), "host": (login.address,),
        "localport": (str(login.port),),
    }.get(keyword, ())  # fmt: skip
    listed = patterns.split(",")
    if any(_is_like(word, pattern[1:]) for pattern in listed if pattern.startswith("!") for word in candidates):
        return False
    return any(_is_like(word, pattern) for pattern in listed if not pattern.startswith("!") for word in candidates)


def _is_like(word: str, pattern: str) -> bool:
    if "/" in pattern:
        try:
            return ip_address(word) in ip_network(pattern, strict=False)
        except ValueError:
            return False
    return re.fullmatch("".join({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in pattern), word) is not None


class _Line(NamedTuple):
    number: int
    keyword: str
    written: str
    values: tuple[str, ...]


@lru_cache(maxsize=128)
def _lines(text: str) -> tuple[_Line, ...]:
    found = []
    for number, raw in enumerate(text.splitlines(), start=1):
        words = re.findall(r'"[^"]*"|[^\s=#"]+|#.*', raw)
        words = words[: next((index for index, word in enumerate(words) if word.startswith("#")), len(words))]
        if words:
            found.append(_Line(number, words[0].lower(), words[0], tuple(word.strip('"') for word in words[1:])))
    return tuple(found)


def load(view: FileView, path: str = CONFIG) -> Configuration:
    """Read the main file and what it includes. ConfigError with sshd's own lines.

    OSError when the main file cannot be read; an included one that cannot is an error of the configuration.
    """
    reader = _Reader(view)
    reader.read(path, view.text(path), depth=0)
    return Configuration(reader.settings, tuple(reader.blocks))


class _Reader:
    """Gathers settings line by line: into those for everybody, or into the block that is open."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self.settings: dict[str, tuple[str, ...]] = {}
        self.blocks: list[Block] = []
        self._into = self.settings

    def read(self, path: str, text: str, *, depth: int) -> None:
        problems: list[str] = []
        for line in _lines(text):
            if line.keyword not in KEYWORDS:
                problems.append(f"{path}: line {line.number}: Bad configuration option: {line.written}")
                continue
            where = f"{path} line {line.number}"
            problem = f'no argument after keyword "{line.written}"' if not line.values else _wrong(line)
            if problem:
                raise ConfigError("\n".join([*problems, f"{where}: {problem}"]))
            if line.keyword == "include":
                if depth >= _DEPTH:
                    raise ConfigError(f"{where}: Too many recursive configuration includes")
                for pattern in line.values:
                    self._include(pattern, depth=depth)
            elif line.keyword == "match":
                self._open(line)
            else:
                _set(self._into, line)
        if problems:
            raise ConfigError("\n".join([*problems, f"{path}: terminating, {len(problems)} bad configuration options"]))

    def _include(self, pattern: str, *, depth: int) -> None:
        """The files of a pattern, in order; a Match block in one of them ends with it."""
        outside = self._into
        pattern = pattern if pattern.startswith("/") else f"/etc/ssh/{pattern}"
        for path in expand(self._view, pattern, lambda _: None):
            try:
                text = self._view.text(path)
            except OSError as error:
                raise ConfigError(f"{path}: {error.strerror}") from error
            self.read(path, text, depth=depth + 1)
            self._into = outside

    def _open(self, line: _Line) -> None:
        words = [word for value in line.values for word in value.split()]
        self._into = {}
        criteria = (("all", ""),) if words[0].lower() == "all" else tuple(zip(words[::2], words[1::2], strict=False))
        self.blocks.append(Block(tuple((keyword.lower(), patterns) for keyword, patterns in criteria), self._into))


def _wrong(line: _Line) -> str:
    value = line.values[0]
    if line.keyword == "port" and not (is_digits(value) and 0 < int(value) < 65536):
        return "Badly formatted port number."
    if line.keyword in _FLAGS and value.lower() not in ("yes", "no"):
        return f'unsupported option "{value}".'
    if line.keyword == "permitrootlogin" and value.lower() not in _ROOT_LOGIN:
        return f'unsupported option "{value}".'
    return ""


def _set(found: dict[str, tuple[str, ...]], line: _Line) -> None:
    values = line.values if line.keyword in _SPLIT else (" ".join(line.values),)
    if line.keyword in _GATHERED:
        found[line.keyword] = (*found.get(line.keyword, ()), *values)
    else:
        found.setdefault(line.keyword, values)
