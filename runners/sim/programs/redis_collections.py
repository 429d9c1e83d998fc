"""Redis's commands on lists, hashes, sets and sorted sets."""

from __future__ import annotations

from collections.abc import Mapping

from runners.sim.programs.redis_call import (
    LONG,
    OK,
    SYNTAX,
    Call,
    Command,
    Outcome,
    Refusal,
    encoding,
    real,
    shown,
    slice_of,
    tell,
)
from runners.sim.programs.redis_data import Hash, Members, Scores

# -- lists


def _push(call: Call) -> Outcome:
    if call.name.endswith("x") and call.key not in call.database.data:
        return 0, call.database
    new, held = call.args[1:], call.items()
    whole = (*reversed(new), *held) if call.name.startswith("l") else (*held, *new)
    return len(whole), call.kept(whole)


def _pop(call: Call) -> Outcome:
    held = call.items()
    count = call.integer(1) if len(call.args) > 1 else 1
    if count < 0:
        raise Refusal("ERR value is out of range, must be positive")
    if not held:
        return None, call.database
    if call.name == "lpop":
        taken, rest = held[:count], held[count:]
    else:
        taken, rest = held[::-1][:count], held[: max(len(held) - count, 0)]
    return taken if len(call.args) > 1 else taken[0], call.kept(rest)


def _lrange(call: Call) -> Outcome:
    return slice_of(call, call.items()), call.database


def _ltrim(call: Call) -> Outcome:
    return OK, call.kept(slice_of(call, call.items()))


def _lindex(call: Call) -> Outcome:
    held, index = call.items(), call.integer(1)
    return held[index] if -len(held) <= index < len(held) else None, call.database


# -- hashes


def _hset(call: Call) -> Outcome:
    pairs = call.args[1:]
    if len(pairs) % 2:
        raise Refusal(f"ERR wrong number of arguments for '{call.name}' command")
    fields = dict(call.hash())
    before = len(fields)
    fields |= zip(pairs[::2], pairs[1::2], strict=True)
    return OK if call.name == "hmset" else len(fields) - before, call.kept(Hash(fields))


def _hdel(call: Call) -> Outcome:
    fields = call.hash()
    left = {name: value for name, value in fields.items() if name not in call.args[1:]}
    return len(fields) - len(left), call.kept(Hash(left)) if len(left) < len(fields) else call.database


def _hincrby(call: Call) -> Outcome:
    fields = call.hash()
    held = fields.get(call.args[1], "0")
    if not LONG.fullmatch(held):
        raise Refusal("ERR hash value is not an integer")
    value = int(held) + call.integer(2)
    return value, call.kept(Hash({**fields, call.args[1]: str(value)}))


# -- sets


def _sadd(call: Call) -> Outcome:
    held = call.members()
    new = tuple(dict.fromkeys((*held, *call.args[1:])))
    return len(new) - len(held), call.kept(Members(new)) if len(new) > len(held) else call.database


def _srem(call: Call) -> Outcome:
    held = call.members()
    left = tuple(item for item in held if item not in call.args[1:])
    return len(held) - len(left), call.kept(Members(left)) if len(left) < len(held) else call.database


def _smembers(call: Call) -> Outcome:
    """Whole numbers are kept in their order."""
    held = call.members()
    return tuple(sorted(held, key=int)) if encoding(Members(held)) == "intset" else held, call.database


# -- sorted sets


def _zadd(call: Call) -> Outcome:
    words = list(call.args[1:])
    flags = set()
    while words and words[0].lower() in ("nx", "xx", "gt", "lt", "ch", "incr"):
        flags.add(words.pop(0).lower())
    if not words or len(words) % 2 or {"nx", "xx"} <= flags:
        raise Refusal(SYNTAX)
    scores = dict(call.scores())
    before, added, changed = dict(scores), 0, 0
    for text, member in zip(words[::2], words[1::2], strict=True):
        score, old = real(text), before.get(member)
        held_back = ("gt" in flags and old is not None and score <= old) or (
            "lt" in flags and old is not None and score >= old
        )
        if ("nx" in flags and old is not None) or ("xx" in flags and old is None) or held_back:
            continue
        added += member not in scores
        changed += scores.get(member) != score
        scores[member] = score
    ordered = dict(sorted(scores.items(), key=lambda item: (item[1], item[0])))
    return changed if "ch" in flags else added, call.kept(Scores(ordered)) if ordered != before else call.database


def _zrange(call: Call) -> Outcome:
    options = [word.lower() for word in call.args[3:]]
    if any(option not in ("withscores", "rev") for option in options):
        raise Refusal(SYNTAX)
    scores = call.scores()
    members = tuple(scores)
    if call.name == "zrevrange" or "rev" in options:
        members = members[::-1]
    chosen = slice_of(call, members)
    if "withscores" not in options:
        return chosen, call.database
    return tuple(part for one in chosen for part in (one, shown(scores[one]))), call.database


def _zscore(call: Call) -> Outcome:
    score = call.scores().get(call.args[1])
    return None if score is None else shown(score), call.database


def _zrem(call: Call) -> Outcome:
    held = call.scores()
    left = {member: score for member, score in held.items() if member not in call.args[1:]}
    return len(held) - len(left), call.kept(Scores(left)) if len(left) < len(held) else call.database


_R, _W = False, True
COLLECTIONS: Mapping[str, Command] = {
    "lpush": Command(-3, _W, _push), "rpush": Command(-3, _W, _push), "lpushx": Command(-3, _W, _push),
    "rpushx": Command(-3, _W, _push), "lpop": Command(-2, _W, _pop), "rpop": Command(-2, _W, _pop),
    "llen": Command(2, _R, tell(lambda call: len(call.items()))), "lrange": Command(4, _R, _lrange),
    "ltrim": Command(4, _W, _ltrim), "lindex": Command(3, _R, _lindex),
    "hset": Command(-4, _W, _hset), "hmset": Command(-4, _W, _hset), "hdel": Command(-3, _W, _hdel),
    "hget": Command(3, _R, tell(lambda call: call.hash().get(call.args[1]))),
    "hmget": Command(-3, _R, tell(lambda call: tuple(call.hash().get(name) for name in call.args[1:]))),
    "hgetall": Command(2, _R, tell(lambda call: tuple(part for pair in call.hash().items() for part in pair))),
    "hkeys": Command(2, _R, tell(lambda call: tuple(call.hash()))),
    "hvals": Command(2, _R, tell(lambda call: tuple(call.hash().values()))),
    "hlen": Command(2, _R, tell(lambda call: len(call.hash()))),
    "hexists": Command(3, _R, tell(lambda call: int(call.args[1] in call.hash()))),
    "hincrby": Command(4, _W, _hincrby),
    "sadd": Command(-3, _W, _sadd), "srem": Command(-3, _W, _srem), "smembers": Command(2, _R, _smembers),
    "scard": Command(2, _R, tell(lambda call: len(call.members()))),
    "sismember": Command(3, _R, tell(lambda call: int(call.args[1] in call.members()))),
    "zadd": Command(-4, _W, _zadd), "zrem": Command(-3, _W, _zrem), "zrange": Command(-4, _R, _zrange),
    "zrevrange": Command(-4, _R, _zrange), "zscore": Command(3, _R, _zscore),
    "zcard": Command(2, _R, tell(lambda call: len(call.scores()))),
}  # fmt: skip
