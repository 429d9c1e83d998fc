"""The shop: a small web application in front of PostgreSQL and Redis, and the worker that empties its queue.

Both read their settings from their environment, as their unit gives it (`EnvironmentFile=`), and a secret from a file.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from runners.sim.clock import to_microseconds
from runners.sim.kernelfs.process_files import limits_of
from runners.sim.lifecycle import exit_process
from runners.sim.machine import Machine, Program, Say
from runners.sim.network.connect import ConnectFailure, Connection, connect
from runners.sim.network.http import HttpFailure, HttpRequest, HttpResponse, exchange
from runners.sim.processes import Process
from runners.sim.programs.descriptors import bind, current, hold, open_log, write_line
from runners.sim.programs.postgres import CloseSession, OpenSession, Postgres
from runners.sim.programs.redis import RedisError, RedisRequest
from runners.sim.programs.shop_settings import Settings, read_settings
from runners.sim.programs.sql import SqlError, SqlRequest, SqlResult
from runners.sim.systemd.journal import log
from runners.text import is_digits

_TICK = 30.0
_OWN_DESCRIPTORS = 12
"""Standard streams, log, sockets and the event loop's own."""


class Held(NamedTuple):
    """`sessions`: pids of the back ends that hold its database connections; `descriptors`: how many it may have open."""

    settings: Settings
    sessions: tuple[int, ...] = ()
    handled: int = 0
    descriptors: int = 1024


class _Broken(Exception):  # noqa: N818 (a request that cannot be answered well)
    """What a request ran into: the text goes to the log, the status to the client."""

    def __init__(self, text: str, status: int = 502, seconds: float = 0.0) -> None:
        super().__init__(text)
        self.text = text
        self.status = status
        self.seconds = seconds


