"""What Redis holds: its databases with their values, and the snapshot of them."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from runners.sim.programs.redis_config import Settings
from scenario_dsl.values import Value

_SIGNATURE = b"REDIS0010\xfa\tredis-ver\x067.0.15\xfa\nredis-bits\xc0@"


@dataclass(frozen=True, slots=True)
class Hash:
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Members:
    """A set: its members in the order in which they came, as nothing else orders them."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    """A sorted set: member -> score, in the order of score and member."""

    of: Mapping[str, float]


Stored = str | tuple[str, ...] | Hash | Members | Scores
Reply = str | int | None | tuple[object, ...]


class Status(str):
    """A simple string, as OK is: clients show it without quotes."""

    __slots__ = ()


class RedisError(NamedTuple):
    """An error reply; `text` begins with its kind (ERR, NOAUTH, MISCONF, …)."""

    text: str


class RedisSession:
    """What the server knows of one connection: its database, whether it may speak, its name, and what waits for EXEC."""

    __slots__ = ("allowed", "database", "failed", "name", "queued")

    def __init__(self) -> None:
        self.database = 0
        self.allowed = False
        self.name = ""
        self.queued: list[tuple[str, ...]] | None = None
        self.failed = False


class RedisRequest(NamedTuple):
    """One command. `password`: sent before it, by clients that open a connection for one command."""

    words: tuple[str, ...]
    password: str | None = None
    session: RedisSession | None = None


class Database(NamedTuple):
    """The keys of one database, and when those that expire do so, by the machine's clock."""

    data: Mapping[str, Stored]
    expires: Mapping[str, float]

    def live(self, now: float) -> Database:
        """Without what has expired."""
        gone = {key for key, at in self.expires.items() if at <= now} if self.expires else ()
        return self.without(gone) if gone else self

    def without(self, keys: Collection[str]) -> Database:
        return Database(
            {key: value for key, value in self.data.items() if key not in keys},
            {key: at for key, at in self.expires.items() if key not in keys},
        )

    def with_value(self, key: str, value: Stored, *, keep: bool = True) -> Database:
        """With a key's new value; an empty list, hash or set is no key. `keep`: it expires as it did."""
        empty = value == () or (isinstance(value, Hash) and not value.fields)
        if empty or (isinstance(value, Members) and not value.items) or (isinstance(value, Scores) and not value.of):
            return self.without((key,))
        expires = self.expires
        if not keep and key in expires:
            expires = {name: at for name, at in expires.items() if name != key}
        return Database({**self.data, key: value}, expires)

    def expiring(self, key: str, at: float) -> Database:
        return self._replace(expires={**self.expires, key: at})


EMPTY = Database({}, {})


class Held(NamedTuple):
    """The server's memory. `failed_save`: did the last snapshot fail; `dirty`: changes since the last good one."""

    settings: Settings
    databases: Mapping[int, Database]
    failed_save: bool = False
    dirty: int = 0
    saved_at: float = 0.0


def encode(databases: Mapping[int, Database]) -> bytes:
    """A snapshot's bytes. The first database is always there."""
    parts = [_SIGNATURE]
    for number in sorted({0, *(number for number, one in databases.items() if one.data)}):
        database = databases.get(number, EMPTY)
        plain = {key: _plain(value, database.expires.get(key)) for key, value in database.data.items()}
        text = json.dumps(plain, separators=(",", ":")).encode("utf-8", "surrogateescape")
        parts.append(b"\xfe" + bytes([number]) + text)
    return b"".join(parts) + b"\xff"


def _plain(value: Stored, at: float | None) -> object:
    if at is not None:
        return {"at": at, "value": _plain(value, None)}
    if isinstance(value, Hash):
        return {"hash": dict(value.fields)}
    if isinstance(value, Members):
        return {"set": list(value.items)}
    return {"zset": dict(value.of)} if isinstance(value, Scores) else value


def decode(data: bytes) -> Mapping[int, Database] | None:
    """The databases of a snapshot; None when it is not one."""
    if not data.startswith(b"REDIS") or b"\xfe\x00" not in data:
        return None
    found: dict[int, Database] = {}
    for part in data[:-1].split(b"\xfe")[1:]:
        try:
            raw = json.loads(part[1:])
            expires = {key: float(one["at"]) for key, one in raw.items() if isinstance(one, dict) and "at" in one}
            values = {key: _value(one["value"] if key in expires else one) for key, one in raw.items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        if not all(map(math.isfinite, expires.values())):
            return None
        found[part[0]] = Database(values, expires)
    return found


def _value(raw: object) -> Stored:
    if isinstance(raw, list):
        return tuple(map(str, raw))
    if not isinstance(raw, dict):
        return str(raw)
    ((kind, inner),) = raw.items()
    if kind == "hash":
        return Hash({str(key): str(value) for key, value in inner.items()})
    return Members(tuple(map(str, inner))) if kind == "set" else Scores({str(k): float(v) for k, v in inner.items()})


def described(value: Value) -> Mapping[str, Stored]:
    """The keys of a system's description."""
    found: dict[str, Stored] = {}
    if isinstance(value, Mapping):
        for key, one in value.items():
            found[key] = tuple(str(item) for item in one) if isinstance(one, tuple | list) else str(one)
    return found
