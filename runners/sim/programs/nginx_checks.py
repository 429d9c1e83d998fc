"""What nginx checks of directives beyond where they stand: that one comes once, and what its arguments may be."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping

from runners.sim.machine import Machine
from runners.sim.network.names import ResolveFailure, resolve
from runners.sim.programs.nginx_grammar import ConfigError, Directive
from runners.text import is_digits

# type: the directives whose first argument is of it. Each of them may stand once in a block. From nginx's documentation.
_TYPES = """
flag: sendfile tcp_nopush tcp_nodelay etag autoindex autoindex_exact_size gzip gzip_vary reset_timedout_connection
flag: merge_slashes absolute_redirect server_name_in_redirect port_in_redirect chunked_transfer_encoding
flag: underscores_in_headers log_not_found log_subrequest proxy_buffering proxy_request_buffering proxy_cache_lock
flag: proxy_intercept_errors proxy_ssl_verify proxy_ssl_server_name proxy_ignore_client_abort sub_filter_once
flag: real_ip_recursive ssl ssl_session_tickets ssl_prefer_server_ciphers ssl_stapling ssl_stapling_verify
flag: multi_accept accept_mutex daemon master_process pcre_jit autoindex_localtime open_file_cache_errors
size: client_max_body_size client_body_buffer_size client_header_buffer_size sendfile_max_chunk gzip_min_length
size: proxy_buffer_size proxy_busy_buffers_size proxy_max_temp_file_size ssl_buffer_size
time: client_body_timeout client_header_timeout send_timeout resolver_timeout lingering_timeout keepalive_timeout
time: proxy_connect_timeout proxy_read_timeout proxy_send_timeout proxy_next_upstream_timeout keepalive_time
time: ssl_session_timeout open_file_cache_valid accept_mutex_delay
number: gzip_comp_level ssl_verify_depth types_hash_max_size types_hash_bucket_size keepalive_requests
number: server_names_hash_max_size server_names_hash_bucket_size variables_hash_max_size map_hash_max_size
number: map_hash_bucket_size variables_hash_bucket_size proxy_headers_hash_max_size proxy_headers_hash_bucket_size
number: worker_rlimit_nofile proxy_next_upstream_tries proxy_cache_min_uses open_file_cache_min_uses
text: root alias user pid worker_processes lock_file default_type try_files proxy_pass expires auth_basic
text: auth_basic_user_file proxy_method proxy_http_version proxy_cache proxy_cache_key resolver
text: keepalive events http satisfy if_modified_since server_tokens gzip_static gzip_http_version ssl_ciphers
text: ssl_dhparam ssl_ecdh_curve ssl_trusted_certificate ssl_client_certificate ssl_verify_client
text: real_ip_header
"""
_TYPE_OF: Mapping[str, str] = {
    name: kind for line in _TYPES.split("\n") for kind, _, names in (line.partition(": "),) for name in names.split()
}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "satisfy": ("all", "any"),
    "if_modified_since": ("off", "exact", "before"),
    "server_tokens": ("off", "on", "build"),
    "gzip_static": ("off", "on", "always"),
    "gzip_http_version": ("1.0", "1.1"),
    "proxy_http_version": ("1.0", "1.1"),
    "ssl_verify_client": ("off", "on", "optional", "optional_no_ca"),
}
_SIZE = re.compile(r"[0-9]+[kKmMgG]?")
_TIME = re.compile(
    r"(?=[0-9])(?:[0-9]+y)?(?:[0-9]+M)?(?:[0-9]+w)?(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m(?!s))?(?:[0-9]+ms|[0-9]+s(?:[0-9]+ms)?|[0-9]+)?"
)


def check(machine: Machine, top: tuple[Directive, ...]) -> None:
    """Raise ConfigError for the first directive that nginx would not take, in the order of the text."""
    _block(machine, top)
    known = _Variables(top)
    for one in _all(top):
        for text in _expanded(one):
            missing = known.missing(text)
            if missing:
                raise ConfigError(f'unknown "{missing}" variable')


def _at(one: Directive) -> str:
    return f"in {one.file}:{one.line}"


def _block(machine: Machine, block: tuple[Directive, ...]) -> None:
    seen: set[str] = set()
    for one in block:
        kind = _TYPE_OF.get(one.name)
        if kind is not None:
            if one.name in seen:
                raise ConfigError(f'"{one.name}" directive is duplicate {_at(one)}')
            if {one.name, *seen} >= {"root", "alias"}:
                other = "alias" if one.name == "root" else "root"
                raise ConfigError(
                    f'"{one.name}" directive is duplicate, "{other}" directive was specified earlier {_at(one)}'
                )
            seen.add(one.name)
            problem = _problem(kind, one)
            if problem:
                raise ConfigError(f"{problem} {_at(one)}")
        special = _SPECIAL.get(one.name)
        if special is not None:
            special(machine, block, one)
        if one.block is not None and one.name not in ("types", "geo", "split_clients", "map"):
            _block(machine, one.block)


def _problem(kind: str, one: Directive) -> str:
    value = one.args[0] if one.args else ""
    if kind == "flag" and value.lower() not in ("on", "off"):
        return f'invalid value "{value}" in "{one.name}" directive, it must be "on" or "off"'
    if kind == "number" and not (is_digits(value)):
        return f'"{one.name}" directive invalid number'
    if (kind == "size" and not _SIZE.fullmatch(value)) or (kind == "time" and not _TIME.fullmatch(value)):
        return f'"{one.name}" directive invalid value'
    choices = _CHOICES.get(one.name)
    if choices is not None and value not in choices:
        return f'invalid value "{value}"'
    return ""


# -- directives with a grammar of their own


def _log_format(_machine: Machine, block: tuple[Directive, ...], one: Directive) -> None:
    first = next(other for other in block if other.name == "log_format" and other.args[0] == one.args[0])
    if one.args[0] == "combined" or first is not one:
        raise ConfigError(f'duplicate "log_format" name "{one.args[0]}" {_at(one)}')


_PEER = re.compile(r"(weight|max_fails|max_conns)=[0-9]+|fail_timeout=[0-9]+[smhd]?|backup|down")


def _upstream(_machine: Machine, block: tuple[Directive, ...], one: Directive) -> None:
    first = next(other for other in block if other.name == "upstream" and other.args[0] == one.args[0])
    if first is not one:
        raise ConfigError(f'duplicate upstream "{one.args[0]}" {_at(one)}')
    for server in one.block or ():
        wrong = next((word for word in server.args[1:] if server.name == "server" and not _PEER.fullmatch(word)), None)
        if wrong is not None:
            raise ConfigError(f'invalid parameter "{wrong}" {_at(server)}')


def _map(_machine: Machine, _block: tuple[Directive, ...], one: Directive) -> None:
    for line in one.block or ():
        flag = line.name in ("hostnames", "volatile") and not line.args
        if len(line.args) != 1 and not flag:
            raise ConfigError(f"invalid number of the map parameters {_at(line)}")


def _resolver(machine: Machine, _block: tuple[Directive, ...], one: Directive) -> None:
    for word in one.args:
        name, equals, value = word.partition("=")
        if equals:
            fine = {
                "valid": _TIME.fullmatch(value) is not None,
                "ipv6": value in ("on", "off"),
                "ipv4": value in ("on", "off"),
            }.get(name, name == "status_zone")
            if not fine:
                raise ConfigError(f"invalid parameter: {word} {_at(one)}")
            continue
        host = word[1:].partition("]")[0] if word.startswith("[") else word.partition(":")[0]
        if isinstance(resolve(machine, host), ResolveFailure):
            raise ConfigError(f'host not found in resolver "{word}" {_at(one)}')


def _access(_machine: Machine, _block: tuple[Directive, ...], one: Directive) -> None:
    if one.args[0] in ("all", "unix:"):
        return
    try:
        ipaddress.ip_network(one.args[0], strict=False)
    except ValueError:
        raise ConfigError(f'invalid parameter "{one.args[0]}" {_at(one)}') from None


_SPECIAL: Mapping[str, Callable[[Machine, tuple[Directive, ...], Directive], None]] = {
    "log_format": _log_format,
    "upstream": _upstream,
    "map": _map,
    "resolver": _resolver,
    "allow": _access,
    "deny": _access,
    "set_real_ip_from": _access,
}

# -- variables

_BUILT_IN = frozenset(
    [
        "args",
        "binary_remote_addr",
        "body_bytes_sent",
        "bytes_sent",
        "connection",
        "connection_requests",
        "connection_time",
        "content_length",
        "content_type",
        "document_root",
        "document_uri",
        "host",
        "hostname",
        "https",
        "http2",
        "is_args",
        "limit_rate",
        "msec",
        "nginx_version",
        "pid",
        "pipe",
        "proxy_protocol_addr",
        "proxy_protocol_port",
        "proxy_protocol_server_addr",
        "proxy_protocol_server_port",
        "query_string",
        "realpath_root",
        "remote_addr",
        "remote_port",
        "remote_user",
        "request",
        "request_body",
        "request_body_file",
        "request_completion",
        "request_filename",
        "request_id",
        "request_length",
        "request_method",
        "request_time",
        "request_uri",
        "scheme",
        "server_addr",
        "server_name",
        "server_port",
        "server_protocol",
        "status",
        "tcpinfo_rtt",
        "tcpinfo_rttvar",
        "tcpinfo_snd_cwnd",
        "tcpinfo_rcv_space",
        "time_iso8601",
        "time_local",
        "uri",
        "gzip_ratio",
        "proxy_host",
        "proxy_port",
        "proxy_add_x_forwarded_for",
        "proxy_internal_body_length",
        "fastcgi_script_name",
        "fastcgi_path_info",
        "invalid_referer",
        "realip_remote_addr",
        "realip_remote_port",
        "secure_link",
        "secure_link_expires",
        "slice_range",
        "memcached_key",
        "limit_req_status",
        "limit_conn_status",
        "uid_got",
        "uid_set",
        "uid_reset",
        "geoip_country_code",
        "modern_browser",
        "msie",
        "ancient_browser",
        "date_local",
        "date_gmt",
        "connections_active",
        "connections_reading",
        "connections_writing",
        "connections_waiting",
    ]
)
_FAMILIES = (
    "http_",
    "sent_http_",
    "sent_trailer_",
    "upstream_",
    "cookie_",
    "arg_",
    "ssl_",
    "jwt_",
    "proxy_protocol_tlv_",
)
_USE = re.compile(r"\$(?:\{([a-zA-Z0-9_]+)\}|([a-zA-Z0-9_]+))")
_NAMED_GROUP = re.compile(r"\?P?<([A-Za-z_]\w*)>|\?'([A-Za-z_]\w*)'")
_EXPANDING: Mapping[str, slice] = {
    "log_format": slice(1, None), "limit_req_zone": slice(0, 1), "limit_conn_zone": slice(0, 1), "set": slice(1, 2),
    "return": slice(0, None), "rewrite": slice(1, 2), "proxy_pass": slice(0, 1), "proxy_set_header": slice(1, 2),
    "add_header": slice(1, 2), "try_files": slice(0, None), "root": slice(0, 1), "alias": slice(0, 1),
    "map": slice(0, 1), "if": slice(0, 1), "proxy_cache_key": slice(0, 1), "auth_basic": slice(0, 1),
}  # fmt: skip
"""Directive -> the arguments in which variables stand for their values."""


class _Variables:
    """The names that a configuration may use: nginx's own, and those that it makes."""

    def __init__(self, top: tuple[Directive, ...]) -> None:
        made: set[str] = set()
        for one in _all(top):
            if one.name == "set":
                made.add(one.args[0].removeprefix("$").lower())
            elif one.name in ("map", "geo", "split_clients", "auth_request_set"):
                made.add(one.args[-1 if one.name != "auth_request_set" else 0].removeprefix("$").lower())
            for word in one.args:
                made |= {(first or second).lower() for first, second in _NAMED_GROUP.findall(word)}
        self._made = made

    def missing(self, text: str) -> str:
        """The first variable that nobody knows, "" if all are known."""
        for braced, bare in _USE.findall(text):
            name = (braced or bare).lower()
            if name in _BUILT_IN or name in self._made or is_digits(name) or name.startswith(_FAMILIES):
                continue
            if not bare or not is_digits(bare[0]):
                return str(braced or bare)
        return ""


def _expanded(one: Directive) -> Iterator[str]:
    where = _EXPANDING.get(one.name)
    if where is not None:
        yield from one.args[where]


def _all(block: tuple[Directive, ...]) -> Iterator[Directive]:
    for one in block:
        yield one
        if one.block is not None and one.name not in ("types", "geo", "split_clients", "map"):
            yield from _all(one.block)
