"""curl's command line."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import NoReturn
from urllib.parse import quote_from_bytes

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.curl_words import FLAG, HELP, LONG_FLAG, LONG_VALUE, VALUE, VERSION
from runners.sim.network.http import Headers


@dataclass(slots=True)
class CurlOptions:
    """What the command line asks for. Filled in while it is read."""

    urls: list[str] = field(default_factory=list)
    outputs: list[str | None] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    values: dict[str, str] = field(default_factory=dict)
    data: list[bytes] = field(default_factory=list)
    resolves: list[str] = field(default_factory=list)
    body: bytes = b""

    @property
    def silent(self) -> bool:
        return bool(self.flags & {"silent", "no-progress-meter"})

    @property
    def show_error(self) -> bool:
        return "silent" not in self.flags or "show-error" in self.flags

    @property
    def verbose(self) -> bool:
        return "verbose" in self.flags

    @property
    def include(self) -> bool:
        return "include" in self.flags

    @property
    def insecure(self) -> bool:
        return "insecure" in self.flags

    @property
    def follow(self) -> bool:
        return bool(self.flags & {"location", "location-trusted"})

    @property
    def fail(self) -> bool:
        return bool(self.flags & {"fail", "fail-with-body"})

    @property
    def write_out(self) -> str | None:
        return self.values.get("write-out")

    @property
    def dump_header(self) -> str | None:
        return self.values.get("dump-header")

    @property
    def ca_file(self) -> str | None:
        return self.values.get("cacert")

    @property
    def retry(self) -> int:
        return int(self.values.get("retry", "0"))

    @property
    def retry_delay(self) -> float:
        return float(self.values.get("retry-delay", "0"))

    @property
    def retry_refused(self) -> bool:
        return bool(self.flags & {"retry-connrefused", "retry-all-errors"})

    @property
    def max_redirects(self) -> int:
        return int(self.values.get("max-redirs", "50"))

    @property
    def max_time(self) -> float:
        return float(self.values.get("max-time", "0"))

    @property
    def connect_timeout(self) -> float:
        return float(self.values.get("connect-timeout", "0"))

    @property
    def proxy_host(self) -> str:
        return self.values.get("proxy", "").split("://")[-1].rsplit(":", 1)[0]

    @property
    def forced_method(self) -> bool:
        return "request" in self.values

    @property
    def method(self) -> str:
        given = self.values.get("request")
        if given:
            return given
        if "head" in self.flags:
            return "HEAD"
        if "upload-file" in self.values:
            return "PUT"
        return "POST" if (self.data or "form" in self.values) and "get" not in self.flags else "GET"

    def output_of(self, index: int, url: str) -> str | None:
        """The file that the URL's data goes to, None for standard output."""
        if index < len(self.outputs):
            return self.outputs[index]
        if self.flags & {"remote-name", "remote-name-all"}:
            return url.split("?", 1)[0].rsplit("/", 1)[-1] or None
        return None

    def pinned(self, host: str, port: int) -> str | None:
        """The address that --resolve or --connect-to gives a host and port."""
        for entry in self.resolves:
            parts = entry.lstrip("+").split(":")
            if len(parts) >= 3 and parts[0] in (host, "*", "") and parts[1] in (str(port), ""):
                return parts[2].strip("[]").split(",")[0] or None
        return None

    def headers_for(self, user: str | None, password: str | None, body: bytes) -> Headers:
        """The request's headers: curl's own, with those of -H put in their place."""
        found: dict[str, tuple[str, str]] = {}
        credentials = self.values.get("user") or (f"{user}:{password or ''}" if user else None)
        if credentials:
            found["authorization"] = (
                "Authorization",
                "Basic " + base64.b64encode(credentials.encode("utf-8", "surrogateescape")).decode(),
            )
        if "oauth2-bearer" in self.values:
            found["authorization"] = ("Authorization", f"Bearer {self.values['oauth2-bearer']}")
        found["user-agent"] = ("User-Agent", self.values.get("user-agent", "curl/7.88.1"))
        found["accept"] = ("Accept", "*/*")
        if "range" in self.values:
            found["range"] = ("Range", f"bytes={self.values['range']}")
        if "referer" in self.values:
            found["referer"] = ("Referer", self.values["referer"])
        if "cookie" in self.values:
            found["cookie"] = ("Cookie", self.values["cookie"])
        if body:
            kind = "application/json" if "json" in self.values else "application/x-www-form-urlencoded"
            found["content-length"] = ("Content-Length", str(len(body)))
            found["content-type"] = ("Content-Type", kind)
        for header in self.headers:
            name, colon, value = header.partition(":")
            if colon and not value.strip() and name.lower() != "host":
                found.pop(name.lower(), None)
            elif colon:
                found[name.lower()] = (name, value.strip())
        return tuple(found.values())


