"""The face: the command line and the short public API. Nothing imports it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _version() -> str:
    try:
        return version("breakfix")
    except PackageNotFoundError:  # a checkout on the path, never installed
        return "0+unknown"


__version__ = _version()
