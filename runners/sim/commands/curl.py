"""curl 7.88: transfer a URL over HTTP or HTTPS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import SplitResult, urljoin, urlsplit

from runners.sim.certificates import date_text, ends, matches_host, name_text, parse, starts, trusted, verify
from runners.sim.commands.context import Context
from runners.sim.commands.curl_options import CurlOptions, read_options
from runners.sim.commands.curl_transfer import Asked, Transfer, head, write_out
from runners.sim.network.http import Headers, HttpFailure, HttpResponse, request
from runners.sim.network.names import ResolveFailure, resolve_all

_CODES = {
    "refused": 7,
    "unreachable": 7,
    "timeout": 28,
    "no-such-host": 6,
    "empty-reply": 52,
    "not-http": 1,
    "tls": 35,
    "bad-url": 3,
}
_UNCONNECTED = ("refused", "unreachable", "timeout")
_METER = (
    "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    "                                 Dload  Upload   Total   Spent    Left  Speed\n"
)

_MORE = (
    "\nMore details here: https://curl.se/docs/sslcerts.html\n\n"
    "curl failed to verify the legitimacy of the server and therefore could not\n"
    "establish a secure connection to it. To learn more about this situation and\n"
    "how to fix it, please visit the web page mentioned above."
)


def main(ctx: Context) -> int:
    options = read_options(ctx)
    status = 0
    for index, url in enumerate(options.urls):
        status = _one(ctx, options, url, index)
    return status


def _one(ctx: Context, options: CurlOptions, url: str, index: int) -> int:
    if "://" not in url:
        url = f"http://{url}"
    scheme = url.split("://", 1)[0].lower()
    output = options.output_of(index, url)
    attempts = 1 + options.retry
    transfer = Transfer(3, "URL using bad/illegal format or missing URL")
    for attempt in range(attempts):
        if scheme == "file":
            transfer = _local(ctx, url)
        elif scheme not in ("http", "https"):
            transfer = Transfer(1, f'Protocol "{scheme}" not supported or disabled in libcurl')
        else:
            transfer = _fetch(ctx, options, url)
        transient = transfer.code == 28 or (
            transfer.response is not None and transfer.response.status in (408, 429, 500, 502, 503, 504)
        )
        if attempt == attempts - 1 or not (transient or (transfer.code == 7 and options.retry_refused)):
            break
        pause = options.retry_delay or min(2**attempt, 600)
        if not options.silent:
            ctx.stderr.write(
                f"Warning: Problem: timeout. Will retry in {pause} seconds. {attempts - attempt - 1} "
                f"retries left.\n".encode("utf-8", "surrogateescape")
            )
        ctx.sleep(pause)
    code = _deliver(ctx, options, transfer, output)
    if options.write_out is not None:
        asked = Asked(options.write_out, options.urls[index], index, output)
        text, unknown = write_out(transfer, asked)
        ctx.out(text)
        for name in unknown:
            ctx.err(f"unknown --write-out variable: '{name}'")
    if code and options.show_error:
        ctx.err(f"({code}) {transfer.message}")
    return code


def _local(ctx: Context, url: str) -> Transfer:
    path = url.split("://", 1)[1]
    path = path[path.find("/") :]
    try:
        data = ctx.files.read(path)
    except OSError:
        return Transfer(37, f"Couldn't open file {path}")
    return Transfer(0, response=HttpResponse(0, (), data, 0.0), url=url)


def _fetch(ctx: Context, options: CurlOptions, url: str) -> Transfer:
    method, redirects, spent = options.method, 0, 0.0
    body = options.body
    while True:
        transfer = _exchange(ctx, options, url, method, body, spent, redirects)
        spent = transfer.seconds
        response = transfer.response
        location = response.header("Location") if response is not None else None
        if (
            transfer.code
            or response is None
            or not options.follow
            or location is None
            or response.status not in (301, 302, 303, 307, 308)
        ):
            return transfer
        redirects += 1
        if redirects > options.max_redirects:
            return transfer._replace(code=47, message=f"Maximum ({options.max_redirects}) redirects followed")
        if response.status in (301, 302, 303) and method == "POST" and not options.forced_method:
            method, body = "GET", b""
        if options.include or method == "HEAD":
            ctx.stdout.write(head(response))
        url = urljoin(url, location)


def _exchange(
    ctx: Context, options: CurlOptions, url: str, method: str, body: bytes, spent: float, redirects: int
) -> Transfer:
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return Transfer(3, "URL using bad/illegal format or missing URL", url=url)
    host = parts.hostname or ""
    if not host:
        return Transfer(3, "URL using bad/illegal format or missing URL", url=url)
    limit = min(options.connect_timeout or 130.0, options.max_time or 130.0)
    pinned = options.pinned(host, port)
    target = pinned or (options.proxy_host or host)
    base = Transfer(0, url=url, redirects=redirects, port=port, method=method)
    addresses = _addresses(ctx, options, target)
    if isinstance(addresses, ResolveFailure):
        return _unresolved(ctx, options, base, host, addresses.seconds, spent)
    if not addresses:
        return base._replace(code=7, message="Couldn't connect to server", seconds=spent)
    if options.verbose and pinned:
        _note(ctx, f"Added {host}:{port}:{pinned} to DNS cache\n* Hostname {host} was found in DNS cache")
    headers = options.headers_for(parts.username, parts.password, body)

    def ask(to: str) -> HttpResponse | HttpFailure:
        where = to if to != host else None
        return request(
            ctx.machine, method, url, headers=headers, body=body, cred=ctx.cred, timeout=limit, connect_to=where
        )

    address, result = _reached(ctx, options, addresses, port, ask)
    seconds = min(result.seconds, options.max_time) if options.max_time else result.seconds
    ctx.sleep(seconds)
    spent += seconds
    base = base._replace(seconds=spent, address=address)
    if isinstance(result, HttpFailure):
        return _failed(ctx, options, base, result, host, port, limit)
    base = base._replace(connect_seconds=0.0004)
    if options.verbose:
        _note(ctx, f"Connected to {host} ({address}) port {port} (#0)")
    if parts.scheme == "https":
        problem = _handshake(ctx, options, result, host)
        if problem:
            return base._replace(code=60, message=problem)
    if options.max_time and result.seconds > options.max_time:
        return base._replace(
            code=28,
            message=f"Operation timed out after {int(options.max_time * 1000)} milliseconds with 0 bytes received",
        )
    if options.verbose:
        _show_exchange(ctx, parts, method, headers, result)
    if options.fail and result.status >= 400:
        return base._replace(code=22, message=f"The requested URL returned error: {result.status}", response=result)
    return base._replace(response=result)


def _addresses(ctx: Context, options: CurlOptions, name: str) -> tuple[str, ...] | ResolveFailure:
    """The addresses to try, in order, of the family asked for. `localhost` is no question to curl (RFC 6761)."""
    if name.lower() == "localhost" or name.lower().endswith(".localhost"):
        found: tuple[str, ...] | ResolveFailure = ("127.0.0.1", "::1")
    else:
        found = resolve_all(ctx.machine, name)
    if isinstance(found, ResolveFailure) or not options.flags & {"ipv4", "ipv6"}:
        return found
    fitting = tuple(one for one in found if (":" in one) == ("ipv6" in options.flags))
    return fitting if fitting or found == (name,) else ResolveFailure(name, "not-found")


def _reached(
    ctx: Context,
    options: CurlOptions,
    addresses: Sequence[str],
    port: int,
    ask: Callable[[str], HttpResponse | HttpFailure],
) -> tuple[str, HttpResponse | HttpFailure]:
    """The answer from the first address that takes the connection; of failures the one that took longest."""
    slowest: tuple[str, HttpFailure] | None = None
    for address in addresses:
        if options.verbose:
            _note(ctx, f"  Trying {f'[{address}]' if ':' in address else address}:{port}...")
        result = ask(address)
        if not isinstance(result, HttpFailure) or result.kind not in _UNCONNECTED:
            return address, result
        if options.verbose and result.kind != "timeout":
            _note(ctx, f"connect to {address} port {port} failed: {result.message}")
        if slowest is None or result.seconds > slowest[1].seconds:
            slowest = address, result
    assert slowest is not None
    return slowest


def _unresolved(
    ctx: Context, options: CurlOptions, base: Transfer, host: str, seconds: float, spent: float
) -> Transfer:
    """Nobody knows the name; or the time was up before anybody could say so."""
    hurried = [one for one in (options.max_time, options.connect_timeout) if one]
    waited = min([seconds, *hurried])
    ctx.sleep(waited)
    code, message = 6, f"Could not resolve host: {host}"
    if waited < seconds:
        code, message = 28, f"Resolving timed out after {int(waited * 1000)} milliseconds"
    if options.verbose:
        _note(ctx, f"{message}\n* Closing connection 0")
    return base._replace(code=code, message=message, seconds=spent + waited)


def _note(ctx: Context, text: str) -> None:
    ctx.stderr.write(f"* {text}\n".encode("utf-8", "surrogateescape"))


def _failed(
    ctx: Context, options: CurlOptions, base: Transfer, failure: HttpFailure, host: str, port: int, limit: float
) -> Transfer:
    milliseconds = int(failure.seconds * 1000)
    code = _CODES.get(failure.kind, 7)
    message = {
        "refused": f"Failed to connect to {host} port {port} after {milliseconds} ms: Couldn't connect to server",
        "unreachable": f"Failed to connect to {host} port {port} after {milliseconds} ms: Couldn't connect to server",
        "empty-reply": "Empty reply from server",
        "not-http": "Received HTTP/0.9 when not allowed",
        "tls": "OpenSSL/3.0.11: error:0A00010B:SSL routines::wrong version number",
        "bad-url": "URL using bad/illegal format or missing URL",
        "no-such-host": f"Could not resolve host: {host}",
    }.get(failure.kind, failure.message)
    if failure.kind == "timeout":
        connecting = not failure.message or "timed out" in failure.message
        if options.connect_timeout and (not options.max_time or options.connect_timeout < options.max_time):
            message = f"Failed to connect to {host} port {port} after {int(limit * 1000)} ms: Timeout was reached"
        elif options.max_time:
            message = f"Connection timed out after {int(options.max_time * 1000)} milliseconds"
        elif connecting:
            message = f"Failed to connect to {host} port {port} after {milliseconds} ms: Couldn't connect to server"
    if options.verbose:
        if failure.kind not in _UNCONNECTED:
            _note(ctx, f"Connected to {host} ({base.address}) port {port} (#0)")
        _note(ctx, message)
        _note(ctx, "Closing connection 0")
    return base._replace(code=code, message=message)


def _handshake(ctx: Context, options: CurlOptions, response: HttpResponse, host: str) -> str:
    """Check the server's certificate; what curl says when it is refused, or nothing."""
    chain = parse(response.tls.certificate) if response.tls is not None else ()
    view = ctx.machine.view()
    if options.verbose:
        _note(ctx, "ALPN: offers h2,http/1.1")
        _note(ctx, f" CAfile: {options.ca_file or '/etc/ssl/certs/ca-certificates.crt'}")
        _note(ctx, " CApath: /etc/ssl/certs")
    if not chain:
        return "" if options.insecure else "SSL certificate problem: unable to get local issuer certificate"
    own = chain[0]
    problem = verify(chain, trusted(view, options.ca_file), ctx.machine.clock.now)
    if options.verbose:
        _note(ctx, "SSL connection using TLSv1.3 / TLS_AES_256_GCM_SHA384")
        _note(ctx, "Server certificate:")
        _note(ctx, f" subject: {name_text(own.subject, '; ', '=')}")
        _note(ctx, f" start date: {date_text(starts(own))}")
        _note(ctx, f" expire date: {date_text(ends(own))}")
        _note(ctx, f" issuer: {name_text(own.issuer, '; ', '=')}")
    if options.insecure:
        if options.verbose and problem is not None:
            _note(ctx, f" SSL certificate verify result: {problem.text} ({problem.number}), continuing anyway.")
        return ""
    if problem is not None:
        return f"SSL certificate problem: {problem.text}" + _MORE
    if not matches_host(own, host):
        return f"SSL: no alternative certificate subject name matches target host name '{host}'" + _MORE
    if options.verbose:
        _note(ctx, " SSL certificate verify ok.")
    return ""


