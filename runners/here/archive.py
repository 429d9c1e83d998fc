"""This machine's own package sources: what images are made from comes from the same archive."""

from __future__ import annotations

import re
from pathlib import Path

from scenario_dsl.errors import HostError

EPOCH = 1_750_000_000
"""The time stamp of everything that packages make: the same packages give the same bytes."""
LEAVE_OUT = tuple(f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in ("man", "doc", "locale", "info"))
"""Options of mmdebstrap: nobody reads these in an image."""
_SOURCES = (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list"))


def sources() -> Path:
    """The file that names them. Raises HostError where there is none."""
    found = next((path for path in _SOURCES if path.is_file()), None)
    if found is None:
        raise HostError("no package sources are configured", remedy=f"write {_SOURCES[0]}")
    return found


def mirror() -> str:
    """The first of them, as a URL. Raises HostError where there is none."""
    file = sources()
    pattern = r"^URIs: *(\S+)" if file.suffix == ".sources" else r"^deb (?:\[[^]]*\] )?(\S+)"
    found = re.search(pattern, file.read_text(), re.MULTILINE)
    if found is None:
        raise HostError(f"{file} names no package source", remedy=f"write {_SOURCES[0]}")
    return found[1]
