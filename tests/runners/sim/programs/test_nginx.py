from __future__ import annotations

import re

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from runners.sim.files.inode import ROOT
from runners.sim.lifecycle import signal
from runners.sim.machine import Machine
from runners.sim.network.http import HttpResponse, request
from runners.sim.programs.nginx import test_config as check
from runners.sim.systemd import manager
from tests.runners.sim.admin.line import Terminal
from tests.runners.sim.servers import messages, server

SITE = "/etc/nginx/sites-available/shop"


@pytest.fixture
def machine() -> Machine:
    return server()


def edit(machine: Machine, path: str, old: str, new: str) -> None:
    text = machine.view().text(path)
    assert old in text
    machine.view().write(path, text.replace(old, new, 1).encode())


def status(machine: Machine, path: str) -> int:
    answer = request(machine, "GET", f"http://localhost{path}")
    assert isinstance(answer, HttpResponse)
    return answer.status


def test_a_good_configuration_passes(machine: Machine) -> None:
    assert check(machine, ROOT, 700) == (
        [
            "nginx: the configuration file /etc/nginx/nginx.conf syntax is ok",
            "nginx: configuration file /etc/nginx/nginx.conf test is successful",
        ],
        0,
    )


@pytest.mark.parametrize(
    ("path", "old", "new", "message"),
    [
        (SITE, "root /var/www/shop;", "root /var/www/shop", 'invalid number of arguments in "root" directive in /etc/nginx/sites-enabled/shop:17'),
        (SITE, "server_name", "sever_name", 'unknown directive "sever_name" in /etc/nginx/sites-enabled/shop:11'),
        (SITE, "\tkeepalive 16;\n}", "\tkeepalive 16;\n", 'directive "server" is not terminated by ";" in /etc/nginx/sites-enabled/shop:8'),
        (SITE, "\tlocation /static/ {", "\t}\n\tlocation /static/ {", '"location" directive is not allowed here in /etc/nginx/sites-enabled/shop:22'),
        (SITE, "listen 80 default_server", "listen 80x default_server", 'host not found in "80x" of the "listen" directive in /etc/nginx/sites-enabled/shop:9'),
        (SITE, "server 127.0.0.1:8000", "server backend:8000", 'host not found in upstream "backend:8000" in /etc/nginx/sites-enabled/shop:4'),
        ("/etc/nginx/nginx.conf", "user www-data", "user www", 'getpwnam("www") failed in /etc/nginx/nginx.conf:1'),
        ("/etc/nginx/nginx.conf", "include /etc/nginx/mime.types", "include /etc/nginx/mimes",
         'open() "/etc/nginx/mimes" failed (2: No such file or directory) in /etc/nginx/nginx.conf:23'),
        ("/etc/nginx/nginx.conf", "events {\n\tworker_connections 768;\n\t# multi_accept on;\n}", "", 'no "events" section in configuration'),
        ("/etc/nginx/nginx.conf", "sendfile on", "sendfile", 'invalid number of arguments in "sendfile" directive in /etc/nginx/nginx.conf:18'),
    ],
)  # fmt: skip
def test_bad_configurations_fail_in_nginx_words(machine: Machine, path: str, old: str, new: str, message: str) -> None:
    edit(machine, path, old, new)
    lines, code = check(machine, ROOT, 700)
    assert code == 1
    assert lines[-1] == "nginx: configuration file /etc/nginx/nginx.conf test failed"
    assert lines[0] == f"2026/03/14 09:24:17 [emerg] 700#700: {message}"


def test_a_missing_brace_is_found_at_the_end(machine: Machine) -> None:
    text = machine.view().text("/etc/nginx/nginx.conf").rstrip()
    machine.view().write("/etc/nginx/nginx.conf", text[:-1].encode())
    line = text.count("\n") + 1
    assert (
        check(machine, ROOT, 700)[0][0]
        == f'2026/03/14 09:24:17 [emerg] 700#700: unexpected end of file, expecting "}}" in /etc/nginx/nginx.conf:{line}'
    )


def test_certificates_must_be_there_and_be_certificates(machine: Machine) -> None:
    view = machine.view()
    pem = "/etc/ssl/certs/shop.example.com.pem"
    view.write(pem, b"garbage")
    assert (
        "PEM_read_bio_X509_AUX() failed (SSL: error:0480006C:PEM routines::no start line"
        in check(machine, ROOT, 700)[0][0]
    )
    view.unlink(pem)
    assert f'cannot load certificate "{pem}": BIO_new_file() failed' in check(machine, ROOT, 700)[0][0]