def _show_exchange(ctx: Context, parts: SplitResult, method: str, headers: Headers, response: HttpResponse) -> None:
    lines = [f"> {method} {parts.path or '/'}{f'?{parts.query}' if parts.query else ''} HTTP/1.1"]
    if all(name.lower() != "host" for name, _ in headers):
        lines.append(f"> Host: {parts.netloc.rsplit('@', 1)[-1]}")
    lines += [f"> {name}: {value}" for name, value in headers if value or name.lower() != "host"]
    lines.append("> ")
    lines.append(f"< HTTP/1.1 {response.status} {response.reason}")
    lines += [f"< {name}: {value}" for name, value in response.headers]
    lines.append("< ")
    if response.body and method != "HEAD" and not ctx.stdout.is_terminal:
        lines.append(f"{{ [{len(response.body)} bytes data]")
    ctx.stderr.write(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))


def _deliver(ctx: Context, options: CurlOptions, transfer: Transfer, output: str | None) -> int:
    """Write what came in where it belongs, with the progress meter if that is on."""
    response = transfer.response
    meter = not options.silent and not (output is None and ctx.stdout.is_terminal)
    if transfer.code in (1, 3) and response is None:
        return transfer.code
    if meter:
        ctx.stderr.write(_METER.encode("utf-8", "surrogateescape"))
    if response is None or (transfer.code == 22 and "fail-with-body" not in options.flags):
        if meter:
            # Without an address there is one look at the clock, and no end of its line.
            unknown = transfer.code == 6
            ctx.stderr.write(b"\r" + _meter_line(0, 0.0) if unknown else _waiting(transfer.seconds) + b"\n")
        return transfer.code
    data = b""
    if (options.include or transfer.method == "HEAD") and response.status:
        data += head(response)
    if options.dump_header is not None:
        _store(ctx, options.dump_header, head(response))
    if transfer.method != "HEAD":
        data += response.body
    if meter:
        ctx.stderr.write(
            b"\r" + _meter_line(0, 0.0) + b"\r" + _meter_line(len(response.body), transfer.seconds) + b"\n"
        )
    if output is None:
        try:
            ctx.stdout.write(data)
        except OSError:
            return 23
        if options.verbose:
            _note(ctx, f"Connection #0 to host {urlsplit(transfer.url).hostname} left intact")
        return transfer.code
    if not _store(ctx, output, data):
        ctx.err("(23) Failure writing output to destination")
        return 23
    return transfer.code


