"""The settings of the shop and its worker, from their environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from runners.text import is_digits


class Settings(NamedTuple):
    """What the environment says. `database`: user, password, host, port, name."""

    listen: tuple[str, int]
    database: tuple[str, str, str, int, str]
    redis: tuple[str, int, str]
    secret_file: str
    log: str
    level: str
    queue: str
    pool: int
    payments: str


def read_settings(environment: Mapping[str, str]) -> Settings:
    """ValueError (with what the application prints) when a setting is missing or wrong."""
    missing = [
        name for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY_FILE", "LOG_FILE") if not environment.get(name)
    ]
    if missing:
        raise ValueError(f"missing required setting: {missing[0]}")
    database = re.fullmatch(
        r"postgres(?:ql)?://([^:@/]+)(?::([^@]*))?@([^:/]+)(?::(\w+))?/(\w+)", environment["DATABASE_URL"]
    )
    if database is None or (database[4] and not is_digits(database[4])):
        raise ValueError(f"invalid DATABASE_URL: {environment['DATABASE_URL']!r}")
    redis = re.fullmatch(r"redis://(?::([^@]*)@)?([^:/]+)(?::(\d+))?(?:/\d+)?", environment["REDIS_URL"])
    if redis is None:
        raise ValueError(f"invalid REDIS_URL: {environment['REDIS_URL']!r}")
    host, _, port = environment.get("LISTEN", "127.0.0.1:8000").rpartition(":")
    pool = environment.get("DB_POOL_SIZE", "5")
    if not is_digits(port):
        raise ValueError(f"invalid LISTEN: {environment['LISTEN']!r}")
    if not is_digits(pool):
        raise ValueError(f"invalid DB_POOL_SIZE: {pool!r}")
    return Settings(
        (host or "127.0.0.1", int(port)),
        (database[1], database[2] or "", database[3], int(database[4] or 5432), database[5]),
        (redis[2], int(redis[3] or 6379), redis[1] or ""),
        environment["SECRET_KEY_FILE"],
        environment["LOG_FILE"],
        environment.get("LOG_LEVEL", "INFO"),
        environment.get("QUEUE", "orders:pending"),
        int(pool),
        environment.get("PAYMENTS_URL", ""),
    )