class _Application(Program):
    """What the web application and its worker share: settings, secret, log, database and queue."""

    label = "shop"
    ends_on = frozenset({15, 2})

    def _prepare(self, machine: Machine, process: Process, say: Say) -> Settings | int:
        try:
            settings = read_settings(dict(process.environment))
        except ValueError as error:
            say(f"{self.label}: configuration error: {error}")
            return 78
        problem = open_log(machine, process, settings.log)
        if problem is not None:
            say(f"{self.label}: cannot open log file: [Errno {problem.errno}] {problem.strerror}: '{settings.log}'")
            return 1
        try:
            secret = machine.view(process.cred).text(settings.secret_file).strip()
        except OSError as error:
            text = f"cannot read secret key: [Errno {error.errno}] {error.strerror}: '{settings.secret_file}'"
            say(f"{self.label}: {text}")
            self._write(machine, process, settings, "CRITICAL", text)
            return 1
        if len(secret) < 16:
            say(f"{self.label}: secret key in '{settings.secret_file}' is too short (need 16 characters)")
            return 1
        return settings

    def _write(self, machine: Machine, process: Process, settings: Settings, level: str, text: str) -> OSError | None:
        clock = machine.clock
        millis = to_microseconds(clock.now)[1] // 1000
        line = f"{clock.written('%Y-%m-%d %H:%M:%S')},{millis:03d} {level} [{process.pid}] {self.label}: {text}"
        return write_line(machine, current(machine, process), settings.log, line)

    def _log(self, machine: Machine, process: Process, level: str, text: str) -> bool:
        """Write to the log. A log that cannot be written ends the application: it must not go on unrecorded."""
        process = current(machine, process)
        held = process.held
        if not isinstance(held, Held):
            return False
        problem = self._write(machine, process, held.settings, level, text)
        if problem is None:
            return True
        journal_say(
            machine,
            process,
            f"{self.label}: fatal: cannot write log: [Errno {problem.errno}] {problem.strerror}: '{held.settings.log}'",
        )
        self._disconnect(machine, held)
        exit_process(machine, process.pid, 74)
        return False

    def stop(self, machine: Machine, process: Process, number: int) -> int:
        del number
        held = process.held
        if isinstance(held, Held):
            self._write(machine, process, held.settings, "INFO", "shutting down")
            self._disconnect(machine, held)
        return 0

    def killed(self, machine: Machine, process: Process) -> None:
        if isinstance(process.held, Held):
            self._disconnect(machine, process.held)

    def _disconnect(self, machine: Machine, held: Held) -> None:
        for pid in held.sessions:
            session = machine.processes.get(pid)
            server = machine.processes.get(session.ppid) if session is not None else None
            if server is not None:
                machine.programs[server.program].serve(machine, server, CloseSession(pid), None)

    # -- what stands behind it

    def _session(self, machine: Machine, process: Process) -> Process:
        """A live back end of the pool, connecting anew where one is gone. _Broken when there is none to be had."""
        process = current(machine, process)
        held = process.held
        assert isinstance(held, Held)
        for pid in held.sessions:
            session = machine.processes.get(pid)
            if session is not None and isinstance(session.held, tuple):
                server = machine.processes.get(session.ppid)
                if server is not None and server.state != "T":
                    return session
        user, password, host, port, name = held.settings.database
        connection = self._reach(machine, process, held.settings)
        ask = OpenSession(name, user, password, self.label)
        answer = self._ask(machine, connection, ask)
        if isinstance(answer, SqlError):
            raise _Broken(
                f'connection to server at "{host}" ({connection.address}), port {port} failed: {answer.severity}:  {answer.message}'
            )
        session = machine.processes.get(answer) if isinstance(answer, int) else None
        if session is None:
            raise _Broken(
                f'connection to server at "{host}", port {port} failed: server closed the connection unexpectedly'
            )
        hold(machine, process, held._replace(sessions=(session.pid,)))
        return session

    def _reach(self, machine: Machine, process: Process, settings: Settings) -> Connection:
        _, _, host, port, _ = settings.database
        connection = connect(machine, host, port, cred=process.cred, timeout=10.0)
        if isinstance(connection, ConnectFailure):
            where = f" ({connection.address})" if connection.address else ""
            if connection.kind == "no-such-host":
                raise _Broken(
                    f'could not translate host name "{host}" to address: {connection.message}',
                    seconds=connection.seconds,
                )
            hint = (
                " Is the server running on that host and accepting TCP/IP connections?"
                if connection.kind == "refused"
                else ""
            )
            text = "timeout expired" if connection.kind == "timeout" else connection.message
            raise _Broken(
                f'connection to server at "{host}"{where}, port {port} failed: {text}{hint}', seconds=connection.seconds
            )
        return connection

    def _ask(self, machine: Machine, connection: Connection, message: object) -> object:
        program = machine.programs.get(connection.process.program) if connection.process is not None else None
        if connection.process is None or program is None:
            return None
        return program.serve(machine, connection.process, message, connection)

    def _query(self, machine: Machine, process: Process, query: str) -> tuple[SqlResult, ...]:
        session = self._session(machine, process)
        server = machine.processes.get(session.ppid)
        held = current(machine, process).held
        assert isinstance(held, Held)
        program = machine.programs.get(server.program) if server is not None else None
        if server is None or not isinstance(program, Postgres):
            raise _Broken("server closed the connection unexpectedly")
        user, password, _, _, name = held.settings.database
        answer = program.run(machine, server, SqlRequest(name, user, query, password, application=self.label))
        if isinstance(answer, SqlError):
            raise _Broken(f"{answer.severity}:  {answer.message}", 500)
        return answer

    def _queue(self, machine: Machine, process: Process, *words: str) -> object:
        held = current(machine, process).held
        assert isinstance(held, Held)
        host, port, password = held.settings.redis
        connection = connect(machine, host, port, cred=process.cred, timeout=5.0)
        if isinstance(connection, ConnectFailure):
            number = {"refused": "111", "timeout": "110", "unreachable": "113", "no-such-host": "-2"}[connection.kind]
            raise _Broken(
                f"Error {number} connecting to {host}:{port}. {connection.message}.", seconds=connection.seconds
            )
        answer = self._ask(machine, connection, RedisRequest(words, password or None))
        if isinstance(answer, RedisError):
            raise _Broken(answer.text)
        return answer


def journal_say(machine: Machine, process: Process, text: str) -> None:
    """A line on the standard error of a running process: the journal has it."""
    if process.unit is not None:
        log(
            machine,
            process.name,
            text,
            pid=process.pid,
            unit=process.unit,
            uid=process.cred.uid,
            transport="stdout",
            priority=3,
        )


