"""Bytes of a terminal as text."""

from __future__ import annotations


def readable(data: bytes) -> str:
    r"""UTF-8 text; a byte that is not shows as `\xNN`, so nothing is lost and nothing can fail to be written later."""
    return data.decode("utf-8", "backslashreplace")
