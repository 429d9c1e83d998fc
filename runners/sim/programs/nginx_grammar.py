"""nginx's configuration as text: tokens, blocks, includes, and the errors its parser gives."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from runners.sim.files.view import FileView

_HSL = "http server location"
_HSLI = "http server location if"

# name: contexts, fewest and most arguments (99: any), and whether it opens a block. From nginx's documentation.
_TABLE = f"""
user|main|1|2|;
worker_processes worker_rlimit_nofile worker_priority pid daemon master_process timer_resolution pcre_jit|main|1|1|;
worker_cpu_affinity|main|1|99|;
env load_module lock_file|main|1|1|;
thread_pool|main|2|3|;
error_log|main {_HSL}|1|2|;
include|main events {_HSL} upstream if types stream|1|1|;
events|main|0|0|{{
http|main|0|0|{{
stream|main|0|0|{{
worker_connections multi_accept use accept_mutex accept_mutex_delay|events|1|1|;
server|http|0|0|{{
location|server location|1|2|{{
upstream|http|1|1|{{
types|{_HSL}|0|0|{{
map|http|2|2|{{
geo|http|1|2|{{
split_clients|http|2|2|{{
if|server location|1|99|{{
limit_except|location|1|99|{{
listen|server|1|99|;
server_name|server|1|99|;
server|upstream|1|99|;
keepalive|upstream|1|1|;
keepalive_requests keepalive_time|upstream {_HSL}|1|1|;
ip_hash least_conn|upstream|0|0|;
zone|upstream|1|2|;
hash random|upstream|0|2|;
root|{_HSLI}|1|1|;
alias|location|1|1|;
index|{_HSL}|1|99|;
try_files|server location|2|99|;
error_page|{_HSLI}|2|99|;
return|server location if|1|2|;
rewrite|server location if|2|3|;
set|server location if|2|2|;
break|server location if|0|0|;
proxy_pass|location if|1|1|;
proxy_set_header|{_HSL}|2|2|;
proxy_connect_timeout proxy_read_timeout proxy_send_timeout proxy_http_version proxy_buffering|{_HSL}|1|1|;
proxy_buffer_size proxy_request_buffering proxy_intercept_errors proxy_next_upstream_timeout|{_HSL}|1|1|;
proxy_next_upstream_tries proxy_max_temp_file_size proxy_busy_buffers_size proxy_method proxy_cache_key|{_HSL}|1|1|;
proxy_cache_min_uses proxy_ssl_verify proxy_ssl_server_name proxy_ssl_name|{_HSL}|1|1|;
proxy_ssl_trusted_certificate proxy_ignore_client_abort proxy_cache proxy_hide_header proxy_pass_header|{_HSL}|1|1|;
proxy_cache_lock|{_HSL}|1|1|;
proxy_buffers|{_HSL}|2|2|;
proxy_redirect proxy_next_upstream proxy_cache_valid proxy_cache_bypass proxy_no_cache|{_HSL}|1|99|;
proxy_cache_use_stale proxy_ssl_protocols proxy_ignore_headers proxy_cookie_path|{_HSL}|1|99|;
proxy_cache_path|http|2|99|;
fastcgi_pass fastcgi_index|location if|1|1|;
fastcgi_param|{_HSL}|2|3|;
fastcgi_split_path_info|location|1|1|;
uwsgi_pass|location if|1|1|;
access_log|{_HSLI}|1|99|;
log_format|http|2|99|;
log_not_found log_subrequest|{_HSL}|1|1|;
sendfile tcp_nopush tcp_nodelay server_tokens etag autoindex autoindex_exact_size autoindex_localtime|{_HSLI}|1|2|;
gzip gzip_vary gzip_proxied gzip_comp_level gzip_http_version gzip_min_length gzip_disable gzip_static|{_HSLI}|1|2|;
expires default_type client_max_body_size client_body_timeout client_body_buffer_size|{_HSLI}|1|2|;
client_header_timeout send_timeout reset_timedout_connection merge_slashes absolute_redirect|{_HSLI}|1|2|;
server_name_in_redirect port_in_redirect chunked_transfer_encoding sendfile_max_chunk directio|{_HSLI}|1|2|;
if_modified_since satisfy limit_rate limit_rate_after underscores_in_headers lingering_timeout aio|{_HSLI}|1|2|;
resolver_timeout|{_HSLI}|1|2|;
gzip_types gzip_buffers|{_HSL}|1|99|;
client_header_buffer_size types_hash_max_size types_hash_bucket_size server_names_hash_bucket_size|{_HSL}|1|4|;
server_names_hash_max_size variables_hash_max_size map_hash_bucket_size map_hash_max_size|{_HSL}|1|4|;
client_body_temp_path proxy_temp_path variables_hash_bucket_size proxy_headers_hash_max_size|{_HSL}|1|4|;
proxy_headers_hash_bucket_size|{_HSL}|1|4|;
large_client_header_buffers|http server|2|2|;
keepalive_timeout|{_HSL}|1|2|;
keepalive_disable|{_HSL}|1|2|;
open_file_cache|{_HSL}|1|2|;
open_file_cache_valid open_file_cache_min_uses open_file_cache_errors|{_HSL}|1|1|;
open_log_file_cache|{_HSL}|1|4|;
add_header|{_HSLI}|2|3|;
allow deny|{_HSL} limit_except|1|1|;
auth_basic auth_basic_user_file auth_request|{_HSL} limit_except|1|1|;
limit_req limit_conn limit_req_status limit_conn_status limit_req_log_level limit_conn_log_level|{_HSL}|1|3|;
limit_req_zone limit_conn_zone|http|2|3|;
real_ip_header real_ip_recursive set_real_ip_from|{_HSL}|1|1|;
resolver|{_HSL}|1|99|;
stub_status|server location|0|1|;
internal|location|0|0|;
mirror sub_filter sub_filter_once|{_HSL}|1|2|;
ssl ssl_certificate ssl_certificate_key ssl_session_timeout ssl_session_tickets|http server|1|1|;
ssl_prefer_server_ciphers ssl_ciphers ssl_dhparam ssl_ecdh_curve ssl_stapling ssl_stapling_verify|http server|1|1|;
ssl_trusted_certificate ssl_client_certificate ssl_verify_client ssl_verify_depth|http server|1|1|;
ssl_password_file ssl_buffer_size ssl_session_ticket_key|http server|1|1|;
ssl_protocols ssl_session_cache ssl_conf_command|http server|1|99|;
http2 http2_push_preload|http server|1|1|;
"""


class Directive(NamedTuple):
    """One directive where it stands. `block` is None for a simple one."""

    name: str
    args: tuple[str, ...]
    file: str
    line: int
    block: tuple[Directive, ...] | None = None


class ConfigError(Exception):
    """nginx refuses: the text after `nginx: [emerg] `."""


class _Rule(NamedTuple):
    contexts: frozenset[str]
    fewest: int
    most: int
    block: bool


def _table() -> dict[str, tuple[_Rule, ...]]:
    rules: dict[str, tuple[_Rule, ...]] = {}
    for line in _TABLE.strip().splitlines():
        names, contexts, fewest, most, kind = line.split("|")
        rule = _Rule(frozenset(contexts.split()), int(fewest), int(most), kind == "{")
        for name in names.split():
            rules[name] = (*rules.get(name, ()), rule)
    return rules


_RULES = _table()


class _Token(NamedTuple):
    text: str
    line: int
    special: bool
    """One of ; { } as itself, not quoted."""


def parse(view: FileView, path: str) -> tuple[Directive, ...]:
    """Read a configuration with everything it includes. ConfigError as nginx words it."""
    try:
        text = view.text(path)
    except OSError as error:
        raise ConfigError(f'open() "{path}" failed ({error.errno}: {error.strerror})') from None
    return _File(view, path, text).block("main", top=True)


_MOST_NESTED = 50
"""Blocks in each other. The real one stops at none; nobody reads as many."""


class _File:
    """One file being read."""

    def __init__(self, view: FileView, path: str, text: str, depth: int = 0) -> None:
        self.view = view
        self.path = path
        self.tokens = list(_tokens(text, path))
        self.at = 0
        self.last_line = text.count("\n") + 1
        self.depth = depth
        self.nested = 0

    def block(self, context: str, *, top: bool) -> tuple[Directive, ...]:
        """Directives up to the closing brace, or the file's end when `top`."""
        found: list[Directive] = []
        words: list[_Token] = []
        while True:
            if self.at >= len(self.tokens):
                if words:
                    raise self._error('unexpected end of file, expecting ";" or "}"', self.last_line)
                if not top:
                    raise self._error('unexpected end of file, expecting "}"', self.last_line)
                return tuple(found)
            token = self.tokens[self.at]
            self.at += 1
            if not token.special:
                words.append(token)
            elif token.text == ";":
                if not words:
                    raise self._error('unexpected ";"', token.line)
                found.extend(self._simple(words, context, token.line))
                words = []
            elif token.text == "{":
                if not words:
                    raise self._error('unexpected "{"', token.line)
                found.append(self._block(words, context, token.line))
                words = []
            else:
                if words:
                    raise self._error('unexpected "}"', token.line)
                if top:
                    raise self._error('unexpected "}"', token.line)
                return tuple(found)

    def _error(self, text: str, line: int) -> ConfigError:
        return ConfigError(f"{text} in {self.path}:{line}")

    def _simple(self, words: list[_Token], context: str, line: int) -> Iterator[Directive]:
        name, args = words[0].text, tuple(word.text for word in words[1:])
        if context in ("types", "map"):
            if name == "include":
                yield from self._include(args[0], context, line)
                return
            yield Directive(name, args, self.path, line)
            return
        self._check(name, args, context, line, block=False)
        if name == "include":
            yield from self._include(args[0], context, line)
        else:
            yield Directive(name, args, self.path, line)

    def _block(self, words: list[_Token], context: str, line: int) -> Directive:
        name, args = words[0].text, tuple(word.text for word in words[1:])
        self._check(name, args, context, line, block=True)
        inner = {"map": "map", "geo": "map", "split_clients": "map"}.get(name, name)
        self.nested += 1
        if self.nested > _MOST_NESTED:
            raise self._error(f'"{name}" is nested too deep', line)
        found = self.block(inner, top=False)
        self.nested -= 1
        return Directive(name, args, self.path, line, found)

    def _check(self, name: str, args: tuple[str, ...], context: str, line: int, *, block: bool) -> None:
        rules = _RULES.get(name)
        if rules is None:
            raise self._error(f'unknown directive "{name}"', line)
        fitting = [rule for rule in rules if context in rule.contexts]
        if not fitting:
            raise self._error(f'"{name}" directive is not allowed here', line)
        rule = fitting[0]
        if rule.block and not block:
            raise self._error(f'directive "{name}" has no opening "{{"', line)
        if block and not rule.block:
            raise self._error(f'directive "{name}" is not terminated by ";"', line)
        if not rule.fewest <= len(args) <= rule.most:
            raise self._error(f'invalid number of arguments in "{name}" directive', line)

    def _include(self, pattern: str, context: str, line: int) -> Iterator[Directive]:
        full = pattern if pattern.startswith("/") else posixpath.join("/etc/nginx", pattern)
        if self.depth > 16:
            raise self._error("include cycle", line)
        if any(char in full for char in "*?["):
            folder, name = posixpath.split(full)
            try:
                names = sorted(self.view.names(folder))
            except OSError:
                return
            paths = [f"{folder}/{one}" for one in names if fnmatch.fnmatchcase(one, name) and not one.startswith(".")]
        else:
            paths = [full]
        for path in paths:
            try:
                text = self.view.text(path)
            except OSError as error:
                raise self._error(f'open() "{path}" failed ({error.errno}: {error.strerror})', line) from None
            yield from _File(self.view, path, text, self.depth + 1).block(context, top=True)


_ESCAPES = {"t": "\t", "r": "\r", "n": "\n"}


def _unescaped(text: str) -> str:
    """A word without the backslashes that nginx takes: those of quotes, of themselves, and of three blanks."""
    if "\\" not in text:
        return text
    return re.sub(r"\\([\"'\\trn])", lambda found: _ESCAPES.get(found[1], found[1]), text)


def _tokens(text: str, path: str) -> Iterator[_Token]:
    line, at, size = 1, 0, len(text)
    while at < size:
        char = text[at]
        if char == "\n":
            line += 1
            at += 1
        elif char in " \t\r":
            at += 1
        elif char == "#":
            end = text.find("\n", at)
            at = size if end < 0 else end
        elif char in ";{}":
            yield _Token(char, line, True)
            at += 1
        elif char in "\"'":
            start, begun = at + 1, line
            at += 1
            while at < size and text[at] != char:
                at += 2 if text[at] == "\\" else 1
            if at >= size:
                line += text.count("\n", start)
                raise ConfigError(f'unexpected end of file, expecting ";" or "}}" in {path}:{line}')
            line += text.count("\n", start, at)
            yield _Token(_unescaped(text[start:at]), begun, False)
            at += 1
        else:
            start = at
            while at < size and text[at] not in " \t\r\n;":
                if text[at] == "{" and text[at - 1] != "$":
                    break
                if text[at] == "\\":
                    at += 1
                elif text.startswith("${", at):
                    end = text.find("}", at)
                    at = end if end > 0 else at
                at += 1
            yield _Token(_unescaped(text[start:at]), line, False)
