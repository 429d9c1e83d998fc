"""A real HTTP server on loopback that speaks the protocol of chat completions, well or badly, as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Handler: TypeAlias = BaseHTTPRequestHandler
Behaviour: TypeAlias = Callable[[Handler, dict[str, Any]], None]


class Served:
    """A server under way: its address, and what it was asked so far as (path, headers, body)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []


@contextmanager
def serving(behave: Callable[[int], Behaviour]) -> Iterator[Served]:
    """`behave`: what to do with the n-th request, from 0."""
    stopping = threading.Event()

    class One(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        stop = stopping

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(served.asked)
                served.asked.append((self.path, {name.lower(): text for name, text in self.headers.items()}, body))
            try:
                behave(number)(self, body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Tests say what matters."""

    lock = threading.Lock()
    server = ThreadingHTTPServer(("127.0.0.1", 0), One)
    server.daemon_threads = True
    served = Served(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        stopping.set()
        server.shutdown()
        server.server_close()


def in_turn(*behaviours: Behaviour) -> Callable[[int], Behaviour]:
    """One after the other; the last one goes on."""
    return lambda number: behaviours[min(number, len(behaviours) - 1)]


def send(handler: Handler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def says(
    text: str | None,
    *,
    calls: Sequence[tuple[str, str]] = (),
    tokens: tuple[int, int] | None = (100, 10),
    finish: str = "stop",
    reasoning: str | None = None,
) -> Behaviour:
    """A good answer with this text, or these calls as (tool, arguments)."""
    message: dict[str, object] = {"role": "assistant", "content": text}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = [
            {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(calls)
        ]
    document: dict[str, object] = {
        "id": "x",
        "object": "chat.completion",
        "model": "tiny-1.0",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if tokens is not None:
        document["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
    return lambda handler, _body: send(handler, 200, json.dumps(document).encode())


def fails(status: int, message: str = "no", **headers: str) -> Behaviour:
    body = json.dumps({"error": {"message": message, "type": "error", "code": None}}).encode()
    return lambda handler, _body: send(handler, status, body, **headers)


def sends(data: bytes, content_type: str = "application/json", **headers: str) -> Behaviour:
    return lambda handler, _body: send(handler, 200, data, Content_Type=content_type, **headers)


def never(handler: Handler, _body: dict[str, Any]) -> None:
    """Takes the request and says nothing."""
    handler.stop.wait(30)  # type: ignore[attr-defined]
    handler.close_connection = True


def hangs_up(handler: Handler, _body: dict[str, Any]) -> None:
    handler.close_connection = True


def endless(status: int = 200, *, slowly: bool = False) -> Behaviour:
    """A body that goes on and on: a flood, or a byte now and then so that no silence is ever long."""

    def behave(handler: Handler, _body: dict[str, Any]) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        part = b" " if slowly else b" " * 65536
        until = time.monotonic() + 30
        while time.monotonic() < until and not handler.stop.is_set():  # type: ignore[attr-defined]
            handler.wfile.write(part)
            handler.wfile.flush()
            if slowly:
                time.sleep(0.05)
        handler.close_connection = True

    return behave
