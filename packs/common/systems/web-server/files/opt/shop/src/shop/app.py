"""The shop's web application."""
import json
import logging

from .database import Pool
from .queue import Queue
from .settings import Settings

log = logging.getLogger("shop")


class Application:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.pool = Pool(settings.database_url, size=settings.db_pool_size)
        self.queue = Queue(settings.redis_url, settings.queue)

    def health(self):
        states = {"database": self.pool.check(), "cache": self.queue.check()}
        healthy = all(state == "ok" for state in states.values())
        return (200 if healthy else 503), {"status": "ok" if healthy else "degraded", **states}

    def orders(self):
        rows = self.pool.query("SELECT id, customer, total, status FROM orders ORDER BY id DESC LIMIT 5")
        return 200, {"orders": rows}

    def place_order(self, order):
        if not {"customer", "total"} <= order.keys():
            return 400, {"error": "customer and total are required"}
        self.pool.execute(
            "INSERT INTO orders (customer, total, status, created_at) VALUES (%s, %s, 'new', now())",
            (order["customer"], order["total"]),
        )
        self.queue.push(json.dumps(order))
        return 201, {"status": "accepted"}
