"""Conditional requests and requests for a part, as nginx answers them for its files (RFC 9110, 13 and 14)."""

from __future__ import annotations

import re
from typing import NamedTuple

from runners.sim.network.http import HttpRequest


class Part(NamedTuple):
    """The bytes that are asked for: from `start` up to `end`, which is not among them."""

    start: int
    end: int


def condition(request: HttpRequest, tag: str, modified: str) -> int:
    """304 or 412 where the request's conditions say so, otherwise 0. Dates must be the very same, as by default."""
    match, unless = request.header("If-Match"), request.header("If-None-Match")
    until, since = request.header("If-Unmodified-Since"), request.header("If-Modified-Since")
    if (match is not None and not _among(tag, match)) or (match is None and until is not None and until != modified):
        return 412
    if unless is not None:
        return 304 if _among(tag, unless) else 0
    return 304 if since is not None and since == modified else 0


def _among(tag: str, listed: str) -> bool:
    return listed.strip() == "*" or tag in [one.strip().removeprefix("W/") for one in listed.split(",")]


def part(request: HttpRequest, size: int, tag: str, modified: str) -> Part | int | None:
    """What part of a file is asked for: None for all of it, 416 where it has no such part."""
    text = request.header("Range")
    only_if = request.header("If-Range")
    if text is None or (only_if is not None and only_if not in (tag, modified)):
        return None
    found = re.fullmatch(r"bytes=\s*([0-9]{0,18})\s*-\s*([0-9]{0,18})\s*", text)
    if found is None or found.groups() == ("", ""):
        return 416 if text.startswith("bytes=") and "," not in text else None
    first, last = found.groups()
    if not first:
        start, end = max(size - int(last), 0), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
    return Part(start, end) if start < end else 416
