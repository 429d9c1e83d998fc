"""Seeds from seeds, so that nothing depends on the order in which things are played."""

from __future__ import annotations

import hashlib


def derive(seed: int, *names: str) -> int:
    """Another seed, for a purpose: a hash of both, 63 bits."""
    text = "\0".join((str(seed), *names))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1
