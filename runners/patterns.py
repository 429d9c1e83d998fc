"""Regular expressions that meet what an agent can write: RE2, searched, `^` and `$` at every line.

One matcher for probes, answers and what was seen, so that a pattern means the same everywhere, on every backend, and
no text makes it slow: RE2's time is linear.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import re2


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    # RE2 takes line-wise anchors as a flag of the pattern, not as an option of its Perl syntax.
    return re2.compile(b"(?m)" + pattern.encode(), options)


def found(pattern: str, text: str) -> bool:
    """Is the pattern found somewhere in the text? Patterns were checked with the document."""
    return _compiled(pattern).search(_encoded(text)) is not None


def passages(pattern: str, text: str) -> Iterator[str]:
    """The lines in which the pattern is found: for each match, the whole of the lines that it touches.

    A line that belongs to a passage is not looked at for another one, so that time stays linear.
    """
    compiled, encoded = _compiled(pattern), _encoded(text)
    at = 0
    while at <= len(encoded) and (match := compiled.search(encoded, at)) is not None:
        start = encoded.rfind(b"\n", 0, match.start()) + 1
        end = encoded.find(b"\n", match.end())
        end = len(encoded) if end < 0 else end
        yield encoded[start:end].decode()
        at = end + 1


def lines_with(pattern: str, text: bytes) -> Iterator[bytes]:
    """The lines of a UTF-8 text that have the pattern, each taken alone; lines without it cost next to nothing."""
    compiled = _compiled(pattern)
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


def _encoded(text: str) -> bytes:
    """UTF-8, where halves of characters, which an agent may have typed, become question marks."""
    return text.encode("utf-8", "replace")
