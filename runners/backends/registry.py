"""The backends of this installation, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from runners.backends.sim import SimBackend
from runners.worlds import Backend
from scenario_dsl.errors import AuthorError

BACKENDS: Mapping[str, type[Backend]] = MappingProxyType({"sim": SimBackend})


def find_backend(name: str) -> Backend:
    """A backend, ready to open worlds. Raises AuthorError for a name that is not there."""
    if name not in BACKENDS:
        raise AuthorError(f"there is no backend `{name}` here; there is: {', '.join(BACKENDS)}")
    return BACKENDS[name]()
