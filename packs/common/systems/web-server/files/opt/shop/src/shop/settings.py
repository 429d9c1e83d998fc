"""Settings from the environment; see /etc/shop/app.env."""
import os
from dataclasses import dataclass


class ConfigurationError(Exception):
    pass


def required(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise ConfigurationError(f"missing required setting: {name}")
    return value


@dataclass(frozen=True)
class Settings:
    database_url: str
    redis_url: str
    secret_key_file: str
    log_file: str
    listen: str = "127.0.0.1:8000"
    queue: str = "orders:pending"
    db_pool_size: int = 5

    @classmethod
    def from_environment(cls) -> "Settings":
        return cls(
            database_url=required("DATABASE_URL"),
            redis_url=required("REDIS_URL"),
            secret_key_file=required("SECRET_KEY_FILE"),
            log_file=required("LOG_FILE"),
            listen=os.environ.get("LISTEN", "127.0.0.1:8000"),
            queue=os.environ.get("QUEUE", "orders:pending"),
            db_pool_size=int(os.environ.get("DB_POOL_SIZE", "5")),
        )
