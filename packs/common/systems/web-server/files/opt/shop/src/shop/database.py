"""A small pool over psycopg."""
import psycopg


class Pool:
    def __init__(self, url: str, size: int) -> None:
        self.url, self.size, self.idle = url, size, []

    def connection(self):
        while self.idle:
            connection = self.idle.pop()
            if not connection.closed:
                return connection
        return psycopg.connect(self.url, connect_timeout=10)

    def query(self, statement, parameters=()):
        with self.connection() as connection, connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchall()
