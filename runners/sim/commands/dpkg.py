"""dpkg, dpkg-query and apt: packages that are installed. Nothing new can be had: no source of packages answers."""

from __future__ import annotations

import fnmatch
import re
from urllib.parse import urlsplit

from runners.sim.commands.context import Context
from runners.sim.files.view import FileView
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.network.names import ResolveFailure, resolve
from runners.sim.packages import OWNERS, Package, packages
from runners.text import is_digits

NAMES = ("dpkg", "dpkg-query", "apt", "apt-get", "apt-cache", "apt-mark")


def main(ctx: Context) -> int:
    return _dpkg(ctx) if ctx.name.startswith("dpkg") else _apt(ctx)


def _matching(ctx: Context, patterns: list[str]) -> list[Package]:
    everything = packages(ctx.machine)
    return [
        one for one in everything if not patterns or any(fnmatch.fnmatchcase(one.name, pattern) for pattern in patterns)
    ]


def _dpkg(ctx: Context) -> int:
    words = list(ctx.args)
    if not words:
        ctx.stderr.write(
            b"dpkg: error: need an action option\n\nType dpkg --help for help about installing and "
            b"deinstalling packages [*];\n"
        )
        return 2
    verb, *rest = words
    patterns = [word for word in rest if not word.startswith("-")]
    if verb == "--version":
        ctx.line("Debian 'dpkg' package management program version 1.21.22 (amd64).")
        return 0
    if verb in ("-l", "--list"):
        return _list(ctx, patterns)
    if verb in ("-s", "--status"):
        return _status(ctx, patterns)
    if verb in ("-S", "--search"):
        return _search(ctx, patterns)
    if verb in ("-L", "--listfiles"):
        return _files(ctx, patterns)
    if verb in ("-W", "--show"):
        found = _matching(ctx, patterns)
        for one in found:
            ctx.line(f"{one.name}\t{one.version}")
        return _missing(ctx, patterns, found)
    if verb == "--get-selections":
        for one in _matching(ctx, patterns):
            ctx.line(f"{one.name}\t\t\t\t\tinstall")
        return 0
    if verb == "--print-architecture":
        ctx.line("amd64")
        return 0
    if verb in ("-V", "--verify", "--audit", "-C", "--configure"):
        return 0
    if ctx.cred.uid != 0:
        ctx.stderr.write(b"dpkg: error: requested operation requires superuser privilege\n")
        return 2
    if verb in ("-i", "--install", "-r", "--remove", "-P", "--purge"):
        for path in patterns:
            if verb in ("-i", "--install"):
                ctx.stderr.write(
                    f"dpkg: error: cannot access archive '{path}': No such file or directory\n".encode(
                        "utf-8", "surrogateescape"
                    )
                )
                return 2
            ctx.stderr.write(
                f"dpkg: warning: ignoring request to remove {path} which isn't installed\n".encode(
                    "utf-8", "surrogateescape"
                )
            )
        return 0
    ctx.stderr.write(f"dpkg: error: unknown option {verb}\n".encode("utf-8", "surrogateescape"))
    return 2


def _missing(ctx: Context, patterns: list[str], found: list[Package]) -> int:
    status = 0
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(one.name, pattern) for one in found):
            ctx.stderr.write(f"dpkg-query: no packages found matching {pattern}\n".encode("utf-8", "surrogateescape"))
            status = 1
    return status


def _list(ctx: Context, patterns: list[str]) -> int:
    found = _matching(ctx, patterns)
    if found:
        widths = [
            max(len(getattr(one, name)) for one in found) for name in ("name", "version", "architecture", "summary")
        ]
        widths = [max(width, least) for width, least in zip(widths, (4, 7, 12, 11), strict=True)]
        ctx.line("Desired=Unknown/Install/Remove/Purge/Hold")
        ctx.line("| Status=Not/Inst/Conf-files/Unpacked/halF-conf/Half-inst/trig-aWait/Trig-pend")
        ctx.line("|/ Err?=(none)/Reinst-required (Status,Err: uppercase=bad)")
        ctx.line(f"||/ {'Name':<{widths[0]}} {'Version':<{widths[1]}} {'Architecture':<{widths[2]}} Description")
        ctx.line("+++-" + "-".join("=" * width for width in widths))
        for one in found:
            ctx.line(
                f"ii  {one.name:<{widths[0]}} {one.version:<{widths[1]}} {one.architecture:<{widths[2]}} {one.summary}"
            )
    return _missing(ctx, patterns, found)


