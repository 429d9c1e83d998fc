"""wget 1.21.3: fetch a URL into a file."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from runners.sim.certificates import matches_host, parse, problems, trusted
from runners.sim.commands.context import Context
from runners.sim.commands.options import Options
from runners.sim.format import human_ceiling
from runners.sim.network.connect import Connection, connect
from runners.sim.network.http import HttpFailure, HttpResponse, request
from runners.sim.network.names import ResolveFailure, resolve, resolve_all
from runners.sim.tool import Tool
from runners.text import is_digits

_TOOL = Tool(
    "wget [OPTION]... [URL]...",
    "V,version h,help b,background o,output-file= q,quiet v,verbose no-verbose O,output-document= N,timestamping "
    "c,continue S,server-response T,timeout= t,tries= U,user-agent= P,directory-prefix= no-check-certificate spider "
    "post-data= header= method= body-data= connect-timeout= read-timeout= dns-timeout= user= password= max-redirect= "
    "content-on-error show-progress no-proxy 4,inet4-only 6,inet6-only ca-certificate= retry-connrefused waitretry= "
    "no-hsts compression= n=",
    "GNU Wget 1.21.3 built on linux-gnu.",
    status=2,
)  # fmt: skip


class _Log:
    """Progress messages on standard error, unless told to be quiet."""

    def __init__(self, ctx: Context, options: Options) -> None:
        self.ctx = ctx
        self.quiet = options.has("q")
        self.brief = options.value("n") == "v" or options.has("no-verbose")

    def say(self, text: str) -> None:
        if not self.quiet and not self.brief:
            self.ctx.stderr.write(text.encode("utf-8", "surrogateescape"))

    def always(self, text: str) -> None:
        if not self.quiet:
            self.ctx.stderr.write(text.encode("utf-8", "surrogateescape"))


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.line("GNU Wget 1.21.3 built on linux-gnu.")
        return 0
    if not options.operands:
        ctx.stderr.write(
            b"wget: missing URL\nUsage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.\n"
        )
        return 1
    for name in ("T", "connect-timeout"):
        given = options.value(name)
        if given is not None and not is_digits(given.replace(".", "", 1)):
            ctx.err(f"--{'timeout' if name == 'T' else name}: Invalid time period ‘{given}’")
            return 2
    return max(_fetch(ctx, options, url) for url in options.operands)


def _number(given: str | None, usual: int) -> int:
    """What is no number changes nothing."""
    return int(given) if given is not None and is_digits(given) else usual


def _fetch(ctx: Context, options: Options, url: str) -> int:
    log = _Log(ctx, options)
    if "://" not in url:
        url = f"http://{url}"
    if options.has("spider"):
        log.say("Spider mode enabled. Check if remote file exists.\n")
    redirects = 0
    while True:
        stamp = f"{ctx.machine.clock.time():%Y-%m-%d %H:%M:%S}"
        log.say(f"--{stamp}--  {url}\n")
        result = _exchange(ctx, options, url, log)
        if isinstance(result, int):
            return result
        location = result.header("Location")
        if result.status in (301, 302, 303, 307, 308) and location:
            url = urljoin(url, location)
            log.say(f"Location: {url} [following]\n")
            redirects += 1
            if redirects > _number(options.value("max-redirect"), 20):
                log.always("20 redirections exceeded.\n")
                return 8
            continue
        return _finish(ctx, options, url, result, log)


def _exchange(ctx: Context, options: Options, url: str, log: _Log) -> HttpResponse | int:
    try:
        parts = urlsplit(url)
    except ValueError:
        log.always(f"{url}: Invalid IPv6 numeric address.\n")
        return 1
    host = parts.hostname or ""
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        log.always(f"{url}: Bad port number.\n")
        return 1
    address = resolve(ctx.machine, host)
    if address != host:
        log.say(f"Resolving {host} ({host})... ")
        if isinstance(address, ResolveFailure):
            ctx.sleep(address.seconds)
            log.say(f"failed: {address.message}.\n")
            log.always(f"wget: unable to resolve host address ‘{host}’\n")
            return 4
        addresses = _addresses(ctx, options, host, address)
        log.say(f"{', '.join(addresses)}\n")
        for other in addresses[:-1]:
            tried = connect(ctx.machine, other, port, cred=ctx.cred)
            ctx.sleep(tried.seconds)
            if isinstance(tried, Connection):
                address = other
                break
            log.say(f"Connecting to {host} ({host})|{other}|:{port}... failed: {tried.message}.\n")
    shown = host if address == host else f"{host} ({host})|{address}|"
    log.say(f"Connecting to {shown}:{port}... ")
    timeout = float(options.value("T", "connect-timeout") or 130)
    tries = max(_number(options.value("t"), 1), 1)
    headers = [("User-Agent", options.value("U") or "Wget/1.21.3"), ("Accept", "*/*"), ("Accept-Encoding", "identity")]
    for header in options.values("header"):
        name, _, value = header.partition(":")
        headers.append((name, value.strip()))
    body = (options.value("post-data", "body-data") or "").encode("utf-8", "surrogateescape")
    method = options.value("method") or (
        "POST" if options.has("post-data") else "HEAD" if options.has("spider") else "GET"
    )
    result: HttpResponse | HttpFailure = HttpFailure("refused", "Connection refused")
    for attempt in range(tries):
        result = request(
            ctx.machine, method, url, headers=tuple(headers), body=body, cred=ctx.cred, timeout=timeout,
            connect_to=address if isinstance(address, str) and address != host else None,
        )  # fmt: skip
        ctx.sleep(result.seconds)
        if not isinstance(result, HttpFailure) or result.kind != "timeout":
            break
        if attempt < tries - 1:
            log.say("failed: Connection timed out.\nRetrying.\n\n")
    if isinstance(result, HttpFailure):
        return _failed(log, result)
    log.say("connected.\n")
    if parts.scheme == "https" and not options.has("no-check-certificate"):
        problem = _certificate(ctx, result, host, options.value("ca-certificate"))
        if problem:
            log.always(problem)
            return 5
    log.say(f"HTTP request sent, awaiting response... {result.status} {result.reason}\n")
    if options.has("S"):
        lines = [
            f"  HTTP/1.1 {result.status} {result.reason}",
            *(f"  {name}: {value}" for name, value in result.headers),
        ]
        log.always("\n".join(lines) + "\n")
    return result


def _addresses(ctx: Context, options: Options, host: str, first: str) -> tuple[str, ...]:
    """All addresses of a host in the order they are tried."""
    found = resolve_all(ctx.machine, host)
    if isinstance(found, ResolveFailure) or options.has("4"):
        return (first,)
    return found


def _failed(log: _Log, failure: HttpFailure) -> int:
    if failure.kind == "empty-reply":
        log.say("connected.\nHTTP request sent, awaiting response... No data received.\nRetrying.\n\n")
        log.say("Giving up.\n\n")
        return 4
    if failure.kind == "tls":
        log.say("connected.\n")
        log.always("OpenSSL: error:0A00010B:SSL routines::wrong version number\nUnable to establish SSL connection.\n")
        return 4
    log.say(f"failed: {failure.message}.\n")
    if failure.kind == "timeout":
        log.say("Giving up.\n\n")
    return 4


def _certificate(ctx: Context, response: HttpResponse, host: str, bundle: str | None) -> str:
    chain = parse(response.tls.certificate) if response.tls is not None else ()
    if not chain:
        return f"ERROR: The certificate of ‘{host}’ is not trusted.\n"
    numbers = [one.number for one in problems(chain, trusted(ctx.machine.view(), bundle), ctx.machine.clock.now)]
    # GnuTLS's words, which is what Debian builds wget with: its findings, then wget's own two checks.
    said = [f"ERROR: The certificate of ‘{host}’ is not trusted."] if numbers else []
    if any(number in (18, 19, 20) for number in numbers):
        said.append(f"ERROR: The certificate of ‘{host}’ doesn't have a known issuer.")
    if 9 in numbers:
        said.append(f"ERROR: The certificate of ‘{host}’ is not yet activated.")
        said.append("The certificate has not yet been activated")
    if 10 in numbers:
        said.append(f"ERROR: The certificate of ‘{host}’ has expired.")
        said.append("The certificate has expired")
    if not matches_host(chain[0], host):
        said.append(f"The certificate's owner does not match hostname ‘{host}’")
    return "".join(f"{line}\n" for line in said)


def _finish(ctx: Context, options: Options, url: str, response: HttpResponse, log: _Log) -> int:
    if response.status >= 400:
        stamp = f"{ctx.machine.clock.time():%Y-%m-%d %H:%M:%S}"
        if options.has("spider") and response.status == 404:
            log.say("Remote file does not exist -- broken link!!!\n\n")
            return 8
        log.always(f"{stamp} ERROR {response.status}: {response.reason}.\n\n")
        if options.has("content-on-error"):
            _save(ctx, options, url, response, log)
        return 8
    if options.has("spider"):
        log.say("Length: unspecified\nRemote file exists.\n\n")
        return 0
    return _save(ctx, options, url, response, log)


def _save(ctx: Context, options: Options, url: str, response: HttpResponse, log: _Log) -> int:
    size = len(response.body)
    kind = (response.header("Content-Type") or "text/html").split(";")[0]
    length = f"{size} ({human_ceiling(size)})" if size >= 1024 else str(size)
    log.say(f"Length: {length} [{kind}]\n")
    path = options.value("O")
    if path is None:
        path = urlsplit(url).path.rsplit("/", 1)[-1] or "index.html"
        prefix = options.value("P")
        path = f"{prefix.rstrip('/')}/{path}" if prefix else path
        base, number = path, 0
        while ctx.files.exists(path) and not options.has("N", "c"):
            number += 1
            path = f"{base}.{number}"
    log.say(f"Saving to: ‘{'STDOUT' if path == '-' else path}’\n\n")
    if path == "-":
        ctx.stdout.write(response.body)
    else:
        try:
            if not ctx.files.exists(path) or ctx.files.stat(path).is_file:
                ctx.files.write(path, response.body)
        except OSError as error:
            log.always(f"{path}: {error.strerror}\n\nCannot write to ‘{path}’ ({error.strerror}).\n")
            return 3
    dots = "".join("." + " " * (number % 10 == 9) for number in range(min(size // 1024, 50)))
    speed = f"{max(size, 1) * 0.11:.2f}"[:4].rstrip(".")
    log.say(f"     0K {dots:<55} 100% {speed}M=0s\n\n")
    stamp = f"{ctx.machine.clock.time():%Y-%m-%d %H:%M:%S}"
    name = f"written to stdout [{size}/{size}]" if path == "-" else f"‘{path}’ saved [{size}/{size}]"
    log.say(f"{stamp} ({speed} MB/s) - {name}\n\n")
    if log.brief and not log.quiet:
        ctx.stderr.write(f'{stamp} URL:{url} [{size}/{size}] -> "{path}" [1]\n'.encode("utf-8", "surrogateescape"))
    return 0
