"""Text from records, made fit to be shown: it may hold anything, also what breaks XML or reverses a line."""

from __future__ import annotations

import re

# C0 and C1 controls, lone surrogates, non-characters, and the marks that reorder or hide text.
_UNFIT = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\ufffe\uffff]"
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def printable(text: str) -> str:
    """The text on one line, with what cannot or should not be printed spelled as an escape (`\\u202e`)."""
    return _UNFIT.sub(lambda found: _escape(found.group()), text)


def shortened(text: str, length: int) -> str:
    """At most `length` characters, the last one an ellipsis if any were cut."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def spreadsheet_safe(text: str) -> str:
    """The text as a CSV cell: spreadsheets run cells that begin like a formula, so those get a leading apostrophe."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _escape(character: str) -> str:
    return {"\n": " ", "\t": " ", "\r": " "}.get(character, f"\\u{ord(character):04x}")