def _status(ctx: Context, names: list[str]) -> int:
    status = 0
    for name in names:
        one = next((package for package in packages(ctx.machine) if package.name == name), None)
        if one is None:
            ctx.stderr.write(
                f"dpkg-query: package '{name}' is not installed and no information is available\nUse "
                f"dpkg --info (= dpkg-deb --info) to examine archive files.\n".encode("utf-8", "surrogateescape")
            )
            status = 1
            continue
        ctx.line(
            f"Package: {one.name}\nStatus: install ok installed\nPriority: optional\nSection: admin\n"
            f"Maintainer: Debian Developers <debian-devel@lists.debian.org>\nArchitecture: {one.architecture}\n"
            f"Version: {one.version}\nDescription: {one.summary}\n"
        )
    return status


def _search(ctx: Context, paths: list[str]) -> int:
    status = 0
    for path in paths:
        owner = OWNERS.get(path.rsplit("/", 1)[-1])
        if owner is None or (path.startswith("/") and not ctx.files.exists(path)):
            ctx.stderr.write(
                f"dpkg-query: no path found matching pattern {path if path.startswith('/') else f'*{path}*'}\n".encode(
                    "utf-8", "surrogateescape"
                )
            )
            status = 1
        else:
            ctx.line(f"{owner}: {path}")
    return status


def _files(ctx: Context, names: list[str]) -> int:
    known = {one.name for one in packages(ctx.machine)}
    view: FileView = ctx.machine.view()
    for name in names:
        if name not in known:
            ctx.stderr.write(
                f"dpkg-query: package '{name}' is not installed\nUse dpkg --contents (= dpkg-deb "
                f"--contents) to list archive files contents.\n".encode("utf-8", "surrogateescape")
            )
            return 1
        paths = [
            path
            for command, owner in OWNERS.items()
            if owner == name
            for path in (f"/usr/sbin/{command}", f"/usr/bin/{command}")
            if view.exists(path)
        ]
        ctx.line("\n".join(["/.", *paths]))
    return 0


def _apt(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith("-")]
    flags = [word for word in ctx.args if word.startswith("-")]
    if "--version" in flags or "-v" in flags:
        ctx.line("apt 2.6.1 (amd64)")
        return 0
    if not words or "--help" in flags or words[0] == "help":
        ctx.line(f"apt 2.6.1 (amd64)\nUsage: {ctx.name} [options] command")
        return 0
    verb, *names = words
    installed = {one.name: one for one in packages(ctx.machine)}
    if ctx.name == "apt":
        ctx.stderr.write(b"\nWARNING: apt does not have a stable CLI interface. Use with caution in scripts.\n\n")
    if verb in ("policy", "show", "search", "list", "depends", "showhold", "madison", "rdepends"):
        return _ask(ctx, verb, names, installed)
    if ctx.cred.uid != 0:
        ctx.stderr.write(
            b"E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)\n"
            b"E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?\n"
        )
        return 100
    if verb == "update":
        return _update(ctx)
    if verb in ("install", "reinstall"):
        return _install(ctx, names, installed)
    ctx.line("Reading package lists... Done\nBuilding dependency tree... Done\nReading state information... Done")
    if verb in ("remove", "purge", "autoremove"):
        for name in names:
            if name in installed:
                ctx.stderr.write(b"E: Sub-process /usr/bin/dpkg returned an error code (1)\n")
                return 100
            ctx.line(f"Package '{name}' is not installed, so not removed")
    if verb in ("remove", "purge", "autoremove", "upgrade", "dist-upgrade", "full-upgrade"):
        ctx.line("0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.")
        return 0
    if verb in ("clean", "autoclean", "check", "hold", "unhold"):
        return 0
    ctx.stderr.write(f"E: Invalid operation {verb}\n".encode("utf-8", "surrogateescape"))
    return 100