def test_a_key_must_be_the_certificates(machine: Machine) -> None:
    path = "/etc/ssl/private/shop.example.com.key"
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    machine.view().write(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    line = check(machine, ROOT, 700)[0][0]
    assert f'SSL_CTX_use_PrivateKey("{path}") failed' in line
    assert "x509 certificate routines::key values mismatch" in line


def test_headers_of_files_stand_in_nginx_order(machine: Machine) -> None:
    answer = request(machine, "HEAD", "http://localhost/static/shop.css")
    assert isinstance(answer, HttpResponse)
    assert [name for name, _ in answer.headers] == [
        "Server", "Date", "Content-Type", "Content-Length", "Last-Modified", "Connection", "ETag", "Expires",
        "Cache-Control", "Accept-Ranges",
    ]  # fmt: skip


def test_an_edit_changes_nothing_until_the_reload(machine: Machine) -> None:
    edit(machine, SITE, "127.0.0.1:8000", "127.0.0.1:8001")
    assert status(machine, "/health") == 200
    assert manager.reload(machine, "nginx").ok
    assert status(machine, "/health") == 502


def test_a_bad_reload_keeps_the_old_configuration(machine: Machine) -> None:
    edit(machine, SITE, "root /var/www/shop;", "rot /var/www/shop;")
    assert not manager.reload(machine, "nginx").ok
    assert status(machine, "/health") == 200
    assert manager.state_of(machine, "nginx").active == "active"
    assert "Reload failed for nginx.service" in messages(machine, "nginx.service")[-1]


def test_a_taken_port_fails_the_start_after_five_tries(machine: Machine) -> None:
    manager.stop(machine, "nginx")
    machine.view().write("/tmp/other.conf", b"events {}\nhttp { server { listen 80; } }\n")
    machine.view().write(
        "/etc/systemd/system/other.service", b"[Service]\nType=forking\nExecStart=/usr/sbin/nginx -c /tmp/other.conf\n"
    )
    assert manager.start(machine, "other").ok
    assert not manager.start(machine, "nginx").ok
    said = messages(machine, "nginx.service")
    assert said.count("nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)") == 5
    assert "nginx: [emerg] still could not bind()" in said


def test_files_obey_their_modes(machine: Machine) -> None:
    view = machine.view()
    view.chmod("/var/www/shop/static/shop.css", 0o600)
    assert status(machine, "/static/shop.css") == 403
    assert (
        'open() "/var/www/shop/static/shop.css" failed (13: Permission denied)'
        in view.text("/var/log/nginx/error.log").splitlines()[-1]
    )
    assert status(machine, "/static/") == 403
    assert (
        'directory index of "/var/www/shop/static/" is forbidden'
        in view.text("/var/log/nginx/error.log").splitlines()[-1]
    )


def test_the_master_replaces_a_killed_worker(machine: Machine) -> None:
    worker = next(one for one in machine.processes if one.argv[0] == "nginx: worker process")
    signal(machine, worker.pid, 9)
    workers = [one.pid for one in machine.processes if one.argv[0] == "nginx: worker process"]
    assert len(workers) == 2
    assert worker.pid not in workers
    assert f"worker process {worker.pid} exited on signal 9" in machine.view().text("/var/log/nginx/error.log")


def test_logs_follow_the_inode_until_usr1(machine: Machine) -> None:
    view = machine.view()
    view.rename("/var/log/nginx/access.log", "/var/log/nginx/access.log.moved")
    before = view.stat("/var/log/nginx/access.log.moved").size
    status(machine, "/health")
    assert view.stat("/var/log/nginx/access.log.moved").size > before
    signal(machine, manager.state_of(machine, "nginx").main_pid, 10)
    status(machine, "/health")
    assert view.text("/var/log/nginx/access.log").count("\n") == 1


@pytest.fixture
def sh() -> Terminal:
    return Terminal()


def test_an_error_log_takes_what_is_urgent_enough(sh: Terminal) -> None:
    assert sh("systemctl reload nginx; grep -c 'signal process started' /var/log/nginx/error.log").out == "0\n"
    sh("sed -i 's,^error_log .*,error_log /var/log/nginx/error.log notice;,' /etc/nginx/nginx.conf; nginx -s reload")
    assert sh("nginx -s reload; grep -c 'signal process started' /var/log/nginx/error.log").out == "1\n"
    sh("sed -i 's,^error_log .*,error_log /var/log/nginx/error.log loud;,' /etc/nginx/nginx.conf")
    assert re.search(r'\[emerg] .*: invalid log level "loud" in /etc/nginx/nginx.conf:\d+\n', sh("nginx -t").err)


def test_a_server_without_a_name_has_none_in_the_log(sh: Terminal) -> None:
    sh("echo 'server { listen 82; root /nope; }' > /etc/nginx/conf.d/z.conf; nginx -s reload; curl -s localhost:82/x")
    assert ", server: , request: " in sh("tail -1 /var/log/nginx/error.log").out


def test_logs_opened_again_belong_to_the_workers_user(sh: Terminal) -> None:
    sh("mv /var/log/nginx/access.log /var/log/nginx/x; nginx -s reopen")
    assert sh("stat -c '%U:%G %a' /var/log/nginx/access.log").out == "www-data:root 644\n"


def test_an_open_log_is_called_what_it_has_been_moved_to(sh: Terminal) -> None:
    pid = sh("cat /run/nginx.pid").out.strip()

    def names() -> set[str]:
        links = {line for line in sh(f"readlink /proc/{pid}/fd/*").lines if "access" in line}
        listed = sh(f"lsof -p {pid}").lines
        assert links == {line[line.index("/var") :] for line in listed if "access" in line}
        return links

    sh("mv /var/log/nginx/access.log /var/log/nginx/access.log.old")
    assert names() == {"/var/log/nginx/access.log.old"}
    sh("mv /var/log/nginx /var/log/web")
    assert names() == {"/var/log/web/access.log.old"}
    sh(
        "mv /var/log/web /var/log/nginx; mv /var/log/nginx/access.log.old /var/log/nginx/access; rm /var/log/nginx/access"
    )
    assert names() == {"/var/log/nginx/access (deleted)"}


def test_nginx_says_its_errors_to_its_log(sh: Terminal) -> None:
    assert sh("readlink /proc/$(cat /run/nginx.pid)/fd/2; nginx -s reopen").lines == ["/var/log/nginx/error.log"]
    assert sh("readlink /proc/$(cat /run/nginx.pid)/fd/2").lines == ["/var/log/nginx/error.log"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("server { client_max_body_size 10x; }", '"client_max_body_size" directive invalid value in {}'),
        ("proxy_read_timeout 5q;", '"proxy_read_timeout" directive invalid value in {}'),
        ("server { gzip maybe; }", 'invalid value "maybe" in "gzip" directive, it must be "on" or "off" in {}'),
        ("gzip maybe;", '"gzip" directive is duplicate in {}'),
        ("server { location /a { root /x; root /y; } }", '"root" directive is duplicate in {}'),
        ("server { location /a { alias /x/; root /y; } }",
         '"root" directive is duplicate, "alias" directive was specified earlier in {}'),
        ("server { satisfy some; }", 'invalid value "some" in {}'),
        ("map_hash_max_size x;", '"map_hash_max_size" directive invalid number in {}'),
        ("log_format combined x;", 'duplicate "log_format" name "combined" in {}'),
        ("upstream u { server 127.0.0.1:8000 keepalive 16; }", 'invalid parameter "keepalive" in {}'),
        ("upstream u { server 127.0.0.1; } upstream u { server 127.0.0.1; }", 'duplicate upstream "u" in {}'),
        ("server { listen 81 foo=bar; }", 'invalid parameter "foo=bar" in {}'),
        ("server { listen 80 default_server; listen 80; }", "a duplicate listen 0.0.0.0:80 in {}"),
        ("server { listen 81; allow foo; }", 'invalid parameter "foo" in {}'),
        ("map $uri $b { default 1 2; }", "invalid number of the map parameters in {}"),
        ("limit_req_zone $foo zone=a:10m rate=1r/s;", 'unknown "foo" variable'),
        ("server { listen 81; set $x 1; return 200 $x$y; }", 'unknown "y" variable'),
        ("resolver nonsuch;", 'host not found in resolver "nonsuch" in {}'),
    ],
)  # fmt: skip
def test_arguments_are_of_their_directives_type(machine: Machine, text: str, message: str) -> None:
    path = "/etc/nginx/conf.d/extra.conf"
    machine.view().write(path, text.encode())
    lines, status = check(machine, ROOT, 700)
    assert re.fullmatch(r"[\d/]+ [\d:]+ \[emerg\] 700#700: (.*)", lines[0])[1] == message.format(f"{path}:1")  # type: ignore[index]
    assert status == 1


