"""The commands of Redis 7.0 on keys and strings: each takes a database and gives a reply and the database after."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping

from runners.sim.programs.redis_call import OK, SYNTAX, Call, Command, Outcome, Refusal, integer, tell, type_of
from runners.sim.programs.redis_collections import COLLECTIONS
from runners.sim.programs.redis_data import Database, Reply, Status
from runners.text import is_digits

# -- keys


def _delete(call: Call) -> Outcome:
    gone = {key for key in call.args if key in call.database.data}
    return len(gone), call.database.without(gone) if gone else call.database


def _expire(call: Call) -> Outcome:
    """EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT: a moment that has passed deletes the key."""
    amount = call.integer(1)
    if call.key not in call.database.data:
        return 0, call.database
    at = amount / (1000 if call.name.startswith("p") else 1) + (0 if call.name.endswith("at") else call.now)
    old = call.database.expires.get(call.key)
    for option in call.args[2:]:
        unless = {
            "nx": old is not None,
            "xx": old is None,
            "gt": old is None or at <= old,
            "lt": old is not None and at >= old,
        }
        if option.lower() not in unless:
            raise Refusal(f"ERR Unsupported option {option}")
        if unless[option.lower()]:
            return 0, call.database
    return 1, call.database.expiring(call.key, at) if at > call.now else call.database.without((call.key,))


def _ttl(call: Call) -> Outcome:
    if call.key not in call.database.data:
        return -2, call.database
    at = call.database.expires.get(call.key)
    if at is None:
        return -1, call.database
    left = at - call.now
    return int(left * 1000) if call.name == "pttl" else int(left + 0.5), call.database


def _persist(call: Call) -> Outcome:
    if call.key not in call.database.expires:
        return 0, call.database
    left = {key: at for key, at in call.database.expires.items() if key != call.key}
    return 1, call.database._replace(expires=left)


def _rename(call: Call) -> Outcome:
    old, new = call.args
    if old not in call.database.data:
        raise Refusal("ERR no such key")
    if call.name == "renamenx" and new in call.database.data:
        return 0, call.database
    value, at = call.database.data[old], call.database.expires.get(old)
    moved = call.database.without((old, new)).with_value(new, value)
    reply: Reply = 1 if call.name == "renamenx" else OK
    return reply, moved if at is None else moved.expiring(new, at)


def _keys(call: Call) -> Outcome:
    return matching(call.database, call.key), call.database


def matching(database: Database, pattern: str) -> tuple[str, ...]:
    """The keys that fit a glob, in the order of their names."""
    if pattern == "*":
        return tuple(sorted(database.data))
    regex = re.compile(fnmatch.translate(pattern.replace("[^", "[!")))
    return tuple(key for key in sorted(database.data) if regex.fullmatch(key))


def _scan(call: Call) -> Outcome:
    """All keys at once: a small table is gone through in one step, which is what the cursor 0 says."""
    if not is_digits(call.key):
        raise Refusal("ERR invalid cursor")
    pattern, kind = "*", ""
    for option, value in zip(call.args[1::2], (*call.args[2::2], None), strict=False):
        if value is None or option.lower() not in ("match", "count", "type"):
            raise Refusal(SYNTAX)
        pattern = value if option.lower() == "match" else pattern
        kind = value.lower() if option.lower() == "type" else kind
        if option.lower() == "count":
            integer(value)
    found = matching(call.database, pattern)
    return ("0", tuple(key for key in found if kind in ("", type_of(call.database.data[key])))), call.database


# -- strings


def _get(call: Call) -> Outcome:
    return call.text(call.key), call.database


_UNITS = {"ex": 1.0, "px": 0.001, "exat": 1.0, "pxat": 0.001}


def _set(call: Call) -> Outcome:
    key, value, *options = call.args
    at: float | None = None
    only, keep, get = "", False, False
    while options:
        option = options.pop(0).lower()
        if option in _UNITS and at is None and not keep and options:
            amount = integer(options.pop(0))
            if amount <= 0:
                raise Refusal("ERR invalid expire time in 'set' command")
            at = amount * _UNITS[option] + (0 if option.endswith("at") else call.now)
        elif option in ("nx", "xx") and not only:
            only = option
        elif option == "keepttl" and at is None:
            keep = True
        elif option == "get":
            get = True
        else:
            raise Refusal(SYNTAX)
    old = call.text(key) if get else None
    if (only == "nx" and key in call.database.data) or (only == "xx" and key not in call.database.data):
        return old, call.database
    after = call.database.with_value(key, value, keep=keep)
    return old if get else OK, after if at is None else after.expiring(key, at)


def _setex(call: Call) -> Outcome:
    amount = call.integer(1)
    if amount <= 0:
        raise Refusal(f"ERR invalid expire time in '{call.name}' command")
    at = call.now + amount / (1000 if call.name == "psetex" else 1)
    return OK, call.database.with_value(call.key, call.args[2]).expiring(call.key, at)


def _setnx(call: Call) -> Outcome:
    return (0, call.database) if call.key in call.database.data else (1, call.kept(call.args[1]))


def _getset(call: Call) -> Outcome:
    return call.text(call.key), call.database.with_value(call.key, call.args[1], keep=False)


def _getdel(call: Call) -> Outcome:
    value = call.text(call.key)
    return value, call.database if value is None else call.database.without((call.key,))


def _mget(call: Call) -> Outcome:
    found = (call.database.data.get(key) for key in call.args)
    return tuple(value if isinstance(value, str) else None for value in found), call.database


def _mset(call: Call) -> Outcome:
    if len(call.args) % 2:
        raise Refusal("ERR wrong number of arguments for 'mset' command")
    after = call.database
    for key, value in zip(call.args[::2], call.args[1::2], strict=True):
        after = after.with_value(key, value, keep=False)
    return OK, after


def _append(call: Call) -> Outcome:
    value = (call.text(call.key) or "") + call.args[1]
    return len(value.encode("utf-8", "surrogateescape")), call.kept(value)


def _strlen(call: Call) -> Outcome:
    return len((call.text(call.key) or "").encode("utf-8", "surrogateescape")), call.database


def _add(call: Call) -> Outcome:
    """INCR, DECR, INCRBY and DECRBY."""
    by = call.integer(1) if call.name.endswith("by") else 1
    value = integer(call.text(call.key) or "0") + (-by if call.name.startswith("decr") else by)
    if not -(1 << 63) <= value < 1 << 63:
        raise Refusal("ERR increment or decrement would overflow")
    return value, call.kept(str(value))


def _flush(call: Call) -> Outcome:
    if len(call.args) > 1 or (call.args and call.key.lower() not in ("sync", "async")):
        raise Refusal(SYNTAX)
    return OK, Database({}, {})


_R, _W = False, True
COMMANDS: Mapping[str, Command] = {
    "ping": Command(-1, _R, tell(lambda call: call.key if call.args else Status("PONG"))),
    "echo": Command(2, _R, tell(lambda call: call.key)),
    "dbsize": Command(1, _R, tell(lambda call: len(call.database.data))),
    "flushdb": Command(-1, _W, _flush),
    "exists": Command(-2, _R, tell(lambda call: sum(key in call.database.data for key in call.args))),
    "del": Command(-2, _W, _delete), "unlink": Command(-2, _W, _delete), "touch": Command(-2, _R, tell(
        lambda call: sum(key in call.database.data for key in call.args))),
    "type": Command(2, _R, tell(lambda call: Status(type_of(call.database.data.get(call.key))))),
    "keys": Command(2, _R, _keys), "scan": Command(-2, _R, _scan),
    "expire": Command(-3, _W, _expire), "pexpire": Command(-3, _W, _expire), "expireat": Command(-3, _W, _expire),
    "pexpireat": Command(-3, _W, _expire), "ttl": Command(2, _R, _ttl), "pttl": Command(2, _R, _ttl),
    "persist": Command(2, _W, _persist), "rename": Command(3, _W, _rename), "renamenx": Command(3, _W, _rename),
    "get": Command(2, _R, _get), "set": Command(-3, _W, _set), "setnx": Command(3, _W, _setnx),
    "setex": Command(4, _W, _setex), "psetex": Command(4, _W, _setex), "getset": Command(3, _W, _getset),
    "getdel": Command(2, _W, _getdel), "mget": Command(-2, _R, _mget), "mset": Command(-3, _W, _mset),
    "append": Command(3, _W, _append), "strlen": Command(2, _R, _strlen), "incr": Command(2, _W, _add),
    "decr": Command(2, _W, _add), "incrby": Command(3, _W, _add), "decrby": Command(3, _W, _add),
    **COLLECTIONS,
}  # fmt: skip
FREEING = frozenset({"del", "unlink", "lpop", "rpop", "flushdb", "flushall", "expire", "persist", "hdel", "srem", "zrem",
                     "ltrim", "getdel", "rename"})  # fmt: skip
"""What is allowed where memory is full."""
