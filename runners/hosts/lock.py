"""The packages that a system's image was locked to, beside its description, and what has drifted from them since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from scenario_dsl.errors import HostError

LOCK = "image.lock"


class Drift(NamedTuple):
    """A package whose version is another one now; empty where it was not there before, or is not any more."""

    package: str
    locked: str
    now: str

    def __str__(self) -> str:
        if not self.locked:
            return f"{self.package} {self.now} is new"
        return f"{self.package} {self.locked} is " + (f"{self.now} now" if self.now else "gone")


def read_lock(file: Path) -> tuple[str, tuple[str, ...]]:
    """(the image's id, its packages as `name=version`); nothing where there is no lock."""
    try:
        first, *packages = file.read_text().split()
    except FileNotFoundError:
        return "", ()
    except (OSError, ValueError) as error:
        raise HostError(
            f"{file} is no lock: {error}", remedy="make it anew: breakfix image lock SYSTEM --update"
        ) from None
    return first, tuple(packages)


def write_lock(file: Path, image: str, packages: Iterable[str]) -> None:
    """Raises HostError where it cannot be written."""
    part = file.with_suffix(".part")
    try:
        part.write_text("".join(f"{line}\n" for line in (image, *packages)))
        part.rename(file)
    except OSError as error:
        raise HostError(f"{file} cannot be written: {error.strerror}", remedy="lock it in a checkout") from None


def drifted(locked: Iterable[str], now: Iterable[str]) -> Iterator[Drift]:
    """What differs, by name."""
    before, after = (dict(one.split("=", 1) for one in packages) for packages in (locked, now))
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield Drift(name, before.get(name, ""), after.get(name, ""))