@pytest.mark.parametrize(
    "text",
    [
        "server { listen 81; keepalive_timeout 1m30s 20; send_timeout 500ms; client_body_timeout 10; }",
        "server { listen 81 backlog=5; client_max_body_size 2G; gzip ON; }",
        "server { listen 81; location ~ ^/(?<n>.*)$ { return 200 $n$1; } location / { root /x; } root /y; }",
        "map $http_x $y { default 1; a 2; } server { listen 81; add_header Y $y; }",
        "upstream u { server 127.0.0.1:8000 weight=2 max_fails=3 fail_timeout=10s; server 127.0.0.1:8001 backup; }",
        "resolver 10.0.0.2 valid=30s ipv6=off; limit_req_zone $binary_remote_addr zone=a:10m rate=1r/s;",
    ],
)
def test_what_nginx_takes_passes(machine: Machine, text: str) -> None:
    machine.view().write("/etc/nginx/conf.d/extra.conf", text.encode())
    lines, status = check(machine, ROOT, 700)
    assert (len(lines), status) == (2, 0), lines


def test_a_name_that_two_servers_have_is_the_first_ones(machine: Machine) -> None:
    machine.view().write("/etc/nginx/conf.d/extra.conf", b"server { listen 80; server_name shop.example.com; }")
    lines, status = check(machine, ROOT, 700)
    assert lines[0].endswith('[warn] 700#700: conflicting server name "shop.example.com" on 0.0.0.0:80, ignored')
    assert status == 0