class Web(_Application):
    """Answers HTTP on LISTEN. `/health` says how what stands behind it is; `/api/…` needs it."""

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        settings = self._prepare(machine, process, say)
        if isinstance(settings, int):
            return settings
        problem = bind(machine, process, *settings.listen)
        if problem is not None:
            text = f"[Errno {problem.errno}] {problem.strerror}: {settings.listen[0]}:{settings.listen[1]}"
            say(f"{self.label}: {text}")
            self._write(machine, process, settings, "CRITICAL", text)
            return 1
        soft = limits_of(machine, process)["Max open files"][0]
        held = Held(settings, descriptors=int(soft) if is_digits(soft) else 1 << 20)
        hold(machine, process, held, rss=86 << 20, share=0.006)
        machine.processes.put(current(machine, process)._replace(threads=6))
        if not self._log(machine, process, "INFO", f"listening on http://{settings.listen[0]}:{settings.listen[1]}"):
            return 74
        try:
            self._session(machine, process)
            self._log(machine, process, "INFO", f"database pool ready ({settings.pool} connections)")
        except _Broken as broken:
            self._log(machine, process, "ERROR", broken.text)
        machine.schedule(_TICK, "program", (process.pid, "tick"))
        return None

    def wake(self, machine: Machine, process: Process, argument: object) -> None:
        """Every half minute it looks after its pool, and says so."""
        held = process.held
        if not isinstance(held, Held):
            return
        try:
            self._session(machine, process)
            alive = self._log(machine, process, "DEBUG" if held.settings.level == "DEBUG" else "INFO",
                              f"heartbeat: {held.handled} requests served")  # fmt: skip
        except _Broken as broken:
            alive = self._log(machine, process, "ERROR", broken.text)
        if alive:
            machine.schedule(_TICK, "program", (process.pid, argument))

    def serve(self, machine: Machine, process: Process, request: object, connection: object) -> object:
        """HttpRequest -> HttpResponse; a dead application gives HttpFailure."""
        held = process.held
        if not isinstance(request, HttpRequest) or not isinstance(held, Held):
            return None
        if request.scheme == "https":
            return None
        if held.descriptors < _OWN_DESCRIPTORS + held.settings.pool:
            # The log, the listening socket and the pool are all it may have: accept(2) finds no descriptor left.
            self._log(machine, process, "ERROR", "accept: [Errno 24] Too many open files")
            return HttpFailure("empty-reply", "Empty reply from server", 0.001)
        hold(machine, process, held._replace(handled=held.handled + 1))
        try:
            status, body, seconds = self._route(machine, process, request)
        except _Broken as broken:
            if not self._log(machine, process, "ERROR", f"{request.method} {request.target}: {broken.text}"):
                return HttpFailure("empty-reply", "Empty reply from server", broken.seconds)
            status, body, seconds = broken.status, {"error": "internal error"}, broken.seconds
        level = "ERROR" if status >= 500 else "INFO"
        if not self._log(machine, process, level, f"{request.remote} {request.method} {request.target} {status}"):
            return HttpFailure("empty-reply", "Empty reply from server", seconds)
        data = body if isinstance(body, bytes) else json.dumps(body).encode("utf-8", "surrogateescape")
        kind = "text/html; charset=utf-8" if isinstance(body, bytes) else "application/json"
        headers = (("Server", "shop/2.4.1"), ("Content-Type", kind), ("Content-Length", str(len(data))))
        return HttpResponse(status, headers, data, seconds + 0.004 + 0.003 * machine.random("app"))

    def _route(self, machine: Machine, process: Process, request: HttpRequest) -> tuple[int, object, float]:
        path = request.path.rstrip("/") or "/"
        if path == "/health":
            return self._health(machine, process)
        if path == "/":
            return 200, self._front(machine, process), 0.012
        if path == "/api/orders" and request.method == "POST":
            return self._order(machine, process, request.body)
        if path == "/api/orders":
            result = self._query(
                machine, process, "SELECT id, customer, total, status FROM orders ORDER BY id DESC LIMIT 5"
            )[0]
            rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
            return 200, {"orders": rows}, 0.009
        if path == "/api/products":
            result = self._query(machine, process, "SELECT id, name, price FROM products ORDER BY id LIMIT 20")[0]
            return 200, {"products": [dict(zip(result.columns, row, strict=True)) for row in result.rows]}, 0.008
        if path == "/api/cart":
            self._queue(machine, process, "INCR", "cart:views")
            return 200, {"items": []}, 0.003
        if path == "/api/checkout":
            return self._checkout(machine, process)
        return 404, {"error": "not found"}, 0.001

    def _health(self, machine: Machine, process: Process) -> tuple[int, object, float]:
        states: dict[str, str] = {"status": "ok", "database": "ok", "cache": "ok"}
        seconds = 0.002
        for name in ("database", "cache"):
            try:
                if name == "database":
                    self._query(machine, process, "SELECT 1")
                else:
                    self._queue(machine, process, "PING")
            except _Broken as broken:
                states[name], states["status"] = broken.text, "degraded"
                seconds += broken.seconds
                self._log(machine, process, "ERROR", f"health: {name}: {broken.text}")
        return (200 if states["status"] == "ok" else 503), states, seconds

    def _front(self, machine: Machine, process: Process) -> bytes:
        result = self._query(machine, process, "SELECT name, price FROM products ORDER BY id LIMIT 8")[0]
        items = "".join(f"<li>{name} <b>{price} \u20ac</b></li>" for name, price in result.rows)
        return f"<!doctype html><html><head><title>Northwind Coffee</title></head><body><h1>Northwind Coffee</h1><ul>{items}</ul></body></html>\n".encode(
            "utf-8", "surrogateescape"
        )

    def _order(self, machine: Machine, process: Process, body: bytes) -> tuple[int, object, float]:
        """An order is a JSON object with a customer and a total; anything else is the client's mistake."""
        try:
            order = json.loads(body)
            customer, total = str(order["customer"]), f"{float(order['total']):.2f}"
        except (ValueError, TypeError, KeyError):
            return 400, {"error": "customer and total are required"}, 0.001
        values = f"""'{customer.replace("'", "''")}', {total}, 'new', now()"""
        insert = "INSERT INTO orders (customer, total, status, created_at) VALUES"
        self._query(machine, process, f"{insert} ({values})")
        held = current(machine, process).held
        assert isinstance(held, Held)
        self._queue(machine, process, "LPUSH", held.settings.queue, json.dumps({"total": total}))
        return 201, {"status": "accepted"}, 0.014

    def _checkout(self, machine: Machine, process: Process) -> tuple[int, object, float]:
        held = current(machine, process).held
        assert isinstance(held, Held)
        match = re.fullmatch(r"(https?)://([^/:]+)(?::(\d+))?(/.*)?", held.settings.payments)
        if match is None:
            return 200, {"status": "paid"}, 0.005
        port = int(match[3] or (443 if match[1] == "https" else 80))
        connection = connect(machine, match[2], port, cred=process.cred, timeout=5.0)
        if isinstance(connection, ConnectFailure):
            raise _Broken(f"payments: {match[2]}: {connection.message}", 502, connection.seconds)
        answer = exchange(machine, connection, HttpRequest("POST", match[4] or "/", match[2], scheme=match[1]))
        if isinstance(answer, HttpFailure) or answer.status >= 400:
            raise _Broken("payments: no usable answer", 502)
        self._query(machine, process, "SELECT count(*) FROM orders")
        return 200, {"status": "paid"}, answer.seconds + 0.01


class Worker(_Application):
    """Takes orders from the queue and marks them; on an empty queue it waits."""

    label = "worker"

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        settings = self._prepare(machine, process, say)
        if isinstance(settings, int):
            return settings
        hold(machine, process, Held(settings), rss=54 << 20, share=0.002)
        if not self._log(machine, process, "INFO", f"waiting for jobs on {settings.queue}"):
            return 74
        machine.schedule(_TICK, "program", (process.pid, "tick"))
        return None

    def wake(self, machine: Machine, process: Process, argument: object) -> None:
        held = process.held
        if not isinstance(held, Held):
            return
        machine.schedule(_TICK, "program", (process.pid, argument))
        done = 0
        try:
            while done < 20 and self._queue(machine, process, "RPOP", held.settings.queue) is not None:
                done += 1
            if done:
                self._query(machine, process, "UPDATE orders SET status = 'done' WHERE status = 'new'")
        except _Broken as broken:
            self._log(machine, process, "ERROR", broken.text)
            return
        if done:
            self._log(machine, process, "INFO", f"processed {done} jobs")


PROGRAMS = {"shop-server": Web(), "shop-worker": Worker()}