_WHOLE, _SECONDS = re.compile(r"[0-9]{1,18}"), re.compile(r"[0-9]{1,9}(?:\.[0-9]*)?")
_NUMBERS = {
    "max-time": _SECONDS, "connect-timeout": _SECONDS, "retry": _WHOLE, "retry-delay": _WHOLE,
    "max-redirs": re.compile(r"-?[0-9]{1,18}"),
}  # fmt: skip


def _usage(ctx: Context, message: str, status: int = 2) -> NoReturn:
    ctx.stderr.write(
        f"curl: {message}\ncurl: try 'curl --help' or 'curl --manual' for more information\n".encode(
            "utf-8", "surrogateescape"
        )
    )
    raise CommandExit(status)


def read_options(ctx: Context) -> CurlOptions:
    """Parse the arguments; errors, --help and --version end the command."""
    options = CurlOptions()
    words = list(ctx.args)
    if not words:
        ctx.stderr.write(b"curl: try 'curl --help' or 'curl --manual' for more information\n")
        raise CommandExit(2)
    while words:
        word = words.pop(0)
        if word.startswith("--") and len(word) > 2:
            _long(ctx, options, word[2:], words)
        elif word.startswith("-") and len(word) > 1:
            _short(ctx, options, word[1:], words)
        else:
            options.urls.append(word)
    if "help" in options.flags:
        ctx.out(HELP)
        raise CommandExit(0)
    if "version" in options.flags:
        ctx.out(VERSION)
        raise CommandExit(0)
    if not options.urls:
        _usage(ctx, "no URL specified!")
    options.body = b"&".join(options.data) if "json" not in options.values else b"".join(options.data)
    if "get" in options.flags and options.body:
        joined = options.body.decode("utf-8", "surrogateescape")
        options.urls = [url + ("&" if "?" in url else "?") + joined for url in options.urls]
        options.body = b""
    if "form" in options.values:
        options.body = f"--boundary\r\n{options.values['form']}\r\n--boundary--\r\n".encode("utf-8", "surrogateescape")
    if "upload-file" in options.values:
        options.body = _file(ctx, options.values["upload-file"], "upload-file")
    return options


def _long(ctx: Context, options: CurlOptions, name: str, words: list[str]) -> None:
    if name in LONG_VALUE:
        if not words:
            _usage(ctx, f"option --{name}: requires parameter")
        _value(ctx, options, name, words.pop(0), f"--{name}")
    elif name in LONG_FLAG:
        options.flags.add(name)
    elif name.startswith("no-") and name[3:] in LONG_FLAG:
        options.flags.discard(name[3:])
    else:
        matches = [known for known in (*sorted(LONG_VALUE), *sorted(LONG_FLAG)) if known.startswith(name)]
        if len(matches) == 1:
            _long(ctx, options, matches[0], words)
        else:
            _usage(ctx, f"option --{name}: is {'ambiguous' if matches else 'unknown'}")


def _short(ctx: Context, options: CurlOptions, letters: str, words: list[str]) -> None:
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in VALUE:
            if not letters and not words:
                _usage(ctx, f"option -{letter}: requires parameter")
            _value(ctx, options, VALUE[letter], letters or words.pop(0), f"-{letter}")
            return
        if letter not in FLAG:
            _usage(ctx, f"option -{letter}: is unknown")
        options.flags.add(FLAG[letter])


def _value(ctx: Context, options: CurlOptions, name: str, value: str, spelled: str) -> None:
    if name == "output":
        options.outputs.append(None if value == "-" else value)
    elif name == "header":
        options.headers.append(value)
    elif name == "url":
        options.urls.append(value)
    elif name in ("data", "data-binary", "json") and value.startswith("@"):
        data = _file(ctx, value[1:], "data")
        options.data.append(data.replace(b"\r", b"").replace(b"\n", b"") if name == "data" else data)
        options.values[name] = value
    elif name in ("data", "data-raw", "data-binary", "json"):
        options.data.append(value.encode("utf-8", "surrogateescape"))
        options.values[name] = value
    elif name == "data-urlencode":
        key, equals, text = value.partition("=")
        encoded = quote_from_bytes((text if equals else key).encode("utf-8", "surrogateescape"), "").replace("%20", "+")
        options.data.append((f"{key}={encoded}" if equals and key else encoded).encode("utf-8", "surrogateescape"))
    elif name == "resolve":
        options.resolves.append(value)
    elif name == "connect-to":
        parts = value.split(":")
        if len(parts) == 4:
            options.resolves.append(f"{parts[0]}:{parts[1]}:{parts[2]}")
    else:
        if name in _NUMBERS and _NUMBERS[name].fullmatch(value) is None:
            _usage(ctx, f"option {spelled}: expected a proper numerical parameter")
        options.values[name] = value


def _file(ctx: Context, path: str, what: str) -> bytes:
    if path == "-":
        return ctx.stdin.read()
    try:
        return ctx.files.read(path)
    except OSError:
        ctx.stderr.write(
            f"curl: option --{what}: error encountered when reading a file\n".encode("utf-8", "surrogateescape")
        )
        raise CommandExit(26) from None