def ask(machine: Machine, path: str, *headers: tuple[str, str], method: str = "GET", port: int = 80) -> HttpResponse:
    answer = request(machine, method, f"http://localhost:{port}{path}", headers=headers)
    assert isinstance(answer, HttpResponse)
    return answer


def test_parts_of_files_and_files_that_did_not_change(machine: Machine) -> None:
    path = "/static/shop.css"
    whole = ask(machine, path)
    size, tag, modified = len(whole.body), whole.header("ETag") or "", whole.header("Last-Modified") or ""
    first = ask(machine, path, ("Range", "bytes=0-9"))
    assert (first.status, first.body) == (206, whole.body[:10])
    assert (first.header("Content-Range"), first.header("Content-Length")) == (f"bytes 0-9/{size}", "10")
    assert first.header("Accept-Ranges") is None
    assert ask(machine, path, ("Range", "bytes=-5")).body == whole.body[-5:]
    assert ask(machine, path, ("Range", "bytes=10-")).body == whole.body[10:]
    beyond = ask(machine, path, ("Range", f"bytes={size}-"))
    assert (beyond.status, beyond.header("Content-Range")) == (416, f"bytes */{size}")
    assert ask(machine, path, ("Range", "bytes=0-9"), ("If-Range", '"other"')).status == 200
    same = ask(machine, path, ("If-None-Match", tag))
    assert (same.status, same.body, same.header("Content-Length"), same.header("ETag")) == (304, b"", None, tag)
    assert ask(machine, path, ("If-None-Match", f'"x", W/{tag}')).status == 304
    assert ask(machine, path, ("If-None-Match", '"x"'), ("If-Modified-Since", modified)).status == 200
    assert ask(machine, path, ("If-Modified-Since", modified)).status == 304
    assert ask(machine, path, ("If-Match", '"x"')).status == 412


def test_requests_that_are_none(machine: Machine) -> None:
    assert ask(machine, "/", ("Host", "")).status == 400
    assert ask(machine, "/", ("Host", "")).header("Connection") == "close"
    assert ask(machine, "/", method="get").status == 400
    assert ask(machine, "/static/%00").status == 400
    refused = ask(machine, "/static/shop.css", method="FOO")
    assert (refused.status, refused.reason) == (405, "Not Allowed")
    assert ask(machine, "/", method="TRACE").status == 405
    sh = Terminal()
    assert sh("echo foo | nc -w 2 127.0.0.1 80").lines[0] == "HTTP/1.1 400 Bad Request"
    assert '"foo" 400 157 "-" "-"' in sh("tail -n 1 /var/log/nginx/access.log").out
    assert sh("printf 'GET / HTTP/1.1\\r\\n\\r\\n' | nc -w 2 127.0.0.1 80").lines[0] == "HTTP/1.1 400 Bad Request"
    assert sh("printf 'HEAD / HTTP/1.0\\r\\n\\r\\n' | nc -w 2 127.0.0.1 80").lines[0] == "HTTP/1.1 200 OK"
    assert sh("nc -zv localhost 80 81 2>&1 | grep -c 'port 81'").out == "2\n"


def test_what_return_says(machine: Machine) -> None:
    text = (
        'server { listen 83; location /a { return 301 /z; } location /b { return 200 "a\\tb\\n"; } '
        "location /c { return 302 http://x/; } location /d { absolute_redirect off; return 301 /z; } }"
    )
    machine.view().write("/etc/nginx/conf.d/extra.conf", text.encode())
    assert manager.restart(machine, "nginx").ok
    assert ask(machine, "/a", port=83).header("Location") == "http://localhost:83/z"
    assert ask(machine, "/d", port=83).header("Location") == "/z"
    assert ask(machine, "/b", port=83).body == b"a\tb\n"
    moved = ask(machine, "/c", port=83)
    assert (moved.header("Location"), moved.reason, moved.header("Content-Length")) == (
        "http://x/", "Moved Temporarily", "145",
    )  # fmt: skip
