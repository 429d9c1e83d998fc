"""One transfer of curl's: how it went, and what --write-out says of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from runners.sim.commands.curl_words import VERSION
from runners.sim.network.http import HttpResponse


class Transfer(NamedTuple):
    """How one URL went. `code`: curl's exit code; `message` stands after `curl: (code) `."""

    code: int
    message: str = ""
    response: HttpResponse | None = None
    seconds: float = 0.0
    connect_seconds: float = 0.0
    url: str = ""
    redirects: int = 0
    address: str = ""
    port: int = 0
    method: str = "GET"


def head(response: HttpResponse) -> bytes:
    lines = [f"HTTP/1.1 {response.status} {response.reason}", *(f"{name}: {value}" for name, value in response.headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


class Asked(NamedTuple):
    """What the command line says around one transfer: the template, the URL as typed, its number and its file."""

    template: str
    url: str
    number: int
    output: str | None


_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "%%": "%"}
_PIECE = re.compile(r"%%|%\{([^}]*)\}|\\[ntr]")


def write_out(transfer: Transfer, asked: Asked) -> tuple[str, tuple[str, ...]]:
    """The template filled in, and the names in it that curl does not know."""
    values = _variables(transfer, asked)
    unknown: list[str] = []

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return _ESCAPES[found[0]]
        if name == "json":
            return _json(values)
        if name == "header_json":
            return _header_json(transfer.response)
        if name in ("stdout", "stderr", "onerror"):
            return ""
        if name not in values:
            unknown.append(name)
            return ""
        value = values[name]
        if name in ("http_code", "response_code"):
            return f"{value:03}"
        return "" if value is None else f"{value:.6f}" if isinstance(value, float) else str(value)

    return _PIECE.sub(fill, asked.template), tuple(unknown)


def _json(values: Mapping[str, str | int | float | None]) -> str:
    """All variables in the order of their names; times keep their six places."""
    items = ",".join(
        f"{json.dumps(name)}:{f'{value:.6f}' if isinstance(value, float) else json.dumps(value)}"
        for name, value in values.items()
    )
    version = VERSION.split("\n", 1)[0].partition("(")[2].partition(") ")[2]
    return f'{{{items},"curl_version":{json.dumps(version)}}}'


def _header_json(response: HttpResponse | None) -> str:
    grouped: dict[str, list[str]] = {}
    for name, value in response.headers if response is not None else ():
        grouped.setdefault(name.lower(), []).append(value)
    lines = [f"{json.dumps(name)}:{json.dumps(values, separators=(',', ':'))}" for name, values in grouped.items()]
    return "{" + ",\n".join(lines) + "\n}"


def _variables(transfer: Transfer, asked: Asked) -> dict[str, str | int | float | None]:
    response, https = transfer.response, transfer.url.startswith("https")
    size = len(response.body) if response is not None and transfer.method != "HEAD" else 0
    status = response.status if response is not None else 0
    local = "127.0.0.1" if response is not None else ""
    return {
        "certs": "",
        "content_type": response.header("Content-Type") if response is not None else None,
        "errormsg": transfer.message or None,
        "exitcode": transfer.code,
        "filename_effective": asked.output,
        "ftp_entry_path": None,
        "http_code": status,
        "http_connect": 0,
        "http_version": "1.1" if response is not None else "0",
        "local_ip": local,
        "local_port": 0,
        "method": transfer.method,
        "num_certs": 0,
        "num_connects": int(response is not None),
        "num_headers": len(response.headers) if response is not None else 0,
        "num_redirects": transfer.redirects,
        "proxy_ssl_verify_result": 0,
        "redirect_url": response.header("Location") if response is not None else None,
        "referer": None,
        "remote_ip": transfer.address if response is not None else "",
        "remote_port": transfer.port if response is not None else 0,
        "response_code": status,
        "scheme": transfer.url.split(":", 1)[0].upper() if response is not None else None,
        "size_download": size,
        "size_header": len(head(response)) if response is not None else 0,
        "size_request": 0,
        "size_upload": 0,
        "speed_download": int(size / transfer.seconds) if transfer.seconds else 0,
        "speed_upload": 0,
        "ssl_verify_result": 0,
        "time_appconnect": transfer.connect_seconds * 6 if https else 0.0,
        "time_connect": transfer.connect_seconds,
        "time_namelookup": min(transfer.seconds, 0.000028),
        "time_pretransfer": transfer.connect_seconds,
        "time_redirect": 0.0,
        "time_starttransfer": transfer.seconds if response is not None else 0.0,
        "time_total": transfer.seconds,
        "url": asked.url,
        "url_effective": transfer.url,
        "urlnum": asked.number,
    }
