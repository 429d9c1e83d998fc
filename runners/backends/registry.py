"""The backends of this installation, by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from runners.worlds import Backend
from scenario_dsl.errors import AuthorError

BACKENDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "sim": ("runners.backends.sim", "SimBackend"),
        "container": ("runners.backends.container", "ContainerBackend"),
        "kernel": ("runners.backends.kernel", "KernelBackend"),
    }
)
"""Each backend's module and class. They are imported when they are asked for: not every machine has all they need."""


def find_backend(name: str) -> Backend:
    """A backend, ready to open worlds. Raises AuthorError for a name that is not there, HostError where a library is
    missing."""
    if name not in BACKENDS:
        raise AuthorError(f"there is no backend `{name}` here; there is: {', '.join(BACKENDS)}")
    module, kind = BACKENDS[name]
    backend: Backend = getattr(import_module(module), kind)()
    return backend


def find_on(inventory: Path) -> Backend:
    """The backend `kernel` on the hosts of an inventory, each of which is its user's own."""
    module, kind = BACKENDS["kernel"]
    backend: Backend = getattr(import_module(module), kind)(inventory)
    return backend
