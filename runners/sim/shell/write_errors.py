"""What programs say when they cannot write their output, and the status they end with. `{}` is the system's message."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import NamedTuple

from runners.sim.commands.context import Context


class _Words(NamedTuple):
    text: str
    status: int = 1


_USUAL = _Words("write error: {}")
_OWN: Mapping[str, _Words] = MappingProxyType(
    {
        "awk": _Words("close failed on file /dev/stdout ({})", 2),
        "grep": _Words("write error: {}", 2),
        "gzip": _Words("stdout: {}"),
        "ls": _Words("write error: {}", 2),
        "sed": _Words("couldn't flush stdout: {}", 4),
        "sort": _Words("fflush failed: 'standard output': {}\nsort: write error", 2),
        "wc": _Words("write error"),
        "yes": _Words("standard output: {}"),
    }
)


def write_failed(ctx: Context, error: OSError) -> int:
    """Say so, where that can be said, and end."""
    words = _OWN.get(ctx.name, _USUAL)
    with suppress(OSError):
        ctx.err(words.text.format(error.strerror))
    return words.status
