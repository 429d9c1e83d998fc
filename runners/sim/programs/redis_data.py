"""What Redis holds: its values, their snapshot, and the commands that read and change them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from scenario_dsl.values import Value

_SIGNATURE = b"REDIS0010\xfa\tredis-ver\x067.0.15\xfa\nredis-bits\xc0@"

Stored = str | tuple[str, ...]
Reply = str | int | None | tuple[object, ...]


class RedisRequest(NamedTuple):
    words: tuple[str, ...]
    password: str | None = None


class RedisError(NamedTuple):
    """An error reply; `text` begins with its kind (ERR, NOAUTH, MISCONF, …)."""

    text: str


def encode(data: Mapping[str, Stored]) -> bytes:
    """A snapshot's bytes."""
    return (
        _SIGNATURE + b"\xfe\x00" + json.dumps(data, separators=(",", ":")).encode("utf-8", "surrogateescape") + b"\xff"
    )


def decode(data: bytes) -> Mapping[str, Stored] | None:
    """The data of a snapshot; None when it is not one."""
    start = data.find(b"\xfe\x00")
    if not data.startswith(b"REDIS") or start < 0:
        return None
    try:
        raw = json.loads(data[start + 2 : -1])
    except ValueError:
        return None
    return {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}


def described(value: Value) -> Mapping[str, Stored]:
    """The keys of a system's description."""
    found: dict[str, Stored] = {}
    if isinstance(value, Mapping):
        for key, one in value.items():
            found[key] = tuple(str(item) for item in one) if isinstance(one, tuple | list) else str(one)
    return found


Data = Mapping[str, Stored]
Outcome = tuple[Reply | RedisError, Data]
_WRONG = RedisError("WRONGTYPE Operation against a key holding the wrong kind of value")


def _get(data: Data, args: tuple[str, ...]) -> Outcome:
    value = data.get(args[0])
    return (_WRONG if isinstance(value, tuple) else value), data


def _set(data: Data, args: tuple[str, ...]) -> Outcome:
    return "OK", {**data, args[0]: args[1]}


def _del(data: Data, args: tuple[str, ...]) -> Outcome:
    gone = [key for key in args if key in data]
    return len(gone), {key: value for key, value in data.items() if key not in gone} if gone else data


def _exists(data: Data, args: tuple[str, ...]) -> Outcome:
    return sum(key in data for key in args), data


def _incr(data: Data, args: tuple[str, ...]) -> Outcome:
    value = data.get(args[0], "0")
    if isinstance(value, tuple):
        return _WRONG, data
    if not value.lstrip("-").isdigit():
        return RedisError("ERR value is not an integer or out of range"), data
    return int(value) + 1, {**data, args[0]: str(int(value) + 1)}


def _push(left: bool) -> Callable[[Data, tuple[str, ...]], Outcome]:
    def run(data: Data, args: tuple[str, ...]) -> Outcome:
        value = data.get(args[0], ())
        if not isinstance(value, tuple):
            return _WRONG, data
        new = (*reversed(args[1:]), *value) if left else (*value, *args[1:])
        return len(new), {**data, args[0]: new}

    return run


def _pop(left: bool) -> Callable[[Data, tuple[str, ...]], Outcome]:
    def run(data: Data, args: tuple[str, ...]) -> Outcome:
        value = data.get(args[0], ())
        if not isinstance(value, tuple):
            return _WRONG, data
        if not value:
            return None, data
        item, rest = (value[0], value[1:]) if left else (value[-1], value[:-1])
        kept = {**data, args[0]: rest}
        return item, kept if rest else {key: one for key, one in kept.items() if key != args[0]}

    return run


def _llen(data: Data, args: tuple[str, ...]) -> Outcome:
    value = data.get(args[0], ())
    return (len(value) if isinstance(value, tuple) else _WRONG), data


def _lrange(data: Data, args: tuple[str, ...]) -> Outcome:
    value = data.get(args[0], ())
    if not isinstance(value, tuple):
        return _WRONG, data
    start, stop = int(args[1]), int(args[2])
    stop = len(value) + stop if stop < 0 else stop
    return value[start if start >= 0 else max(len(value) + start, 0) : stop + 1], data


def _scan(data: Data, args: tuple[str, ...]) -> Outcome:
    """All keys at once: a small table is gone through in one step, which is what the cursor 0 says."""
    if not args[0].isdigit():
        return RedisError("ERR invalid cursor"), data
    words = [word.lower() for word in args]
    pattern = args[words.index("match") + 1] if "match" in words[:-1] else "*"
    found, _ = _keys(data, (pattern,))
    return ("0", found if isinstance(found, tuple) else ()), data


def _keys(data: Data, args: tuple[str, ...]) -> Outcome:
    pattern = re.escape(args[0]).replace(r"\*", ".*").replace(r"\?", ".")
    return tuple(key for key in sorted(data) if re.fullmatch(pattern, key)), data


def _type(data: Data, args: tuple[str, ...]) -> Outcome:
    value = data.get(args[0])
    return "none" if value is None else "list" if isinstance(value, tuple) else "string", data


COMMANDS: Mapping[str, tuple[int, bool, Callable[[Data, tuple[str, ...]], Outcome]]] = {
    "ping": (0, False, lambda data, args: (args[0] if args else "PONG", data)),
    "echo": (1, False, lambda data, args: (args[0], data)),
    "select": (1, False, lambda data, _args: ("OK", data)),
    "quit": (0, False, lambda data, _args: ("OK", data)),
    "dbsize": (0, False, lambda data, _args: (len(data), data)),
    "flushall": (0, True, lambda _data, _args: ("OK", {})),
    "flushdb": (0, True, lambda _data, _args: ("OK", {})),
    "get": (1, False, _get), "set": (2, True, _set), "setnx": (2, True, lambda d, a: (0, d) if a[0] in d else (1, {**d, a[0]: a[1]})),
    "setex": (3, True, lambda d, a: ("OK", {**d, a[0]: a[2]})), "del": (1, True, _del), "unlink": (1, True, _del),
    "exists": (1, False, _exists), "incr": (1, True, _incr), "lpush": (2, True, _push(True)), "rpush": (2, True, _push(False)),
    "lpop": (1, True, _pop(True)), "rpop": (1, True, _pop(False)), "llen": (1, False, _llen), "lrange": (3, False, _lrange),
    "keys": (1, False, _keys), "scan": (1, False, _scan), "type": (1, False, _type), "ttl": (1, False, lambda d, a: (-1 if a[0] in d else -2, d)),
    "strlen": (1, False, lambda d, a: (len(d.get(a[0], "")), d)), "expire": (2, True, lambda d, a: (int(a[0] in d), d)),
    "lastsave": (0, False, lambda d, _a: (0, d)), "time": (0, False, lambda d, _a: ((), d)),
}  # fmt: skip
