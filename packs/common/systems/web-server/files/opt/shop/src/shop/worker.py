"""Takes orders from the queue and marks them done."""
import logging

log = logging.getLogger("worker")


def run(queue, pool):
    while True:
        jobs = queue.take(limit=20, timeout=30)
        for job in jobs:
            pool.execute("UPDATE orders SET status = 'done' WHERE status = 'new'")
        if jobs:
            log.info("processed %d jobs", len(jobs))
