"""What nginx says by itself: pages, headers of its own, variables, and lines in its logs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property

from runners.sim.machine import Machine
from runners.sim.network.connect import Connection
from runners.sim.network.http import REASONS, Headers, HttpRequest, HttpResponse
from runners.sim.processes import Process
from runners.sim.programs.descriptors import write_line
from runners.sim.programs.nginx_matching import choose_location, choose_server, file_of
from runners.sim.programs.nginx_values import LEVELS, ErrorLog, Location, NginxConfig

VERSION = "nginx/1.22.1"
KEPT_ALIVE, CLOSED = ("Connection", "keep-alive"), ("Connection", "close")
_CLOSING = frozenset({400, 408, 413, 414, 431, 497})
"""After these errors it ends the connection."""
_PHRASES = {
    302: "Moved Temporarily", 405: "Not Allowed", 408: "Request Time-out", 416: "Requested Range Not Satisfiable",
    503: "Service Temporarily Unavailable", 504: "Gateway Time-out",
}  # fmt: skip
"""Where its words for a status are not the usual ones."""


def write_error(machine: Machine, process: Process, log: ErrorLog, level: str, text: str) -> None:
    """A line of the error log, if it takes lines that are no more urgent than that."""
    if LEVELS.index(level) > LEVELS.index(log.level):
        return
    now = machine.clock.written("%Y/%m/%d %H:%M:%S")
    write_line(machine, process, log.path, f"{now} [{level}] {process.pid}#{process.pid}: {text}")


class Answering:
    """One request and the worker that answers it. number: that of the connection, once it is known."""

    def __init__(
        self,
        machine: Machine,
        worker: Process,
        config: NginxConfig,
        request: HttpRequest,
        connection: Connection,
    ) -> None:
        self.machine = machine
        self.worker = worker
        self.config = config
        self.request = request
        self.connection = connection
        self.server = choose_server(config, connection.address, connection.port, request.host)
        self.number = 0

    def _return(self, location: Location, status: int, text: str) -> HttpResponse:
        text = re.sub(r"\$(\w+)", lambda match: self._variable(match[1], None), text)
        if status in (301, 302, 303, 307, 308):
            return self._redirect(location, status, text)
        if status == 444:
            return HttpResponse(444, (), b"", 0.0001)
        if not text:
            return self._page(location, status)
        body = text.encode("utf-8", "surrogateescape")
        return HttpResponse(status, self._own(location, status, location.default_type, body), body, 0.0002)

    def _redirect(self, location: Location, status: int, target: str) -> HttpResponse:
        """A path of this server's becomes a whole address: by the name that was asked for, and the port it came in by."""
        if target.startswith("/") and location.absolute:
            port, usual = self.connection.port, {"http": 80, "https": 443}[self.request.scheme]
            host = self.request.host.partition(":")[0]
            target = f"{self.request.scheme}://{host}{'' if port == usual else f':{port}'}{target}"
        return self._page(location, status, extra=(("Location", target),))

    def _stub_status(self, location: Location) -> HttpResponse:
        count = self.number
        body = (
            f"Active connections: 1 \nserver accepts handled requests\n {count} {count} {count} \n"
            "Reading: 0 Writing: 1 Waiting: 0 \n"
        ).encode("utf-8", "surrogateescape")
        return HttpResponse(200, self._own(location, 200, "text/plain", body), body, 0.0002)

    def _page(self, location: Location, status: int, *, extra: Headers = (), note: str = "") -> HttpResponse:
        for code, page in location.error_pages:
            if code == status and not note:
                body = self._error_page(page)
                if body is not None:
                    return HttpResponse(status, self._own(location, status, "text/html", body, extra), body, 0.0003)
        signature = VERSION if location.tokens else "nginx"
        phrase = _PHRASES.get(status, "")
        # The page of 302 is older than the words in its status line.
        said = phrase if phrase and status != 302 else REASONS.get(status, "")
        title = f"{status} {said}".strip()
        if note:
            title = f"400 {note}"
        middle = f"<center>{note}</center>\r\n" if note else ""
        heading = "400 Bad Request" if note else title
        body = (
            f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{heading}</h1></center>\r\n"
            f"{middle}<hr><center>{signature}</center>\r\n</body>\r\n</html>\r\n"
        ).encode("utf-8", "surrogateescape")
        headers = self._own(location, status, "text/html", body, extra)
        return HttpResponse(status, headers, b"" if self.request.method == "HEAD" else body, 0.0003, phrase=phrase)

    def _error_page(self, page: str) -> bytes | None:
        if self.server is None or not page.startswith("/"):
            return None
        location = choose_location(self.server, page)
        try:
            return self.machine.view(self.worker.cred).read(file_of(location, page))
        except OSError:
            return None

    def _own(self, location: Location, status: int, kind: str, body: bytes, extra: Headers = ()) -> Headers:
        """The headers of an answer that nginx makes itself."""
        return (
            *self._headers(location),
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            CLOSED if status in _CLOSING else KEPT_ALIVE,
            *extra,
            *self._added(location, status),
        )

    def _headers(self, location: Location) -> Headers:
        now = self.machine.clock.written("%a, %d %b %Y %H:%M:%S")
        signature = VERSION if location.tokens else "nginx"
        return (("Server", signature), ("Date", f"{now} GMT"))

    def _added(self, location: Location, status: int) -> Headers:
        fine = status in (200, 201, 204, 206, 301, 302, 303, 304, 307, 308)
        return (
            *(self._expiry(location) if fine else ()),
            *(
                (name, re.sub(r"\$(\w+)", lambda match: self._variable(match[1], None), value))
                for name, value, always in location.headers
                if always or fine
            ),
        )

    def _expiry(self, location: Location) -> Headers:
        """What `expires` adds."""
        if location.expires is None:
            return ()
        until = datetime.fromtimestamp(self.machine.clock.now + location.expires, UTC)
        keep = f"max-age={location.expires}" if location.expires >= 0 else "no-cache"
        return ("Expires", f"{until:%a, %d %b %Y %H:%M:%S} GMT"), ("Cache-Control", keep)

    # -- logs

    @cached_property
    def _simple(self) -> Mapping[str, str]:
        """The variables that the request alone decides."""
        request = self.request
        return {
            "remote_addr": request.remote,
            "remote_user": "-",
            "request": f"{request.method} {request.target} HTTP/1.1" if request.method else request.target,
            "request_method": request.method,
            "request_uri": request.target,
            "uri": request.path,
            "args": request.target.partition("?")[2],
            "host": request.host.partition(":")[0],
            "http_host": request.host,
            "scheme": request.scheme,
            "server_name": self.server.names[0] if self.server is not None else "",
            "http_referer": request.header("Referer") or "-",
            "http_user_agent": request.header("User-Agent") or "-",
            "http_x_forwarded_for": request.header("X-Forwarded-For") or "-",
        }

    def _variable(self, name: str, response: HttpResponse | None) -> str:
        simple = self._simple.get(name)
        if simple is not None:
            return simple
        if name == "time_local":
            return self.machine.clock.written("%d/%b/%Y:%H:%M:%S +0000")
        if name == "time_iso8601":
            return self.machine.clock.written("%Y-%m-%dT%H:%M:%S+00:00")
        if response is not None:
            if name == "status":
                return str(response.status)
            if name in ("body_bytes_sent", "bytes_sent"):
                return str(len(response.body))
            if name in ("request_time", "upstream_response_time"):
                return f"{response.seconds:.3f}"
        return "-" if response is not None else ""

    def _log(self, location: Location, response: HttpResponse) -> None:
        if location.access_log is None:
            return
        path, text = location.access_log
        line = re.sub(r"\$(\w+)", lambda match: self._variable(match[1], response), text)
        problem = write_line(self.machine, self.worker, path, line)
        if problem is not None:
            text = f'write() to "{path}" failed ({problem.errno}: {problem.strerror}) while logging request'
            self._error(location, "alert", text)

    def _error(self, location: Location, level: str, text: str, *, upstream: str = "") -> None:
        request = self.request
        name = self.server.names[0] if self.server is not None else ""
        via = f', upstream: "{upstream}"' if upstream else ""
        full = (
            f"*{self.number} {text}, client: {request.remote}, server: {name}, "
            f'request: "{request.method} {request.target} HTTP/1.1"{via}, host: "{request.host}"'
        )
        write_error(self.machine, self.worker, location.error_log, level, full)
