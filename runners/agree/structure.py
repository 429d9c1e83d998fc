"""What a command's output is like, whatever the numbers and names in it: which kinds of lines there are."""

from __future__ import annotations

import re

_LEAST = 0.5
"""The share of the kinds of lines of both outputs that are in both, from which on they are alike."""
_CLASSES = (
    (
        "TIME",
        re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ +(?:\d\d:\d\d(?::\d\d)?|\d{4})\b"),
    ),
    ("TIME", re.compile(r"\b(?:\d{4}-\d\d-\d\d|\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?)\b")),
    ("ADDRESS", re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?\b|\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b")),
    ("HEX", re.compile(r"\b(?=\d*[a-fx])(?:0x)?[0-9a-f]{12,}\b")),
    ("PATH", re.compile(r"(?<![\w/])/[\w.@:+~-]+(?:/[\w.@:+~-]*)*")),
    ("NUMBER", re.compile(r"[-+]?\d+(?:[.,]\d+)*(?:\s?[KMGTkmgt]i?B?\b|%)?")),
    ("WORD", re.compile(r"[A-Za-z_][A-Za-z_'-]*")),
)
_HEADING = re.compile(r"^(?:[A-Z][\w%/.-]*\s*){3,}$")
_RUNS = re.compile(r"(?:(?<=\s)|^)(WORD|PATH|NUMBER|TIME)(?: \1)+(?=\s|$)")


def structure(output: str) -> frozenset[str]:
    """The kinds of lines: each with its numbers, times, addresses, paths and words as mere classes; a line of column
    headings as it stands; empty lines are none."""
    return frozenset(_kind(line) for line in output.splitlines() if line.strip())


def alike(one: str, other: str) -> bool:
    """Do both outputs have at least half of all their kinds of lines in common? Two silences are alike."""
    here, there = structure(one), structure(other)
    return len(here & there) >= _LEAST * len(here | there)


def _kind(line: str) -> str:
    plain = " ".join(line.split())
    if _HEADING.match(plain):
        return plain
    for name, pattern in _CLASSES:
        plain = pattern.sub(lambda match, name=name: match[0] if match[0] in _NAMES else name, plain)  # type: ignore[misc]
    return _RUNS.sub(r"\1…", " ".join(plain.split()))


_NAMES = frozenset(name for name, _ in _CLASSES)