def _update(ctx: Context) -> int:
    """Ask each source of packages that the machine's lists name. None of them can be had, each for its own reason."""
    named = [(*source, _unreachable(ctx, source)) for source in _sources(ctx.files)]
    ctx.sleep(10.0 if named else 0.0)
    for number, (uri, suite, _) in enumerate(named, 1):
        ctx.line(f"Ign:{number} {uri} {suite} InRelease")
    for number, (uri, suite, reason) in enumerate(named, 1):
        ctx.line(f"Err:{number} {uri} {suite} InRelease\n  {reason}")
    ctx.line("Reading package lists... Done")
    for uri, suite, reason in named:
        warning = f"W: Failed to fetch {uri}/dists/{suite}/InRelease  {reason}\n"
        ctx.stderr.write(warning.encode("utf-8", "surrogateescape"))
    if named:
        ctx.stderr.write(b"W: Some index files failed to download. They have been ignored, or old ones used instead.\n")
    return 0


def _sources(view: FileView) -> list[tuple[str, str]]:
    """(URI, suite) of every `deb` line in sources.list and sources.list.d, in apt's order."""
    lists = ["/etc/apt/sources.list"]
    if view.exists("/etc/apt/sources.list.d"):
        names = sorted(view.names("/etc/apt/sources.list.d"))
        lists += [f"/etc/apt/sources.list.d/{name}" for name in names if name.endswith(".list")]
    found: list[tuple[str, str]] = []
    for path in lists:
        text = view.text(path) if view.exists(path) else ""
        for line in text.splitlines():
            words = re.sub(r"\[[^]]*\]|#.*", "", line).split()
            if len(words) >= 3 and words[0] == "deb":
                found.append((words[1].rstrip("/"), words[2]))
    return found


def _unreachable(ctx: Context, source: tuple[str, str]) -> str:
    """Why a source does not answer, in apt's words: its name, its host, or what the host has under that port."""
    host, _, given = urlsplit(source[0]).netloc.partition(":")
    port = int(given) if is_digits(given) else 80
    address = resolve(ctx.machine, host)
    if isinstance(address, ResolveFailure):
        return f"{'Temporary failure resolving' if address.kind == 'try-again' else 'Could not resolve'} '{host}'"
    outcome = connect(ctx.machine, host, port, cred=ctx.cred)
    if not isinstance(outcome, ConnectFailure):
        return f"404  Not Found [IP: {address} {port}]"
    why = ". - connect (111: Connection refused)" if outcome.kind == "refused" else ", connection timed out"
    return f"Could not connect to {host}:{port} ({address}){why}"


def _install(ctx: Context, names: list[str], installed: dict[str, Package]) -> int:
    ctx.line("Reading package lists... Done\nBuilding dependency tree... Done\nReading state information... Done")
    for name in names:
        known = installed.get(name)
        if known is None:
            ctx.stderr.write(f"E: Unable to locate package {name}\n".encode("utf-8", "surrogateescape"))
            return 100
        ctx.line(f"{name} is already the newest version ({known.version}).")
    ctx.line("0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.")
    return 0


def _ask(ctx: Context, verb: str, names: list[str], installed: dict[str, Package]) -> int:
    if verb == "list":
        ctx.line("Listing... Done")
        for one in installed.values():
            if not names or any(fnmatch.fnmatchcase(one.name, pattern) for pattern in names):
                ctx.line(f"{one.name}/now {one.version} {one.architecture} [installed,local]")
        return 0
    for name in names:
        known = installed.get(name)
        if known is None:
            if verb in ("show", "depends"):
                ctx.stderr.write(
                    b"N: Unable to locate package "
                    + name.encode("utf-8", "surrogateescape")
                    + b"\nE: No packages found\n"
                )
                return 100
            if verb == "policy":
                ctx.stderr.write(f"N: Unable to locate package {name}\n".encode("utf-8", "surrogateescape"))
            continue
        if verb == "policy":
            ctx.line(
                f"{name}:\n  Installed: {known.version}\n  Candidate: {known.version}\n  Version table:\n"
                f" *** {known.version} 100\n        100 /var/lib/dpkg/status"
            )
        elif verb == "search":
            ctx.line(f"{name} - {known.summary}")
        else:
            ctx.line(
                f"Package: {name}\nVersion: {known.version}\nStatus: install ok installed\nDescription: "
                f"{known.summary}\n"
            )
    return 0
