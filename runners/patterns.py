"""Regular expressions of probes, the same on every backend: RE2, searched, `^` and `$` at every line."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import re2


@lru_cache(maxsize=1024)
def _compiled(pattern: str | bytes) -> Any:
    options = re2.Options()
    options.log_errors = False
    # RE2 takes line-wise anchors as a flag of the pattern, not as an option of its Perl syntax.
    return re2.compile(b"(?m)" + pattern if isinstance(pattern, bytes) else f"(?m){pattern}", options)


def found(pattern: str, text: str) -> bool:
    """Is the pattern found somewhere in the text? Patterns were checked with the document; time is linear."""
    return _compiled(pattern).search(text) is not None


def lines_with(pattern: str, text: bytes) -> Iterator[bytes]:
    """The lines of a UTF-8 text that have the pattern, each taken alone; lines without it cost next to nothing."""
    compiled = _compiled(pattern.encode())
    at = 0
    while at <= len(text):
        match = compiled.search(text, at)
        if match is None:
            return
        start = text.rfind(b"\n", 0, match.start()) + 1
        end = text.find(b"\n", match.start())
        end = len(text) if end < 0 else end
        if match.end() <= end or compiled.search(text[start:end]) is not None:
            yield text[start:end]
        at = end + 1