def _store(ctx: Context, path: str, data: bytes) -> bool:
    if path == "-":
        ctx.stdout.write(data)
        return True
    try:
        inode = ctx.files.stat(path) if ctx.files.exists(path) else None
        if inode is None or inode.is_file:
            ctx.files.write(path, data)
    except OSError as error:
        ctx.stderr.write(
            f"Warning: Failed to open the file {path}: {error.strerror}\n".encode("utf-8", "surrogateescape")
        )
        return False
    return True


def _waiting(seconds: float) -> bytes:
    """The meter of a transfer that never got anything: the start, every full second, and the end."""
    out = 2 * (b"\r" + _meter_line(0, 0.0))
    for second in range(1, min(int(seconds), 600) + 1):
        stamp = f"{second // 3600}:{second // 60 % 60:02d}:{second % 60:02d}"
        out += f"\r  0     0    0     0    0     0      0      0 --:--:-- {stamp:>8} --:--:--     0".encode(
            "utf-8", "surrogateescape"
        )
    return out


def _meter_line(size: int, seconds: float) -> bytes:
    share = 100 if size else 0
    speed = int(size / seconds) if seconds > 0 else 0
    shown = str(speed) if speed < 100000 else f"{speed // 1024}k"
    counts = f"{share:3d} {size:5d}  {share:3d} {size:5d}    0     0"
    return f"{counts}  {shown:>5}      0 --:--:-- --:--:-- --:--:-- {shown:>5}".encode("utf-8", "surrogateescape")
