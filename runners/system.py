"""A system's description as the backends read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from runners.text import is_digits
from scenario_dsl.model import System, SystemFile
from scenario_dsl.values import Value

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SIZES = {"": 1, "B": 1, "K": 1 << 10, "KB": 1 << 10, "KiB": 1 << 10, "M": 1 << 20, "MB": 1 << 20, "MiB": 1 << 20,
          "G": 1 << 30, "GB": 1 << 30, "GiB": 1 << 30, "T": 1 << 40, "TB": 1 << 40, "TiB": 1 << 40}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SystemSpec:
    """What a machine is booted from. start_time: seconds since the epoch at opening; uptime: seconds.

    Compared by identity, so that what is worked out from it can be cached.
    """

    name: str
    hostname: str
    start_time: float
    uptime: float
    files: tuple[SystemFile, ...]
    settings: Mapping[str, Value]

    @classmethod
    def of(cls, system: System) -> SystemSpec:
        """From a checked document of the language."""
        settings = system.settings
        return cls(
            name=system.name,
            hostname=text(settings, "hostname", system.name),
            start_time=moment(settings.get("start")),
            uptime=seconds(settings.get("uptime", "30d")),
            files=system.files,
            settings=settings,
        )

    def as_node(self, hostname: str, address: str) -> SystemSpec:
        """The same machine under another name and address: who else is there is for the first of the fleet to say."""
        network = {**self.section("network"), "address": address, "mac": _mac_of(address), "dns": ()}
        others: Mapping[str, Value] = {"hostname": hostname, "network": network, "hosts": (), "clients": ()}
        return replace(
            self,
            hostname=hostname,
            settings={**self.settings, **others},
            files=tuple(
                replace(file, content=f"{hostname}\n") if file.path == "/etc/hostname" else file for file in self.files
            ),
        )

    def section(self, name: str) -> Mapping[str, Value]:
        """A mapping of the settings, empty where it is missing."""
        value = self.settings.get(name)
        return value if isinstance(value, Mapping) else {}

    def entries(self, name: str) -> Iterator[Mapping[str, Value]]:
        """The mappings of a list in the settings."""
        return mappings(self.settings.get(name))


def _mac_of(address: str) -> str:
    numbers = address.partition("/")[0].split(".")
    return "52:54:" + ":".join(f"{int(number):02x}" for number in numbers)


def mappings(value: Value) -> Iterator[Mapping[str, Value]]:
    if isinstance(value, tuple | list):
        for item in value:
            if isinstance(item, Mapping):
                yield item


def texts(value: Value) -> tuple[str, ...]:
    """The strings of a list, or the one string itself."""
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value) if isinstance(value, tuple | list) else ()


def text(values: Mapping[str, Value], key: str, default: str = "") -> str:
    value = values.get(key)
    return default if value is None else str(value)


def integer(values: Mapping[str, Value], key: str, default: int = 0) -> int:
    value = values.get(key)
    return int(value) if isinstance(value, int | float | str) and is_digits(str(value).lstrip("-")) else default


def moment(value: Value) -> float:
    """An ISO time as seconds since the epoch; without a zone it is UTC. Without a value, the first moment of 2025."""
    if isinstance(value, int | float):
        return float(value)
    stamp = datetime.fromisoformat(str(value or "2025-01-01T00:00:00").replace("Z", "+00:00"))
    return (stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)).timestamp()


def seconds(value: Value) -> float:
    """A duration: a number of seconds, or text such as `90`, `5s`, `12d4h`."""
    if isinstance(value, int | float):
        return float(value)
    found = re.findall(r"(\d+(?:\.\d+)?)\s*([smhdw]?)", str(value or 0))
    return sum(float(number) * _UNITS[unit or "s"] for number, unit in found)


def size(value: Value) -> int:
    """Bytes: a number, or text such as `8GB` (powers of two, as df -h shows them)."""
    if isinstance(value, int | float):
        return int(value)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)\s*", str(value or 0))
    return int(float(match[1]) * _SIZES.get(match[2], 1)) if match else 0
