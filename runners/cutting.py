"""Output that is too long for whoever reads it: its head and its tail, and between them how much is left out."""

from __future__ import annotations

_HEAD = 0.5
"""The share of the head. Errors stand at the end, what a command began with at the beginning."""


def cut(data: bytes, limit: int) -> bytes:
    """At most about `limit` bytes of `data`, cut at line ends where that loses little, with a line that says so."""
    if len(data) <= limit:
        return data
    head = data[: int(limit * _HEAD)]
    tail = data[len(data) - (limit - len(head)) :]
    end = head.rfind(b"\n")
    if end > len(head) // 2:
        head = head[: end + 1]
    start = tail.find(b"\n")
    if 0 <= start < len(tail) // 2:
        tail = tail[start + 1 :]
    omitted = len(data) - len(head) - len(tail)
    joint = b"" if head.endswith(b"\n") or not head else b"\n"
    return head + joint + f"[... {omitted} bytes omitted ...]\n".encode() + tail
