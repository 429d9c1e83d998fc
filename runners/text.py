"""Texts as a record can hold them."""

from __future__ import annotations


def readable(data: bytes) -> str:
    r"""UTF-8 text; a byte that is not shows as `\xNN`, so nothing is lost and nothing can fail to be written later."""
    return data.decode("utf-8", "backslashreplace")


def writable(text: str) -> str:
    r"""The text without halves of characters (a model's JSON may have them, as `\ud83d`): each becomes a `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


_LONGEST_NUMBER = 4000
"""The most digits that int() reads are a few more."""


def is_digits(text: str | bytes) -> bool:
    """Is it a number that int() can read: nothing but 0 to 9, at least one, and not without end?

    `str.isdigit` alone also means characters that int() refuses, such as a superscript two.
    """
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER
