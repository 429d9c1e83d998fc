"""Names and limits of a bundle on disk.

```
<out>/bundle/manifest.json
<out>/bundle/systems/<system>.json
<out>/bundle/scenarios/<scenario>/scenario.json, solutions.json
                                  worlds/<world>.json    what runs
                                  probes/<world>.json    what of it is measured, for other readers; likewise
                                  playbooks/<world>/inject.yml, revert.yml, cascades/<cascade>/inject.yml, revert.yml
<out>/bundle.tar         the same files, as one deterministic archive
<out>/proof.json         when proven
<out>/bundle.dsse.json   when signed
```
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Literal

FORMAT: Literal["breakfix-bundle/1"] = "breakfix-bundle/1"
MANIFEST = "manifest.json"
FOLDER = "bundle"
TAR = "bundle.tar"
PROOF = "proof.json"
ENVELOPE = "bundle.dsse.json"

LARGEST_FILE = 64 * 1024**2
LARGEST_TOTAL = 512 * 1024**2
MOST_FILES = 100_000
LONGEST_PATH = 200

_PART = r"[a-z0-9_][a-z0-9._-]*"
_PATH = re.compile(rf"{_PART}(?:/{_PART})*")
_SLUG = 48


def is_bundle_path(path: str) -> bool:
    """Is this a path that a bundle may hold? Only one spelling of each exists: no upper case, no `.` or `..`."""
    return len(path) <= LONGEST_PATH and _PATH.fullmatch(path) is not None


def slug(name: str) -> str:
    """A name as a part of a path: `loud log` -> `loud-log`. Long names end in eight digits of their sha256."""
    text = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    text = re.sub(r"[^a-z0-9]+", "-", text).strip("-")
    if 0 < len(text) <= _SLUG:
        return text
    digits = sha256(name.encode())[:8]
    return f"{text[: _SLUG - 9].rstrip('-')}-{digits}".lstrip("-")


def slugs(names: Iterable[str]) -> Mapping[str, str]:
    """Distinct parts of a path for distinct names, in their order: a second `loud-log` becomes `loud-log-2`."""
    taken: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        wanted = candidate = slug(name)
        number = 1
        while candidate in used:
            number += 1
            candidate = f"{wanted}-{number}"
        used.add(candidate)
        taken[name] = candidate
    return taken


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
