"""Redis's protocol (RESP 2) as bytes: requests inline or as arrays of bulk strings, and replies."""

from __future__ import annotations

from runners.sim.programs.redis_data import RedisError

REFUSED = b"-NOAUTH Authentication required.\r\n"
_STATUSES = frozenset(
    {"auth", "bgsave", "config", "flushall", "flushdb", "ping", "quit", "save", "select", "set", "setex", "type"}
)
"""Commands that answer text by a simple string, not by a bulk one."""
_MOST_WORDS = 1 << 16


def take(sent: bytes) -> tuple[tuple[str, ...], bytes] | None:
    """The words of the first request, and the bytes behind it; None while it is not whole."""
    line, newline, rest = sent.partition(b"\n")
    if not newline:
        return None
    if not line.startswith(b"*"):
        return _words(line.split()), rest
    words: list[bytes] = []
    for _ in range(min(_number(line[1:]), _MOST_WORDS)):
        head, newline, rest = rest.partition(b"\n")
        size = _number(head[1:])
        if not newline or len(rest) < size + 2:
            return None
        words.append(rest[:size])
        rest = rest[size + 2 :]
    return _words(words), rest


def _number(text: bytes) -> int:
    digits = text.strip()
    return int(digits) if digits.isdigit() and len(digits) < 10 else 0


def _words(words: list[bytes]) -> tuple[str, ...]:
    return tuple(word.decode("utf-8", "surrogateescape") for word in words)


def encoded(words: tuple[str, ...], reply: object) -> bytes:
    """A reply to the request `words`."""
    name = words[0].lower()
    simple = name in _STATUSES and not (name == "ping" and len(words) > 1)
    return _encoded(reply, simple=simple).encode("utf-8", "surrogateescape")


def _encoded(reply: object, *, simple: bool = False) -> str:
    if isinstance(reply, RedisError):
        return f"-{reply.text}\r\n"
    if reply is None:
        return "$-1\r\n"
    if isinstance(reply, int):
        return f":{reply}\r\n"
    if isinstance(reply, tuple):
        return f"*{len(reply)}\r\n" + "".join(_encoded(one) for one in reply)
    text = str(reply)
    if simple:
        return f"+{text}\r\n"
    return f"${len(text.encode('utf-8', 'surrogateescape'))}\r\n{text}\r\n"
