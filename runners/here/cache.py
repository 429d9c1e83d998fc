"""The folder in which images are made and kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """$BREAKFIX_CACHE, or else `breakfix` in the user's cache folder."""
    given = os.environ.get("BREAKFIX_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "breakfix"
