"""RESP, what is spoken on a connection to Redis: requests as they are sent, and replies as they come back."""

from __future__ import annotations

import re

from runners.sim.programs.redis_data import RedisError, Status
from runners.text import is_digits

_WORD = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"(?=\s|$)|'((?:[^'\\]|\\')*)'(?=\s|$)|([^\s"']\S*))""", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "a": "\a"}


def take(sent: bytes) -> tuple[tuple[str, ...] | RedisError, bytes] | None:
    """The words of the first command, inline or as an array, and the bytes behind it; None while it is not whole. After a
    protocol error the server closes the connection."""
    end = sent.find(b"\n")
    if end < 0:
        return None
    line = sent[:end].rstrip(b"\r")
    if not line.startswith(b"*"):
        split = inline(line.decode("utf-8", "surrogateescape"))
        if split is None:
            return RedisError("ERR Protocol error: unbalanced quotes in request"), b""
        return split, sent[end + 1 :]
    words, at, error = _array(sent, end + 1, line)
    if error:
        return RedisError(f"ERR Protocol error: {error}"), b""
    return None if words is None else (words, sent[at:])


def inline(line: str) -> tuple[str, ...] | None:
    """The words of one line, None where a quote is not closed."""
    words, at = [], 0
    line = line.rstrip()
    while at < len(line):
        word = _WORD.match(line, at)
        if word is None:
            return None
        double, single, plain = word.groups()
        if double is not None:
            words.append(re.sub(r"\\(x[0-9a-fA-F]{2}|.)", _unescaped, double, flags=re.DOTALL))
        else:
            words.append(plain if single is None else single.replace("\\'", "'"))
        at = word.end()
    return tuple(words)


def _unescaped(found: re.Match[str]) -> str:
    text = found[1]
    return chr(int(text[1:], 16)) if len(text) == 3 else _ESCAPES.get(text, text)


def _array(sent: bytes, at: int, line: bytes) -> tuple[tuple[str, ...] | None, int, str]:
    """The words of an array of bulk strings, None where more is to come; where it ends; and what is wrong with it."""
    if not is_digits(line[1:]) or len(line) > 8:
        return None, at, "invalid multibulk length"
    words = []
    for _ in range(int(line[1:])):
        end = sent.find(b"\n", at)
        if end < 0:
            return None, at, ""
        head = sent[at:end].rstrip(b"\r")
        if not head.startswith(b"$"):
            return None, at, f"expected '$', got '{chr(head[0]) if head else ''}'"
        if not is_digits(head[1:]) or len(head) > 10:
            return None, at, "invalid bulk length"
        start, size = end + 1, int(head[1:])
        if len(sent) < start + size:
            return None, at, ""
        words.append(sent[start : start + size].decode("utf-8", "surrogateescape"))
        at = start + size + 2
    return tuple(words), at, ""


def reply(answer: object) -> bytes:
    """A reply's bytes."""
    if isinstance(answer, RedisError):
        return b"-" + answer.text.encode("utf-8", "surrogateescape") + b"\r\n"
    if isinstance(answer, Status):
        return b"+" + answer.encode("utf-8", "surrogateescape") + b"\r\n"
    if isinstance(answer, int):
        return b":%d\r\n" % answer
    if isinstance(answer, tuple):
        return b"*%d\r\n" % len(answer) + b"".join(map(reply, answer))
    if answer is None:
        return b"$-1\r\n"
    data = str(answer).encode("utf-8", "surrogateescape")
    return b"$%d\r\n" % len(data) + data + b"\r\n"
