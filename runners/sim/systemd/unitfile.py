"""Unit files: where they lie, how they are read, and what they say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from runners.sim.files.view import FileView
from runners.sim.systemd.lint import TYPES, findings
from runners.text import is_digits

SEARCH = (
    "/etc/systemd/system",
    "/run/systemd/transient",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
)
"""In order of precedence. /usr/lib is /lib, the name that systemd shows."""

_SIGNALS = {"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGKILL": 9, "SIGUSR1": 10, "SIGUSR2": 12, "SIGTERM": 15}


class ExecLine(NamedTuple):
    """One ExecStart= or the like: the program's path, its arguments, and the prefixes it had (`-`, `+`, `!`, `@`)."""

    path: str
    argv: tuple[str, ...]
    prefixes: str = ""

    @property
    def failure_ignored(self) -> bool:
        return "-" in self.prefixes


class UnitFile(NamedTuple):
    """A unit as its files define it. `settings`: section -> key -> values in order (an empty assignment clears).

    `path`: the fragment, "" if there is none; `drop_ins`: the .d/*.conf files read after it; `load_state`: loaded,
    not-found, masked, bad-setting or error; `problem` is the message for the last two; `warnings`: what was ignored.
    """

    name: str
    path: str = ""
    drop_ins: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    load_state: str = "loaded"
    problem: str = ""
    source: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return self.name.rsplit(".", 1)[-1]

    def all(self, section: str, key: str) -> tuple[str, ...]:
        return self.settings.get(section, {}).get(key, ())

    def get(self, section: str, key: str, default: str = "") -> str:
        """The last assignment of a key that takes one value."""
        values = self.settings.get(section, {}).get(key)
        return values[-1] if values else default

    def words(self, section: str, key: str) -> tuple[str, ...]:
        """A space-separated list over all assignments (After=, Requires=, …)."""
        return tuple(word for value in self.all(section, key) for word in value.split())

    @property
    def description(self) -> str:
        return self.get("Unit", "Description") or self.name

    @property
    def label(self) -> str:
        """How messages name it: `nginx.service - A high performance web server …`, or the name alone."""
        description = self.get("Unit", "Description")
        return f"{self.name} - {description}" if description else self.name

    @property
    def type(self) -> str:
        given = self.get("Service", "Type")
        if given in TYPES:
            return given
        return "simple" if self.all("Service", "ExecStart") else "oneshot"

    def commands(self, key: str) -> tuple[ExecLine, ...]:
        """ExecStart=, ExecReload= and the like of a service."""
        return tuple(parse_exec(line) for line in self.all("Service", key))

    @property
    def kill_signal(self) -> int:
        return signal_number(self.get("Service", "KillSignal", "SIGTERM"))

    def seconds(self, section: str, key: str, default: float) -> float:
        text = self.get(section, key)
        if not text:
            return default
        value = timespan(text)
        return default if value is None else value

    def number(self, section: str, key: str, default: int, base: int = 10) -> int:
        """What cannot be read is as if it were not there, as systemd ignores such a line."""
        text = self.get(section, key)
        return int(text, base) if re.fullmatch(r"[0-9]{1,9}" if base == 10 else r"[0-7]{1,9}", text) else default

    def size(self, section: str, key: str) -> int | None:
        """A byte size such as MemoryMax=; None when unset or infinity."""
        return byte_size(self.get(section, key))


def signal_number(text: str) -> int:
    if is_digits(text):
        return int(text)
    return _SIGNALS.get(text if text.startswith("SIG") else f"SIG{text}", 15)


def timespan(text: str) -> float | None:
    """systemd.time(7): `5min 20s`, `90`, `infinity`. Seconds, or None if it cannot be read."""
    units = {"us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1, "sec": 1, "second": 1, "seconds": 1, "": 1,
             "m": 60, "min": 60, "minute": 60, "minutes": 60, "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600,
             "d": 86400, "day": 86400, "days": 86400, "w": 604800, "week": 604800, "weeks": 604800}  # fmt: skip
    if text.strip() == "infinity":
        return float("inf")
    if re.search(r"\.\d*\.|(?<!\d)\.(?!\d)", text):
        return None
    total, number, unit = 0.0, "", ""
    for char in [*text.replace(" ", ""), "0"]:
        if char in "0123456789.":
            if unit:
                if unit not in units or not number:
                    return None
                total, number, unit = total + float(number) * units[unit], "", ""
            number += char
        else:
            unit += char
    rest = number[:-1]
    if rest:
        total += float(rest)
    return total


def byte_size(text: str) -> int | None:
    text = text.strip()
    if not text or text == "infinity":
        return None
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}.get(text[-1].upper())
    digits = text[:-1] if factor else text
    try:
        return int(float(digits) * (factor or 1))
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=1024)
def parse_exec(line: str) -> ExecLine:
    """One Exec line: prefixes off, split as a shell would."""
    prefixes = ""
    while line[:1] in "-@+!:" and line:
        prefixes += line[0]
        line = line[1:]
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    words = [word.replace("%%", "%").replace("\\\\", "\\") for word in words]
    if not words:
        return ExecLine("", (), prefixes)
    if "@" in prefixes and len(words) > 1:
        return ExecLine(words[0], tuple(words[1:]), prefixes)
    return ExecLine(words[0], tuple(words), prefixes)


def load(view: FileView, name: str) -> UnitFile:
    """Read a unit from the first folder that has it, then its drop-ins in order of their names."""
    template = template_of(name)
    folders = {folder: _entries(view, folder) for folder in SEARCH}
    for folder, entries in folders.items():
        for candidate in (name, template):
            if candidate is not None and candidate in entries:
                return _load_at(view, name, f"{folder}/{candidate}", folders)
    return UnitFile(name, load_state="not-found")


def _entries(view: FileView, folder: str) -> Mapping[str, int]:
    try:
        return view.stat(folder).entries or {}
    except OSError:
        return {}


def template_of(name: str) -> str | None:
    """`worker@.service` of `worker@3.service`; None when the name has no instance in it."""
    stem, _, suffix = name.rpartition(".")
    return f"{stem.split('@', 1)[0]}@.{suffix}" if "@" in stem and not stem.endswith("@") else None


def _load_at(view: FileView, name: str, path: str, folders: Mapping[str, Mapping[str, int]]) -> UnitFile:
    try:
        real = view.find(path)
    except OSError:
        return UnitFile(name, path, load_state="error", problem="Failed to open: Too many levels of symbolic links")
    if real.path == "/dev/null" or (real.inode is not None and real.inode.is_file and real.inode.size == 0):
        return UnitFile(name, path, tuple(_drop_ins(view, name, folders)), load_state="masked")
    if real.inode is None:
        return UnitFile(name, load_state="not-found")
    drop_ins = tuple(_drop_ins(view, name, folders))
    texts: list[bytes] = []
    source: list[int] = []
    for file in (real.path, *drop_ins):
        try:
            inode = view.stat(file)
            texts.append(view.read(file))
            source.append(_identity(inode.content.size, inode.mtime))
        except OSError as error:
            return UnitFile(name, path, load_state="error", problem=error.strerror or "")
    # /lib is a link to /usr/lib, and systemd names the files by the shorter way.
    shown = real.path.removeprefix("/usr") if real.path.startswith("/usr/lib/systemd/") else real.path
    return _read(name, (shown, *drop_ins), tuple(texts))._replace(source=tuple(source))


@lru_cache(maxsize=1024)
def _read(name: str, files: tuple[str, ...], contents: tuple[bytes, ...]) -> UnitFile:
    """The unit that a fragment and its drop-ins make, by what stands in them alone."""
    texts = tuple(content.decode("utf-8", "surrogateescape") for content in contents)
    settings = _parse(texts)
    found = [one for file, text in zip(files, texts, strict=True) for one in findings(file, text)]
    warnings = tuple(one.text for one in found)
    unit = UnitFile(name, files[0], files[1:], _specifiers(settings, name), warnings=warnings)
    if any(one.fatal for one in found):
        problem = "Unit configuration has fatal error, unit will not be started."
        return unit._replace(load_state="bad-setting", problem=problem)
    return _checked(unit)


def _identity(size: int, mtime: float) -> int:
    return int(mtime * 1e6) ^ size


def _checked(unit: UnitFile) -> UnitFile:
    """Refuse what systemd refuses when it loads a service."""
    if unit.kind != "service":
        return unit
    starts = unit.commands("ExecStart")
    if not starts and not unit.all("Service", "ExecStop") and not unit.get("Unit", "SuccessAction"):
        return unit._replace(
            load_state="bad-setting",
            problem="Service has no ExecStart=, ExecStop=, or SuccessAction=. Refusing.",
        )
    if len(starts) > 1 and unit.type != "oneshot":
        return unit._replace(
            load_state="bad-setting",
            problem="Service has more than one ExecStart= setting, which is only allowed for Type=oneshot services. "
            "Refusing.",
        )
    return unit


def _drop_ins(view: FileView, name: str, folders: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Paths of the .conf files of name.d in all folders; of equal names only the first folder's counts."""
    found: dict[str, str] = {}
    for folder, entries in folders.items():
        if f"{name}.d" not in entries:
            continue
        try:
            names = view.names(f"{folder}/{name}.d")
        except OSError:
            continue
        for file in names:
            if file.endswith(".conf"):
                found.setdefault(file, f"{folder}/{name}.d/{file}")
    for file in sorted(found):
        yield found[file]


@lru_cache(maxsize=1024)
def _parse(texts: tuple[str, ...]) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    settings: dict[str, dict[str, tuple[str, ...]]] = {}
    for text in texts:
        section = ""
        for line in _logical_lines(text):
            if line.startswith("[") and line.endswith("]"):
                section = line[1:-1]
                continue
            key, equals, value = line.partition("=")
            if not equals or not section:
                continue
            keys = settings.setdefault(section, {})
            key, value = key.strip(), value.strip()
            keys[key] = (*keys.get(key, ()), value) if value else ()
    return settings


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments, joined where they end in a backslash."""
    pending = ""
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith(("#", ";")) or (not line and not pending):
            continue
        if line.endswith("\\"):
            pending += line[:-1] + " "
            continue
        yield (pending + line).strip()
        pending = ""
    if pending:
        yield pending.strip()


def _specifiers(
    settings: Mapping[str, Mapping[str, tuple[str, ...]]], name: str
) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Put %i, %n, %N, %p in. The other specifiers are left as they are."""
    stem = name.rsplit(".", 1)[0]
    prefix, _, instance = stem.partition("@")
    if not any("%" in value for keys in settings.values() for values in keys.values() for value in values):
        return settings
    table = {"%i": instance, "%I": instance, "%n": name, "%N": stem, "%p": prefix, "%t": "/run", "%S": "/var/lib"}

    def fill(value: str) -> str:
        for specifier, text in table.items():
            value = value.replace(specifier, text)
        return value

    return {
        section: {key: tuple(fill(value) for value in values) for key, values in keys.items()}
        for section, keys in settings.items()
    }


def names(view: FileView) -> list[str]:
    """All unit names that have a file somewhere on the search path, sorted."""
    found: dict[str, None] = {}
    for folder in SEARCH:
        try:
            entries = view.names(folder)
        except OSError:
            continue
        for entry in entries:
            if "." in entry and not entry.endswith((".d", ".wants", ".requires")):
                found[entry] = None
    return sorted(found)
