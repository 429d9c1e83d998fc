"""One call of a Redis command: its words, the database it works on, and how it refuses."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from runners.sim.programs.redis_data import Database, Hash, Members, RedisError, Reply, Scores, Status, Stored

Outcome = tuple[Reply | RedisError, Database]
OK = Status("OK")


class Refusal(Exception):  # noqa: N818 (an error reply that a command ends itself with)
    """The text of an error reply."""


class Call(NamedTuple):
    """One command on one database, at a moment of the machine's clock."""

    database: Database
    name: str
    args: tuple[str, ...]
    now: float

    @property
    def key(self) -> str:
        return self.args[0]

    def integer(self, index: int) -> int:
        return integer(self.args[index])

    def text(self, key: str) -> str | None:
        value = self.database.data.get(key)
        if value is not None and not isinstance(value, str):
            raise Refusal(WRONG)
        return value

    def items(self) -> tuple[str, ...]:
        value = self.database.data.get(self.key, ())
        if not isinstance(value, tuple):
            raise Refusal(WRONG)
        return value

    def hash(self) -> Mapping[str, str]:
        value = self.database.data.get(self.key, _NO_HASH)
        if not isinstance(value, Hash):
            raise Refusal(WRONG)
        return value.fields

    def members(self, key: str = "") -> tuple[str, ...]:
        value = self.database.data.get(key or self.key, _NO_MEMBERS)
        if not isinstance(value, Members):
            raise Refusal(WRONG)
        return value.items

    def scores(self) -> Mapping[str, float]:
        value = self.database.data.get(self.key, _NO_SCORES)
        if not isinstance(value, Scores):
            raise Refusal(WRONG)
        return value.of

    def kept(self, value: Stored) -> Database:
        """The key with a changed value, which expires as it did."""
        return self.database.with_value(self.key, value)


WRONG = "WRONGTYPE Operation against a key holding the wrong kind of value"
SYNTAX = "ERR syntax error"
_NO_HASH, _NO_MEMBERS, _NO_SCORES = Hash({}), Members(()), Scores({})
LONG = re.compile(r"0|-?[1-9][0-9]{0,18}")


def integer(text: str) -> int:
    if not LONG.fullmatch(text) or not -(1 << 63) <= int(text) < 1 << 63:
        raise Refusal("ERR value is not an integer or out of range")
    return int(text)


def real(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value) or "_" in text:
        raise Refusal("ERR value is not a valid float")
    return value


def shown(value: float) -> str:
    if not math.isfinite(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:.0f}" if value == int(value) else f"{value:.17g}"


def slice_of(call: Call, held: tuple[str, ...]) -> tuple[str, ...]:
    """From the second word's index to the third's, which may count from the end."""
    start, stop = call.integer(1), call.integer(2)
    stop = len(held) + stop if stop < 0 else stop
    return held[start if start >= 0 else max(len(held) + start, 0) : max(stop + 1, 0)]


def tell(what: Callable[[Call], Reply]) -> Callable[[Call], Outcome]:
    """A command that changes nothing."""
    return lambda call: (what(call), call.database)


class Command(NamedTuple):
    """`arity`: words including the name, at least so many where negative. `writes`: refused where nothing can be saved."""

    arity: int
    writes: bool
    run: Callable[[Call], Outcome]


def type_of(value: Stored | None) -> str:
    if value is None or isinstance(value, str):
        return "none" if value is None else "string"
    return {tuple: "list", Hash: "hash", Members: "set", Scores: "zset"}[type(value)]


def encoding(value: Stored) -> str:
    """How a value is kept, as OBJECT ENCODING tells it."""
    if isinstance(value, str):
        whole = LONG.fullmatch(value) is not None
        return "int" if whole else "embstr" if len(value) <= 44 else "raw"
    if isinstance(value, Members):
        return "intset" if all(LONG.fullmatch(item) for item in value.items) else "hashtable"
    return "quicklist" if isinstance(value, tuple) else "listpack"
