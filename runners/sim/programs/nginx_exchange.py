"""One request in nginx: from the choice of its location to the line in the access log."""

from __future__ import annotations

import posixpath
import re
from datetime import UTC, datetime

from runners.sim.files.inode import READ, Inode
from runners.sim.files.view import FileView
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.network.http import (
    MOST_HOPS,
    HttpFailure,
    HttpRequest,
    HttpResponse,
    TlsIdentity,
    exchange,
)
from runners.sim.programs.nginx_answering import KEPT_ALIVE, Answering
from runners.sim.programs.nginx_matching import allowed, choose_location, file_of
from runners.sim.programs.nginx_ranges import Part, condition, part
from runners.sim.programs.nginx_values import Location, connections

_BEFORE_CONNECTION = ("content-type", "content-length", "last-modified", "location")


class Exchange(Answering):
    """One request being answered by one worker."""

    def answer(self) -> HttpResponse | HttpFailure | None:
        secure = any(
            listen.ssl for server in self.config.servers for listen in server.listens
            if listen.port == self.connection.port
        )  # fmt: skip
        if self.request.scheme == "https" and not secure:
            return HttpFailure("tls", "wrong version number", 0.001)
        self.number = self.machine.count(connections(self.worker.ppid))
        if self.server is None:
            return None
        location = choose_location(self.server, self.request.path)
        if secure and self.request.scheme == "http":
            response = self._page(location, 400, note="The plain HTTP request was sent to HTTPS port")
        elif not _well_formed(self.request):
            response = self._page(location, 400)
        elif self.request.method in ("TRACE", "CONNECT"):
            response = self._page(location, 405)
        else:
            response = self._handle(location)
        self._log(location, response)
        if secure:
            response = response._replace(tls=TlsIdentity(self.server.certificate), seconds=response.seconds + 0.002)
        return response

    def _handle(self, location: Location) -> HttpResponse:
        request = self.request
        if location.internal:
            return self._page(location, 404)
        if location.returns is not None:
            return self._return(location, *location.returns)
        if not allowed(location, request.remote):
            self._error(location, "error", "access forbidden by rule")
            return self._page(location, 403)
        if location.realm and location.realm != "off" and request.header("Authorization") is None:
            extra = (("WWW-Authenticate", f'Basic realm="{location.realm}"'),)
            return self._page(location, 401, extra=extra)
        if location.max_body and len(request.body) > location.max_body:
            self._error(location, "error", f"client intended to send too large body: {len(request.body)} bytes")
            return self._page(location, 413)
        if location.stub_status:
            return self._stub_status(location)
        if location.try_files:
            return self._try_files(location)
        if location.proxy is not None:
            return self._pass_on(location)
        return self._static(location, request.path)

    # -- passing on

    def _pass_on(self, location: Location) -> HttpResponse:
        assert location.proxy is not None
        name, peers, uri = location.proxy
        target = self.request.target
        if uri is not None and location.kind in ("prefix", "^~", "="):
            target = uri + target[len(location.pattern) :]
        host = location.proxy_host.replace("$http_host", self.request.host)
        host = re.sub(r"\$host\b", self.request.host.partition(":")[0], host) or name
        sent = HttpRequest(
            self.request.method,
            target,
            host,
            (*self.request.headers, ("X-Forwarded-For", self.request.remote)),
            self.request.body,
            "127.0.0.1",
        )
        waited = 0.0
        status = 502
        live = [peer for peer in peers if not peer.down]
        for peer in [peer for peer in live if not peer.backup] + [peer for peer in live if peer.backup]:
            link = connect(
                self.machine, peer.address, peer.port, cred=self.worker.cred, timeout=location.connect_timeout
            )
            where = f"http://{peer.address}:{peer.port}{target}"
            if self.machine.hops >= MOST_HOPS:
                short = "768 worker_connections are not enough while connecting to upstream"
                self._error(location, "alert", short, upstream=where)
                return self._page(location, 500)
            if isinstance(link, ConnectFailure):
                status = 504 if link.kind == "timeout" else 502
                waited += link.seconds
                self._error(location, "error", f"{_connect_problem(link)} while connecting to upstream", upstream=where)
                continue
            answer = exchange(self.machine, link, sent)
            if isinstance(answer, HttpResponse):
                if answer.seconds > location.read_timeout:
                    text = "upstream timed out (110: Connection timed out) while reading response header from upstream"
                    self._error(location, "error", text, upstream=where)
                    waited, status = waited + location.read_timeout, 504
                    continue
                return self._from_upstream(location, answer, waited)
            waited += min(answer.seconds, location.read_timeout)
            if answer.kind == "timeout":
                status = 504
                text = "upstream timed out (110: Connection timed out) while reading response header from upstream"
            else:
                status = 502
                text = "upstream prematurely closed connection while reading response header from upstream"
            self._error(location, "error", text, upstream=where)
        if not live:
            self._error(
                location, "error", "no live upstreams while connecting to upstream", upstream=f"http://{name}{target}"
            )
        return self._page(location, status)._replace(seconds=waited + 0.001)

    def _from_upstream(self, location: Location, answer: HttpResponse, waited: float) -> HttpResponse:
        hidden = ("server", "date", "connection", "x-accel-redirect")
        headers = tuple((key, value) for key, value in answer.headers if key.lower() not in hidden)
        own = tuple(one for one in headers if one[0].lower() in _BEFORE_CONNECTION)
        rest = tuple(one for one in headers if one[0].lower() not in _BEFORE_CONNECTION)
        head = (*self._headers(location), *own, KEPT_ALIVE, *rest, *self._added(location, answer.status))
        seconds = answer.seconds + waited + 0.0005
        return HttpResponse(answer.status, head, answer.body, seconds, via=answer.via, phrase=answer.phrase)

    # -- files

    def _static(self, location: Location, path: str, *, code: int = 0) -> HttpResponse:
        if self.request.method not in ("GET", "HEAD"):
            return self._page(location, 405)
        view = self.machine.view(self.worker.cred)
        file = file_of(location, path)
        try:
            inode = view.stat(file)
        except OSError as error:
            return self._unreadable(location, file, error)
        if inode.is_dir:
            if not path.endswith("/"):
                return self._redirect(location, 301, f"{path}/")
            return self._directory(location, path, file, view)
        if not view.access(file, READ):
            return self._unreadable(location, file, OSError(13, "Permission denied"))
        kind = self.config.types.get(file.rsplit(".", 1)[-1], location.default_type)
        return self._file(location, inode, kind, code)

    def _file(self, location: Location, inode: Inode, kind: str, code: int) -> HttpResponse:
        """A file, or as much of it as is asked for. `code`: the status of an error whose page it is."""
        modified = f"{datetime.fromtimestamp(inode.mtime, UTC):%a, %d %b %Y %H:%M:%S} GMT"
        tag = f'"{int(inode.mtime):x}-{inode.size:x}"'
        status = code or condition(self.request, tag, modified)
        if status == 412:
            return self._page(location, 412)
        stamps = (("Last-Modified", modified), KEPT_ALIVE, ("ETag", tag))
        if status == 304:
            return HttpResponse(304, (*self._headers(location), *stamps, *self._added(location, 304)), b"", 0.0002)
        wanted = part(self.request, inode.size, tag, modified) if not code else None
        if wanted == 416:
            return self._page(location, 416, extra=(("Content-Range", f"bytes */{inode.size}"),))
        start, end = wanted if isinstance(wanted, Part) else (0, inode.size)
        data = inode.content.read(start, min(end, start + (1 << 20))) if self.request.method != "HEAD" else b""
        status = 206 if isinstance(wanted, Part) else status or 200
        ranges = (
            ("Content-Range", f"bytes {start}-{end - 1}/{inode.size}") if status == 206 else ("Accept-Ranges", "bytes")
        )
        headers = (
            *self._headers(location),
            ("Content-Type", kind),
            ("Content-Length", str(end - start)),
            *stamps,
            *self._added(location, status),
            ranges,
        )
        return HttpResponse(status, headers, data, 0.0004)

    def _unreadable(self, location: Location, file: str, error: OSError) -> HttpResponse:
        self._error(location, "error", f'open() "{file}" failed ({error.errno}: {error.strerror})')
        status = {2: 404, 20: 404, 36: 404, 13: 403}.get(error.errno or 0, 500)
        return self._page(location, status)

    def _directory(self, location: Location, path: str, file: str, view: FileView) -> HttpResponse:
        for name in location.indexes:
            candidate = posixpath.join(file, name)
            try:
                view.stat(candidate)
            except OSError as error:
                if error.errno == 13:
                    return self._unreadable(location, candidate, error)
                continue
            return self._static(location, path + name)
        if location.autoindex:
            return self._listing(location, path, file, view)
        self._error(location, "error", f'directory index of "{file}" is forbidden')
        return self._page(location, 403)

    def _listing(self, location: Location, path: str, file: str, view: FileView) -> HttpResponse:
        rows = "".join(f'<a href="{name}">{name}</a>\r\n' for name in sorted(view.names(file)))
        body = (
            f"<html>\r\n<head><title>Index of {path}</title></head>\r\n<body>\r\n<h1>Index of {path}</h1><hr><pre>"
            f'<a href="../">../</a>\r\n{rows}</pre><hr></body>\r\n</html>\r\n'
        ).encode("utf-8", "surrogateescape")
        return HttpResponse(200, self._own(location, 200, "text/html", body), body, 0.0006)

    def _try_files(self, location: Location) -> HttpResponse:
        view = self.machine.view(self.worker.cred)
        *candidates, last = location.try_files
        for candidate in candidates:
            path = candidate.replace("$uri", self.request.path)
            try:
                inode = view.stat(file_of(location, path.rstrip("/") or "/"))
            except OSError:
                continue
            if inode.is_dir == candidate.endswith("/"):
                return self._static(location, path)
        if last.startswith("="):
            return self._page(location, int(last[1:]))
        path = re.sub(r"\$is_args\$args|\?\$args", "", last).replace("$uri", self.request.path)
        assert self.server is not None
        following = choose_location(self.server, path)
        if following.try_files and following == location:
            return self._page(location, 500)
        if following.proxy is not None:
            return self._pass_on(following)
        return self._static(following, path)


def _well_formed(request: HttpRequest) -> bool:
    """A method in capitals, a path without a nul, and a server's name: HTTP/1.1 asks for one."""
    return bool(re.fullmatch(r"[A-Z_-]+", request.method) and request.host) and "%00" not in request.target


def _connect_problem(link: ConnectFailure) -> str:
    if link.kind == "timeout":
        return "upstream timed out (110: Connection timed out)"
    number = {"refused": 111, "unreachable": 113}.get(link.kind, 111)
    return f"connect() failed ({number}: {link.message})"
