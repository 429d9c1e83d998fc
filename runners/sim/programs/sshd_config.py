"""sshd's configuration as sshd_config(5) describes it: files, what they include, and the settings that they come to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from runners.sim.files.view import FileView
from runners.sim.shell.globbing import expand

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


def load(view: FileView, path: str = CONFIG) -> Settings:
    """Keyword (lower case) -> values, outside Match blocks. ConfigError with sshd's own lines.

    OSError when the main file cannot be read; an included one that cannot is an error of the configuration.
    """
    found: dict[str, tuple[str, ...]] = {}
    _read(view, path, view.text(path), found, matching=False, depth=0)
    return found


def _read(
    view: FileView, path: str, text: str, found: dict[str, tuple[str, ...]], *, matching: bool, depth: int
) -> None:
    problems: list[str] = []
    for line in _lines(text):
        if line.keyword not in KEYWORDS:
            problems.append(f"{path}: line {line.number}: Bad configuration option: {line.written}")
            continue
        where = f"{path} line {line.number}"
        if not line.values:
            raise ConfigError("\n".join([*problems, f'{where}: no argument after keyword "{line.written}"']))
        if line.keyword == "include":
            if depth >= _DEPTH:
                raise ConfigError(f"{where}: Too many recursive configuration includes")
            for pattern in line.values:
                _include(view, pattern, found, matching=matching, depth=depth)
        elif line.keyword == "match":
            matching = True
        else:
            problem = _wrong(line)
            if problem:
                raise ConfigError("\n".join([*problems, f"{where}: {problem}"]))
            if not matching:
                _set(found, line)
    if problems:
        raise ConfigError("\n".join([*problems, f"{path}: terminating, {len(problems)} bad configuration options"]))


def _include(view: FileView, pattern: str, found: dict[str, tuple[str, ...]], *, matching: bool, depth: int) -> None:
    """The files of a pattern, in order; a Match block in one of them ends with it."""
    pattern = pattern if pattern.startswith("/") else f"/etc/ssh/{pattern}"
    for path in expand(view, pattern, lambda _: None):
        try:
            text = view.text(path)
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}") from error
        _read(view, path, text, found, matching=matching, depth=depth + 1)


def _wrong(line: _Line) -> str:
    value = line.values[0]
    if line.keyword == "port" and not (value.isdigit() and 0 < int(value) < 65536):
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
