"""nginx's configuration as values: what a worker serves by, checked and resolved as nginx does when it loads it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runners.sim import certificates
from runners.sim.files.inode import Cred
from runners.sim.machine import Machine
from runners.sim.network.names import ResolveFailure, resolve
from runners.sim.programs.nginx_arguments import expires, returned, seconds, size
from runners.sim.programs.nginx_checks import check
from runners.sim.programs.nginx_grammar import ConfigError, Directive, parse
from runners.sim.programs.nginx_values import (
    COMBINED,
    DEFAULT_PATH,
    LEVELS,
    ErrorLog,
    Listen,
    Location,
    NginxConfig,
    Peer,
    Server,
)
from runners.sim.regexes import RegexError, perl
from runners.sim.users import accounts
from runners.text import is_digits


def load(machine: Machine, cred: Cred, path: str = DEFAULT_PATH, extra: str = "") -> NginxConfig:
    """Read and check it all. ConfigError with the text after `[emerg] `. `extra`: directives of `-g`."""
    view = machine.view(cred)
    top = parse(view, path)
    check(machine, top)
    return _Loader(machine, cred, path, top, extra).config()


def _values(block: tuple[Directive, ...], name: str) -> Iterator[Directive]:
    return (one for one in block if one.name == name)


def _first(block: tuple[Directive, ...], name: str) -> Directive | None:
    return next(_values(block, name), None)


def _at(directive: Directive) -> str:
    return f"in {directive.file}:{directive.line}"


_LISTEN_VALUES = r"(backlog|rcvbuf|sndbuf|setfib|fastopen|accept_filter|ipv6only|so_keepalive)="


class _Loader:
    def __init__(self, machine: Machine, cred: Cred, path: str, top: tuple[Directive, ...], extra: str) -> None:
        self.machine = machine
        self.view = machine.view(cred)
        self.cred = cred
        self.path = path
        self.top = top
        self.extra = extra
        self.formats = {"combined": COMBINED}
        self.upstreams: dict[str, tuple[Peer, ...]] = {}
        self.logs: dict[str, None] = {}
        self.warnings: list[str] = []

    def config(self) -> NginxConfig:
        http = _first(self.top, "http")
        block = http.block or () if http is not None else ()
        user = self._user()
        for one in _values(block, "log_format"):
            texts = one.args[1:] if not one.args[1].startswith("escape=") else one.args[2:]
            self.formats[one.args[0]] = "".join(texts)
        for one in _values(block, "upstream"):
            self.upstreams[one.args[0]] = tuple(self._upstream(one))
        types: dict[str, str] = {}
        for one in _values(block, "types"):
            for line in one.block or ():
                types |= dict.fromkeys(line.args, line.name)
        main_log = self._error_log(_first(self.top, "error_log"), ErrorLog())
        servers = tuple(self._server(one, block, main_log) for one in _values(block, "server"))
        if _first(self.top, "events") is None:
            raise ConfigError('no "events" section in configuration')
        workers = _first(self.top, "worker_processes")
        count = workers.args[0] if workers is not None else "1"
        if count != "auto" and not is_digits(count):
            assert workers is not None
            raise ConfigError(f'invalid value "{count}" in "worker_processes" directive {_at(workers)}')
        cpus = self.machine.spec.settings.get("cpus", 1)
        number = int(count) if is_digits(count) else (int(cpus) if isinstance(cpus, int) else 1)
        pid = _first(self.top, "pid")
        self._duplicates(servers)
        self._conflicts(servers)
        return NginxConfig(
            self.path, user, number, pid.args[0] if pid is not None else "/run/nginx.pid", main_log, servers, types,
            tuple(self.logs), tuple(self.warnings),
        )  # fmt: skip

    def _user(self) -> Cred:
        one = _first(self.top, "user")
        name = one.args[0] if one is not None else "nobody"
        names = accounts(self.machine)
        user = names.user(name)
        if user is None:
            where = f" {_at(one)}" if one is not None else ""
            raise ConfigError(f'getpwnam("{name}") failed{where}')
        if one is not None and self.cred.uid != 0:
            self.warnings.append(
                f'the "user" directive makes sense only if the master process runs with super-user privileges, '
                f"ignored {_at(one)}"
            )
            return self.cred
        return names.cred(name)

    def _upstream(self, upstream: Directive) -> Iterator[Peer]:
        block = upstream.block or ()
        if _first(block, "server") is None:
            raise ConfigError(f"no servers are inside upstream {_at(upstream)}")
        for one in _values(block, "server"):
            yield self._peer(one.args[0], one, "upstream", options=one.args[1:])

    def _peer(self, name: str, where: Directive, kind: str, *, options: tuple[str, ...] = (), port: int = 80) -> Peer:
        host, _, number = name.partition(":")
        if number and not (is_digits(number) and 0 < int(number) < 65536):
            raise ConfigError(f'invalid port in {kind} "{name}" {_at(where)}')
        address = resolve(self.machine, host)
        if isinstance(address, ResolveFailure):
            raise ConfigError(f'host not found in upstream "{name}" {_at(where)}')
        return Peer(name, address, int(number or port), "backup" in options, "down" in options)

    def _server(self, server: Directive, http: tuple[Directive, ...], main_log: ErrorLog) -> Server:
        block = server.block or ()
        listens = self._listens(block)
        names = tuple(name for one in _values(block, "server_name") for name in one.args)
        base = self._location(Directive("location", ("/",), server.file, server.line, ()), (http, block), main_log)
        locations = tuple(self._locations(block, (http, block), main_log))
        certificate = ""
        if any(listen.ssl for listen in listens) or self._flag((http, block), "ssl"):
            certificate = self._certificate(server, (http, block))
        return Server(listens, names or ("",), locations, base, certificate)

    def _listens(self, block: tuple[Directive, ...]) -> tuple[Listen, ...]:
        found: dict[tuple[str, int], Listen] = {}
        for one in _values(block, "listen"):
            listen = self._listen(one)
            if (listen.address, listen.port) in found:
                raise ConfigError(f"a duplicate listen {listen.address}:{listen.port} {_at(one)}")
            found[listen.address, listen.port] = listen
        return tuple(found.values()) or (Listen("0.0.0.0", 80),)  # noqa: S104

    def _conflicts(self, servers: tuple[Server, ...]) -> None:
        """The same name twice on one address: the first server has it."""
        seen: set[tuple[str, int, str]] = set()
        for listen in {(one.address, one.port): None for server in servers for one in server.listens}:
            for server in servers:
                if listen not in ((one.address, one.port) for one in server.listens):
                    continue
                for name in server.names:
                    if name.startswith("~"):
                        continue
                    if (*listen, name.lower()) in seen:
                        self.warnings.append(f'conflicting server name "{name}" on {listen[0]}:{listen[1]}, ignored')
                    seen.add((*listen, name.lower()))

    def _listen(self, one: Directive) -> Listen:
        text = one.args[0]
        if text.startswith("unix:"):
            return Listen(text, 0)
        address, port = "0.0.0.0", text  # noqa: S104
        if text.startswith("["):
            address, _, port = text[1:].partition("]")
            port = port.lstrip(":") or "80"
        elif ":" in text:
            address, _, port = text.rpartition(":")
        elif not is_digits(text):
            if not re.match(r"^[\w.*-]+$", text):
                raise ConfigError(f'invalid port in "{text}" of the "listen" directive {_at(one)}')
            address, port = text, "80"
        if not is_digits(port) or not 0 < int(port) < 65536:
            raise ConfigError(f'invalid port in "{text}" of the "listen" directive {_at(one)}')
        if address not in ("0.0.0.0", "*", "::"):  # noqa: S104
            found = resolve(self.machine, address)
            if isinstance(found, ResolveFailure):
                raise ConfigError(f'host not found in "{text}" of the "listen" directive {_at(one)}')
            address = found
        known = ("ssl", "default_server", "default", "http2", "reuseport", "deferred", "proxy_protocol", "bind", "spdy")
        for option in one.args[1:]:
            if option not in known and not re.match(_LISTEN_VALUES, option):
                raise ConfigError(f'invalid parameter "{option}" {_at(one)}')
        address = "0.0.0.0" if address == "*" else address  # noqa: S104
        return Listen(address, int(port), "ssl" in one.args, "default_server" in one.args or "default" in one.args)

    def _duplicates(self, servers: tuple[Server, ...]) -> None:
        seen: dict[tuple[str, int], int] = {}
        for server in servers:
            for listen in server.listens:
                if listen.default:
                    key = (listen.address, listen.port)
                    seen[key] = seen.get(key, 0) + 1
                    if seen[key] > 1:
                        where = f"{listen.address}:{listen.port}"
                        one = self._listen_directive(listen)
                        raise ConfigError(f"a duplicate default server for {where} {_at(one)}" if one else where)

    def _listen_directive(self, listen: Listen) -> Directive | None:
        http = _first(self.top, "http")
        found = None
        for server in _values(http.block or () if http else (), "server"):
            for one in _values(server.block or (), "listen"):
                if self._listen(one)[:2] == listen[:2] and "default_server" in one.args:
                    found = one
        return found

    def _locations(
        self, block: tuple[Directive, ...], above: tuple[tuple[Directive, ...], ...], main_log: ErrorLog
    ) -> Iterator[Location]:
        for one in _values(block, "location"):
            yield self._location(one, above, main_log)
            yield from self._locations(one.block or (), (*above, one.block or ()), main_log)

    def _location(self, one: Directive, above: tuple[tuple[Directive, ...], ...], main_log: ErrorLog) -> Location:
        block = one.block or ()
        levels = (*above, block)
        kind, pattern = ("prefix", one.args[0]) if len(one.args) == 1 else (one.args[0], one.args[1])
        if kind in ("~", "~*"):
            try:
                perl(pattern)
            except RegexError as error:
                raise ConfigError(f'pcre2_compile() failed: {error} in "{pattern}" {_at(one)}') from None
        elif kind not in ("prefix", "=", "^~"):
            raise ConfigError(f'invalid location modifier "{kind}" {_at(one)}')
        returns = _first(block or levels[-2], "return") if block or not one.block else None
        alias = _first(block, "alias")
        auth = self._inherited(levels, "auth_basic")
        auth_file = self._inherited(levels, "auth_basic_user_file")
        try_files = _first(block, "try_files") or (_first(levels[-2], "try_files") if not block else None)
        index = self._inherited(levels, "index")
        default_type = self._inherited(levels, "default_type")
        return Location(
            kind=kind,
            pattern=pattern,
            root=self._text(levels, "root", "/usr/share/nginx/html"),
            alias=alias.args[0] if alias is not None else "",
            indexes=index.args if index is not None else ("index.html",),
            try_files=try_files.args if try_files is not None else (),
            proxy=self._proxy(block),
            connect_timeout=seconds(self._text(levels, "proxy_connect_timeout", "60")),
            read_timeout=seconds(self._text(levels, "proxy_read_timeout", "60")),
            returns=returned(returns),
            access_log=self._access_log(levels),
            error_log=self._error_log(self._inherited(levels, "error_log"), main_log),
            autoindex=self._flag(levels, "autoindex"),
            stub_status=_first(block, "stub_status") is not None,
            internal=_first(block, "internal") is not None,
            rules=self._access(levels),
            auth_file=auth_file.args[0] if auth_file is not None and auth is not None and auth.args[0] != "off" else "",
            realm=auth.args[0] if auth is not None else "",
            headers=self._headers(levels),
            error_pages=self._error_pages(levels),
            max_body=size(self._text(levels, "client_max_body_size", "1m")),
            default_type=default_type.args[0] if default_type is not None else "text/plain",
            proxy_host=next((d.args[1] for d in self._all(levels, "proxy_set_header") if d.args[0] == "Host"), ""),
            tokens=self._text(levels, "server_tokens", "on") != "off",
            absolute=self._text(levels, "absolute_redirect", "on").lower() != "off",
            expires=expires(self._text(levels, "expires", "off")),
        )

    def _inherited(self, levels: tuple[tuple[Directive, ...], ...], name: str) -> Directive | None:
        for block in reversed(levels):
            one = _first(block, name)
            if one is not None:
                return one
        return None

    def _all(self, levels: tuple[tuple[Directive, ...], ...], name: str) -> list[Directive]:
        """Directives that add up in one block, and are inherited only where a block has none of its own."""
        for block in reversed(levels):
            found = list(_values(block, name))
            if found:
                return found
        return []

    def _text(self, levels: tuple[tuple[Directive, ...], ...], name: str, default: str) -> str:
        one = self._inherited(levels, name)
        return one.args[0] if one is not None else default

    def _flag(self, levels: tuple[tuple[Directive, ...], ...], name: str) -> bool:
        one = self._inherited(levels, name)
        return one is not None and one.args[0].lower() == "on"

    def _proxy(self, block: tuple[Directive, ...]) -> tuple[str, tuple[Peer, ...], str | None] | None:
        one = _first(block, "proxy_pass")
        if one is None:
            return None
        match = re.fullmatch(r"(https?)://([^/]+)(/.*)?", one.args[0])
        if match is None:
            raise ConfigError(f"invalid URL prefix {_at(one)}")
        name, uri = match[2], match[3]
        peers = self.upstreams.get(name)
        if peers is None:
            peers = (self._peer(name, one, "upstream", port=443 if match[1] == "https" else 80),)
        return name, peers, uri

    def _access_log(self, levels: tuple[tuple[Directive, ...], ...]) -> tuple[str, str] | None:
        one = self._inherited(levels, "access_log")
        if one is None:
            self.logs["/var/log/nginx/access.log"] = None
            return "/var/log/nginx/access.log", COMBINED
        if one.args[0] == "off":
            return None
        name = one.args[1] if len(one.args) > 1 and "=" not in one.args[1] else "combined"
        text = self.formats.get(name)
        if text is None:
            raise ConfigError(f'unknown log format "{name}" {_at(one)}')
        self.logs[one.args[0]] = None
        return one.args[0], text

    def _error_log(self, one: Directive | None, default: ErrorLog) -> ErrorLog:
        log = default if one is None else ErrorLog(*one.args)
        if one is not None and log.level not in LEVELS:
            raise ConfigError(f'invalid log level "{log.level}" {_at(one)}')
        self.logs[log.path] = None
        return log

    def _access(self, levels: tuple[tuple[Directive, ...], ...]) -> tuple[tuple[str, str], ...]:
        for block in reversed(levels):
            found = tuple((one.name, one.args[0]) for one in block if one.name in ("allow", "deny"))
            if found:
                return found
        return ()

    def _headers(self, levels: tuple[tuple[Directive, ...], ...]) -> tuple[tuple[str, str, bool], ...]:
        return tuple(
            (one.args[0], one.args[1], len(one.args) > 2 and one.args[2] == "always")
            for one in self._all(levels, "add_header")
        )

    def _error_pages(self, levels: tuple[tuple[Directive, ...], ...]) -> tuple[tuple[int, str], ...]:
        return tuple(
            (int(code), one.args[-1])
            for one in self._all(levels, "error_page")
            for code in one.args[:-1]
            if is_digits(code)
        )

    def _certificate(self, server: Directive, levels: tuple[tuple[Directive, ...], ...]) -> str:
        certificate = self._inherited(levels, "ssl_certificate")
        key = self._inherited(levels, "ssl_certificate_key")
        if certificate is None:
            raise ConfigError(f'no "ssl_certificate" is defined for the "listen ... ssl" directive {_at(server)}')
        if key is None:
            raise ConfigError(f'no "ssl_certificate_key" is defined for certificate "{certificate.args[0]}"')
        text = self._pem(certificate.args[0], "certificate", "PEM_read_bio_X509_AUX", "CERTIFICATE")
        private = self._pem(key.args[0], "certificate key", "PEM_read_bio_PrivateKey", "PRIVATE KEY")
        chain = certificates.parse(text)
        if chain and certificates.belongs(chain[0], private) is False:
            raise ConfigError(
                f'SSL_CTX_use_PrivateKey("{key.args[0]}") failed '
                "(SSL: error:05800074:x509 certificate routines::key values mismatch)"
            )
        return text

    def _pem(self, path: str, what: str, call: str, label: str) -> str:
        try:
            text = self.view.text(path)
        except OSError as error:
            reason = error.strerror
            tail = f"calling fopen({path}, r) error:10000080:BIO routines::no such file"
            if error.errno != 2:
                tail = f"calling fopen({path}, r) error:10080002:BIO routines::system lib"
            code = f"8000000{error.errno:X}" if error.errno and error.errno < 16 else "80000002"
            raise ConfigError(
                f'cannot load {what} "{path}": BIO_new_file() failed (SSL: error:{code}:system library::{reason}:{tail})'
            ) from None
        if f"{label}-----" not in text:
            raise ConfigError(
                f'cannot load {what} "{path}": {call}() failed (SSL: error:0480006C:PEM routines::no start line:'
                f"Expecting: {'TRUSTED CERTIFICATE' if label == 'CERTIFICATE' else 'ANY PRIVATE KEY'})"
            )
        return text
