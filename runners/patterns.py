"""Regular expressions of probes, the same on every backend: RE2, searched, `^` and `$` at every line."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    # RE2 takes line-wise anchors as a flag of the pattern, not as an option of its Perl syntax.
    return re2.compile(f"(?m){pattern}", options)


def found(pattern: str, text: str) -> bool:
    """Is the pattern found somewhere in the text? Patterns were checked with the document; time is linear."""
    return _compiled(pattern).search(text) is not None
