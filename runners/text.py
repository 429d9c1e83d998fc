"""Texts as a record can hold them."""

from __future__ import annotations


def readable(data: bytes) -> str:
    r"""UTF-8 text; a byte that is not shows as `\xNN`, so nothing is lost and nothing can fail to be written later."""
    return data.decode("utf-8", "backslashreplace")


def writable(text: str) -> str:
    r"""The text without halves of characters (a model's JSON may have them, as `\ud83d`): each becomes a `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
